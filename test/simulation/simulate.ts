// One run from one seed: a server, its clients, its faults, and what the checkers say of it all. The same seed and size
// give the same run.
import { loadPatterns } from '../../api/custom/checks/patterns.ts';
import { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import { checkAnswers } from './check-answers.ts';
import { checkApplies } from './check-applies.ts';
import { checkCommits } from './check-commits.ts';
import { checkDefinitions } from './check-definitions.ts';
import { checkGenerations } from './check-generations.ts';
import { checkHistory } from './check-history.ts';
import { checkLeaders } from './check-leaders.ts';
import { checkLifecycles, unfinishedLifecycles } from './check-lifecycles.ts';
import { checkObjects } from './check-objects.ts';
import { checkQuotas, unfinishedQuotas } from './check-quotas.ts';
import { checkServices } from './check-services.ts';
import { checkTimes, isPunctual } from './check-times.ts';
import { checkVersions } from './check-versions.ts';
import { checkWatches } from './check-watches.ts';
import { Client } from './client.ts';
import { drawFaults, type FaultPlan } from './faults.ts';
import { NAMESPACES, NODES, PLAIN_NAMES } from './hand.ts';
import type { History } from './history.ts';
import { LIMITED_OBJECTS } from './quota-steps.ts';
import { drawMix, letEverythingGo, type Mix, readEverything, Workload } from './workload.ts';
import { SERVER, type Server, World, type WorldOptions } from './world.ts';

export interface RunOptions {
  readonly seed: number;
  /** Clients at once, and the steps each takes; by the seed when absent. */
  readonly clients?: number;
  readonly steps?: number;
  /** By the seed when absent. */
  readonly faults?: FaultPlan;
  readonly mix?: Mix;
  readonly server?: Server;
  readonly trace?: (line: string) => void;
}

/** What one run came to. */
export interface RunResult {
  readonly seed: number;
  readonly clients: number;
  readonly steps: number;
  readonly faults: FaultPlan;
  readonly mix: string;
  /** One line each; empty when all is well. */
  readonly problems: readonly string[];
  /** How much happened, so that a run in which nothing did is noticed. */
  readonly writes: number;
  readonly operations: number;
  readonly watchEvents: number;
  readonly selfChecks: number;
  readonly history: History;
}

/** Longer than any message, retry or catch-up takes. */
const SETTLE_MS = 12_000;
const FAULT_EVERY_MS = 3000;
/** The longest that the controllers' retries and sweeps are waited for, and how often it is looked. */
const LIFECYCLES_MS = 180_000;
const LOOK_MS = 2000;
const FULL_DISK_MS = 4000;
const FURNISH_AGAIN_MS = 20;
const DAY_MS = 86_400_000;
/** A clock that is corrected, one that was wrong by a zone, one that nobody had set. */
const CLOCK_JUMPS_MS = [-400 * DAY_MS, -3_600_000, -5000, 5000, 3_600_000, 40 * DAY_MS];
/** Without need, one run in so many has the controllers. */
const CONTROLLERS = 8;

/** Objects that nobody but the clients changes: those can be followed one by one. */
function isPlain(key: string): boolean {
  const [, plural, , name = ''] = key.split('/');
  return (plural === 'configmaps' || plural === 'secrets') && (PLAIN_NAMES as readonly string[]).includes(name);
}

export async function simulate(options: RunOptions): Promise<RunResult> {
  // Loaded in the middle of the first run, it would take real time, and a seed alone would be another run than in a row.
  await loadPatterns();
  const { seed, server = SERVER, trace } = options;
  const random = new SeededRandom(seed ^ 0x51b1);
  const clocks = new SeededRandom(seed ^ 0xc10c);
  const drawn = {
    clients: 3 + random.below(3),
    steps: 20 + random.below(20),
    faults: drawFaults(random, clocks),
    mix: drawMix(random),
  };
  const clientCount = options.clients ?? drawn.clients;
  const steps = options.steps ?? drawn.steps;
  const faults = options.faults ?? drawn.faults;
  const mix = options.mix ?? drawn.mix;
  const hasControllers = mix.needsControllers || seed % CONTROLLERS === 0;
  const world = new World({ seed, faults, server, hasControllers, ...traced(trace) });
  const clients = Array.from(
    { length: clientCount },
    (_, number) => new Client(world, number, new SeededRandom((seed ^ 0xc11e47) + number * 7919)),
  );
  const problems: string[] = [];
  try {
    await play(world, clients, mix, steps, { random, clocks });
  } catch (error) {
    problems.push(`the run broke off: ${error instanceof Error ? error.stack : String(error)}`);
  }
  const history: History = {
    operations: clients.flatMap(({ operations }) => operations),
    watches: clients.flatMap(({ watches }) => watches.map(({ record }) => record)),
    assertions: clients.flatMap(({ assertions }) => assertions),
  };
  problems.push(...world.crashes.map((crash) => `a thread broke: ${crash}`));
  problems.push(...world.divergences);
  problems.push(...clients.flatMap((client) => client.problems));
  const { committed } = world;
  problems.push(
    ...checkCommits(committed),
    ...checkVersions(committed),
    ...checkGenerations(committed),
    ...checkServices(committed, server.storeLayout ?? 'own'),
    ...checkLeaders(world.leaderWords, committed, world.historyBounds.msAt),
    ...checkAnswers(history, committed),
    ...checkWatches(history.watches, committed),
  );
  problems.push(
    ...checkObjects(history.operations, isPlain),
    ...checkApplies(history.assertions, committed),
    ...checkDefinitions(history, committed),
    ...checkLifecycles(history.operations, committed),
    ...checkQuotas(committed),
    ...(server.isShared ? [] : checkHistory(history, committed, world.historyBounds)),
    ...(!server.isShared && isPunctual(faults) ? checkTimes(history, world.historyBounds.msAt) : []),
    ...(mix.needsControllers ? [...unfinishedLifecycles(committed), ...unfinishedQuotas(committed)] : []),
  );
  return {
    seed,
    clients: clientCount,
    steps,
    faults,
    mix: mix.name,
    problems,
    writes: committed.changes.length,
    operations: history.operations.length,
    watchEvents: history.watches.reduce((sum, { events }) => sum + events.length, 0),
    selfChecks: world.selfChecks,
    history,
  };
}

/** Who wants to see every step wants to see what the server logs. */
function traced(trace: RunOptions['trace']): Pick<WorldOptions, 'trace' | 'log'> {
  return trace === undefined ? {} : { trace, log: { level: 'warn', format: 'text' } };
}

async function play(
  world: World,
  clients: readonly Client[],
  mix: Mix,
  steps: number,
  { random, clocks }: { readonly random: SeededRandom; readonly clocks: SeededRandom },
): Promise<void> {
  const { faults } = world;
  faults.isOver = true;
  await world.start();
  await world.during(furnish(clients[0]!, mix.shares.limited === undefined ? [] : LIMITED_OBJECTS));
  faults.isOver = false;
  const known = (): number => highestTold(clients);
  const work = Promise.all(clients.map((client) => new Workload(client, mix, known).run(steps)));
  await world.during(Promise.all([work, breakThings(world, random), setClocks(world, clocks)]));
  faults.isOver = true;
  await world.during(world.sleep(SETTLE_MS));
  if (mix.needsControllers) await world.during(endLifecycles(world, clients[0]!));
  await world.during(Promise.all(clients.slice(0, 2).map(readEverything)));
  for (const watch of clients.flatMap(({ watches }) => watches)) {
    watch.isEager = true;
    watch.connection.drain();
  }
  await world.during(world.sleep(SETTLE_MS));
}

/** What the clients' objects need to be there. */
async function furnish(client: Client, more: typeof LIMITED_OBJECTS): Promise<void> {
  // A thread with little room turns some away while the controllers begin, and reads late what is stored.
  const post = async (path: string, body: object): Promise<void> => {
    const parts = { method: 'POST', path, body: JSON.stringify(body) };
    const isPosted = async (): Promise<boolean> => ![429, 503].includes((await client.request(parts)).status);
    while (!(await isPosted())) await client.world.sleep(FURNISH_AGAIN_MS);
  };
  for (const name of NAMESPACES) await post('/api/v1/namespaces', { metadata: { name } });
  for (const name of NODES) {
    const status = { allocatable: { cpu: '64', memory: '64Gi', pods: '100' } };
    await post('/api/v1/nodes', { metadata: { name }, status });
  }
  for (const [path, body] of more) await post(path, body);
}

/** Waits until the controllers have nothing left to do, or for as long as that can take. */
async function endLifecycles(world: World, client: Client): Promise<void> {
  const { committed } = world;
  for (let waitedMs = 0; waitedMs < LIFECYCLES_MS; waitedMs += LOOK_MS) {
    await letEverythingGo(client, committed.present.values());
    if (unfinishedLifecycles(committed).length + unfinishedQuotas(committed).length === 0) return;
    await world.sleep(LOOK_MS);
  }
}

function highestTold(clients: readonly Client[]): number {
  let highest = 0;
  for (const { operations } of clients) {
    for (const { kind, outcome } of operations) {
      if (typeof outcome === 'string') continue;
      const revision = 'is' in outcome ? (outcome.is === 'ok' ? outcome.object?.revision : 0) : outcome.revision;
      if (kind !== 'get' && revision !== undefined && revision > highest) highest = revision;
    }
  }
  return highest;
}

/** Nothing that goes by how long ago something was may go by the clock on the wall. */
async function setClocks(world: World, random: SeededRandom): Promise<void> {
  for (let left = world.faults.plan.clockJumps; left > 0; left--) {
    await world.sleep(random.below(FAULT_EVERY_MS));
    const byMs = CLOCK_JUMPS_MS[random.below(CLOCK_JUMPS_MS.length)]!;
    world.trace(`the clock is set by ${byMs} ms`);
    world.time.setWall(byMs);
  }
}

/** Crashes, kills and full disks, spread over the run by the seed. */
async function breakThings(world: World, random: SeededRandom): Promise<void> {
  const { faults } = world;
  const { crashes, kills, fullDisks } = faults.plan;
  const crash = (): void => {
    const { running } = world;
    const thread = running[random.below(running.length)];
    if (thread !== undefined) world.crash(thread);
  };
  const fill = async (): Promise<void> => {
    faults.isDiskFull = true;
    await world.sleep(random.below(FULL_DISK_MS));
    faults.isDiskFull = false;
  };
  const events: (() => void | Promise<void>)[] = [
    ...Array<() => void>(crashes).fill(crash),
    ...Array<() => Promise<void>>(kills).fill(() => world.anyProcess(random).restart()),
    ...Array<() => Promise<void>>(fullDisks).fill(fill),
    ...world.incidents(),
  ];
  while (events.length > 0) {
    await world.sleep(random.below(FAULT_EVERY_MS));
    const [event] = events.splice(random.below(events.length), 1);
    await event!();
  }
}
