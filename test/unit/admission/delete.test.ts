import test from 'ava';
import type { PluginCall } from '../../../actors/admission/attributes.ts';
import type { AdmissionPluginKind } from '../../../actors/admission/plugins/plugin.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import type { AdmissionPluginName } from '../../../config/admission-plugins.ts';
import { AdmissionWorld, type Answer, refusal } from './admission-world.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const A = `${CONFIG_MAPS}/a`;
const PODS = '/api/v1/namespaces/default/pods';

function pod(name: string, nodeName: string, more: object = {}): object {
  const spec = { containers: [{ name: 'c', image: 'i' }], ...(nodeName === '' ? {} : { nodeName }), ...more };
  return { metadata: { name }, spec };
}

test('a DELETE removes the object and answers with a Status that names it', async (t) => {
  const world = await AdmissionWorld.start();
  const { metadata } = await world.created(CONFIG_MAPS, { metadata: { name: 'a' } });
  const answer = await world.write('delete', A);
  t.is(answer.code, 200);
  t.deepEqual(answer.body, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name: 'a', kind: 'configmaps', uid: metadata.uid! },
  } as unknown as Answer);
  t.is(await world.stored(A), undefined);
  const again = await world.write('delete', A);
  t.deepEqual(refusal(again), {
    kind: 'Status',
    code: 404,
    reason: 'NotFound',
    details: { name: 'a', kind: 'configmaps' },
  });
  await world.stop();
});

test("the system's own priority classes stay", async (t) => {
  const world = await AdmissionWorld.start();
  const classes = '/apis/scheduling.orch.io/v1/priorityclasses';
  await world.created(classes, { metadata: { name: 'system-node-critical' }, value: 2_000_001_000 });
  await world.created(classes, { metadata: { name: 'mine' }, value: 1 });
  const answer = await world.write('delete', `${classes}/system-node-critical`);
  t.is(answer.code, 403);
  t.is(
    answer.body.message,
    'priorityclasses.scheduling.orch.io "system-node-critical" is forbidden: ' +
      'this is a system priority class and cannot be deleted',
  );
  t.is((await world.write('delete', `${classes}/mine`)).code, 200);
  await world.stop();
});

test('some types answer a DELETE with the object that was', async (t) => {
  // A volume with its finalizer would wait for a controller.
  const world = await AdmissionWorld.start({ args: ['--disable-admission-plugins=StorageObjectInUseProtection'] });
  const volumes = '/api/v1/persistentvolumes';
  const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp/x' } };
  await world.created(volumes, { metadata: { name: 'v' }, spec });
  const answer = await world.write('delete', `${volumes}/v`);
  t.deepEqual([answer.code, answer.body.kind, answer.body.metadata.name], [200, 'PersistentVolume', 'v']);
  t.is(await world.stored(`${volumes}/v`), undefined);
  await world.stop();
});

test('an object with finalizers waits for them, and a second DELETE changes nothing', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(CONFIG_MAPS, { metadata: { name: 'a', finalizers: ['x.io/a'] } });
  const first = await world.write('delete', A);
  t.is(first.code, 200);
  t.is(first.body.kind, 'ConfigMap');
  t.is(first.body.metadata.deletionTimestamp, first.body.metadata.creationTimestamp);
  t.is(first.body.metadata.deletionGracePeriodSeconds, 0);
  t.deepEqual(await world.stored(A), first.body);
  await world.simulation.time.advance(5000);
  const second = await world.write('delete', A);
  t.is(second.code, 200);
  t.deepEqual(second.body, first.body);
  await world.stop();
});

test('a deletion that has only begun is 202 to those who ask by orphanDependents=false', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(CONFIG_MAPS, { metadata: { name: 'a', finalizers: ['x.io/a'] } });
  await world.created(CONFIG_MAPS, { metadata: { name: 'b' } });
  const parameters = { orphanDependents: 'false' };
  t.is((await world.write('delete', A, { parameters })).code, 202);
  t.is((await world.write('delete', A, { parameters })).code, 202);
  t.is((await world.write('delete', A)).code, 200);
  t.is((await world.write('delete', `${CONFIG_MAPS}/b`, { parameters })).code, 200);
  await world.stop();
});

