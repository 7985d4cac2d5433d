// Stores that share one engine: etcd as the model has it, with calls that are lost, watches that lag and break off, and a
// process that dies. What both show and acknowledge must be one history.
import test, { type ExecutionContext } from 'ava';
import type { Guard, Operation, TransactionResult } from '../../../actors/store/protocol.ts';
import { realEnvironment } from '../../../runtime/real-environment.ts';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { REVISION_STRIDE } from '../../../storage/engines/shared-engine.ts';
import type { EtcdCluster } from '../../../storage/etcd/etcd-cluster.ts';
import { forEachRecord } from '../../../storage/following/publication.ts';
import { CREATED, DELETED, UPDATED } from '../../../storage/records/slab-record.ts';
import { type CallFate, EtcdModel } from '../../simulation/etcd-model.ts';
import { engineOn, quietModel } from './shared-rig.ts';
import { MessageWriter, type Version, versionAt } from './store-model.ts';
import { DEADLINE_MS, type Rig, startRig, until } from './store-rig.ts';

const { timers } = realEnvironment;
/** Timers of the environment alone keep no process alive. */
const alive = setInterval(() => {}, 60_000);
test.after.always(() => clearInterval(alive));
const EVENTS_MAX = 10_000;
const KEY = 'core/configmaps/default/a';
const OTHER_KEY = 'core/configmaps/default/b';
const FILLING = 'core/configmaps/default/filling';
const LARGE = 'core/configmaps/default/large';

async function storeOn(model: EtcdModel, cluster?: EtcdCluster): Promise<Rig> {
  // A busy machine brings many revisions at once, and a reader that is lost would begin anew in the middle of its history.
  const rig = await startRig({ options: { engine: () => engineOn(model, cluster) }, followerMailboxMax: EVENTS_MAX });
  await rig.followers[0]!.subscribe();
  return rig;
}

async function stores(t: ExecutionContext, model: EtcdModel, count: number): Promise<Rig[]> {
  const rigs: Rig[] = [];
  for (let i = 0; i < count; i++) rigs.push(await storeOn(model));
  t.teardown(() => Promise.all(rigs.map(({ running }) => running.stop())));
  return rigs;
}

/** Everything the rig's reader was told since it began, in order. */
function eventsOf(rig: Rig): Version[] {
  const follower = rig.followers[0]!;
  const events: Version[] = [];
  for (const { runs } of follower.batches) {
    forEachRecord(runs, follower.slabs, (slab, _number, offset) => events.push(versionAt(slab, offset)));
  }
  return events;
}

const changeOf = ({ key, revision, type, data }: Version): string => `${key} ${revision} ${type} ${data}`;

async function commit(
  rig: Rig,
  operations: (writer: MessageWriter) => readonly Operation[],
  guards?: readonly Guard[],
  thenRemoves?: readonly string[],
): Promise<TransactionResult> {
  const writer = new MessageWriter();
  writer.transaction(operations(writer), guards, thenRemoves);
  const { transactions, payload } = writer;
  const { results } = await rig.store.ask({ type: 'commit', transactions, payload }, { deadlineMs: DEADLINE_MS });
  return results[0]!;
}

async function barrier(rig: Rig): Promise<number> {
  const { revision } = await rig.store.ask({ type: 'barrier' }, { deadlineMs: DEADLINE_MS });
  await until(() => rig.followers[0]!.revision >= revision);
  return revision;
}

test('what one store acknowledged the other shows after a barrier, under the same version', async (t) => {
  const [one, other] = await stores(t, quietModel(), 2);
  const revision = await one!.put(KEY, 'x');
  t.true((await barrier(other!)) >= revision);
  t.is(other!.followers[0]!.state.get(KEY)?.revision, revision);
  t.is(other!.followers[0]!.state.get(KEY)?.data, 'x');
  const changed = await commit(other!, (writer) => [writer.put(KEY, revision, 'y')]);
  t.true(changed.ok);
  await barrier(one!);
  t.is(one!.followers[0]!.state.get(KEY)?.data, 'y');
  t.is(one!.followers[0]!.state.get(KEY)?.born, revision);
});

