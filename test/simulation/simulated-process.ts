// One server of a simulated world: its threads, its disk, its time, and its lives. Is killed and started again, and stands still,
// by itself; what servers share is the world's.
import type { OutsideWorld } from '../../actors/define.ts';
import { CHECKED_METRIC, DIVERGENCE_METRIC } from '../../actors/hub/self-check.ts';
import { seatMemory } from '../../actors/ingress/fairness/seats.ts';
import type { ServerSettings } from '../../actors/server-settings.ts';
import type { StoreProtocol } from '../../actors/store/protocol.ts';
import type { ActorContext, ActorDefinition, Ref } from '../../runtime/actor.ts';
import { NO_JOB_POOL } from '../../runtime/jobs/job-pool.ts';
import type { LogOptions } from '../../runtime/logging/log-options.ts';
import type { Labels, Metrics } from '../../runtime/metrics/metrics.ts';
import type { Plan } from '../../runtime/placement/plan.ts';
import { MemoryDisk } from '../../runtime/simulation/memory-disk.ts';
import { PausableTime } from '../../runtime/simulation/pausable-time.ts';
import { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import { SimulatedThreads } from '../../runtime/simulation/simulated-threads.ts';
import type { StoreEngine } from '../../storage/engines/shared-engine.ts';
import type { OpenListener } from '../../transport/open-listener.ts';
import { withHeardLeaders } from './heard-leaders.ts';
import { type Layout, planOf } from './layouts.ts';
import type { World } from './world.ts';

const RESTART_MS = 300;
/** The least that an actor can work with: it asks another and is asked meanwhile. */
const TIGHT_MAILBOX = 2;
const TIGHT_LIMITS = { encodingCacheBytes: 1, maxRequestsInflight: 2, maxMutatingRequestsInflight: 1 };
/** What one server has to itself. */
export interface ProcessParts {
  readonly world: World;
  readonly name: string;
  readonly seed: number;
  readonly layout: Layout;
  readonly settings: ServerSettings;
  readonly random: SeededRandom;
  readonly openEngine: (context: ActorContext) => StoreEngine;
  readonly actors: (outside: OutsideWorld) => readonly ActorDefinition<ServerSettings>[];
  readonly webhookClient: NonNullable<OutsideWorld['webhookClient']>;
  readonly onEnd: (thread: string, error: Error) => void;
  readonly disk: { crash(): void };
  readonly log?: LogOptions;
}

export class SimulatedProcess {
  readonly name: string;
  readonly time: PausableTime;
  readonly ingresses: readonly string[];
  threads: SimulatedThreads<ServerSettings>;
  readonly #parts: ProcessParts;
  readonly #prefix: string;
  #lives = 0;
  /** How often somebody has begun to go for the leases. */
  #claimants = 0;

  constructor(parts: ProcessParts) {
    const { name, world, layout } = parts;
    this.#parts = parts;
    this.name = name;
    this.#prefix = name === '' ? '' : `${name}:`;
    this.time = new PausableTime(world.time);
    this.ingresses = layout.ingresses.map((ingress) => `${this.#prefix}${ingress}`);
    this.threads = this.#newThreads();
  }

  /** The thread that an actor runs on; both as the world names them. */
  threadOf(actor: string): string {
    const own = actor.slice(this.#prefix.length);
    return this.#parts.layout.threads.find(({ actors }) => actors.includes(own))!.name;
  }

  /** `ingress/0#2.1`: an ingress, and which life of its server and its thread it is in. */
  frontOf(ingress: string): string {
    return `${ingress}#${this.#lives}.${this.threads.livesOf(this.threadOf(ingress))}`;
  }

  get storeThread(): string {
    return this.threadOf(`${this.#prefix}store`);
  }

  /** The store as the thread of an ingress sees it. */
  storeBehind(ingress: string): Ref<StoreProtocol> {
    return this.threads.ref<StoreProtocol>(this.threadOf(ingress), 'store');
  }

  /** The process dies and is started again. */
  async restart(): Promise<void> {
    const { world, disk } = this.#parts;
    world.trace(`kill ${this.name}`);
    this.threads.kill();
    for (const ingress of this.ingresses) world.sockets.cutAll(ingress);
    disk.crash();
    await world.sleep(RESTART_MS);
    this.threads = this.#newThreads();
    await this.threads.start();
    world.trace(`started again ${this.name}`);
  }

  /** The process stands still for a while: nothing happens in it, its connections stay. */
  async pause(ms: number): Promise<void> {
    const { world } = this.#parts;
    world.trace(`stop ${this.name}`);
    this.time.pause();
    await world.sleep(ms);
    this.time.goOn();
    world.trace(`go on ${this.name}`);
  }

  #newThreads(): SimulatedThreads<ServerSettings> {
    const { world, seed, layout, settings, random, openEngine, actors, webhookClient, onEnd, log } = this.#parts;
    const { time } = this;
    this.#lives++;
    const roster = actors({
      engine: (_settings, context) => openEngine(context),
      openListener: ({ name }) => this.#listening(world.sockets.openListener(`${this.#prefix}${name}`)),
      jobs: () => NO_JOB_POOL,
      webhookClient,
    });
    const { faults } = world;
    const heard = (definition: ActorDefinition<ServerSettings>): ActorDefinition<ServerSettings> =>
      withHeardLeaders(withWatchedChecks(world, definition), () => this.#newClaimant());
    const plan = planOf(layout, roster, random);
    world.leastHistoryEvents = Math.min(world.leastHistoryEvents, historyEventsIn(plan));
    return new SimulatedThreads<ServerSettings>({
      actors: (thread) => {
        const isTight = thread === layout.threads[faults.plan.tightThread ?? -1]?.name;
        return roster.map((definition) => ({
          ...heard(isTight ? tightened(definition) : definition),
          ...faults.plan.mailboxes[definition.actor],
          ...(isTight ? { mailboxMax: TIGHT_MAILBOX } : {}),
        }));
      },
      plan,
      options: { ...settings, requestSeats: seatMemory() },
      environment: { clock: time, timers: time, random, disk: new MemoryDisk() },
      time,
      random: new SeededRandom(seed ^ 0x5eed),
      faults,
      onEnd,
      ...(log === undefined ? {} : { log }),
    });
  }

  /** Another life of who goes for the leases: what it says of itself is taken down. */
  #newClaimant(): () => void {
    const { world } = this.#parts;
    const who = `${this.name}#${++this.#claimants}`;
    return () => void world.leaderWords.push({ who, at: world.moment() });
  }

  /** Requests that arrive while the process stands still wait. */
  #listening(open: OpenListener): OpenListener {
    return (kind, options) => {
      const handler: typeof options.handler = (request, response) => {
        this.time.whenRunning(() => options.handler(request, response));
      };
      return open(kind, { ...options, handler });
    };
  }
}