test('a pod on a node is given its time to end, which can only be made shorter', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(PODS, pod('p', 'n1', { terminationGracePeriodSeconds: 40 }));
  const path = `${PODS}/p`;
  const nowMs = world.simulation.time.nowMs();
  const at = (seconds: number): string => new Date(nowMs + seconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
  const seen = async (parameters: Record<string, string> = {}) => {
    const { code, body } = await world.write('delete', path, { parameters });
    return [code, body.metadata?.deletionTimestamp, body.metadata?.deletionGracePeriodSeconds];
  };
  t.deepEqual(await seen(), [200, at(40), 40]);
  t.deepEqual(await seen(), [200, at(40), 40]);
  t.deepEqual(await seen({ gracePeriodSeconds: '60' }), [200, at(40), 40]);
  t.deepEqual(await seen({ gracePeriodSeconds: '10' }), [200, at(10), 10]);
  const last = await world.write('delete', path, { parameters: { gracePeriodSeconds: '0' } });
  t.is(last.code, 200);
  t.is(await world.stored(path), undefined);
  await world.stop();
});

test('a pod that has nothing to end is removed at once', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(PODS, pod('unbound', ''));
  await world.created(PODS, pod('done', 'n1'));
  await world.write('patch', `${PODS}/done/status`, { body: { status: { phase: 'Succeeded' } } });
  await world.created(PODS, pod('now', 'n1'));
  for (const [name, body] of [
    ['unbound', undefined],
    ['done', undefined],
    ['now', { gracePeriodSeconds: 0 }],
  ] as const) {
    const before = await world.revision();
    const answer = await world.write('delete', `${PODS}/${name}`, body && { body });
    t.is(answer.code, 200);
    t.truthy(answer.body.metadata.deletionTimestamp);
    t.is(answer.body.metadata.deletionGracePeriodSeconds, 0);
    // Who watches is told that it ends, and then that it has ended, in one commit.
    t.is(answer.body.metadata.resourceVersion, String(before + 1));
    t.is(await world.revision(), before + 2);
  }
  for (const name of ['unbound', 'done', 'now']) t.is(await world.stored(`${PODS}/${name}`), undefined);
  await world.stop();
});

test('plugins are shown the object that a DELETE is about, and only those that ask have it parsed', async (t) => {
  const seen: unknown[] = [];
  const plugin = (name: AdmissionPluginName, validate: PluginCall): AdmissionPluginKind => ({
    name,
    wants: [{ operations: ['delete'], resources: ['core/configmaps'] }],
    create: () => ({ validate }),
  });
  const world = await AdmissionWorld.start({
    plugins: [
      plugin('AlwaysAdmit', async () => {}),
      plugin('AlwaysPullImages', ({ old, object }) => void seen.push(old?.data, object)),
    ],
  });
  await world.created(CONFIG_MAPS, { metadata: { name: 'a' }, data: { a: 'b' } });
  t.is((await world.write('delete', A)).code, 200);
  t.deepEqual(seen, [{ a: 'b' }, {}]);
  await world.stop();
});