test('a state that others compact while a store begins with it is read anew, with what happened meanwhile', async (t) => {
  const model = quietModel();
  const [writer] = await stores(t, model, 1);
  await writer!.put(KEY, 'x');
  const other = await writer!.put(OTHER_KEY, 'y');
  // It lies there until the next write, which is made when it has been read.
  await commit(writer!, (message) => [message.put(FILLING, 0, 'last')], undefined, [FILLING]);
  const cluster = model.client();
  let ranges = 0;
  const read = cluster.range.bind(cluster);
  const range: EtcdCluster['range'] = async (request) => {
    const answer = await read(request);
    if (request.end === undefined || ++ranges > 1) return answer;
    await writer!.put(KEY, 'z');
    await commit(writer!, (message) => [message.remove(OTHER_KEY, other)]);
    model.compact(model.revision);
    return answer;
  };
  const began = await storeOn(model, Object.assign(cluster, { range }));
  t.teardown(() => began.running.stop());
  t.is(ranges, 2);
  const digests = async (rig: Rig): Promise<unknown> => {
    const { resources } = await rig.store.ask({ type: 'digests' }, { deadlineMs: DEADLINE_MS });
    return resources.map(({ storageKey, digest, objects }) => ({ storageKey, digest, objects }));
  };
  t.deepEqual(await digests(began), await digests(writer!));
  t.deepEqual(
    [...began.followers[0]!.state.values()].map(({ key, data }) => [key, data]),
    [[KEY, 'z']],
  );
  t.true((await commit(began, (message) => [message.put(FILLING, 0, 'anew')])).ok);
});

test('a message of several transactions is one batch: one revision of the engine, each its own version', async (t) => {
  const [one] = await stores(t, quietModel(), 1);
  const writer = new MessageWriter();
  for (const name of ['a', 'b', 'c']) writer.transaction([writer.put(`core/configmaps/default/${name}`, 0, name)]);
  const { results } = await one!.store.ask(
    { type: 'commit', transactions: writer.transactions, payload: writer.payload },
    { deadlineMs: DEADLINE_MS },
  );
  const revisions = results.map((result) => (result.ok ? result.revision : 0));
  t.is(new Set(revisions.map((revision) => Math.floor(revision / REVISION_STRIDE))).size, 1);
  t.deepEqual(revisions, [revisions[0]!, revisions[0]! + 1, revisions[0]! + 2]);
});

test('nothing of a message is tried any more once others have won one of its transactions for good', async (t) => {
  const engine = engineOn(quietModel());
  const commitInner = engine.commit.bind(engine);
  const tried: (readonly string[])[] = [];
  // Only what fills the first batch holds, so that what waits behind it has been tried once less than the first.
  engine.commit = async (batch) => {
    const keys = batch.map(({ writes }) => writes[0]!.key);
    tried.push(keys);
    const held = keys.map((key) => key === FILLING || key === OTHER_KEY);
    const { revision } = await commitInner(batch.filter((_, at) => held[at]));
    return { revision, held };
  };
  const rig = await startRig({ options: { engine: () => engine } });
  t.teardown(() => rig.running.stop());
  const writer = new MessageWriter();
  writer.transaction([writer.put(KEY, 0, 'contested')]);
  writer.transaction([writer.put(FILLING, 0, 'x'.repeat(900_000))]);
  writer.transaction([writer.put(LARGE, 0, 'x'.repeat(900_000))]);
  const { transactions, payload } = writer;
  await t.throwsAsync(rig.store.ask({ type: 'commit', transactions, payload }, { deadlineMs: DEADLINE_MS }), {
    message: 'others write the same objects',
  });
  const untilRefused = tried.length;
  t.deepEqual(tried.slice(0, 2), [
    [KEY, FILLING],
    [KEY, LARGE],
  ]);
  t.true((await commit(rig, (other) => [other.put(OTHER_KEY, 0, 'next')])).ok);
  t.deepEqual(tried.slice(untilRefused), [[OTHER_KEY]]);
});

