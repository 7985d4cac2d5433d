// A store on an engine in the layout of the original, where each write is a revision of its own and the engine has the form of values.
import test, { type ExecutionContext } from 'ava';
import type { TransactionResult } from '../../../actors/store/protocol.ts';
import { realEnvironment } from '../../../runtime/real-environment.ts';
import { readOpenedValue } from '../../../storage/encryption/sealed-value.ts';
import type { StoredEncryption } from '../../../storage/encryption/stored-encryption.ts';
import { EtcdError } from '../../../storage/etcd/etcd-cluster.ts';
import { forEachRecord } from '../../../storage/following/publication.ts';
import { CREATED, DELETED } from '../../../storage/records/slab-record.ts';
import { SNAPSHOT_FORMAT, SnapshotReader, snapshotHeader } from '../../../storage/upkeep/snapshot-file.ts';
import type { EtcdModel } from '../../simulation/etcd-model.ts';
import { encryption, keyed } from '../storage/encryption/encryption-world.ts';
import { engineOn } from '../storage/original/original-rig.ts';
import { quietModel } from './shared-rig.ts';
import { MessageWriter, versionAt } from './store-model.ts';
import { DEADLINE_MS, gate, type Rig, rigFor, settle, until } from './store-rig.ts';

/** Timers of the environment alone keep no process alive. */
const alive = setInterval(() => {}, 60_000);
test.after.always(() => clearInterval(alive));

/** Of a definition: values are JSON as they are. */
const keyOf = (name: string): string => `example.com/samples/default/${name}`;
const pathOf = (name: string): string => `/registry/example.com/samples/default/${name}`;
/** Lies under a lease. */
const EVENT = 'core/events/default/e';
/** So long after a refusal writes are tried again at the latest. */
const REFUSED_MS = 1000;
const PREFIX = 'k8s:enc:aesgcm:v1:a:';

const encryptionOfSamples = (): StoredEncryption =>
  encryption([keyed('aesgcm', 'a', 1)], { prefix: 'k8s:enc:', resource: 'example.com/samples' });

async function storeOn(t: ExecutionContext, model: EtcdModel, isSealed = false): Promise<Rig> {
  const values = isSealed ? encryptionOfSamples() : undefined;
  const options = {
    engine: () => engineOn(model.client(), { encryption: values }),
    ...(values !== undefined && { encryption: async () => values }),
  };
  const rig = await rigFor(t, { options });
  await rig.followers[0]!.subscribe();
  return rig;
}

async function ask(rig: Rig, writer: MessageWriter): Promise<readonly TransactionResult[]> {
  const { transactions, payload } = writer;
  return (await rig.store.ask({ type: 'commit', transactions, payload }, { deadlineMs: DEADLINE_MS })).results;
}

/** What a store's reader has been told, in order. */
function toldBy(rig: Rig): readonly string[] {
  const { batches, slabs } = rig.followers[0]!;
  const told: string[] = [];
  for (const { runs } of batches) {
    forEachRecord(runs, slabs, (slab, _number, offset) => {
      const { key, revision, type, data } = versionAt(slab, offset);
      told.push(`${key} ${revision} ${type} ${data}`);
    });
  }
  return told;
}

test('a version is the revision of etcd, and what lies there is the object, encrypted once and as the original has it', async (t) => {
  const model = quietModel();
  const rig = await storeOn(t, model, true);
  const revision = await rig.put(keyOf('a'), 'x');
  const [pair] = model.range({ key: pathOf('a') }).pairs;
  t.is(pair!.modRevision, revision);
  const sealed = Buffer.from(pair!.value);
  t.is(sealed.toString('latin1', 0, PREFIX.length), PREFIX);
  const plain = Buffer.from(await encryptionOfSamples().openBare(keyOf('a'), pathOf('a'), sealed));
  t.like(JSON.parse(plain.toString()), { kind: 'Sample', metadata: { name: 'a' }, data: 'x' });
  await until(() => rig.followers[0]!.state.has(keyOf('a')));
  t.like(rig.followers[0]!.state.get(keyOf('a')), { revision, born: revision, data: 'x' });
});

