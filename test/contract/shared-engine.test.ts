// Runs the contract of shared engines on a model of etcd, on one that loses calls and answers, and on a real member.
import { randomBytes, randomUUID } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { freePort } from '../../bench/server/free-port.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import { EtcdClient } from '../../storage/etcd/etcd-client.ts';
import { type EtcdCluster, EtcdError, type EtcdTransaction } from '../../storage/etcd/etcd-cluster.ts';
import { EtcdEngine } from '../../storage/etcd/etcd-engine.ts';
import { eventually } from '../integration/objects.ts';
import { EtcdMember } from '../server/etcd-member.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { type CallFate, EtcdModel } from '../simulation/etcd-model.ts';
import { sharedEngineContract } from './shared-engine-contract.ts';

const { timers } = realEnvironment;
/** Timers of the environment alone keep no process alive. */
const alive = setInterval(() => {}, 60_000);
test.after.always(() => clearInterval(alive));

function engineOn(
  cluster: EtcdCluster,
  prefix: string,
  dialect = 'orch',
  warn: (text: string) => void = () => {},
): EtcdEngine {
  return new EtcdEngine({
    cluster,
    prefix,
    dialect,
    timers,
    processId: randomUUID(),
    tokenKey: randomBytes(32),
    warn,
  });
}

function modelWith(nextFate: () => CallFate, watchDelayMs: () => number): EtcdModel {
  return new EtcdModel({ after: (delayMs, callback) => void timers.after(delayMs, callback), nextFate, watchDelayMs });
}

sharedEngineContract('model', async () => {
  const model = modelWith(
    () => ({ delayMs: 0, loses: undefined }),
    () => 0,
  );
  return { make: (dialect) => engineOn(model.client(), '/registry', dialect), dispose: async () => {} };
});

sharedEngineContract('model that loses calls', async () => {
  const random = new SeededRandom(7);
  const fate = (): CallFate => ({
    delayMs: random.below(3),
    loses: ([undefined, 'call', 'answer'] as const)[Math.max(0, random.below(12) - 9)],
  });
  const model = modelWith(fate, () => random.below(4));
  const breaking = timers.every(5, () => random.below(3) === 0 && model.breakWatches());
  return {
    make: (dialect) => engineOn(model.client(), '/registry', dialect),
    dispose: async () => breaking.cancel(),
  };
});

test('an engine that begins while nobody answers says once what it waits for, and begins when somebody does', async (t) => {
  let unanswered = 6;
  const model = modelWith(
    () => ({ delayMs: 0, loses: unanswered-- > 0 ? 'call' : undefined }),
    () => 0,
  );
  const said: string[] = [];
  const engine = engineOn(model.client(), '/registry', 'orch', (text) => said.push(text));
  t.true((await engine.open()).lanes > 0);
  t.true(unanswered < 0);
  t.deepEqual(
    said.map((text) => text.replace(/cluster: .*/, 'cluster: …')),
    ["the start waits up to 30 s for the store's cluster: …"],
  );
  await engine.close();
});

test("a watch that breaks off after a compaction of nothing but others' changes goes on; one that missed ours is lost", async (t) => {
  const model = modelWith(
    () => ({ delayMs: 0, loses: undefined }),
    () => 0,
  );
  const [one, other] = [engineOn(model.client(), '/registry'), engineOn(model.client(), '/registry')];
  const told: number[] = [];
  let lost: Error | undefined;
  const follower = {
    value: () => {},
    again: () => {},
    revision: (revision: number) => void told.push(revision),
    lost: (error: Error) => {
      lost = error;
    },
  };
  await one.open();
  await one.follow(follower);
  await other.open();
  await other.follow({ ...follower, revision: () => {}, lost: () => {} });
  for (let round = 0; round < 5; round++) await other.compact();
  model.breakWatches();
  const write = { key: 'g/r//a', expect: 0, value: new Uint8Array(1) };
  const { revision } = await other.commit([{ guards: [], writes: [write], place: 0 }]);
  while (told.length === 0) await new Promise((resolve) => setImmediate(resolve));
  t.deepEqual([told, lost], [[revision], undefined]);
  model.compact(model.revision);
  model.breakWatches();
  const next = { guards: [], writes: [{ ...write, expect: revision }], place: 0 };
  await other.commit([next]);
  model.compact(model.revision);
  while (lost === undefined) await new Promise((resolve) => setImmediate(resolve));
  t.regex(lost.message, /compacted/);
  await Promise.all([one.close(), other.close()]);
});

