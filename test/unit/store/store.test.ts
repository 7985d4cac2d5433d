import test from 'ava';
import type { StoreBatch, StoreProtocol, Subscription } from '../../../actors/store/protocol.ts';
import type { EncryptionProvider } from '../../../config/encryption-configuration.ts';
import type { ActorContext, Protocol, Ref } from '../../../runtime/actor.ts';
import { isOrchError, OrchError } from '../../../runtime/errors.ts';
import { realEnvironment } from '../../../runtime/real-environment.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';
import { recordKey } from '../../../storage/records/slab-record.ts';
import { READER_SLOTS, SharedState } from '../../../storage/shared-state.ts';
import { encryption, keyed } from '../storage/encryption/encryption-world.ts';
import { engineOn, quietModel } from './shared-rig.ts';
import { MessageWriter } from './store-model.ts';
import { DEADLINE_MS, gate, gauge, HeldEngine, rigFor, settle, startRig, until } from './store-rig.ts';

const A = 'core/pods/default/a';
const B = 'core/pods/default/b';

test('commits that arrive together share a batch, and those that arrive while it is written share the next', async (t) => {
  const { engine, put } = await rigFor(t);
  const hold = gate();
  engine.beforeCommit = () => hold.passed;
  const first = [1, 2, 3].map((n) => put(`core/pods/x/${n}`));
  await until(() => engine.batches.length === 1);
  const second = [4, 5, 6, 7].map((n) => put(`core/pods/x/${n}`));
  await settle();
  t.is(engine.batches.length, 1);
  hold.open();
  t.deepEqual(await Promise.all([...first, ...second]), [1, 2, 3, 4, 5, 6, 7]);
  t.deepEqual(
    engine.batches.map(({ firstRevision, lastRevision }) => [firstRevision, lastRevision]),
    [
      [1, 3],
      [4, 7],
    ],
  );
});

test('the transactions of one message are answered in order, each on its own', async (t) => {
  const { store, put } = await rigFor(t);
  await put(A);
  const writer = new MessageWriter();
  writer.transaction([writer.put(A, 0, 'exists')]);
  writer.transaction([writer.put(A, 1, 'two'), writer.put(B, 0, 'b')]);
  writer.transaction([], [{ key: B, expect: 2 }]);
  writer.transaction([writer.remove(A, 1)]);
  const { transactions, payload } = writer;
  const { results } = await store.ask({ type: 'commit', transactions, payload }, { deadlineMs: DEADLINE_MS });
  t.deepEqual(
    results.map((result) => (result.ok ? `${result.revision}: ${result.places.length}` : result.reason)),
    ['exists', '2: 2', '2: 0', 'changed'],
  );
});

test('a transaction behind the first of its message holds only if that one does', async (t) => {
  const { store, put } = await rigFor(t);
  await put(A);
  const outcomes = async (expect: number): Promise<readonly string[]> => {
    const writer = new MessageWriter();
    writer.transaction([writer.put(A, expect, 'first')]);
    writer.transaction([writer.put(B, -1, 'behind')]);
    const { payload } = writer;
    const [first, second] = writer.transactions;
    const transactions = [first!, { ...second!, isBehindFirst: true }];
    const { results } = await store.ask({ type: 'commit', transactions, payload }, { deadlineMs: DEADLINE_MS });
    return results.map((result) => (result.ok ? String(result.revision) : `${result.reason} ${result.key}`));
  };
  t.deepEqual(await outcomes(7), [`changed ${A}`, `guard ${A}`]);
  t.deepEqual(await outcomes(1), ['2', '3']);
});

test('a batch in which everything is refused writes nothing and is answered', async (t) => {
  const { engine, commit, followers } = await rigFor(t);
  await followers[0]!.subscribe();
  t.false((await commit((w) => [w.put(A, 5, '')])).ok);
  t.false((await commit((w) => [w.remove(A, -1)])).ok);
  await settle();
  t.is(engine.batches.length, 0);
  t.is(followers[0]!.batches.length, 0);
});

test('before a batch is durable it is not committed, not published and not acknowledged', async (t) => {
  const { engine, put, followers } = await rigFor(t);
  const [follower] = followers;
  await put(A);
  await follower!.subscribe();
  const hold = gate();
  engine.beforeCommit = () => hold.passed;
  let acknowledged = false;
  const writing = put(A, 'two').finally(() => {
    acknowledged = true;
  });
  await until(() => engine.batches.length === 2);
  await settle();
  t.false(acknowledged);
  t.is(follower!.batches.length, 0);
  t.is(follower!.shared!.committedRevision, 1);
  hold.open();
  t.is(await writing, 2);
  t.is(follower!.shared!.committedRevision, 2);
  await until(() => follower!.state.get(A)?.data === 'two');
});