test('plugins are not asked again about an end that is under way, unless a DELETE hastens it', async (t) => {
  const asked: string[] = [];
  const keeper: AdmissionPluginKind = {
    name: 'AlwaysAdmit',
    wants: [{ operations: ['delete'], resources: ['core/pods', 'core/namespaces', 'core/configmaps'] }],
    create: () => ({ validate: ({ asked: { name }, old }) => void asked.push(name || metadataOf(old ?? {}).name!) }),
  };
  const world = await AdmissionWorld.start({ plugins: [keeper], namespaces: ['ns'] });
  await world.created(PODS, pod('p', 'n1'));
  await world.created(CONFIG_MAPS, { metadata: { name: 'a', finalizers: ['example.org/f'] } });
  const deleted = async (verb: 'delete' | 'deletecollection', path: string, gracePeriodSeconds?: string) => {
    asked.length = 0;
    const parameters = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
    t.is((await world.write(verb, path, { parameters })).code, 200);
    return [...asked];
  };
  t.deepEqual(await deleted('delete', `${PODS}/p`), ['p']);
  t.deepEqual(await deleted('delete', `${PODS}/p`), []);
  t.deepEqual(await deleted('deletecollection', PODS), []);
  t.deepEqual(await deleted('delete', `${PODS}/p`, '60'), []);
  t.deepEqual(await deleted('delete', `${PODS}/p`, '10'), ['p']);
  t.deepEqual(await deleted('delete', `${PODS}/p`, '0'), ['p']);
  t.deepEqual(await deleted('delete', '/api/v1/namespaces/ns'), ['ns']);
  t.deepEqual(await deleted('delete', '/api/v1/namespaces/ns'), []);
  // Finalizers are all that it waits for.
  for (let again = 0; again < 3; again++) t.deepEqual(await deleted('delete', A), ['a']);
  await world.stop();
});

test('preconditions keep a DELETE from another object than the one that was meant', async (t) => {
  const world = await AdmissionWorld.start();
  const { metadata } = await world.created(CONFIG_MAPS, { metadata: { name: 'a' } });
  const { uid, resourceVersion } = metadata;
  const deleteIf = (preconditions: object) =>
    world.write('delete', A, { body: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions } });
  for (const preconditions of [{ uid: 'x' }, { resourceVersion: '1' }, { uid, resourceVersion: '1' }]) {
    const answer = await deleteIf(preconditions);
    t.deepEqual(refusal(answer), {
      kind: 'Status',
      code: 409,
      reason: 'Conflict',
      details: { name: 'a', kind: 'ConfigMap' },
    });
  }
  // It changes between the look at it and its removal: the version no longer holds, the uid does.
  world.gate.beforeCommit = () => world.soon('patch', A, { body: { data: { k: 'v' } } });
  t.is((await deleteIf({ resourceVersion })).code, 409);
  t.truthy(await world.stored(A));
  world.gate.beforeCommit = () => world.soon('patch', A, { body: { data: { k: 'w' } } });
  t.is((await deleteIf({ uid })).code, 200);
  t.is(await world.stored(A), undefined);
  await world.stop();
});

test('options of a DELETE that cannot be are refused', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(CONFIG_MAPS, { metadata: { name: 'a' } });
  const cases: readonly (readonly [request: Parameters<AdmissionWorld['write']>[2], code: number])[] = [
    [{ parameters: { propagationPolicy: 'Sideways' } }, 422],
    [{ parameters: { propagationPolicy: 'Orphan', orphanDependents: 'true' } }, 422],
    [{ parameters: { dryRun: ['Some'] } }, 422],
    [{ parameters: { gracePeriodSeconds: 'soon' } }, 400],
    [{ parameters: { gracePeriodSeconds: '' } }, 400],
    [{ body: { gracePeriodSeconds: 1.5 } }, 400],
    [{ body: { kind: 'ConfigMap' } }, 400],
    [{ body: { kind: { toString: 1 } } }, 400],
    [{ body: { dryRun: 'All' } }, 400],
    [{ body: { dryRun: [{ toString: 1 }] } }, 400],
    [{ body: { propagationPolicy: 1 } }, 400],
    [{ body: { preconditions: { uid: 1 } } }, 400],
    [{ body: '[]' }, 400],
    [{ body: '{' }, 400],
    [{ body: { propagationPolicy: 'Sideways' } }, 422],
  ];
  for (const [request, code] of cases) {
    const answer = await world.write('delete', A, request);
    t.is(answer.code, code, JSON.stringify(request));
    t.is(answer.body.kind, 'Status');
  }
  t.truthy(await world.stored(A));
  t.is((await world.write('delete', A, { body: 'null' })).code, 200, 'a null says nothing');
  await world.stop();
});

