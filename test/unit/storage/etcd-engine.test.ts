// The engine on etcd where its cluster is odd: watches that are late, an etcd that went back, members that do not answer at the end.
import test from 'ava';
import type { SharedEvent, SharedTransaction } from '../../../storage/engines/shared-engine.ts';
import { type EtcdCluster, EtcdError } from '../../../storage/etcd/etcd-cluster.ts';
import type { EtcdEngine } from '../../../storage/etcd/etcd-engine.ts';
import { engineOn, quietModel } from '../store/shared-rig.ts';

/** Timers of the environment alone keep no process alive. */
const alive = setInterval(() => {}, 60_000);
test.after.always(() => clearInterval(alive));

const KEY = 'core/configmaps/default/a';
const WRITERS = { key: '/registry/orch/writers/', end: '/registry/orch/writers0' };

const write = (expect: number, text: string | undefined, place = 0): SharedTransaction => ({
  guards: [],
  writes: [{ key: KEY, expect, value: text === undefined ? undefined : Buffer.from(text) }],
  place,
});

interface Rig {
  readonly engine: EtcdEngine;
  /** Its way to etcd. */
  readonly cluster: EtcdCluster;
  /** Another's. */
  readonly other: EtcdCluster;
  readonly told: { readonly revision: number; readonly events: readonly SharedEvent[] }[];
  readonly lost: Error[];
  /** Where its watches began. */
  readonly watchedFrom: readonly number[];
}

/** An engine that has begun, and whose watch tells nothing. */
async function rig(): Promise<Rig> {
  const model = quietModel();
  const [cluster, other] = [model.client(), model.client()];
  const watchedFrom: number[] = [];
  const watch: EtcdCluster['watch'] = (_key, _end, from) => {
    watchedFrom.push(from);
    return () => {};
  };
  const engine = engineOn(model, Object.assign(cluster, { watch }));
  const told: Rig['told'] = [];
  const lost: Error[] = [];
  await engine.open();
  const put = { key: '/other', value: Buffer.from('x') };
  await other.transact({ compare: [], success: [{ put }], failure: [] });
  await engine.follow({
    value: () => {},
    again: () => {},
    revision: (revision, events) => void told.push({ revision, events }),
    lost: (error) => void lost.push(error),
  });
  return { engine, cluster, other, told, lost, watchedFrom };
}

test('a batch of our own that is next is told at once, a removal with its place', async (t) => {
  const { engine, other, told, watchedFrom } = await rig();
  const begun = (await other.range({ key: 'x' })).revision;
  t.deepEqual(watchedFrom, [begun + 1], 'behind all that there was, of whomever');
  const made = await engine.commit([write(0, 'x', 3)]);
  const removed = await engine.commit([write(made.revision, undefined, 4), write(1, 'late', 5)]);
  t.deepEqual(told, [
    { revision: made.revision, events: [{ key: KEY, value: Buffer.from('x'), place: undefined }] },
    { revision: removed.revision, events: [{ key: KEY, value: undefined, place: 4 }] },
  ]);
  await engine.close();
});

test('an etcd that went back is of another history, to who writes and to who asks how new it is', async (t) => {
  for (const [ask, begins] of [
    [(engine: EtcdEngine) => engine.commit([write(0, 'x')]), 0],
    [(engine: EtcdEngine) => engine.readBarrier(), 1],
  ] as const) {
    const { engine, cluster, lost } = await rig();
    const { range, transact } = cluster;
    cluster.range = async (request) => ({ ...(await range.call(cluster, request)), revision: 2 });
    cluster.transact = async (request) => ({ ...(await transact.call(cluster, request)), revision: 2 });
    await t.throwsAsync(ask(engine), { code: 'StoreUnusable', message: /etcd went back from revision \d+ to/ });
    t.is(lost.length, begins, 'who asks tells the follower to begin anew');
    await engine.close();
  }
});

test('the counter of a process goes with it, once', async (t) => {
  const { engine, other, cluster } = await rig();
  await engine.commit([write(0, 'x')]);
  t.is((await other.range(WRITERS)).pairs.length, 1);
  let asked = 0;
  const { transact } = cluster;
  cluster.transact = (request) => {
    asked++;
    return transact.call(cluster, request);
  };
  await Promise.all([engine.close(), engine.close()]);
  t.deepEqual((await other.range(WRITERS)).pairs, []);
  t.is(asked, 1);
});

test('a process whose etcd does not answer at its end ends all the same', async (t) => {
  const { engine, cluster } = await rig();
  await engine.commit([write(0, 'x')]);
  cluster.transact = () => Promise.reject(new EtcdError('unknown', 'there was no answer'));
  await t.notThrowsAsync(engine.close());
});