test('of revisions that bring nothing, as reads have etcd make them without end, nothing is kept for the compaction', async (t) => {
  const model = quietModel();
  const rig = await storeOn(t, model);
  const [first] = [await rig.put(keyOf('a')), await rig.put(keyOf('b'))];
  for (let tick = 0; tick < 5; tick++) {
    const put = { key: '/registry/orch/tick', value: Buffer.from(String(tick)) };
    model.transact({ compare: [], success: [{ put }], failure: [] });
  }
  const { revision } = model;
  await until(() => rig.followers[0]!.revision === revision);
  const answer = await rig.store.ask({ type: 'compact', upToRevision: revision }, { deadlineMs: DEADLINE_MS });
  t.is(answer.compactedRevision, first, 'the newest batch stays, and is the one before all of these');
});

test('what is encrypted there is encrypted in a snapshot, and is read from it with the same keys', async (t) => {
  const rig = await storeOn(t, quietModel(), true);
  const revision = await rig.put(keyOf('a'), 'hidden');
  const snapshot = await rig.store.ask({ type: 'openSnapshot' }, { deadlineMs: DEADLINE_MS });
  if ('refused' in snapshot) throw new Error(snapshot.refused);
  const { id } = snapshot;
  const { payload } = await rig.store.ask({ type: 'readSnapshot', id }, { deadlineMs: DEADLINE_MS });
  t.false(Buffer.from(payload).includes('hidden'));
  const header = {
    snapshotFormat: SNAPSHOT_FORMAT,
    dialect: '',
    prefix: '',
    revision,
    objects: 1,
    digest: 0,
    wallMs: 0,
  };
  const reader = new SnapshotReader();
  reader.read(snapshotHeader(header));
  const [[key, value] = ['', Buffer.alloc(0)]] = reader.read(Buffer.from(payload));
  t.is(key, keyOf('a'));
  const opened = await encryptionOfSamples().open(key, value);
  const read = readOpenedValue(key, value, opened);
  t.is(read?.revision, revision);
  t.like(JSON.parse(Buffer.from(read?.json ?? []).toString()), {
    data: 'hidden',
    metadata: { resourceVersion: String(revision) },
  });
});

test('who takes the last finalizer away is answered with what the object was then, and watches see it go as it was', async (t) => {
  const model = quietModel();
  const rig = await storeOn(t, model);
  const revision = await rig.put(keyOf('a'), 'x');
  const writer = new MessageWriter();
  writer.transaction([writer.put(keyOf('a'), revision, 'last')], [], [keyOf('a')]);
  const [result] = await ask(rig, writer);
  if (result?.ok !== true) throw new Error('refused');
  t.is(model.range({ key: pathOf('a') }).pairs.length, 0);
  const told = [`${keyOf('a')} ${revision} ${CREATED} x`, `${keyOf('a')} ${result.revision} ${DELETED} x`];
  await until(() => toldBy(rig).length === 2);
  t.deepEqual(toldBy(rig), told);
  const { slab, offset } = result.places[0]!;
  t.like(versionAt(rig.followers[0]!.slabs.slab(slab), offset), {
    revision: result.revision,
    data: 'last',
    born: revision,
  });
  t.true((await rig.put(keyOf('a'), 'anew')) > result.revision);
});

test('writes of one message are under way at once, each under a revision of its own, and one of several of a key', async (t) => {
  const rig = await storeOn(t, quietModel());
  const writer = new MessageWriter();
  // More than may be under way.
  const names = Array.from({ length: 70 }, (_, number) => `s${number}`);
  for (const name of [...names, 's0']) writer.transaction([writer.put(keyOf(name), 0, name)]);
  const results = await ask(rig, writer);
  const again = results.at(-1);
  t.like(again, { ok: false, reason: 'exists', key: keyOf('s0') });
  const revisions = results.slice(0, -1).map((result) => result.ok && result.revision);
  t.false(revisions.includes(false));
  t.is(new Set(revisions).size, names.length);
});