test('a dry run of a DELETE says what it would do, and does nothing', async (t) => {
  const world = await AdmissionWorld.start();
  const created = await world.created(CONFIG_MAPS, { metadata: { name: 'a' } });
  const before = await world.revision();
  for (const request of [{ parameters: { dryRun: ['All'] } }, { body: { dryRun: ['All'] } }]) {
    const answer = await world.write('delete', A, request);
    t.deepEqual([answer.code, answer.body.kind, answer.body.status], [200, 'Status', 'Success']);
  }
  t.is((await world.write('delete', `${CONFIG_MAPS}/none`, { parameters: { dryRun: ['All'] } })).code, 404);
  t.is(await world.revision(), before);
  t.deepEqual(await world.stored(A), created);
  await world.stop();
});

test('a namespace goes in steps: marked, emptied by whoever does that, finalized, gone', async (t) => {
  const world = await AdmissionWorld.start({ namespaces: ['ns'] });
  const path = '/api/v1/namespaces/ns';
  const first = await world.write('delete', path);
  t.is(first.code, 200);
  t.deepEqual(first.body.status, { phase: 'Terminating' });
  t.truthy(first.body.metadata.deletionTimestamp);
  const second = await world.write('delete', path);
  t.deepEqual([second.code, second.body], [200, first.body]);
  // Its spec.finalizers hold it, whatever is patched.
  t.is((await world.write('patch', path, { body: { spec: { finalizers: [] } } })).code, 200);
  t.truthy(await world.stored(path));
  const finalize = await world.write('update', `${path}/finalize`, { body: { metadata: { name: 'ns' }, spec: {} } });
  t.is(finalize.code, 200);
  t.is(await world.stored(path), undefined);
  await world.stop();
});

test('a namespace with finalizers of its own outlives those of its spec', async (t) => {
  const world = await AdmissionWorld.start({ namespaces: [] });
  const path = '/api/v1/namespaces/ns';
  const metadata = { name: 'ns', finalizers: ['x.io/a'] };
  await world.created('/api/v1/namespaces', { metadata });
  await world.write('delete', path);
  await world.write('update', `${path}/finalize`, { body: { metadata, spec: {} } });
  t.truthy(await world.stored(path));
  t.is((await world.write('patch', path, { body: { metadata: { finalizers: null } } })).code, 200);
  t.is(await world.stored(path), undefined);
  await world.stop();
});

test('the namespaces that every cluster needs cannot be deleted', async (t) => {
  const world = await AdmissionWorld.start({ namespaces: ['default', 'orch-system', 'orch-public'] });
  for (const name of ['default', 'orch-system', 'orch-public']) {
    const answer = await world.write('delete', `/api/v1/namespaces/${name}`);
    t.deepEqual(refusal(answer), {
      kind: 'Status',
      code: 403,
      reason: 'Forbidden',
      details: { name, kind: 'namespaces' },
    });
  }
  await world.stop();
});

