// The resource quota controller: what quotas promise and what is used of them, as objects come and go.
import test from 'ava';
import type { RemoteListing } from '../../../api/aggregation/remote-object.ts';
import { DIALECT, type Fixture, objectOf, started, thingsElsewhere } from './fixture.ts';
import type { Loose } from './stored.ts';

const QUOTAS = 'core/resourcequotas';

const putQuota = ({ cluster }: Pick<Fixture, 'cluster'>, spec: Loose): void =>
  void cluster.put(QUOTAS, objectOf('ResourceQuota', 'default', 'q', { spec }));
const putPod = ({ cluster }: Pick<Fixture, 'cluster'>, name: string, status: Loose = {}): void =>
  void cluster.put(
    'core/pods',
    objectOf('Pod', 'default', name, { spec: { containers: [{ resources: { requests: { cpu: '500m' } } }] }, status }),
  );
const lastStatus = (f: Fixture): unknown =>
  (f.writesOf('update resourcequotas/status').at(-1)?.body as { status?: unknown } | undefined)?.status;

test('a new quota is told what it promises, and what is used already', async (t) => {
  const f = await started({}, (cluster) => {
    putPod({ cluster }, 'a');
    putPod({ cluster }, 'b', { phase: 'Succeeded' });
    cluster.put('core/configmaps', objectOf('ConfigMap', 'default', 'c', {}));
  });
  const hard = { pods: '5', 'requests.cpu': '2', 'count/pods': '9', 'count/deployments.apps': '1', secrets: '3' };
  putQuota(f, { hard });
  await f.time.advance(10);
  const used = { pods: '1', 'requests.cpu': '500m', 'count/pods': '2', 'count/deployments.apps': '0', secrets: '0' };
  t.deepEqual(lastStatus(f), { hard, used });
});

test('what ends or goes is given back', async (t) => {
  const f = await started({}, (cluster) => {
    putPod({ cluster }, 'a');
    putPod({ cluster }, 'b');
    putQuota({ cluster }, { hard: { pods: '5' } });
  });
  await f.time.advance(10);
  t.deepEqual(lastStatus(f), { hard: { pods: '5' }, used: { pods: '2' } });
  putPod(f, 'a', { phase: 'Failed' });
  await f.time.advance(10);
  t.deepEqual(lastStatus(f), { hard: { pods: '5' }, used: { pods: '1' } });
  f.cluster.remove('core/pods', 'default', 'b');
  await f.time.advance(10);
  t.deepEqual(lastStatus(f), { hard: { pods: '5' }, used: { pods: '0' } });
});

test('a quota goes on being counted when another of its namespace has gone', async (t) => {
  const f = await started({}, (cluster) => {
    putPod({ cluster }, 'a');
    putQuota({ cluster }, { hard: { pods: '5' } });
    cluster.put(QUOTAS, objectOf('ResourceQuota', 'default', 'other', { spec: { hard: { pods: '7' } } }));
  });
  await f.time.advance(10);
  f.cluster.remove(QUOTAS, 'default', 'other');
  f.cluster.remove('core/pods', 'default', 'a');
  await f.time.advance(10);
  t.deepEqual(lastStatus(f), { hard: { pods: '5' }, used: { pods: '0' } });
});

test('pods are parsed for quotas in namespaces that have one, and once each', async (t) => {
  const f = await started({}, (cluster) => {
    for (let i = 0; i < 450; i += 1) putPod({ cluster }, `p${i}`);
    cluster.put('core/pods', objectOf('Pod', 'other', 'p', { spec: { containers: [{}] } }));
  });
  const before = f.cluster.parsed.get('core/pods') ?? 0;
  putQuota(f, { hard: { pods: '500', 'requests.cpu': '500' } });
  await f.time.advance(100);
  t.deepEqual((lastStatus(f) as { used?: unknown }).used, { pods: '450', 'requests.cpu': '225' });
  t.is(f.cluster.parsed.get('core/pods'), before + 450);
});