test('a batch that etcd made with the last of its room, and called not made, is answered as made; the next is not, and a server can begin', async (t) => {
  const model = modelWith(
    () => ({ delayMs: 0, loses: undefined }),
    () => 0,
  );
  const engine = engineOn(model.client(), '/registry');
  await engine.open();
  await engine.follow({ value: () => {}, again: () => {}, revision: () => {}, lost: () => {} });
  const write = (key: string, expect = 0) => ({
    guards: [],
    writes: [{ key, expect, value: new Uint8Array(1) }],
    place: 0,
  });
  await engine.commit([write('g/r//a')]);
  model.isNearlyFull = true;
  const { revision, held } = await engine.commit([write('g/r//b'), write('g/r//a')]);
  t.deepEqual([revision, held], [model.revision, [true, false]]);
  await t.throwsAsync(engine.commit([write('g/r//c')]), { message: /space exceeded/ });
  const reader = engineOn(model.client(), '/registry');
  await reader.open();
  const values: string[] = [];
  await reader.follow({
    value: (key) => void values.push(key),
    again: () => {},
    revision: () => {},
    lost: () => {},
  });
  t.deepEqual(values, ['g/r//a', 'g/r//b'], 'who begins meanwhile shows what there is');
  await reader.close();
  t.is(model.revision, revision);
  model.isFull = false;
  t.deepEqual((await engine.commit([write('g/r//c')])).held, [true]);
  await engine.close();
});

/** Once it `begins`, somebody writes and compacts all that there is before each read. */
class Outrun {
  /** What is compacted. */
  compacted = 0;
  /** Where the newest watch began. */
  watchedFrom = 0;
  #hasBegun = false;
  readonly #cluster: EtcdCluster;

  constructor(cluster: EtcdCluster) {
    this.#cluster = cluster;
  }

  begins(): void {
    this.#hasBegun = true;
  }

  /** The cluster as it is met by who is outrun. */
  met(): EtcdCluster {
    const range: EtcdCluster['range'] = async (request) => {
      if (this.#hasBegun) await this.#outrun();
      return await this.#cluster.range(request);
    };
    const watch: EtcdCluster['watch'] = (key, end, from, listener) => {
      this.watchedFrom = from;
      return this.#cluster.watch(key, end, from, listener);
    };
    const rest = this.#cluster;
    return new Proxy(rest, {
      get: (_, name) => (name === 'range' ? range : name === 'watch' ? watch : Reflect.get(rest, name).bind(rest)),
    });
  }

  async #outrun(): Promise<void> {
    const put = { key: '/other', value: Buffer.from('x') };
    const { revision } = await this.#cluster.transact({ compare: [], success: [{ put }], failure: [] });
    await this.#cluster.compact(revision);
    this.compacted = revision;
  }
}

test('a watch that broke off goes on although others compact all there is between any two of its tries', async (t) => {
  const model = modelWith(
    () => ({ delayMs: 0, loses: undefined }),
    () => 0,
  );
  const outrun = new Outrun(model.client());
  const engine = engineOn(outrun.met(), '/registry');
  const writer = engineOn(model.client(), '/registry');
  const told: number[] = [];
  await engine.open();
  await engine.follow({
    value: () => {},
    again: () => {},
    revision: (revision) => void told.push(revision),
    lost: () => t.fail('lost'),
  });
  await writer.open();
  await writer.follow({ value: () => {}, again: () => {}, revision: () => {}, lost: () => {} });
  for (let round = 0; round < 3; round++) await writer.compact();
  model.compact(model.revision);
  outrun.begins();
  model.breakWatches();
  while (outrun.compacted === 0 || outrun.watchedFrom <= outrun.compacted)
    await new Promise((resolve) => setImmediate(resolve));
  const write = { key: 'g/r//a', expect: 0, value: new Uint8Array(1) };
  const { revision } = await writer.commit([{ guards: [], writes: [write], place: 0 }]);
  while (told.length === 0) await new Promise((resolve) => setImmediate(resolve));
  t.deepEqual(told, [revision]);
  await Promise.all([engine.close(), writer.close()]);
});

/** Loses the answer of a batch, and somebody compacts everything that can be before it is asked for again. */
function losingAnswers(cluster: EtcdCluster, compacts: EtcdCluster): EtcdCluster {
  const transact = async (transaction: EtcdTransaction): ReturnType<EtcdCluster['transact']> => {
    const { revision, succeeded } = await cluster.transact(transaction);
    const isBatch = transaction.success.some((one) => 'txn' in one);
    if (!isBatch || !succeeded) return await cluster.transact(transaction);
    // The state behind the batch, and before it, are gone with this.
    await compacts.transact({
      compare: [],
      success: [{ put: { key: '/other', value: Buffer.from('x') } }],
      failure: [],
    });
    await compacts.compact(revision + 1);
    throw new EtcdError('unknown', 'there was no answer');
  };
  const others = {
    range: cluster.range,
    watch: cluster.watch,
    compact: cluster.compact,
    status: cluster.status,
    memberBytes: cluster.memberBytes,
    grantLease: cluster.grantLease,
  };
  const bound = Object.entries(others).map(([name, call]) => [name, (call as () => unknown).bind(cluster)]);
  return { ...(Object.fromEntries(bound) as typeof others), transact, close: () => cluster.close() };
}

