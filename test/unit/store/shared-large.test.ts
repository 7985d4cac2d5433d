// A write that is larger than etcd takes: refused in etcd's words, alone, and never sent for ever.
import test, { type ExecutionContext } from 'ava';
import { type EtcdCluster, EtcdError, type EtcdTransaction } from '../../../storage/etcd/etcd-cluster.ts';
import { engineOn, quietModel } from './shared-rig.ts';
import { MessageWriter } from './store-model.ts';
import { DEADLINE_MS, type Rig, startRig } from './store-rig.ts';

/** Timers of the environment alone keep no process alive. */
const alive = setInterval(() => {}, 60_000);
test.after.always(() => clearInterval(alive));
const KEY = 'core/configmaps/default/a';
const OTHER_KEY = 'core/configmaps/default/b';
const LARGE = 'x'.repeat(10_000);
const TOO_MANY = new EtcdError('tooMany', 'etcdserver: too many operations in txn request');
const TOO_LARGE = new EtcdError('tooLarge', 'etcdserver: request is too large');

type Transact = EtcdCluster['transact'];

/** A store whose members answer as `transactWith` has it. */
async function storeOn(t: ExecutionContext, transactWith: (made: Transact) => Transact): Promise<Rig> {
  const model = quietModel();
  const cluster = model.client();
  const transact = transactWith(cluster.transact.bind(cluster));
  const rig = await startRig({ options: { engine: () => engineOn(model, Object.assign(cluster, { transact })) } });
  t.teardown(() => rig.running.stop());
  return rig;
}

/** One whose members refuse what is large. `first`: what becomes of the first of those. */
function storeWith(t: ExecutionContext, first?: (transact: Transact) => Transact): Promise<Rig> {
  let large = 0;
  return storeOn(t, (made) => (transaction) => {
    if (JSON.stringify(transaction).length < LARGE.length) return made(transaction);
    if (++large === 1 && first !== undefined) return first(made)(transaction);
    return Promise.reject(TOO_LARGE);
  });
}

function put(rig: Rig, key: string, data: string, thenRemoves: readonly string[] = []): Promise<unknown> {
  const writer = new MessageWriter();
  writer.transaction([writer.put(key, 0, data)], [], thenRemoves);
  const { transactions, payload } = writer;
  return rig.store.ask({ type: 'commit', transactions, payload }, { deadlineMs: DEADLINE_MS });
}

test('a write that etcd finds too large is refused, and those that come right behind it are made', async (t) => {
  const rig = await storeWith(t);
  const refused = await t.throwsAsync(put(rig, KEY, LARGE));
  t.like(refused, { code: 'StorageTooLarge', message: TOO_LARGE.message });
  t.like(await put(rig, OTHER_KEY, 'y'), { results: [{ ok: true }] });
});

test('a write that etcd finds too large is refused also where what is gone was to be swept with it', async (t) => {
  const rig = await storeWith(t);
  t.like(await put(rig, OTHER_KEY, 'y', [OTHER_KEY]), { results: [{ ok: true }] });
  t.like(await t.throwsAsync(put(rig, KEY, LARGE)), { code: 'StorageTooLarge' });
});

test('a write that is found too large when it is sent again is refused, and not sent for ever', async (t) => {
  const rig = await storeWith(t, () => () => Promise.reject(new EtcdError('unknown', 'there was no answer')));
  t.like(await t.throwsAsync(put(rig, KEY, LARGE)), { code: 'StorageTooLarge' });
  t.like(await put(rig, OTHER_KEY, 'y'), { results: [{ ok: true }] });
});

test('a write that a member made and did not answer is acknowledged, though another finds it too large', async (t) => {
  const rig = await storeWith(t, (made) => async (transaction) => {
    await made(transaction);
    throw new EtcdError('unknown', 'there was no answer');
  });
  t.like(await put(rig, KEY, LARGE), { results: [{ ok: true }] });
  t.like(await put(rig, OTHER_KEY, 'y'), { results: [{ ok: true }] });
});

const WRITES = 60;

for (const [what, refuses, error] of [
  ['fewer operations', ({ success }: EtcdTransaction) => success.length > 8, TOO_MANY],
  ['less', (transaction: EtcdTransaction) => JSON.stringify(transaction).length > 4 * LARGE.length, TOO_LARGE],
] as const) {
  test(`writes that come together are made where etcd takes ${what} at once than it usually does`, async (t) => {
    const rig = await storeOn(t, (made) => (one) => (refuses(one) ? Promise.reject(error) : made(one)));
    const writer = new MessageWriter();
    for (let number = 0; number < WRITES; number++)
      writer.transaction([writer.put(`core/configmaps/default/${number}`, 0, LARGE.slice(0, LARGE.length / 10))]);
    const { transactions, payload } = writer;
    const { results } = await rig.store.ask({ type: 'commit', transactions, payload }, { deadlineMs: DEADLINE_MS });
    t.is(results.filter(({ ok }) => ok).length, WRITES);
    t.is(new Set(results.map((result) => result.ok && result.revision)).size, WRITES);
  });
}

test('a single write is made where etcd takes fewer operations than with all that is gone and to be swept beside it', async (t) => {
  let most = Number.POSITIVE_INFINITY;
  const rig = await storeOn(t, (made) => (one) => (one.success.length > most ? Promise.reject(TOO_MANY) : made(one)));
  const writer = new MessageWriter();
  for (let number = 0; number < WRITES; number++) {
    const key = `core/configmaps/default/${number}`;
    writer.transaction([writer.put(key, 0, 'x')], [], [key]);
  }
  const { transactions, payload } = writer;
  await rig.store.ask({ type: 'commit', transactions, payload }, { deadlineMs: DEADLINE_MS });
  most = 8;
  t.like(await put(rig, KEY, 'y'), { results: [{ ok: true }] });
});