test('what changes while a namespace is counted is counted as it is then', async (t) => {
  const f = await started({}, (cluster) => {
    for (let i = 0; i < 450; i += 1) putPod({ cluster }, `p${i}`);
  });
  putQuota(f, { hard: { pods: '500' } });
  await f.time.settle();
  f.cluster.remove('core/pods', 'default', 'p449');
  f.cluster.remove('core/pods', 'default', 'p0');
  putPod(f, 'p448', { phase: 'Failed' });
  putPod(f, 'p1', { phase: 'Failed' });
  putPod(f, 'new');
  await f.time.advance(100);
  t.deepEqual((lastStatus(f) as { used?: unknown }).used, { pods: '447' });
});

test('a quota that is made again is counted again', async (t) => {
  const f = await started({}, (cluster) => {
    putPod({ cluster }, 'a');
    putQuota({ cluster }, { hard: { pods: '5' } });
  });
  await f.time.advance(10);
  f.cluster.remove(QUOTAS, 'default', 'q');
  await f.time.advance(10);
  const before = f.cluster.parsed.get('core/pods');
  putPod(f, 'a', { phase: 'Failed' });
  putPod(f, 'b');
  putPod(f, 'c');
  await f.time.advance(10);
  putQuota(f, { hard: { pods: '5' } });
  await f.time.advance(10);
  t.deepEqual(lastStatus(f), { hard: { pods: '5' }, used: { pods: '2' } });
  t.true(f.cluster.parsed.get('core/pods')! > before!);
});

test('a quota with scopes is told of its pods only', async (t) => {
  const f = await started({}, (cluster) => {
    putPod({ cluster }, 'a');
    putQuota({ cluster }, { hard: { pods: '5' }, scopes: ['BestEffort'] });
  });
  await f.time.advance(10);
  t.deepEqual(lastStatus(f), { hard: { pods: '5' }, used: { pods: '0' } });
});

test('pods that admission has charged for are read when they change, not when they come', async (t) => {
  const hard = { pods: '9', 'requests.cpu': '9' };
  const f = await started({}, (cluster) => {
    putPod({ cluster }, 'a');
    putQuota({ cluster }, { hard });
  });
  await f.time.advance(10);
  const before = f.cluster.parsed.get('core/pods')!;
  const used = { pods: '3', 'requests.cpu': '1500m' };
  f.cluster.put(QUOTAS, objectOf('ResourceQuota', 'default', 'q', { spec: { hard }, status: { hard, used } }));
  putPod(f, 'b');
  putPod(f, 'c');
  await f.time.advance(10);
  t.is(f.cluster.parsed.get('core/pods'), before);
  putPod(f, 'b', { phase: 'Failed' });
  await f.time.advance(10);
  t.deepEqual(lastStatus(f), { hard, used: { pods: '2', 'requests.cpu': '1' } });
});

test('pods that nobody has charged for are counted when they come', async (t) => {
  const f = await started({}, (cluster) => {
    putQuota({ cluster }, { hard: { pods: '9', 'requests.cpu': '9' } });
  });
  await f.time.advance(10);
  putPod(f, 'a');
  putPod(f, 'b');
  await f.time.advance(10);
  t.deepEqual((lastStatus(f) as { used?: unknown }).used, { pods: '2', 'requests.cpu': '1' });
});

test('what was charged for and never came is given back', async (t) => {
  const hard = { 'count/pods': '9', 'requests.cpu': '9' };
  const f = await started({}, (cluster) => {
    putQuota({ cluster }, { hard });
  });
  await f.time.advance(10);
  const used = { 'count/pods': '2', 'requests.cpu': '1' };
  f.cluster.put(QUOTAS, objectOf('ResourceQuota', 'default', 'q', { spec: { hard }, status: { hard, used } }));
  putPod(f, 'a');
  await f.time.advance(10);
  t.deepEqual(lastStatus(f), { hard, used: { 'count/pods': '1', 'requests.cpu': '500m' } });
});

for (const [how, byMs] of [
  ['', 0],
  [', also where the clock is set back meanwhile', -3_600_000],
] as const) {
  test(`what admission has charged wrongly is found with the next resync${how}`, async (t) => {
    const hard = { pods: '9', 'requests.cpu': '9' };
    const f = await started({}, (cluster) => {
      putQuota({ cluster }, { hard });
    });
    await f.time.advance(10);
    const used = { pods: '1', 'requests.cpu': '7' };
    f.cluster.put(QUOTAS, objectOf('ResourceQuota', 'default', 'q', { spec: { hard }, status: { hard, used } }));
    putPod(f, 'a');
    f.cluster.time.setWall(byMs);
    await f.time.advance(10 * 60_000);
    t.deepEqual(lastStatus(f), { hard, used: { pods: '1', 'requests.cpu': '500m' } });
  });
}

