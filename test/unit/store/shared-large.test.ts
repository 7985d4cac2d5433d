// A write that is larger than etcd takes: refused in etcd's words, alone, and never sent for ever.
import test, { type ExecutionContext } from 'ava';
import { type EtcdCluster, EtcdError } from '../../../storage/etcd/etcd-cluster.ts';
import { engineOn, quietModel } from './shared-rig.ts';
import { MessageWriter } from './store-model.ts';
import { DEADLINE_MS, type Rig, startRig } from './store-rig.ts';

/** Timers of the environment alone keep no process alive. */
const alive = setInterval(() => {}, 60_000);
test.after.always(() => clearInterval(alive));
const KEY = 'core/configmaps/default/a';
const OTHER_KEY = 'core/configmaps/default/b';
const LARGE = 'x'.repeat(10_000);
const TOO_LARGE = new EtcdError('tooLarge', 'etcdserver: request is too large');

type Transact = EtcdCluster['transact'];

/** A store whose members refuse what is large. `first`: what becomes of the first of those. */
async function storeWith(t: ExecutionContext, first?: (transact: Transact) => Transact): Promise<Rig> {
  const model = quietModel();
  const cluster = model.client();
  const made = cluster.transact.bind(cluster);
  let large = 0;
  const transact: Transact = (transaction) => {
    if (JSON.stringify(transaction).length < LARGE.length) return made(transaction);
    if (++large === 1 && first !== undefined) return first(made)(transaction);
    return Promise.reject(TOO_LARGE);
  };
  const rig = await startRig({ options: { engine: () => engineOn(model, Object.assign(cluster, { transact })) } });
  t.teardown(() => rig.running.stop());
  return rig;
}

function put(rig: Rig, key: string, data: string): Promise<unknown> {
  const writer = new MessageWriter();
  writer.transaction([writer.put(key, 0, data)]);
  const { transactions, payload } = writer;
  return rig.store.ask({ type: 'commit', transactions, payload }, { deadlineMs: DEADLINE_MS });
}

test('a write that etcd finds too large is refused, and those that come right behind it are made', async (t) => {
  const rig = await storeWith(t);
  const refused = await t.throwsAsync(put(rig, KEY, LARGE));
  t.like(refused, { code: 'StorageTooLarge', message: TOO_LARGE.message });
  t.like(await put(rig, OTHER_KEY, 'y'), { results: [{ ok: true }] });
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