test('the order is: durable, committed revision, published, acknowledged', async (t) => {
  const seen: string[] = [];
  let shared: SharedState | undefined;
  const note = (what: string) => seen.push(`${what} at ${shared?.committedRevision}`);
  const spy = (context: ActorContext): ActorContext => ({
    ...context,
    refNamed: <P extends Protocol>(name: string): Ref<P> => {
      const ref = context.refNamed<P>(name);
      return {
        name,
        ask: (message, options) => ref.ask(message, options),
        askSoon: (message, options) => ref.askSoon(message, options),
        tell(message) {
          note(message.type);
          return ref.tell(message);
        },
        tellSoon(message) {
          note(message.type);
          return ref.tellSoon(message);
        },
      };
    },
  });
  const { engine, put, followers } = await rigFor(t, { spy, onReply: (type) => note(`${type} answered`) });
  shared = new SharedState((await followers[0]!.subscribe()).sharedState);
  engine.onDurable = () => note('durable');
  seen.length = 0;
  await put(A);
  await put(B);
  t.deepEqual(seen, [
    'durable at 0',
    'storeBatch at 1',
    'commit answered at 1',
    'durable at 1',
    'storeBatch at 2',
    'commit answered at 2',
  ]);
});

test('a subscription asked for while a batch is written is answered after it, with it', async (t) => {
  const { engine, put, followers } = await rigFor(t);
  const [follower] = followers;
  await put(A, 'one');
  const hold = gate();
  engine.beforeCommit = () => hold.passed;
  const writing = put(A, 'two');
  await until(() => engine.batches.length === 2);
  let answered = false;
  const subscribing = follower!.subscribe().finally(() => {
    answered = true;
  });
  await settle();
  t.false(answered);
  hold.open();
  const present = await subscribing;
  await writing;
  t.is(present.revision, 2);
  t.is(present.live.length, 2);
  t.is(follower!.state.get(A)?.data, 'two');
  await put(A, 'three');
  await until(() => follower!.state.get(A)?.data === 'three');
  t.is(follower!.batches.length, 1);
});

test('a present state holds the history window with what each event replaced', async (t) => {
  const { put, commit, followers } = await rigFor(t);
  await put(A, 'one');
  await put(A, 'two');
  await commit((w) => [w.remove(A, 2)]);
  const present = await followers[0]!.subscribe();
  t.is(present.live.length, 0);
  t.is(present.history.length, 3 * 4);
  const [created, updated, removed] = [0, 1, 2].map((n) => [...present.history.slice(n * 4, n * 4 + 4)]);
  t.deepEqual(updated!.slice(2), created!.slice(0, 2));
  t.deepEqual(removed!.slice(2), updated!.slice(0, 2));
  t.is(present.tokenKey.byteLength, 32);
});

test('a present state names the objects asked for before all others, and each once', async (t) => {
  const { put, followers } = await rigFor(t);
  const [follower] = followers;
  for (const key of ['core/pods/n/a', 'core/nodes//b', 'core/pods/n/c', 'apps/deployments/n/d']) await put(key);
  const told = async (subscription: Omit<Subscription, 'subscriber'>): Promise<string> => {
    const { live, first } = await follower!.subscribe(subscription);
    const at = (i: number): string => recordKey(follower!.slabs.slab(live[i]!), live[i + 1]!);
    const names = Array.from({ length: live.length / 2 }, (_, n) => at(n * 2).slice(-1));
    return [...names.slice(0, first), '|', ...names.slice(first)].join('');
  };
  t.is(await told({}), '|abcd');
  t.is(await told({ first: { types: ['core/nodes'] } }), 'b|acd');
  t.is(await told({ first: { types: ['core/secrets'] } }), '|abcd');
  t.is(await told({ first: { keys: ['core/pods/n/c', 'core/pods/n/none'] } }), 'c|abd');
  t.is(await told({ first: { types: ['core/nodes'], keys: ['apps/deployments/n/d', 'core/nodes//b'] } }), 'bd|ac');
  t.is(await told({ types: ['core/pods'], first: { types: ['core/nodes'], keys: ['core/pods/n/c'] } }), 'c|a');
});