test('a quota without a count of pods has what comes read', async (t) => {
  const hard = { 'requests.cpu': '9' };
  const f = await started({}, (cluster) => {
    putQuota({ cluster }, { hard });
  });
  await f.time.advance(10);
  const used = { 'requests.cpu': '7' };
  f.cluster.put(QUOTAS, objectOf('ResourceQuota', 'default', 'q', { spec: { hard }, status: { hard, used } }));
  putPod(f, 'a');
  await f.time.advance(10);
  t.deepEqual(lastStatus(f), { hard, used: { 'requests.cpu': '500m' } });
});

const DEFINITIONS = DIALECT.spell('apiextensions.@group/customresourcedefinitions');

/** Things of `x.test` are served from now on. */
function define({ cluster }: Pick<Fixture, 'cluster'>): void {
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }];
  cluster.put(DEFINITIONS, {
    apiVersion: DIALECT.spell('apiextensions.@group/v1'),
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.x.test' },
    spec: { group: 'x.test', scope: 'Namespaced', names, versions },
    status: { acceptedNames: names, conditions: [{ type: 'Established', status: 'True' }] },
  });
}

test('objects of a custom type are counted from when it is served, and not where nobody serves it any more', async (t) => {
  const hard = { 'count/things.x.test': '3' };
  const f = await started({}, (cluster) => putQuota({ cluster }, { hard }));
  await f.time.advance(10);
  t.deepEqual(lastStatus(f), { hard, used: {} });
  define(f);
  await f.time.advance(10);
  t.deepEqual(lastStatus(f), { hard, used: { 'count/things.x.test': '0' } });
  const thing = { apiVersion: 'x.test/v1', kind: 'Thing', metadata: { name: 'a', namespace: 'default' } };
  f.cluster.put('x.test/things', thing);
  await f.time.advance(10);
  t.deepEqual(lastStatus(f), { hard, used: { 'count/things.x.test': '1' } });
  f.cluster.remove('x.test/things', 'default', 'a');
  f.cluster.remove(DEFINITIONS, '', 'things.x.test');
  await f.time.advance(10 * 60_000);
  t.deepEqual(lastStatus(f), { hard, used: {} });
});

test('objects that are told of before their type are counted', async (t) => {
  const hard = { 'count/things.x.test': '3' };
  const f = await started({}, (cluster) => {
    const thing = { apiVersion: 'x.test/v1', kind: 'Thing', metadata: { name: 'a', namespace: 'default' } };
    cluster.put('x.test/things', thing);
    putQuota({ cluster }, { hard });
    define({ cluster });
  });
  await f.time.advance(10);
  t.deepEqual(lastStatus(f), { hard, used: { 'count/things.x.test': '1' } });
});

test('a pod whose agent does not end it counts to the end of its grace, though nothing happens to it then', async (t) => {
  const f = await started({}, (cluster) => putQuota({ cluster }, { hard: { pods: '5' } }));
  const ending = { deletionTimestamp: new Date(f.cluster.time.nowMs()).toISOString(), deletionGracePeriodSeconds: 30 };
  const metadata = { name: 'a', namespace: 'default', uid: 'a', ...ending };
  f.cluster.put('core/pods', objectOf('Pod', 'default', 'a', { metadata, spec: { containers: [{}] } }));
  await f.time.advance(29_000);
  t.deepEqual(lastStatus(f), { hard: { pods: '5' }, used: { pods: '1' } });
  await f.time.advance(2_000);
  t.deepEqual(lastStatus(f), { hard: { pods: '5' }, used: { pods: '0' } });
});

test('objects that are only counted are not, where a quota is for some pods', async (t) => {
  const hard = { pods: '5', 'count/configmaps': '5' };
  const f = await started({}, (cluster) => {
    cluster.put('core/configmaps', objectOf('ConfigMap', 'default', 'c', {}));
    putQuota({ cluster }, { hard, scopes: ['BestEffort'] });
  });
  await f.time.advance(10);
  t.deepEqual(lastStatus(f), { hard, used: { pods: '0', 'count/configmaps': '0' } });
});

