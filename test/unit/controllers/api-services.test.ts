// APIServices: one for every group and version that is served here, and whether those of others can be reached.
import test from 'ava';
import { createRegistry } from '../../../api/resources/registry.ts';
import type { Cluster } from './cluster.ts';
import { DIALECT, type Fixture, restarted, started } from './fixture.ts';

const GROUP = DIALECT.spell('apiregistration.@group');
const API_SERVICES = `${GROUP}/apiservices`;
const DEFINITIONS = DIALECT.spell('apiextensions.@group/customresourcedefinitions');
const LABEL = DIALECT.spell('@short-aggregator.@label/automanaged');
const WITH_GROUPS = { apiGroups: createRegistry(DIALECT).groups() };

const names = (f: Fixture): string[] => f.cluster.names(API_SERVICES);
const get = (f: Fixture, name: string) => f.cluster.get(API_SERVICES, '', name);

function define(cluster: Cluster, served: Readonly<Record<string, boolean>>): void {
  const versions = Object.entries(served).map(([name, isServed], index) => ({
    name,
    served: isServed,
    storage: index === 0,
    schema: { openAPIV3Schema: { type: 'object' } },
  }));
  const kind = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
  cluster.put(DEFINITIONS, {
    apiVersion: DIALECT.spell('apiextensions.@group/v1'),
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.x.test' },
    spec: { group: 'x.test', scope: 'Cluster', names: kind, versions },
  });
}

test('every built-in group and version that is served is registered at the start, but the group of APIServices itself', async (t) => {
  const f = await started(WITH_GROUPS);
  const groups = WITH_GROUPS.apiGroups.filter(({ name }) => name !== GROUP);
  t.deepEqual(names(f).sort(), groups.flatMap(({ name, versions }) => versions.map((one) => `${one}.${name}`)).sort());
  t.like(get(f, 'v1.apps'), {
    metadata: { labels: { [LABEL]: 'onstart' } },
    spec: { group: 'apps', version: 'v1', groupPriorityMinimum: 17800, versionPriority: 15 },
  });
  t.like(get(f, 'v1.'), { spec: { version: 'v1', groupPriorityMinimum: 18000, versionPriority: 1 } });
  t.true(f.hooks().every(({ done }) => done));
});

test('what an operator makes of a built-in registration holds until the next start, which sets it right', async (t) => {
  const f = await started(WITH_GROUPS);
  const stored = get(f, 'v1.apps')!;
  f.cluster.put(API_SERVICES, { ...stored, spec: { ...(stored.spec as object), versionPriority: 99 } });
  f.cluster.delete(API_SERVICES, '', 'v1.batch');
  await f.time.settle();
  t.like(get(f, 'v1.apps'), { spec: { versionPriority: 99 } });
  t.is(get(f, 'v1.batch'), undefined);
  const g = await restarted(f, WITH_GROUPS);
  t.like(get(g, 'v1.apps'), { spec: { versionPriority: 15 } });
  t.truthy(get(g, 'v1.batch'));
});

test('a registration without the label is left alone', async (t) => {
  const mine = { service: { namespace: 'default', name: 'mine', port: 443 } };
  const f = await started(WITH_GROUPS, (cluster) =>
    cluster.put(API_SERVICES, {
      apiVersion: `${GROUP}/v1`,
      kind: 'APIService',
      metadata: { name: 'v1.apps' },
      spec: { group: 'apps', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, ...mine },
    }),
  );
  t.like(get(f, 'v1.apps'), { spec: { groupPriorityMinimum: 1 } });
  t.true(f.hooks().every(({ done }) => done));
});

test('versions that definitions serve are registered as long as they do', async (t) => {
  const f = await started({}, (cluster) => define(cluster, { v1: true, v2: false }));
  t.deepEqual(names(f), ['v1.x.test']);
  t.like(get(f, 'v1.x.test'), {
    metadata: { labels: { [LABEL]: 'true' } },
    spec: { group: 'x.test', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 },
  });
  define(f.cluster, { v1: false, v2: true });
  await f.time.settle();
  t.deepEqual(names(f), ['v2.x.test']);
  f.cluster.delete(API_SERVICES, '', 'v2.x.test');
  await f.time.settle();
  t.deepEqual(names(f), ['v2.x.test'], 'made again');
  f.cluster.delete(DEFINITIONS, '', 'things.x.test');
  await f.time.settle();
  t.deepEqual(names(f), []);
});

test('what this server answers for itself can always be reached', async (t) => {
  const f = await started(WITH_GROUPS);
  t.like(get(f, 'v1.apps'), {
    status: {
      conditions: [
        { type: 'Available', status: 'True', reason: 'Local', message: 'Local APIServices are always available' },
      ],
    },
  });
});
