// What becomes of a batch that is written once and no more, whatever its cluster says of it.
import test from 'ava';
import type { Timers } from '../../../runtime/environment.ts';
import { TOO_MANY } from '../../../storage/engines/shared-engine.ts';
import { CountedWriter, type GuardedWrites, refusedBatch } from '../../../storage/etcd/counted-writer.ts';
import { type EtcdCluster, EtcdError, type EtcdErrorKind, type EtcdPair } from '../../../storage/etcd/etcd-cluster.ts';
import { Patience } from '../../../storage/etcd/patience.ts';
import { quietModel } from '../store/shared-rig.ts';

/** Timers of the environment alone keep no process alive. */
const alive = setInterval(() => {}, 60_000);
test.after.always(() => clearInterval(alive));

const KEY = 'writers/p';
const IDENTITY = 'identity';
const WHY_CHANGED = 'the store is being moved away, or another etcd answers';
/** What becomes of one call: `lost`: it is done, and nobody hears so. Else it is not done, and that is what is answered. */
type Fate = 'done' | 'lost' | EtcdErrorKind;

interface Rig {
  readonly cluster: EtcdCluster;
  readonly patience: Patience;
  readonly writer: CountedWriter;
  /** Calls that there were. */
  calls(): number;
  /** Pauses between them, each over at once. */
  pauses(): number;
  put(key: string, value?: string): Promise<unknown>;
}

/** A writer on a cluster; `fates`: of its transactions, one after the other, all others are done. */
function rig(...fates: readonly Fate[]): Rig {
  const client = quietModel().client();
  let calls = 0;
  let pauses = 0;
  const after = (_: number, go: () => void): void => {
    pauses++;
    setImmediate(go);
  };
  const timers = { after } as unknown as Timers;
  const transact: EtcdCluster['transact'] = async (transaction) => {
    const fate = fates[calls++] ?? 'done';
    const answer = fate === 'done' || fate === 'lost' ? await client.transact(transaction) : undefined;
    if (fate === 'done') return answer!;
    throw new EtcdError(fate === 'lost' ? 'unknown' : fate, `it is ${fate}`);
  };
  const range: EtcdCluster['range'] = (request) => client.range(request);
  const cluster = { transact, range } as EtcdCluster;
  const patience = new Patience(timers, () => {});
  const writer = new CountedWriter({ cluster, patience, key: KEY, identity: IDENTITY, identityAt: 0 });
  const put = (key: string, value = ''): Promise<unknown> =>
    client.transact({ compare: [], success: [{ put: { key, value: Buffer.from(value) } }], failure: [] });
  return { cluster, patience, writer, calls: () => calls, pauses: () => pauses, put };
}

/** A transaction that makes a key. */
const making = (key: string): GuardedWrites => ({
  compare: [{ key, target: 'version', value: 0 }],
  writes: [{ put: { key, value: Buffer.from('x') } }],
});

test('an answer that is heard says which transactions held, and so does the counter where none was', async (t) => {
  const { writer, put, cluster } = rig('done', 'lost', 'done', 'unknown', 'done');
  await put('there');
  const heard = await writer.write([making('a'), making('there')]);
  t.like(heard, { held: [true, false], isHeard: true });
  const found = await writer.write([making('there'), making('b')]);
  const { pairs } = await cluster.range({ key: 'b' });
  t.like(found, { held: [false, true], isHeard: false, revision: pairs[0]!.modRevision });
  t.like(await writer.write([making('c')]), { held: [true], isHeard: true });
  t.is(writer.batches, 3);
});

test('of a batch that nobody answered each transaction that failed is known, however many there are', async (t) => {
  const { writer, put } = rig('lost');
  await put('there');
  const batch = Array.from({ length: 100 }, (_, index) => making(index % 9 === 0 ? 'there' : `a${index}`));
  const { held } = await writer.write(batch);
  t.deepEqual(
    held,
    batch.map((_, index) => index % 9 !== 0),
  );
});

test('what was refused is not done, unless somebody may have done it before who did not answer', async (t) => {
  const refused = rig('refused');
  t.like(await t.throwsAsync(refused.writer.write([making('a')])), { kind: 'refused' });
  t.is(refused.calls(), 1);
  const late = rig('lost', 'refused');
  t.like(await late.writer.write([making('a')]), { held: [true], isHeard: false });
  t.is(late.calls(), 3);
});

test('a batch that was made is found also behind a refusal for its size or for want of room', async (t) => {
  for (const kind of ['full', 'tooLarge', 'tooMany'] as const) {
    const { writer, put, cluster, calls } = rig('done', 'lost', kind);
    await put('there');
    await writer.write([making('before')]);
    const found = await writer.write([making('a'), making('there')]);
    const { pairs } = await cluster.range({ key: 'a' });
    t.deepEqual(found, { held: [true, false], isHeard: false, revision: pairs[0]!.modRevision }, kind);
    t.is(calls(), 3);
    t.like(await writer.write([making('b')]), { held: [true], isHeard: true });
  }
});

