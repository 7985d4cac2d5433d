// Goal: whatever fails, no pod is bound twice, no node is given more than it has, and no pod is forgotten. Method: seeded worlds in
// virtual time in which nodes are lost, requests and answers go astray, and schedulers crash, lose their lease or contend; and bugs that
// are planted, each of which must show.
import test from 'ava';
import { ClusterState } from '../../actors/scheduler/core/cluster-state.ts';
import { SchedulingQueue } from '../../actors/scheduler/core/queue.ts';
import { SchedulingCore } from '../../actors/scheduler/core/scheduling-core.ts';
import { LEASE_MS, type RunningScheduler, SchedulingWorld } from './scheduling-world.ts';

const SEEDS = 12;
const PLANTED_SEEDS = 40;
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

/** What no cluster may see, under a seed; and how many pods were bound. */
async function life({ schedulers, checksRoom, change }: Workload, seed: number, takesBound = false) {
  const world = new SchedulingWorld(seed, checksRoom, takesBound);
  for (let at = 0; at < 4; at++) world.addNode();
  let running: readonly RunningScheduler[] = Array.from({ length: schedulers }, () => world.startScheduler());
  for (let at = 0; at < STEPS; at++) {
    await step(world);
    if (world.chance(0.1)) running = await change(world, running);
  }
  world.isFaulty = false;
  world.addNode(ROOM_FOR_ALL);
  await world.time.advance(HEALING_MS);
  for (const scheduler of running) scheduler.crash();
  const forgotten = world.unbound.map((name) => `${name} is forgotten`);
  return { problems: [...world.problems, ...forgotten], boundCount: world.boundCount };
}

for (const [what, workload] of Object.entries(WORKLOADS)) {
  test.serial(`no pod is bound twice, put where there is no room, or forgotten by ${what}`, async (t) => {
    for (let seed = 0; seed < SEEDS; seed++) {
      const { problems, boundCount } = await life(workload, seed);
      t.deepEqual(problems, [], `seed ${seed}`);
      t.true(boundCount > 5, `seed ${seed} bound ${boundCount}`);
    }
  });
}

/** Puts a method in the place of another, until it is called. */
function replaced<Owner extends object, Name extends keyof Owner>(
  owner: Owner,
  name: Name,
  by: (before: Owner[Name]) => Owner[Name],
) {
  const before = owner[name];
  owner[name] = by(before);
  return (): void => {
    owner[name] = before;
  };
}

interface PlantedBug {
  readonly workload: string;
  readonly sign: RegExp;
  readonly plant: () => () => void;
  readonly takesBound?: boolean;
}

const PLANTED: Readonly<Record<string, PlantedBug>> = {
  'a server takes bindings of pods that are bound': {
    workload: 'two schedulers that contend for the same pods',
    sign: /is bound to n\d+, and was to n\d+/,
    plant: () => () => {},
    takesBound: true,
  },
  'what is decided takes no room until it is heard of': {
    workload: 'one scheduler while nodes are lost',
    sign: /has \d+ cpu, and \d+ are placed on it/,
    plant: () => replaced(ClusterState.prototype, 'assume', () => () => {}),
  },
  'a pod whose binding failed is in no queue': {
    workload: 'one scheduler while nodes are lost',
    sign: /p\d+ is forgotten/,
    plant: () => replaced(SchedulingQueue.prototype, 'requeueBackoff', () => () => {}),
  },
  'a scheduler that starts does not see the pods that wait': {
    workload: 'a scheduler that crashes between deciding and binding',
    sign: /p\d+ is forgotten/,
    plant: () =>
      replaced(
        SchedulingCore.prototype,
        'endList',
        (before) =>
          function (this: SchedulingCore) {
            const queue = this['queue' as never] as SchedulingQueue;
            before.call(this);
            for (const key of [...queue.keys()]) queue.remove(key);
          },
      ),
  },
};

for (const [bug, { workload, sign, plant, takesBound }] of Object.entries(PLANTED)) {
  test.serial(`it is noticed when ${bug}`, async (t) => {
    const remove = plant();
    try {
      let found: string | undefined;
      for (let seed = 0; seed < PLANTED_SEEDS && found === undefined; seed++) {
        const { problems } = await life(WORKLOADS[workload]!, seed, takesBound);
        found = problems.find((problem) => sign.test(problem));
      }
      t.not(found, undefined);
    } finally {
      remove();
    }
  });
}