test('a write of a key that another is writing waits for that one, and holds up nobody else', async (t) => {
  const engine = engineOn(quietModel().client());
  const commit = engine.commit.bind(engine);
  const held = gate();
  const asked: string[] = [];
  engine.commit = async (batch) => {
    asked.push(batch[0]!.writes[0]!.key);
    await held.passed;
    return commit(batch);
  };
  const rig = await rigFor(t, { options: { engine: () => engine } });
  const first = rig.put(keyOf('a'), 'x');
  await until(() => asked.length === 1);
  const second = rig.put(keyOf('a'), 'y');
  await settle();
  t.is(asked.length, 1);
  const others = [rig.put(keyOf('a'), 'z'), rig.put(keyOf('b'), 'x')];
  await until(() => asked.length === 2);
  t.deepEqual(asked, [keyOf('a'), keyOf('b')]);
  held.open();
  await Promise.all(others);
  t.true((await second) > (await first));
});

test('of large writes fewer are under way at once than of small ones: together they are no more than a connection and a disk take', async (t) => {
  const engine = engineOn(quietModel().client());
  const commit = engine.commit.bind(engine);
  let [underWay, most] = [0, 0];
  engine.commit = async (batch) => {
    most = Math.max(most, ++underWay);
    await new Promise((resolve) => setImmediate(resolve));
    const committed = await commit(batch);
    underWay--;
    return committed;
  };
  const rig = await rigFor(t, { options: { engine: () => engine } });
  const putAll = async (data: string): Promise<number> => {
    most = 0;
    await Promise.all(Array.from({ length: 40 }, (_, number) => rig.put(keyOf(`w${number}`), data)));
    return most;
  };
  t.is(await putAll('small'), 32);
  t.is(await putAll('x'.repeat(900 * 1024)), 7);
});

test('a full etcd grants no lease either: events are refused as all writes are, and the store goes on when there is room', async (t) => {
  const model = quietModel();
  let nowMs = 1000;
  const clock = { ...realEnvironment.clock, nowMs: () => nowMs, monotonicMs: () => nowMs };
  const options = { engine: () => engineOn(model.client(), { monotonicMs: () => nowMs }) };
  const rig = await rigFor(t, { options, environment: { ...realEnvironment, clock } });
  model.isFull = true;
  await t.throwsAsync(rig.put(EVENT), { code: 'StorageFull', message: 'etcdserver: mvcc: database space exceeded' });
  t.is(rig.running.crashes.size, 0);
  model.isFull = false;
  nowMs += REFUSED_MS;
  t.true((await rig.put(EVENT)) > 0);
  t.true((await rig.put(keyOf('a'))) > 0);
});

test('an event whose lease has ended is written under another', async (t) => {
  const client = quietModel().client();
  const transact = client.transact.bind(client);
  const leases: string[] = [];
  client.transact = (transaction) => {
    const [lease] = /"lease":\d+/.exec(JSON.stringify(transaction)) ?? [];
    if (lease === undefined) return transact(transaction);
    leases.push(lease);
    if (leases.length > 1) return transact(transaction);
    return Promise.reject(new EtcdError('leaseOver', 'etcdserver: requested lease not found'));
  };
  const rig = await rigFor(t, { options: { engine: () => engineOn(client) } });
  t.true((await rig.put(EVENT)) > 0);
  t.is(new Set(leases).size, 2);
});

test('of what is behind the first of its message nothing is committed with it: it begins again', async (t) => {
  const rig = await storeOn(t, quietModel());
  const writer = new MessageWriter();
  for (const name of ['first', 'a', 'b']) writer.transaction([writer.put(keyOf(name), 0, name)]);
  const [first, ...behind] = writer.transactions;
  const transactions = [first!, ...behind.map((one) => ({ ...one, isBehindFirst: true }))];
  const message = { type: 'commit' as const, transactions, payload: writer.payload };
  const { results } = await rig.store.ask(message, { deadlineMs: DEADLINE_MS });
  t.true(results[0]!.ok);
  for (const [at, name] of ['a', 'b'].entries())
    t.like(results[at + 1], { ok: false, reason: 'changed', key: keyOf(name), currentRevision: 0 });
});