test('a refusal goes by what is so now, not by what this store has been told', async (t) => {
  const model = quietModel();
  const [one, other] = await stores(t, model, 2);
  const revision = await one!.put(KEY, 'x');
  await barrier(other!);
  const removed = await commit(one!, (writer) => [writer.remove(KEY, revision)]);
  t.true(removed.ok);
  // The other store may not have heard of the removal yet.
  t.true((await commit(other!, (writer) => [writer.put(KEY, 0, 'again')])).ok);
  t.like(await commit(one!, (writer) => [writer.put(KEY, 0, 'taken')]), { ok: false, reason: 'exists', key: KEY });
  t.like(await commit(one!, (writer) => [writer.put(KEY, revision, 'late')]), { ok: false, reason: 'changed' });
  t.like(await commit(other!, (writer) => [writer.remove('core/configmaps/default/none', 5)]), {
    ok: false,
    reason: 'missing',
  });
});

test('of two stores that change one object at once one wins, and the other is told the version it lost to', async (t) => {
  const [one, other] = await stores(t, quietModel(), 2);
  let revision = await one!.put(KEY, '0');
  await barrier(other!);
  for (let round = 1; round < 20; round++) {
    const results = await Promise.all(
      [one!, other!].map((rig) => commit(rig, (writer) => [writer.put(KEY, revision, String(round))])),
    );
    const [won] = results.filter(({ ok }) => ok);
    const [lost] = results.filter(({ ok }) => !ok);
    if (won?.ok !== true || lost?.ok !== false) throw new Error('not one of two');
    t.is(lost.currentRevision, won.revision);
    revision = won.revision;
  }
});

test('an object that is removed with its last change shows both, and its name is free at once', async (t) => {
  const model = quietModel();
  const [one, other] = await stores(t, model, 2);
  const revision = await one!.put(KEY, 'x');
  await barrier(other!);
  const last = await commit(one!, (writer) => [writer.put(KEY, revision, 'last')], undefined, [KEY]);
  if (!last.ok) throw new Error('refused');
  await barrier(other!);
  const expected = [
    `${KEY} ${revision} ${CREATED} x`,
    `${KEY} ${last.revision} ${UPDATED} last`,
    `${KEY} ${last.revision + 1} ${DELETED} last`,
  ];
  for (const rig of [one!, other!]) t.deepEqual(eventsOf(rig).map(changeOf), expected);
  const third = await storeOn(model);
  t.is(third.followers[0]!.state.size, 0);
  t.is(third.followers[0]!.compactedRevision, third.followers[0]!.revision, 'of what was before it knows nothing');
  await third.running.stop();
  t.true((await commit(other!, (writer) => [writer.put(KEY, 0, 'anew')])).ok);
  const again = await commit(other!, (writer) => [writer.put(OTHER_KEY, 0, 'last')], undefined, [OTHER_KEY]);
  t.true(again.ok);
  const lies = (key: string): number => model.range({ key: `/registry/orch/objects/${key}` }).pairs.length;
  t.deepEqual([lies(KEY), lies(OTHER_KEY)], [1, 1]);
  await other!.put(FILLING);
  t.deepEqual([lies(KEY), lies(OTHER_KEY)], [1, 0], 'what is gone goes from etcd with the next write');
});

test('a guard holds against a batch mate that came before', async (t) => {
  const [one] = await stores(t, quietModel(), 1);
  const namespace = 'core/namespaces//default';
  const revision = await one!.put(namespace, 'n');
  const writer = new MessageWriter();
  writer.transaction([writer.remove(namespace, revision)]);
  writer.transaction([writer.put(KEY, 0, 'x')], [{ key: namespace, expect: revision }]);
  const { results } = await one!.store.ask(
    { type: 'commit', transactions: writer.transactions, payload: writer.payload },
    { deadlineMs: DEADLINE_MS },
  );
  t.like(results[0], { ok: true });
  t.like(results[1], { ok: false, reason: 'guard', key: namespace, currentRevision: 0 });
});

/** A write that was acknowledged: what it expected, and under which version it happened. */
interface Acknowledged {
  readonly operations: readonly Operation[];
  readonly guards: readonly Guard[];
  readonly revision: number;
}