/** What an extension server says that it has of things, by namespace. */
function things(byNamespace: Readonly<Record<string, number>>): RemoteListing {
  const type = { group: 'things.test', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true };
  const counts = [{ group: type.group, plural: type.plural, byNamespace: Object.entries(byNamespace) }];
  return { objects: [], counts, types: [type], isWhole: true };
}

const OF_THINGS = { 'count/things.things.test': '3', 'count/others.things.test': '3' };

for (const [who, running] of [
  ['', undefined],
  [', with nobody else who lists them', ['resourcequota'] as const],
] as const)
  test(`objects of another server are counted as they were listed last${who}`, async (t) => {
    const f = await started(running === undefined ? {} : { running });
    let listed = 0;
    f.onListRemotes(() => {
      listed += 1;
      return things(listed < 3 ? { default: 2, shop: 5 } : { shop: 5 });
    });
    thingsElsewhere(f.cluster);
    putQuota(f, { hard: OF_THINGS });
    await f.time.advance(10);
    t.deepEqual(lastStatus(f), { hard: OF_THINGS, used: { 'count/things.things.test': '2' } });
    const writes = f.writesOf('update resourcequotas/status').length;
    await f.time.advance(3 * 60_000);
    t.deepEqual(lastStatus(f), { hard: OF_THINGS, used: { 'count/things.things.test': '0' } });
    t.is(f.writesOf('update resourcequotas/status').length, writes + 1);
    t.true(listed >= 6 && listed <= 9, String(listed));
  });

test('what a quota was told of another server holds while that does not answer', async (t) => {
  const status = { hard: OF_THINGS, used: { 'count/things.things.test': '2', 'count/gone.elsewhere.test': '1' } };
  const f = await started({}, (cluster) => {
    thingsElsewhere(cluster);
    cluster.put('core/configmaps', objectOf('ConfigMap', 'default', 'c', {}));
    const hard = { ...OF_THINGS, configmaps: '4' };
    cluster.put(QUOTAS, objectOf('ResourceQuota', 'default', 'q', { spec: { hard }, status }));
  });
  f.onListRemotes(() => Promise.reject(new Error('nobody can')));
  await f.time.advance(60_000);
  t.deepEqual(lastStatus(f), {
    hard: { ...OF_THINGS, configmaps: '4' },
    used: { 'count/things.things.test': '2', configmaps: '1' },
  });
});

test('where no quota limits what another server has, quotas have nobody asked for it', async (t) => {
  const f = await started({ running: ['resourcequota'] });
  let listed = 0;
  f.onListRemotes(() => {
    listed += 1;
    return things({ default: 2 });
  });
  thingsElsewhere(f.cluster);
  putQuota(f, { hard: { configmaps: '4' } });
  await f.time.advance(60_000);
  t.is(listed, 0);
  putQuota(f, { hard: OF_THINGS });
  await f.time.advance(10);
  t.deepEqual(lastStatus(f), { hard: OF_THINGS, used: { 'count/things.things.test': '2' } });
  f.cluster.remove(QUOTAS, 'default', 'q');
  await f.time.advance(10 * 60_000);
  t.is(listed, 1);
});

test('who makes a quota of what another server has is soon told what there is, and not only with the next listing', async (t) => {
  const f = await started();
  let [count, listed] = [2, 0];
  f.onListRemotes(() => {
    listed += 1;
    return things({ default: count });
  });
  thingsElsewhere(f.cluster);
  await f.time.advance(100);
  t.is(listed, 1);
  count = 4;
  putQuota(f, { hard: OF_THINGS });
  await f.time.advance(2_000);
  t.deepEqual(lastStatus(f), { hard: OF_THINGS, used: { 'count/things.things.test': '4' } });
  t.is(listed, 2);
  // A status that is written limits nothing anew.
  const status = lastStatus(f) as Loose;
  f.cluster.put(QUOTAS, objectOf('ResourceQuota', 'default', 'q', { spec: { hard: OF_THINGS }, status }));
  await f.time.advance(5_000);
  t.is(listed, 2);
});