/** `client`: a way of its own to one cluster. */
async function checkLostAnswers(t: ExecutionContext, client: () => EtcdCluster, prefix: string): Promise<void> {
  const compacts = client();
  const engine = engineOn(losingAnswers(client(), compacts), prefix);
  const put = (key: string, expect: number, place = 0) => {
    return { guards: [], writes: [{ key, expect, value: new Uint8Array(1) }], place };
  };
  const removal = (key: string, expect: number, place: number) => {
    return { guards: [], writes: [{ key, expect, value: undefined }], place };
  };
  await engine.open();
  const first = await engine.commit([put('g/r//a', 0), put('g/r//b', 7, 1), put('g/r//c', 0, 2)]);
  t.deepEqual(first.held, [true, false, true]);
  const { revision } = first;
  const second = await engine.commit([
    removal('g/r//a', revision, 0),
    removal('g/r//c', revision - 1, 1),
    removal('g/r//missing', 7, 2),
    put('g/r//b', 0, 3),
  ]);
  t.deepEqual(second.held, [true, false, false, true]);
  const third = await engine.commit([put('g/r//c', revision), put('g/r//b', second.revision, 1)]);
  t.deepEqual(third.held, [true, true]);
  await engine.close();
  const left = client();
  const { pairs } = await left.range({ key: `${prefix}/orch/writers/`, end: `${prefix}/orch/writers0` });
  t.deepEqual(pairs, []);
  left.close();
  compacts.close();
}

test('model: which writes of a batch held is known when etcd was compacted before its lost answer was asked for', async (t) => {
  const model = modelWith(
    () => ({ delayMs: 0, loses: undefined }),
    () => 0,
  );
  await checkLostAnswers(t, () => model.client(), '/registry');
});

// Where there is no etcd, a line says that its part of the contract is skipped.
const onEtcd = testNeeding(test, ['etcd']);
const members = new Map<number, readonly EtcdMember[]>();
let keyspaces = 0;
onEtcd.before(async () => {
  for (const count of [1, 3]) members.set(count, await EtcdMember.startCluster(count));
});
onEtcd.after.always(() => Promise.all([...members.values()].flat().map((member) => member.dispose())));

onEtcd.serial(
  'etcd: which writes of a batch held is known when etcd was compacted before its lost answer was asked for',
  async (t) => {
    const servers = members.get(1)!.map(({ server }) => server);
    await checkLostAnswers(t, () => new EtcdClient({ servers }, timers), `/test-${++keyspaces}`);
  },
);

onEtcd.serial(
  'etcd of three members: each says what it takes on its disk, and one that does not answer says nothing',
  async (t) => {
    const servers = members.get(3)!.map(({ server }) => server);
    const nobody = `http://127.0.0.1:${await freePort()}`;
    const client = new EtcdClient({ servers: [...servers, nobody] }, timers);
    const sizes = await eventually(
      () => client.memberBytes().catch(() => []),
      ({ length }) => length === servers.length,
    );
    t.deepEqual(
      sizes.map(([server]) => server),
      servers,
    );
    t.true(sizes.every(([, bytes]) => bytes > 0));
    client.close();
    const alone = new EtcdClient({ servers: [nobody] }, timers);
    await t.throwsAsync(alone.memberBytes(), { message: /ECONNREFUSED/ });
    alone.close();
    const none = new EtcdClient({ servers: [nobody, nobody] }, timers);
    await t.throwsAsync(none.memberBytes(), { message: /ECONNREFUSED/ });
    none.close();
  },
);

for (const [count, name] of [
  [1, 'etcd'],
  [3, 'etcd of three members'],
] as const) {
  const makeSubject: Parameters<typeof sharedEngineContract>[1] = async () => {
    const prefix = `/test-${++keyspaces}`;
    const servers = members.get(count)!.map(({ server }) => server);
    // Each process begins at another member.
    let first = 0;
    const make = (dialect?: string): EtcdEngine => {
      const turned = [...servers.slice(first % count), ...servers.slice(0, first % count)];
      first++;
      return engineOn(new EtcdClient({ servers: turned }, timers), prefix, dialect);
    };
    return { make, dispose: async () => {} };
  };
  // One after the other: who compacts an etcd does so for all its keyspaces, also under a watch that has just begun.
  sharedEngineContract(name, makeSubject, onEtcd.serial);
}