function historyEventsIn({ threads }: Plan): number {
  const store = threads.flatMap(({ actors }) => actors).find(({ actor }) => actor === 'store');
  return Number(store?.settings?.historyEventsMax);
}

/** Metrics go with their thread: what the hubs' checks say is taken down as they say it. */
function withWatchedChecks(world: World, definition: ActorDefinition<ServerSettings>): ActorDefinition<ServerSettings> {
  if (definition.actor !== 'hub') return definition;
  const create: typeof definition.create = (context, options) => {
    const { metrics: kept, name } = context;
    const counter = (metric: string, help: string, labels?: Labels) => {
      if (metric === DIVERGENCE_METRIC) world.divergences.push(`${name} did not hold the store's ${labels?.resource}`);
      return kept.counter(metric, help, labels);
    };
    const gauge: Metrics['gauge'] = (metric, help, labels) => {
      if (metric === CHECKED_METRIC) world.selfChecks++;
      return kept.gauge(metric, help, labels);
    };
    const metrics: Metrics = {
      counter,
      gauge,
      histogram: (...what) => kept.histogram(...what),
      summary: (...what) => kept.summary(...what),
      beforeReading: (collect) => kept.beforeReading(collect),
      reading: () => kept.reading(),
      forget: (isGone) => kept.forget(isGone),
    };
    return definition.create({ ...context, metrics }, options);
  };
  return { ...definition, create };
}

/** The same actor under the smallest limits that an operator can set. */
function tightened(definition: ActorDefinition<ServerSettings>): ActorDefinition<ServerSettings> {
  const create: typeof definition.create = (context, settings) =>
    definition.create(context, { ...settings, options: { ...settings.options, ...TIGHT_LIMITS } });
  return { ...definition, create };
}