test('a follower that falls behind is told so without another write, and catches up by subscribing again', async (t) => {
  const rig = await rigFor(t);
  const [follower] = rig.followers;
  await follower!.subscribe();
  rig.fill();
  await rig.put(A, 'missed');
  t.is(follower!.timesLost, 0);
  rig.letGo();
  await until(() => follower!.state.get(A)?.data === 'missed');
  t.is(follower!.timesLost, 1);
  await rig.put(A, 'next');
  await until(() => follower!.state.get(A)?.data === 'next');
});

test('a follower that fell behind hears of no batch between the loss and its new subscription', async (t) => {
  const rig = await rigFor(t);
  const [follower] = rig.followers;
  follower!.resubscribes = false;
  await follower!.subscribe();
  rig.fill();
  await rig.put(A, 'missed');
  rig.letGo();
  await until(() => follower!.timesLost > 0);
  await rig.put(A, 'also missed');
  await settle();
  t.is(follower!.batches.length, 0);
  t.is(follower!.timesLost, 1, 'told once');
  await follower!.subscribe();
  t.is(follower!.state.get(A)?.data, 'also missed');
});

test('one slow follower does not keep others from hearing everything', async (t) => {
  const rig = await rigFor(t, { followers: 2 });
  const [slow, quick] = rig.followers;
  await slow!.subscribe();
  await quick!.subscribe();
  rig.fill();
  for (let n = 0; n < 20; n++) await rig.put(A, `${n}`);
  await until(() => quick!.batches.length === 20);
  t.is(quick!.timesLost, 0);
  rig.letGo();
  await until(() => slow!.state.get(A)?.data === '19');
});

test('a follower keeps its epoch while it has not subscribed again: it may still read', async (t) => {
  const rig = await rigFor(t);
  const [follower] = rig.followers;
  follower!.resubscribes = false;
  follower!.reports = false;
  await follower!.subscribe();
  const epoch = follower!.shared!.readerEpoch(follower!.readerSlot);
  rig.fill();
  await rig.put(A, 'missed');
  rig.letGo();
  await until(() => follower!.timesLost > 0);
  t.is(follower!.shared!.readerEpoch(follower!.readerSlot), epoch);
  t.is(follower!.shared!.lowestEpoch(), epoch);
  // Not even then: the reader raises its epoch when it has let go of what it read before.
  await follower!.subscribe();
  t.is(follower!.shared!.lowestEpoch(), epoch);
  follower!.reportEpoch();
  t.is(follower!.shared!.lowestEpoch(), follower!.sequence);
});

test('a follower that leaves hears nothing more and holds nothing back', async (t) => {
  const { followers, store, put } = await rigFor(t);
  const [follower] = followers;
  await follower!.subscribe();
  store.tell({ type: 'unsubscribe', subscriber: 'follower' });
  await put(A);
  await settle();
  t.is(follower!.batches.length, 0);
  t.is(follower!.shared!.lowestEpoch(), Number.POSITIVE_INFINITY);
});

test('a follower whose thread was replaced goes on, although the word of it comes after its new subscription', async (t) => {
  const { followers, actor, put } = await rigFor(t);
  const [follower] = followers;
  await follower!.subscribe();
  await follower!.subscribe();
  actor.peerRestarted('follower');
  await put(A, 'later');
  await until(() => follower!.state.get(A)?.data === 'later');
  t.is(follower!.shared!.lowestEpoch(), follower!.sequence);
});

test('when no reader slot is free, a subscription is refused and the store goes on', async (t) => {
  const { followers, store, engine, put } = await rigFor(t);
  for (let n = 0; n < READER_SLOTS; n++) {
    await store.ask({ type: 'subscribe', subscriber: `nobody/${n}` }, { deadlineMs: DEADLINE_MS });
  }
  await t.throwsAsync(followers[0]!.subscribe(), { code: 'Overloaded' });
  const hold = gate();
  engine.beforeCommit = () => hold.passed;
  const writing = put(A);
  await until(() => engine.batches.length === 1);
  const refused = t.throwsAsync(followers[0]!.subscribe(), { code: 'Overloaded' });
  await settle();
  hold.open();
  await refused;
  t.is(await writing, 1);
  store.tell({ type: 'unsubscribe', subscriber: 'nobody/7' });
  await followers[0]!.subscribe();
  t.is(await put(A), 2);
});

