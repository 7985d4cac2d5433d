// Who of an etcd's users compacts it, when, and up to where.
import test from 'ava';
import { SharedCompaction } from '../../../storage/etcd/compaction.ts';
import { type EtcdCluster, EtcdError } from '../../../storage/etcd/etcd-cluster.ts';
import { quietModel } from '../store/shared-rig.ts';

/** Timers of the environment alone keep no process alive. */
const alive = setInterval(() => {}, 60_000);
test.after.always(() => clearInterval(alive));

const KEY = 'compaction';

/** A cluster, with its newest revision and up to where each compaction that was asked for was to go. */
interface Watched {
  readonly cluster: EtcdCluster;
  readonly asked: readonly number[];
  revision(): Promise<number>;
}

/** `compact`: what becomes of a compaction. */
function watched(compact: (revision: number) => Promise<void> = () => Promise.resolve()): Watched {
  const cluster = quietModel().client();
  const asked: number[] = [];
  const noted = (revision: number): Promise<void> => {
    asked.push(revision);
    return compact(revision);
  };
  const revision = async (): Promise<number> => (await cluster.range({ key: 'x' })).revision;
  return { cluster: Object.assign(cluster, { compact: noted }), asked, revision };
}

test('each turn of one alone compacts to what was newest at the turn before, the first nothing', async (t) => {
  const { cluster, asked, revision } = watched();
  const one = new SharedCompaction(cluster, KEY);
  const newest: number[] = [];
  for (let turn = 0; turn < 4; turn++) {
    await one.turn();
    newest.push(await revision());
  }
  t.deepEqual(asked, newest.slice(0, -1));
});

test('who finds that another has had the turn compacts nothing, and has the next', async (t) => {
  const { cluster, asked, revision } = watched();
  const [one, other] = [new SharedCompaction(cluster, KEY), new SharedCompaction(cluster, KEY)];
  await one.turn();
  const first = await revision();
  await other.turn();
  t.deepEqual(asked, []);
  await one.turn();
  t.deepEqual(asked, [first]);
  await other.turn();
  t.deepEqual(asked, [first], 'that the other saw in vain is not compacted again');
  const second = await revision();
  await other.turn();
  t.deepEqual(asked, [first, second]);
});

test('who has missed several turns learns how often the others had theirs, and has the next', async (t) => {
  const { cluster, asked, revision } = watched();
  const [one, other] = [new SharedCompaction(cluster, KEY), new SharedCompaction(cluster, KEY)];
  for (let turn = 0; turn < 3; turn++) await one.turn();
  t.is((await cluster.range({ key: KEY })).pairs[0]?.version, 3);
  const before = asked.length;
  await other.turn();
  const found = await revision();
  t.is(asked.length, before);
  await other.turn();
  t.deepEqual(asked.slice(before), [found]);
});

/** Takes the turn that compacts, of which the cluster says an error. */
async function turnThatMeets(error: EtcdError): Promise<void> {
  const one = new SharedCompaction(watched(() => Promise.reject(error)).cluster, KEY);
  await one.turn();
  await one.turn();
}

test('that others have compacted further is no failure, and what else becomes of a compaction is', async (t) => {
  await t.notThrowsAsync(turnThatMeets(new EtcdError('compacted', 'further')));
  await t.throwsAsync(turnThatMeets(new EtcdError('unknown', 'no answer')), { message: 'no answer' });
});