/** Plays acknowledged writes in the order of their versions: each must have held by the state before it. */
function checkSerial(t: ExecutionContext, writes: readonly Acknowledged[], events: readonly Version[]): void {
  const byRevision = new Map(writes.map((write) => [write.revision, write]));
  t.is(byRevision.size, writes.length, 'no version is given twice');
  const current = new Map<string, number>();
  let last = 0;
  const played = new Set<number>();
  for (const { key, revision, type } of events) {
    t.true(revision >= last);
    const write = byRevision.get(revision);
    if (write !== undefined && !played.has(revision)) {
      played.add(revision);
      for (const one of [...write.guards, ...write.operations]) {
        if (one.expect >= 0) t.is(current.get(one.key) ?? 0, one.expect, `${one.key} before version ${revision}`);
      }
    }
    last = revision;
    if (type === DELETED) current.delete(key);
    else current.set(key, revision);
  }
  t.is(played.size, writes.length, 'everything acknowledged was shown');
}

for (const seed of [1, 2, 3, 4, 5, 6]) {
  test(`stores on an engine that loses calls and breaks watches off are one history: seed ${seed}`, async (t) => {
    const random = new SeededRandom(seed);
    let isQuiet = true;
    const fate = (): CallFate => ({
      delayMs: random.below(3),
      loses: isQuiet ? undefined : ([undefined, 'call', 'answer'] as const)[Math.max(0, random.below(12) - 9)],
    });
    const model = new EtcdModel({
      after: (delayMs, callback) => void timers.after(delayMs, callback),
      nextFate: fate,
      watchDelayMs: () => random.below(6),
    });
    const rigs = await stores(t, model, 3);
    isQuiet = false;
    const breaking = timers.every(7, () => random.below(4) === 0 && model.breakWatches());
    const writes: Acknowledged[] = [];
    const known = new Map<string, number>();
    const keys = Array.from({ length: 6 }, (_, index) => `core/configmaps/default/${index}`);
    const step = async (rig: Rig): Promise<void> => {
      const key = keys[random.below(keys.length)]!;
      const guard = keys[random.below(keys.length)]!;
      const expect = [known.get(key) ?? 0, known.get(key) ?? 0, 0, -1][random.below(4)]!;
      const guards = random.below(3) === 0 && guard !== key ? [{ key: guard, expect: known.get(guard) ?? 0 }] : [];
      const isRemoval = random.below(4) === 0;
      const isLast = !isRemoval && random.below(5) === 0;
      let operations: readonly Operation[] = [];
      const result = await commit(
        rig,
        (writer) => {
          operations = [isRemoval ? writer.remove(key, expect) : writer.put(key, expect, String(random.below(1000)))];
          return operations;
        },
        guards,
        isLast ? [key] : undefined,
      );
      if (result.ok) {
        writes.push({ operations, guards, revision: result.revision });
        known.set(key, isRemoval || isLast ? 0 : result.revision);
      } else known.set(result.key, result.currentRevision);
    };
    await Promise.all(
      rigs.flatMap((rig) =>
        [0, 1].map(async () => {
          for (let left = 30; left > 0; left--) await step(rig);
        }),
      ),
    );
    isQuiet = true;
    breaking.cancel();
    for (const rig of rigs) await barrier(rig);
    t.deepEqual(
      rigs.map(({ followers }) => followers[0]!.timesLost),
      [0, 0, 0],
    );
    const [first, ...others] = rigs.map((rig) => eventsOf(rig));
    const changes = first!.map(changeOf);
    t.true(changes.length > 20);
    for (const events of others) {
      // A store that began later was given the first of them as its present state.
      t.deepEqual(events.map(changeOf), changes);
    }
    checkSerial(t, writes, first!);
    const late = await storeOn(model);
    const lateState = [...late.followers[0]!.state.values()]
      .map(changeOf)
      .map((line) => line.replace(/ [12] /, ' '))
      .sort();
    const state = [...rigs[0]!.followers[0]!.state.values()]
      .map(changeOf)
      .map((line) => line.replace(/ [12] /, ' '))
      .sort();
    t.deepEqual(lateState, state);
    await late.running.stop();
  });
}