test('a commit that fails ends the thread: nothing of it is committed, published or acknowledged', async (t) => {
  const { running, engine, put, followers, store } = await rigFor(t);
  await put(A);
  await followers[0]!.subscribe();
  const hold = gate();
  engine.beforeCommit = () => hold.passed;
  const failing = t.throwsAsync(put(A, 'lost'), { code: 'ActorDown' });
  await until(() => engine.batches.length === 2);
  const waiting = t.throwsAsync(put(A, 'never tried'), { code: 'ActorDown' });
  hold.fail(new Error('the disk is gone'));
  await failing;
  await waiting;
  t.is(running.crashes.get('store')?.message, 'the disk is gone');
  t.is(followers[0]!.shared!.committedRevision, 1);
  t.is(followers[0]!.batches.length, 0);
  await t.throwsAsync(store.ask({ type: 'health' }, { deadlineMs: DEADLINE_MS }), { code: 'ActorDown' });
  await running.stop();
});

test('a batch that the disk refuses is answered so, and nothing of it is seen; later writes are stored', async (t) => {
  const time = new VirtualTime();
  const rig = await rigFor(t, { environment: { ...realEnvironment, clock: time } });
  const { running, engine, put, followers, store, commit } = rig;
  await put(A, 'kept');
  t.is(gauge(rig, 'writable'), 1);
  await followers[0]!.subscribe();
  const refused: unknown[] = [];
  for (const code of ['StorageFull', 'StorageFailed', 'StorageUnsure'] as const) {
    engine.beforeCommit = () => Promise.reject(new OrchError(code, 'no room'));
    const writes = [put(A, 'refused'), put(B, 'refused'), commit((writer) => [writer.remove(A, -1)])];
    for (const write of writes) await t.throwsAsync(write, { code, message: 'no room' });
    refused.push(engine.batches.length);
    await t.throwsAsync(put(B, 'not tried'), { code });
    refused.push(engine.batches.length);
    await time.advance(1000);
  }
  t.deepEqual(refused, [2, 2, 3, 3, 4, 4], 'for a moment the disk is left alone');
  t.is(gauge(rig, 'writable'), 0);
  t.is(running.crashes.size, 0);
  t.is(followers[0]!.batches.length, 0);
  t.is(followers[0]!.shared!.committedRevision, 1);

  engine.beforeCommit = () => Promise.resolve();
  t.is(await put(B, 'stored'), 2);
  t.is(gauge(rig, 'writable'), 1);
  await until(() => followers[0]!.batches.length === 1);
  t.deepEqual([...followers[0]!.state.keys()], [A, B]);
  t.is((await store.ask({ type: 'health' }, { deadlineMs: DEADLINE_MS })).revision, 2);
});

test('however many batches the disk refuses, their memory is used again', async (t) => {
  const time = new VirtualTime();
  const { engine, put, followers } = await rigFor(t, {
    environment: { ...realEnvironment, clock: time },
    settings: { slabBytes: 2048 },
  });
  engine.beforeCommit = () => Promise.reject(new OrchError('StorageFull', 'no room'));
  for (let batch = 0; batch < 30; batch++) {
    await t.throwsAsync(Promise.all([A, B, A].map((key) => put(key, 'x'.repeat(900)))));
    await time.advance(1000);
  }
  engine.beforeCommit = () => Promise.resolve();
  t.is(await put(A), 1);
  t.true((await followers[0]!.subscribe()).slabs.length < 10);
});

test('values under an old key leave the history by compaction alone, the newest record included', async (t) => {
  const KEY = 'core/secrets/default/s';
  const old = keyed('aescbc', 'old', 1);
  const ringOf = (...providers: EncryptionProvider[]) => ({
    options: { encryption: () => Promise.resolve(encryption(providers)) },
  });
  const first = await startRig(ringOf(old));
  await first.put(KEY);
  await first.commit((writer) => [writer.remove(KEY, -1)]);
  await first.running.stop();

  const { engine } = first;
  const second = await startRig({ engine, ...ringOf(keyed('aesgcm', 'new', 2), old) });
  t.is(
    (await second.store.ask({ type: 'health' }, { deadlineMs: DEADLINE_MS })).revision,
    3,
    'a record without events',
  );
  await second.store.ask({ type: 'compact', upToRevision: 3 }, { deadlineMs: DEADLINE_MS });
  await until(() => engine.compactions.includes(2));
  await second.running.stop();

  const third = await startRig({ engine, ...ringOf(keyed('aesgcm', 'new', 2)) });
  t.is(await third.put(KEY), 4, 'the old key is gone, and no new record is needed');
  await third.running.stop();
});