test('a DELETE of a collection removes what the selectors select, and answers with the list of it', async (t) => {
  const world = await AdmissionWorld.start({ namespaces: ['default', 'other'] });
  const create = (path: string, name: string, tier: string, finalizers?: string[]) =>
    world.created(path, { metadata: { name, labels: { tier }, ...(finalizers === undefined ? {} : { finalizers }) } });
  await create(CONFIG_MAPS, 'a', 'front');
  await create(CONFIG_MAPS, 'b', 'back');
  await create(CONFIG_MAPS, 'c', 'front', ['x.io/a']);
  await create('/api/v1/namespaces/other/configmaps', 'a', 'front');
  const before = await world.revision();
  const answer = await world.write('deletecollection', CONFIG_MAPS, { parameters: { labelSelector: 'tier=front' } });
  t.is(answer.code, 200);
  t.deepEqual([answer.body.kind, answer.body.apiVersion], ['ConfigMapList', 'v1']);
  t.is(answer.body.metadata.resourceVersion, String(before));
  t.deepEqual(
    answer.body.items.map(({ metadata, kind, apiVersion }) => [metadata.name, kind, apiVersion]),
    [
      ['a', undefined, undefined],
      ['c', undefined, undefined],
    ],
  );
  t.is(await world.stored(A), undefined);
  t.truthy(await world.stored(`${CONFIG_MAPS}/b`));
  t.truthy((await world.stored(`${CONFIG_MAPS}/c`))?.metadata.deletionTimestamp);
  t.truthy(await world.stored('/api/v1/namespaces/other/configmaps/a'));
  // What is on its way out already is part of the collection still.
  const again = await world.write('deletecollection', CONFIG_MAPS, {
    parameters: { fieldSelector: 'metadata.name=c' },
  });
  t.deepEqual(
    again.body.items.map(({ metadata }) => metadata.name),
    ['c'],
  );
  await world.stop();
});

test('a dry run of a DELETE of a collection answers with the list, and removes nothing', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(CONFIG_MAPS, { metadata: { name: 'a' } });
  await world.created(CONFIG_MAPS, { metadata: { name: 'b' } });
  const before = await world.revision();
  const answer = await world.write('deletecollection', CONFIG_MAPS, { parameters: { dryRun: ['All'] } });
  t.deepEqual(
    answer.body.items.map(({ metadata }) => metadata.name),
    ['a', 'b'],
  );
  t.is(await world.revision(), before);
  await world.stop();
});

test('a large collection is deleted in several commits, and what changes meanwhile is deleted as well', async (t) => {
  const world = await AdmissionWorld.start();
  const creates = Array.from({ length: 300 }, (_, index) =>
    world.soon('create', CONFIG_MAPS, { body: { metadata: { name: `o${index}` } } }),
  );
  await world.during(Promise.all(creates));
  world.gate.commits = 0;
  world.gate.beforeCommit = async () => {
    await world.soon('patch', `${CONFIG_MAPS}/o1`, { body: { data: { k: 'v' } } });
    await world.soon('patch', `${CONFIG_MAPS}/o299`, { body: { data: { k: 'v' } } });
    await world.soon('delete', `${CONFIG_MAPS}/o2`);
  };
  const answer = await world.write('deletecollection', CONFIG_MAPS);
  t.is(answer.code, 200);
  t.is(answer.body.items.length, 300);
  t.true(world.gate.commits >= 3 + 3);
  const left = await world.write('deletecollection', CONFIG_MAPS, { parameters: { dryRun: ['All'] } });
  t.deepEqual(left.body.items, []);
  await world.stop();
});

test('collections that are not deleted as such are refused', async (t) => {
  const world = await AdmissionWorld.start();
  const cases: readonly (readonly [path: string, parameters: Record<string, string>, code: number, reason: string])[] =
    [
      ['/api/v1/namespaces', {}, 405, 'MethodNotAllowed'],
      ['/api/v1/configmaps', {}, 405, 'MethodNotAllowed'],
      [CONFIG_MAPS, { labelSelector: 'a in' }, 400, 'BadRequest'],
      [CONFIG_MAPS, { fieldSelector: 'data.k=v' }, 400, 'BadRequest'],
      ['/api/v1/namespaces/default/nothings', {}, 404, 'NotFound'],
    ];
  await world.created(CONFIG_MAPS, { metadata: { name: 'a' } });
  for (const [path, parameters, code, reason] of cases) {
    const answer = await world.write('deletecollection', path, { parameters });
    t.deepEqual([answer.code, answer.body.reason], [code, reason], path);
  }
  const preconditions = { uid: 'x' };
  t.is((await world.write('deletecollection', CONFIG_MAPS, { body: { preconditions } })).code, 409);
  t.truthy(await world.stored(A));
  t.is((await world.write('deletecollection', '/api/v1/namespaces/none/configmaps')).code, 200);
  await world.stop();
});
