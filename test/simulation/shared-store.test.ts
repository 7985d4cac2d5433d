// The whole server on a store that others write to as well, and two of them on one: under seeds, with calls that are lost, watches that lag and
// break off, leaders that change, others who compact, threads that end, processes that are killed or stand still.
import test from 'ava';
import { LeaderLease } from '../../actors/controllers/leases/leader-lease.ts';
import type { EtcdCluster } from '../../storage/etcd/etcd-cluster.ts';
import { EtcdEngine, type EtcdEngineParts } from '../../storage/etcd/etcd-engine.ts';
import { withMethod } from './planting.ts';
import { type SharedServerOptions, sharedServer } from './shared-server.ts';
import { simulate } from './simulate.ts';
import { mixNamed } from './workload.ts';
import type { Server } from './world.ts';

for (const seed of [1, 2, 3, 5, 8]) {
  test(`a server on a shared store keeps what it promises: seed ${seed}`, async (t) => {
    const { problems, writes, operations, watchEvents } = await simulate({ seed, server: sharedServer(seed) });
    t.deepEqual(problems, []);
    t.true(writes > 20 && operations > 20 && watchEvents > 0, `${writes} ${operations} ${watchEvents}`);
  });
}

const SEEDS_OF_TWO = 8;
const PLANTED_SEEDS_MAX = 40;

test(`two servers on one store keep what they promise, together: ${SEEDS_OF_TWO} seeds`, async (t) => {
  let [changes, events] = [0, 0];
  for (let seed = 1; seed <= SEEDS_OF_TWO; seed++) {
    const { problems, writes, watchEvents } = await simulate({ seed, server: sharedServer(seed, { servers: 2 }) });
    t.deepEqual(problems, [], `seed ${seed}: npm run simulate -- --servers 2 --seed ${seed}`);
    changes += writes;
    events += watchEvents;
  }
  t.true(changes > 25 * SEEDS_OF_TWO && events > 15 * SEEDS_OF_TWO, `${changes} ${events}`);
});

test(`two servers in the layout of the original keep what they promise, together: ${SEEDS_OF_TWO} seeds`, async (t) => {
  let [changes, events] = [0, 0];
  for (let seed = 1; seed <= SEEDS_OF_TWO; seed++) {
    const server = sharedServer(seed, { servers: 2, isOriginal: true });
    const { problems, writes, watchEvents } = await simulate({ seed, server });
    t.deepEqual(problems, [], `seed ${seed}: npm run simulate -- --servers 2 --original --seed ${seed}`);
    changes += writes;
    events += watchEvents;
  }
  t.true(changes > 25 * SEEDS_OF_TWO && events > 15 * SEEDS_OF_TWO, `${changes} ${events}`);
});

/** Answers consistent reads from what this server happens to have been told. */
class HastyEngine extends EtcdEngine {
  override readBarrier(): Promise<number> {
    return Promise.resolve(0);
  }
}

/** Sends a batch again without asking whether it has happened: a create that has is said to be refused. */
function forgetful(parts: EtcdEngineParts): EtcdEngine {
  const { cluster } = parts;
  const transact: EtcdCluster['transact'] = (request) => cluster.transact({ ...request, compare: [] });
  return new EtcdEngine({
    ...parts,
    cluster: {
      transact,
      range: (request) => cluster.range(request),
      watch: (...what) => cluster.watch(...what),
      compact: (revision) => cluster.compact(revision),
      status: () => cluster.status(),
      memberBytes: () => cluster.memberBytes(),
      grantLease: (...what) => cluster.grantLease(...what),
      close: () => cluster.close(),
    },
  });
}

const PLANTED: readonly (readonly [string, RegExp, SharedServerOptions['engine']])[] = [
  ['reads do not ask the cluster', / was known|which was over by|was there from/, (parts) => new HastyEngine(parts)],
  ['a batch whose outcome is unknown is sent again as it is', /./, forgetful],
];

for (const [bug, sign, engine] of PLANTED) {
  test(`with two servers it is found when ${bug}`, async (t) => {
    for (let seed = 1; seed <= PLANTED_SEEDS_MAX; seed++) {
      const { problems } = await simulate({ seed, server: sharedServer(seed, { servers: 2, engine: engine! }) });
      if (!problems.some((problem) => sign.test(problem))) continue;
      t.pass();
      t.log(`by seed ${seed}: ${problems[0]}`);
      return;
    }
    t.fail(`not by ${PLANTED_SEEDS_MAX} seeds`);
  });
}

/** In each of these runs there are controllers, who go for the leases. */
const LED = mixNamed('ownership');

/** Who has led once goes on. */
function obstinate(): { readonly remove: () => void } {
  const led = new WeakSet<LeaderLease>();
  return withMethod(
    LeaderLease.prototype,
    'check',
    (original) =>
      function (this: LeaderLease) {
        if (original.call(this)) led.add(this);
        return led.has(this);
      },
  );
}

/** Who goes for a lease counts three seconds for each. */
function hurried(server: Server): Server {
  return {
    ...server,
    actors: (outside) =>
      server.actors(outside).map((definition) => {
        if (definition.actor !== 'controllers') return definition;
        const create: typeof definition.create = (context, settings) => {
          const { clock } = context;
          const hasty = { nowMs: () => clock.nowMs(), monotonicMs: () => 3 * clock.monotonicMs() };
          return definition.create({ ...context, clock: hasty }, settings);
        };
        return { ...definition, create };
      }),
  };
}

const LEADER_BUGS: readonly (readonly [
  string,
  RegExp,
  () => { readonly remove: () => void },
  (s: Server) => Server,
])[] = [
  ['who has led goes on when another does', /and (?:another|nobody) holds the lease/, obstinate, (server) => server],
  ['a lease is taken before it has run out', /was taken over at/, () => ({ remove: () => {} }), hurried],
];

for (const [bug, sign, plant, changed] of LEADER_BUGS) {
  test.serial(`with two servers it is found when ${bug}`, async (t) => {
    const { remove } = plant();
    try {
      for (let seed = 1; seed <= PLANTED_SEEDS_MAX; seed++) {
        const server = changed(sharedServer(seed, { servers: 2 }));
        const { problems } = await simulate({ seed, server, mix: LED });
        if (!problems.some((problem) => sign.test(problem))) continue;
        t.pass();
        t.log(`by seed ${seed}: ${problems[0]}`);
        return;
      }
      t.fail(`not by ${PLANTED_SEEDS_MAX} seeds`);
    } finally {
      remove();
    }
  });
}