test('a disk that refuses a compaction is compacted later, and the store goes on', async (t) => {
  const time = new VirtualTime();
  const { running, engine, put, store } = await rigFor(t, { environment: { ...realEnvironment, clock: time } });
  for (let n = 0; n < 4; n++) await put(A, `${n}`);
  engine.duringCompaction = () => Promise.reject(new OrchError('StorageFull', 'no room'));
  await store.ask({ type: 'compact', upToRevision: 2 }, { deadlineMs: DEADLINE_MS });
  await until(() => engine.compactions.length === 1);
  await settle();
  t.is(engine.compactions.length, 1);
  engine.duringCompaction = () => Promise.resolve(false);
  await time.advance(1000);
  await put(B);
  await until(() => engine.compactions.length === 2);
  t.is(running.crashes.size, 0);
});

test('stopping finishes what was accepted, and closes the engine', async (t) => {
  const { running, engine, put } = await startRig();
  const hold = gate();
  engine.beforeCommit = () => hold.passed;
  const first = put(A);
  await until(() => engine.batches.length === 1);
  const second = put(B);
  await settle();
  const stopping = running.stop();
  await settle();
  t.true(engine.isOpen);
  hold.open();
  t.deepEqual(await Promise.all([first, second]), [1, 2]);
  await stopping;
  t.false(engine.isOpen);
});

test('a store that stops leaves the rest of a compaction to the next start', async (t) => {
  const { running, engine, put, store } = await startRig();
  for (let n = 0; n < 4; n++) await put(A, `${n}`);
  let slices = 0;
  engine.duringCompaction = () => new Promise((resolve) => setImmediate(() => resolve(++slices < 200)));
  await store.ask({ type: 'compact', upToRevision: 2 }, { deadlineMs: DEADLINE_MS });
  await until(() => slices > 0);
  await running.stop();
  t.true(slices < 200, String(slices));
});

test('a write that comes when the store has stopped is refused at once', async (t) => {
  for (const engine of [new HeldEngine(), engineOn(quietModel())]) {
    const { running, actor } = await startRig({ options: { engine: () => engine } });
    const hold = gate();
    engine.close = () => hold.passed;
    const stopping = running.stop();
    await settle();
    let failure: unknown;
    const writer = new MessageWriter();
    writer.transaction([writer.put(A, 0, '')]);
    const { transactions, payload } = writer;
    actor.onMessage(
      { type: 'commit', transactions, payload },
      { isAwaited: true, send: () => t.fail(), fail: (error) => (failure = error) },
    );
    t.true(isOrchError(failure, 'ActorDown'));
    hold.open();
    await stopping;
  }
});

test('a store that cannot recover closes the engine again', async (t) => {
  const engine = new HeldEngine();
  engine.beforeLoad = async () => {
    throw new OrchError('StoreUnusable', 'the store is damaged: badly');
  };
  await t.throwsAsync(startRig({ engine }), { code: 'StoreUnusable', message: 'the store is damaged: badly' });
  t.false(engine.isOpen);
});

test('a batch is bounded in transactions and in bytes', async (t) => {
  const { engine, put } = await rigFor(t, { settings: { batchTransactionsMax: 4, batchBytesMax: 5000 } });
  const hold = gate();
  engine.beforeCommit = () => hold.passed;
  const first = put('core/pods/x/first');
  await until(() => engine.batches.length === 1);
  const small = Array.from({ length: 6 }, (_, n) => put(`core/pods/x/small-${n}`));
  const large = Array.from({ length: 4 }, (_, n) => put(`core/pods/x/large-${n}`, 'x'.repeat(2000)));
  const larger = put('core/pods/x/larger', 'x'.repeat(20_000));
  hold.open();
  await Promise.all([first, ...small, ...large, larger]);
  const sizes = engine.batches.map(({ firstRevision, lastRevision }) => lastRevision - firstRevision + 1);
  t.deepEqual(sizes, [1, 4, 4, 2, 1]);
});

// Compaction on request and by bounds; by age in store-time.test.ts.

