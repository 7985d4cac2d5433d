// Aggregated cluster roles: their rules are those of the roles that their selectors match, and follow them.
import test from 'ava';
import type { Cluster } from './cluster.ts';
import { DIALECT, type Fixture, started } from './fixture.ts';
import type { Loose } from './stored.ts';

const GROUP = DIALECT.spell('rbac.authorization.@group');
const ROLES = `${GROUP}/clusterroles`;

const rule = (resource: string): Loose => ({ apiGroups: [''], resources: [resource], verbs: ['get'] });

interface Role {
  readonly labels?: Record<string, string>;
  readonly reads?: readonly string[];
  /** Labels of roles that it sums up: any of these. */
  readonly sums?: readonly Record<string, string>[];
}

function put(cluster: Cluster, name: string, { labels = {}, reads = [], sums }: Role): void {
  cluster.put(ROLES, {
    apiVersion: `${GROUP}/v1`,
    kind: 'ClusterRole',
    metadata: { name, labels },
    rules: reads.map(rule),
    ...(sums === undefined
      ? {}
      : { aggregationRule: { clusterRoleSelectors: sums.map((matchLabels) => ({ matchLabels })) } }),
  });
}

function readBy(f: Fixture, name: string): string[] {
  const rules = (f.cluster.get(ROLES, '', name)?.rules ?? []) as { resources: string[] }[];
  return rules.flatMap(({ resources }) => resources);
}

/** `sum` has the roles of tier a or b; `other` is of neither. */
function populate(cluster: Cluster): void {
  put(cluster, 'sum', { sums: [{ tier: 'a' }, { tier: 'b' }], labels: { tier: 'a' }, reads: ['stale'] });
  put(cluster, 'one', { labels: { tier: 'a' }, reads: ['pods', 'secrets'] });
  put(cluster, 'two', { labels: { tier: 'b' }, reads: ['secrets', 'nodes'] });
  put(cluster, 'other', { labels: { tier: 'c' }, reads: ['events'] });
}

test('a sum has each rule of the roles it selects once, in the order of their names, and none of its own', async (t) => {
  const f = await started({}, populate);
  t.deepEqual(readBy(f, 'sum'), ['pods', 'secrets', 'nodes']);
  t.deepEqual(readBy(f, 'other'), ['events']);
  t.is(f.writesOf('update clusterroles').length, 1);
});

test('what an earlier selector selects comes first, as in Kubernetes', async (t) => {
  const f = await started({}, (cluster) => {
    put(cluster, 'sum', { sums: [{ tier: 'b' }, { tier: 'a' }] });
    put(cluster, 'one', { labels: { tier: 'a' }, reads: ['pods'] });
    put(cluster, 'two', { labels: { tier: 'b' }, reads: ['nodes'] });
  });
  t.deepEqual(readBy(f, 'sum'), ['nodes', 'pods']);
});

test('a sum follows the roles it selects, as they come, change and go', async (t) => {
  const f = await started({}, populate);
  put(f.cluster, 'other', { labels: { tier: 'b' }, reads: ['events'] });
  await f.time.settle();
  t.deepEqual(readBy(f, 'sum'), ['pods', 'secrets', 'events', 'nodes']);
  f.cluster.delete(ROLES, '', 'one');
  await f.time.settle();
  t.deepEqual(readBy(f, 'sum'), ['events', 'secrets', 'nodes']);
  put(f.cluster, 'two', { labels: {}, reads: ['secrets', 'nodes'] });
  await f.time.settle();
  t.deepEqual(readBy(f, 'sum'), ['events']);
});

test('a role that sums nothing up is left alone, and a sum that is right is not written', async (t) => {
  const f = await started({}, (cluster) => {
    put(cluster, 'sum', { sums: [{ tier: 'a' }], reads: ['pods'] });
    put(cluster, 'one', { labels: { tier: 'a' }, reads: ['pods'] });
    put(cluster, 'plain', { reads: ['nodes'] });
  });
  t.is(f.writesOf('update clusterroles').length, 0);
  t.deepEqual(readBy(f, 'plain'), ['nodes']);
});

test('a sum is written in the name of its account', async (t) => {
  const f = await started({}, populate);
  const [write] = f.writesOf('update clusterroles');
  t.like(write?.request.user, { name: 'system:serviceaccount:orch-system:clusterrole-aggregation-controller' });
});

test('a sum that is in no circle is set right at once, however often that is', async (t) => {
  const f = await started({}, (cluster) => {
    populate(cluster);
    put(cluster, 'itself', { labels: { tier: 'e' }, sums: [{ tier: 'e' }, { tier: 'b' }] });
  });
  for (let i = 0; i < 8; i++) {
    put(f.cluster, 'two', { labels: { tier: 'b' }, reads: [`r${i}`] });
    await f.time.settle();
    t.deepEqual(readBy(f, 'sum'), ['pods', 'secrets', `r${i}`]);
    t.deepEqual(readBy(f, 'itself'), [`r${i}`]);
  }
});

test('a role that sums nothing up any more keeps the rules that it has', async (t) => {
  const f = await started({}, populate);
  put(f.cluster, 'sum', { labels: { tier: 'a' }, reads: ['own'] });
  await f.time.settle();
  put(f.cluster, 'two', { labels: { tier: 'b' }, reads: ['others'] });
  await f.time.settle();
  t.deepEqual(readBy(f, 'sum'), ['own']);
});

test('sums that sum each other up in a circle do not chase each other all the time', async (t) => {
  const f = await started({});
  f.cluster.writes.length = 0;
  put(f.cluster, 'first', { labels: { of: 'third' }, sums: [{ of: 'first' }], reads: ['pods'] });
  put(f.cluster, 'second', { labels: { of: 'first' }, sums: [{ of: 'second' }], reads: ['nodes'] });
  put(f.cluster, 'third', { labels: { of: 'second' }, sums: [{ of: 'third' }], reads: ['secrets'] });
  await f.time.advance(60_000);
  const { length } = f.writesOf('update clusterroles');
  t.true(length < 60, String(length));
});
