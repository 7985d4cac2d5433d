// Goal: whatever fails, no pod is bound twice, no node is given more than it has, and no pod is forgotten. Method: seeded worlds in
// virtual time in which nodes are lost, requests and answers go astray, and schedulers crash, lose their lease or contend.
import test from 'ava';
import { LEASE_MS, type RunningScheduler, SchedulingWorld } from './scheduling-world.ts';

const SEEDS = 12;
const STEPS = 40;
const HEALING_MS = 300_000;
/** More than all pods of a world ask for. */
const ROOM_FOR_ALL = 1_000;

/** What becomes of schedulers in a step; answers those that run then. */
type Change = (world: SchedulingWorld, running: readonly RunningScheduler[]) => Promise<readonly RunningScheduler[]>;

/** The next one leads when the lease has run out, by when nothing of the last is under way. */
const succeed = async (world: SchedulingWorld): Promise<readonly RunningScheduler[]> => {
  await world.time.advance(LEASE_MS);
  return [world.startScheduler()];
};

const crashNow: Change = async (world, [leader]) => {
  leader!.crash();
  return succeed(world);
};

interface Workload {
  readonly schedulers: number;
  readonly checksRoom: boolean;
  readonly change: Change;
}

const WORKLOADS: Readonly<Record<string, Workload>> = {
  'one scheduler while nodes are lost': { schedulers: 1, checksRoom: true, change: async (_, running) => running },
  'a scheduler that crashes between deciding and binding': { schedulers: 1, checksRoom: true, change: crashNow },
  'a scheduler that loses its lease with bindings under way': {
    schedulers: 1,
    checksRoom: true,
    async change(world, [leader]) {
      // It decides as long as it believes to lead, which ends before the lease does.
      for (let at = world.whole(1, 4); at > 0; at--) world.addPod();
      await world.time.advance(world.whole(0, 700));
      leader!.crash();
      return succeed(world);
    },
  },
  'two schedulers that contend for the same pods': {
    schedulers: 2,
    checksRoom: false,
    async change(world, [first, second]) {
      first!.crash();
      return [second!, world.startScheduler()];
    },
  },
};

async function step(world: SchedulingWorld): Promise<void> {
  const lot = world.whole(1, 10);
  if (lot <= 5) world.addPod();
  else if (lot === 6) world.addNode();
  else if (lot === 7) world.loseNode();
  else if (lot === 8) world.removePod();
  await world.time.advance(world.whole(0, 3_000));
}

for (const [what, { schedulers, checksRoom, change }] of Object.entries(WORKLOADS)) {
  test(`no pod is bound twice, put where there is no room, or forgotten by ${what}`, async (t) => {
    for (let seed = 0; seed < SEEDS; seed++) {
      const world = new SchedulingWorld(seed, checksRoom);
      for (let at = 0; at < 4; at++) world.addNode();
      let running: readonly RunningScheduler[] = Array.from({ length: schedulers }, () => world.startScheduler());
      for (let at = 0; at < STEPS; at++) {
        await step(world);
        if (world.chance(0.1)) running = await change(world, running);
      }
      world.isFaulty = false;
      world.addNode(ROOM_FOR_ALL);
      await world.time.advance(HEALING_MS);
      t.deepEqual(world.problems, [], `seed ${seed}`);
      t.deepEqual(world.unbound, [], `seed ${seed}`);
      t.true(world.boundCount > 5, `seed ${seed} bound ${world.boundCount}`);
      for (const scheduler of running) scheduler.crash();
    }
  });
}

test('a world notices what no cluster may see', async (t) => {
  const world = new SchedulingWorld(1, true);
  world.isFaulty = false;
  world.addNode(1);
  for (let at = 0; at < 3; at++) world.addPod();
  for (const name of world.unbound) world.bind({ namespace: 'default', name, uid: `uid-${name}`, node: 'n0' });
  t.regex(world.problems.join(), /n0 has 1 cpu, and \d are placed on it/);
});