async function compact(store: Ref<StoreProtocol>, upToRevision: number): Promise<number> {
  const answer = await store.ask({ type: 'compact', upToRevision }, { deadlineMs: DEADLINE_MS });
  return answer.compactedRevision;
}

test('compaction on request reaches readers and the engine, and leaves the newest batch', async (t) => {
  const { store, engine, put, followers } = await rigFor(t);
  for (let n = 1; n <= 5; n++) await put(A, `${n}`);
  await followers[0]!.subscribe();
  t.is(await compact(store, 3), 3);
  await until(() => engine.compactions.length > 0 && followers[0]!.compactedRevision === 3);
  t.is(engine.compactions.at(-1), 3);
  t.is(await compact(store, 1000), 4);
  t.is((await followers[0]!.subscribe()).history.length, 4);
  t.is(await compact(store, 2), 4);
});

test('compacting to a revision that is still to come does not reach it later', async (t) => {
  const { store, put } = await rigFor(t);
  for (let n = 1; n <= 3; n++) await put(A);
  t.is(await compact(store, 1000), 2);
  for (let n = 1; n <= 5; n++) await put(A);
  t.is(await compact(store, 3), 3);
});

test('compaction asked for while a batch is written happens after it', async (t) => {
  const { store, engine, put } = await rigFor(t);
  for (let n = 1; n <= 3; n++) await put(A);
  const hold = gate();
  engine.beforeCommit = () => hold.passed;
  const writing = put(A);
  await until(() => engine.batches.length === 4);
  const compacting = compact(store, 2);
  await settle();
  hold.open();
  await writing;
  t.is(await compacting, 2);
  await until(() => engine.compactions.includes(2));
});

test('a compaction that comes while the engine is still at the last one is carried out as well', async (t) => {
  const { store, engine, put } = await rigFor(t);
  for (let n = 1; n <= 6; n++) await put(A);
  const hold = gate();
  engine.duringCompaction = async () => {
    await hold.passed;
    return false;
  };
  t.is(await compact(store, 2), 2);
  await until(() => engine.compactions.length === 1);
  t.is(await compact(store, 4), 4);
  hold.open();
  await until(() => engine.compactions.includes(4));
  t.deepEqual(engine.compactions, [2, 4]);
});

test('writes go on between the slices of a compaction', async (t) => {
  const { store, engine, put } = await rigFor(t);
  for (let n = 1; n <= 6; n++) await put(A);
  let slices = 0;
  let written = 0;
  engine.duringCompaction = async () => {
    slices++;
    void put(B).then(() => written++);
    await settle();
    return slices < 5;
  };
  await compact(store, 3);
  await until(() => slices === 5 && written === 5);
  t.is(engine.batches.length, 11);
});

test('the history window keeps to its bounds', async (t) => {
  const { put, followers } = await rigFor(t, { settings: { historyEventsMax: 20 } });
  const [follower] = followers;
  await follower!.subscribe();
  for (let n = 1; n <= 100; n++) await put(A, `${n}`);
  await until(() => follower!.revision === 100);
  const { history, compactedRevision } = await follower!.subscribe();
  t.true(history.length <= 20 * 4 && history.length >= 17 * 4, `${history.length / 4} events`);
  t.is(compactedRevision, 100 - history.length / 4);
});

test('the history window keeps to its bound in bytes, and a batch beyond it alone is kept', async (t) => {
  const { put, followers } = await rigFor(t, { options: { historyBytesMax: 20_000 } });
  for (let n = 1; n <= 50; n++) await put(A, 'x'.repeat(1000));
  const { history } = await followers[0]!.subscribe();
  t.true(history.length / 4 < 20 && history.length / 4 > 10, `${history.length / 4} events`);
  await put(A, 'x'.repeat(100_000));
  await put(A, 'small');
  const later = await followers[0]!.subscribe();
  t.is(later.history.length / 4, 1);
  t.is(later.compactedRevision, 51);
});

test('a long history is compacted in slices, between which writes go on', async (t) => {
  const { put, followers } = await rigFor(t, { settings: { historyEventsMax: 200, compactionSliceEvents: 5 } });
  const [follower] = followers;
  await follower!.subscribe();
  const compacted: number[] = [];
  follower!.onBatch = ({ compactedRevision }) => {
    if (compactedRevision > (compacted.at(-1) ?? 0)) compacted.push(compactedRevision);
  };
  const writes = Array.from({ length: 500 }, (_, n) => put(`core/pods/x/${n % 50}`));
  t.deepEqual((await Promise.all(writes)).length, 500);
  await put(A);
  // The newest batch stays: here 500 writes in one.
  await until(() => follower!.compactedRevision >= 320);
  const steps = compacted.map((revision, index) => revision - (compacted[index - 1] ?? 0));
  t.true(
    steps.every((step) => step <= 5),
    steps.join(' '),
  );
  t.true(steps.length >= 64);
});