test('a batch that was not made is refused for its size at once, and for want of room unless nobody answered before', async (t) => {
  for (const kind of ['full', 'tooLarge', 'tooMany'] as const) {
    const refused = rig(kind);
    t.like(await t.throwsAsync(refused.writer.write([making('a')])), { kind });
    t.is(refused.calls(), 1);
    t.is(refused.pauses(), 0);
  }
  const large = rig('unknown', 'tooLarge');
  t.like(await t.throwsAsync(large.writer.write([making('a')])), { kind: 'tooLarge' });
  t.is(large.calls(), 2);
  const full = rig('unknown', 'full');
  t.like(await full.writer.write([making('a')]), { held: [true], isHeard: true });
  t.deepEqual([full.calls(), full.pauses()], [3, 2]);
});

test('a counter goes with all that lies beside it', async (t) => {
  const { writer, put, cluster } = rig();
  await put('there');
  await writer.write([making('there')]);
  const left = async () => (await cluster.range({ key: KEY, end: `${KEY}0` })).pairs.map(({ key }) => key);
  t.deepEqual(await left(), [KEY, `${KEY}/0`]);
  await cluster.transact({ compare: [], success: writer.removal(), failure: [] });
  t.deepEqual(await left(), []);
});

test('a lease that is over says for certain that nothing was done, whoever was asked before', async (t) => {
  const { writer, calls } = rig('unknown', 'leaseOver');
  t.like(await t.throwsAsync(writer.write([making('a')])), { kind: 'leaseOver' });
  t.is(calls(), 2);
});

test('a batch that nobody answers is sent again when a while has passed, and a longer one each time', async (t) => {
  const { cluster, calls } = rig('unknown', 'unknown');
  const waits: { readonly delayMs: number; readonly go: () => void }[] = [];
  const timers = { after: (delayMs: number, go: () => void) => waits.push({ delayMs, go }) } as unknown as Timers;
  const patience = new Patience(timers, () => {});
  const writer = new CountedWriter({ cluster, patience, key: KEY, identity: IDENTITY, identityAt: 0 });
  const writing = writer.write([making('a')]);
  for (let sent = 1; sent <= 2; sent++) {
    await new Promise(setImmediate);
    t.deepEqual([calls(), waits.length], [sent, sent]);
    waits.at(-1)!.go();
  }
  t.like(await writing, { held: [true] });
  t.true(waits[0]!.delayMs < waits[1]!.delayMs);
});

test('nothing is asked again once the store is closed', async (t) => {
  const { writer, patience, calls } = rig('unknown');
  const writing = writer.write([making('a')]);
  patience.end();
  await t.throwsAsync(writing, { message: /closed in the middle of a commit/ });
  t.is(calls(), 1);
});

test('a keyspace that is being moved takes no more, not even the first', async (t) => {
  const [fresh, used] = [rig(), rig()];
  await used.writer.write([making('a')]);
  for (const { writer, put, cluster } of [fresh, used]) {
    await put(IDENTITY);
    const error = await t.throwsAsync(writer.write([making('b')]));
    t.like(error, { code: 'StoreUnusable', message: `${IDENTITY} was changed: ${WHY_CHANGED}` });
    t.deepEqual((await cluster.range({ key: 'b' })).pairs, []);
  }
});

test('another etcd takes not even the first batch, though its keyspace was written as often', async (t) => {
  const { put, cluster, patience } = rig();
  await put('something');
  await put(IDENTITY);
  const [{ modRevision, version }] = (await cluster.range({ key: IDENTITY })).pairs as [EtcdPair];
  t.is(version, 1);
  const writerAt = (identityAt: number): CountedWriter =>
    new CountedWriter({ cluster, patience, key: KEY, identity: IDENTITY, identityAt });
  const error = await t.throwsAsync(writerAt(modRevision - 1).write([making('a')]));
  t.like(error, { code: 'StoreUnusable', message: `${IDENTITY} was changed: ${WHY_CHANGED}` });
  t.deepEqual((await cluster.range({ key: 'a' })).pairs, []);
  t.like(await writerAt(modRevision).write([making('a')]), { held: [true] });
});

test('a counter that somebody else has raised or removed is none', async (t) => {
  const [raised, removed] = [rig(), rig()];
  for (const { writer } of [raised, removed]) await writer.write([making('a')]);
  await raised.put(KEY, '2');
  await raised.put(KEY, '3');
  await removed.cluster.transact({ compare: [], success: removed.writer.removal(), failure: [] });
  for (const { writer } of [raised, removed]) {
    const error = await t.throwsAsync(writer.write([making('b')]));
    t.like(error, { code: 'StoreUnusable', message: `the counter ${KEY} was changed by somebody else` });
  }
});

test('a batch that was not done is refused for want of room, for its size, or for what else there is', (t) => {
  const codeOf = (kind: EtcdErrorKind): unknown => refusedBatch(new EtcdError(kind, 'why'));
  t.like(codeOf('full'), { code: 'StorageFull', message: 'why' });
  t.like(codeOf('tooLarge'), { code: 'StorageTooLarge', details: undefined });
  t.like(codeOf('tooMany'), { code: 'StorageTooLarge', details: TOO_MANY });
  t.like(codeOf('refused'), { code: 'StorageFailed' });
  const other = new Error('a bug');
  t.is(refusedBatch(other), other);
});
