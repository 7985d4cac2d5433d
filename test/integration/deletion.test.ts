// What a DELETE is answered with, and what it leaves behind, through admission and the controllers.
import test from 'ava';
import type { WriteReply } from '../../actors/admission/protocol.ts';
import { type InProcessCluster, type Metadata, namesIn, startCluster } from './in-process-cluster.ts';

const HELD = { finalizers: ['example.com/held'] };

interface Status {
  readonly kind?: string;
  readonly metadata?: Metadata;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly field?: string }[] };
}

const bodyOf = (reply: WriteReply): Status => ('body' in reply ? (reply.body as Status) : {});

const patchFinalizers = (made: InProcessCluster, name: string, finalizers: readonly string[]) =>
  made.write('patch', name, { metadata: { finalizers } });

/** Options of a delete, and the answer where an object has a finalizer of its own, and where it has none. */
const ANSWERS: readonly {
  readonly options: Readonly<Record<string, unknown>>;
  readonly held: readonly [code: number, finalizers: readonly string[]];
  readonly free: readonly [code: number, kind: 'Status' | 'object'];
}[] = [
  { options: {}, held: [200, []], free: [200, 'Status'] },
  { options: { propagationPolicy: 'Background' }, held: [200, []], free: [200, 'Status'] },
  { options: { propagationPolicy: 'Foreground' }, held: [200, ['foregroundDeletion']], free: [200, 'object'] },
  { options: { propagationPolicy: 'Orphan' }, held: [200, ['orphan']], free: [200, 'object'] },
  { options: { orphanDependents: true }, held: [200, ['orphan']], free: [200, 'object'] },
  { options: { orphanDependents: false }, held: [202, []], free: [200, 'Status'] },
];

for (const { options, held, free } of ANSWERS)
  test(`a delete with ${JSON.stringify(options)} says what it did and what there is to wait for`, async (t) => {
    const made = await startCluster(t);
    await made.create('held', [], 'default', HELD);
    await made.create('free');
    const dry = await made.write('delete', 'held', { ...options, dryRun: ['All'] });
    t.is(dry.code, held[0]);
    t.deepEqual(bodyOf(dry).metadata?.finalizers, [...HELD.finalizers, ...held[1]]);

    const onHeld = await made.write('delete', 'held', { kind: 'DeleteOptions', ...options });
    t.is(onHeld.code, held[0]);
    t.true('place' in onHeld);
    t.truthy((await made.read('held'))?.deletionTimestamp);

    const onFree = await made.write('delete', 'free', { kind: 'DeleteOptions', ...options });
    t.is(onFree.code, free[0]);
    t.is('place' in onFree ? 'object' : bodyOf(onFree).kind, free[1]);
    await made.gone('free');

    await patchFinalizers(made, 'held', []);
    await made.gone('held');
  });

test('what the query of a delete asks holds as what its body would', async (t) => {
  const made = await startCluster(t);
  await made.create('kept');
  const { uid = '' } = (await made.read('kept'))!;
  const asked = async (query: object) => (await made.write('delete', 'kept', undefined, query)).code;
  t.is(await asked({ resourceVersion: '1' }), 409);
  t.is(await asked({ uid: 'another' }), 409);
  t.truthy(await made.read('kept'));
  t.is(await asked({ uid }), 200);
  await made.gone('kept');
  for (const orphanDependents of ['1', 'True', 'yes', '']) {
    await made.create('owner', [], 'default', HELD);
    const reply = await made.write('delete', 'owner', undefined, { orphanDependents });
    t.is(reply.code, 200);
    t.true((await made.read('owner'))?.finalizers?.includes('orphan'), orphanDependents);
    await patchFinalizers(made, 'owner', []);
    await made.gone('owner');
  }
});