test('memory follows what is live: overwriting the same objects does not add slabs without end', async (t) => {
  const settings = { slabBytes: 4096, historyEventsMax: 50 };
  const { put, followers } = await rigFor(t, { settings });
  const [follower] = followers;
  await follower!.subscribe();
  for (let n = 0; n < 1500; n++) await put(`core/pods/x/${n % 7}`, `${n}`.padEnd(200));
  await until(() => follower!.revision === 1500);
  t.is(follower!.state.size, 7);
  // 1500 records of 450 bytes would need 160 slabs.
  t.true((await follower!.subscribe()).slabs.length < 25);
});

test('what a compaction emptied is used again when every reader has applied that compaction, and not before', async (t) => {
  const { store, put, followers } = await rigFor(t, { settings: { slabBytes: 2048 } });
  const [follower] = followers;
  follower!.reports = false;
  const write = async (count: number) => {
    for (let n = 0; n < count; n++) await put(A, 'x'.repeat(300));
    const revision = await put(A);
    await until(() => follower!.revision === revision);
    return follower!.batches.splice(0).reduce((slabs, { newSlabs }) => slabs + newSlabs.length, 0);
  };
  await follower!.subscribe();
  t.true((await write(20)) >= 4);
  follower!.reportEpoch();
  await compact(store, 1000);
  await until(() => follower!.compactedRevision > 0);
  t.true((await write(8)) >= 2, 'the reader has not said that it applied the compaction');
  follower!.reportEpoch();
  t.is(await write(8), 0);
});

test('health says the committed revision', async (t) => {
  const { store, put } = await rigFor(t);
  await put(A);
  t.deepEqual(await store.ask({ type: 'health' }, { deadlineMs: DEADLINE_MS }), {
    healthy: true,
    revision: 1,
    reason: '',
  });
});

test('health says why the disk does not answer', async (t) => {
  const { store, engine } = await rigFor(t);
  engine.beforeProbe = async () => {
    throw new Error('no such device');
  };
  const health = await store.ask({ type: 'health' }, { deadlineMs: DEADLINE_MS });
  t.false(health.healthy);
  t.regex(health.reason, /no such device/);
});

test('metrics say what is committed, not what is being written', async (t) => {
  const rig = await rigFor(t);
  const { engine, put } = rig;
  await put(A);
  const hold = gate();
  engine.beforeCommit = () => hold.passed;
  const writing = put(A);
  await until(() => engine.batches.length === 2);
  t.is(gauge(rig, 'revision'), 1);
  hold.open();
  await writing;
  t.is(gauge(rig, 'revision'), 2);
});

test('a restarted store has what was acknowledged, under the same revisions', async (t) => {
  const engine = new HeldEngine();
  const before = await startRig({ engine });
  for (let n = 0; n < 10; n++) await before.put(`core/pods/x/${n}`, `${n}`);
  await before.put('core/pods/x/3', 'again');
  await before.running.stop();
  const after = await rigFor(t, { engine });
  const [follower] = after.followers;
  const present = await follower!.subscribe();
  t.is(present.revision, 11);
  t.is(follower!.shared!.committedRevision, 11);
  t.is(follower!.state.get('core/pods/x/3')?.revision, 11);
  t.is(follower!.state.get('core/pods/x/4')?.revision, 5);
  t.is(await after.put(A), 12);
});

test('batches say where their slabs are the first time, and not again', async (t) => {
  const { put, followers } = await rigFor(t, { settings: { slabBytes: 2048 } });
  const [follower] = followers;
  const present = await follower!.subscribe();
  const seen = new Set(present.slabs.map(([number]) => number));
  follower!.onBatch = ({ newSlabs }: StoreBatch) => {
    for (const [number] of newSlabs) {
      t.false(seen.has(number));
      seen.add(number);
    }
  };
  for (let n = 0; n < 30; n++) await put(`core/pods/x/${n}`, 'x'.repeat(300));
  await until(() => follower!.revision === 30);
  t.true(seen.size > 5);
});