test('finalizers go in any order, none comes back, and the last one takes the object along', async (t) => {
  const made = await startCluster(t);
  await made.create('held', [], 'default', { finalizers: ['example.com/a', 'example.com/b', 'example.com/c'] });
  await made.write('delete', 'held');
  t.is((await patchFinalizers(made, 'held', ['example.com/a', 'example.com/c'])).code, 200);
  for (const finalizers of [['example.com/a', 'example.com/b'], ['example.com/new'], ['foregroundDeletion']]) {
    const metadata = { name: 'held', finalizers };
    for (const refused of [
      await patchFinalizers(made, 'held', finalizers),
      await made.write('update', 'held', { metadata }),
    ]) {
      t.is(refused.code, 422);
      t.like(bodyOf(refused).details?.causes?.[0], { reason: 'FieldValueForbidden', field: 'metadata.finalizers' });
      t.regex(
        bodyOf(refused).message ?? '',
        /no new finalizers can be added if the object is being deleted, found new finalizers \[\]string\{"/,
      );
    }
  }
  t.is((await patchFinalizers(made, 'held', ['example.com/c', 'example.com/a'])).code, 200);
  t.is((await patchFinalizers(made, 'held', ['example.com/c'])).code, 200);
  t.is((await made.write('update', 'held', { metadata: { name: 'held' } })).code, 200);
  t.is(await made.read('held'), undefined);
});

test('the policy of a deletion under way can be changed', async (t) => {
  const made = await startCluster(t);
  await made.create('owner', [], 'default', HELD);
  await made.create('owned', [await made.reference('owner')], 'default', HELD);
  await made.write('delete', 'owner', { propagationPolicy: 'Foreground' });
  t.deepEqual((await made.read('owner'))?.finalizers, ['example.com/held', 'foregroundDeletion']);
  await made.write('delete', 'owner', { propagationPolicy: 'Background' });
  t.deepEqual((await made.read('owner'))?.finalizers, HELD.finalizers);
});

test('a collection is deleted as asked, whatever the policy', async (t) => {
  for (const propagationPolicy of ['Background', 'Foreground', 'Orphan']) {
    const made = await startCluster(t);
    for (const name of ['a', 'b']) {
      await made.create(name, [], 'default', { labels: { owner: 'yes' } });
      await made.create(`of-${name}`, [await made.reference(name)]);
    }
    const reply = await made.write('deletecollection', '', { propagationPolicy }, { labelSelector: 'owner=yes' });
    t.is(reply.code, 200);
    t.deepEqual(namesIn(reply), ['a', 'b']);
    await made.gone('a');
    await made.gone('b');
    if (propagationPolicy === 'Orphan') {
      t.deepEqual(await made.names(), ['of-a', 'of-b']);
      t.is((await made.read('of-a'))?.ownerReferences, undefined);
    } else {
      await made.gone('of-a');
      await made.gone('of-b');
    }
  }
});

test('several workers delete a collection whole, and answer in the order of the list', async (t) => {
  const made = await startCluster(t, ['--delete-collection-workers=3']);
  const names = Array.from({ length: 1_000 }, (_, i) => `c-${String(i).padStart(4, '0')}`);
  await made.createAll(names);
  await made.write('update', 'c-0500', { metadata: { name: 'c-0500', ...HELD } });
  const reply = await made.write('deletecollection', '', undefined, { labelSelector: '!kept' });
  const answered = namesIn(reply);
  t.deepEqual(
    answered.filter((name) => name.startsWith('c-')),
    names,
  );
  t.deepEqual(await made.names(), ['c-0500']);
  await patchFinalizers(made, 'c-0500', []);
  t.deepEqual(await made.names(), []);
});

test('a terminating namespace takes nothing new, and says why', async (t) => {
  const made = await startCluster(t);
  await made.write('create', '', { metadata: { name: 'doomed' } }, {}, '', 'namespaces');
  await made.create('held', [], 'doomed', HELD);
  const reply = await made.write('delete', 'doomed', undefined, {}, '', 'namespaces');
  t.is(reply.code, 200);
  t.true('place' in reply);
  const refused = await made.write('create', '', { metadata: { name: 'late' } }, {}, 'doomed');
  t.is(refused.code, 403);
  t.like(bodyOf(refused).details?.causes?.[0], { reason: 'NamespaceTerminating', field: 'metadata.namespace' });
  t.is((await made.write('delete', 'doomed', undefined, {}, '', 'namespaces')).code, 200);
  await made.write('patch', 'held', { metadata: { finalizers: null } }, {}, 'doomed');
  await made.gone('doomed', '', 'namespaces');
});

test('a namespace that is its owner takes along what has none', async (t) => {
  const made = await startCluster(t);
  await made.write('create', '', { metadata: { name: 'owner' } }, {}, '', 'namespaces');
  const uid = (await made.read('owner', '', 'namespaces'))?.uid ?? '';
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Namespace', name: 'owner', uid, blockOwnerDeletion: true }];
  await made.create('owned', [], 'default', { ownerReferences });
  await made.write('delete', 'owner', { propagationPolicy: 'Foreground' }, {}, '', 'namespaces');
  await made.gone('owner', '', 'namespaces');
  t.is(await made.read('owned'), undefined);
});

test('without a garbage collector no finalizer is added that nobody takes away', async (t) => {
  const made = await startCluster(t, ['--enable-garbage-collector=false']);
  for (const propagationPolicy of ['Foreground', 'Orphan']) {
    await made.create('owner');
    const reply = await made.write('delete', 'owner', { propagationPolicy });
    t.is(bodyOf(reply).kind, 'Status');
    t.is(await made.read('owner'), undefined);
  }
});
