// A whole server under a seed: the actors of the server's own roster on simulated threads, over a disk that loses what was
// not synced and sockets without a network. Notes every commit and numbers every moment.
import { tokenDigest } from '../../actors/auth/authenticators/token-file.ts';
import type { OutsideWorld } from '../../actors/define.ts';
import { encryptionFor } from '../../actors/encryption-at-rest.ts';
import { CHECKED_METRIC, DIVERGENCE_METRIC } from '../../actors/hub/self-check.ts';
import { seatMemory } from '../../actors/ingress/fairness/seats.ts';
import { rosterFor } from '../../actors/roster.ts';
import type { ServerSettings } from '../../actors/server-settings.ts';
import { registryFor } from '../../actors/thread-registry.ts';
import type { ResourceEncryption } from '../../config/encryption-configuration.ts';
import { parseArguments } from '../../config/parse.ts';
import type { ActorDefinition } from '../../runtime/actor.ts';
import { NO_JOB_POOL } from '../../runtime/job-pool.ts';
import type { LogOptions } from '../../runtime/logging/log-options.ts';
import type { Labels, Metrics } from '../../runtime/metrics.ts';
import { MemoryDisk } from '../../runtime/simulation/memory-disk.ts';
import { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import { SimulatedThreads } from '../../runtime/simulation/simulated-threads.ts';
import { VirtualTime } from '../../runtime/simulation/virtual-time.ts';
import type { StorageEngine } from '../../storage/engine.ts';
import { lending } from '../../storage/record-reading.ts';
import { Committed } from './committed.ts';
import { SimulatedDisk } from './disk.ts';
import { type FaultPlan, Faults } from './faults.ts';
import { drawLayout, type Layout, planOf } from './layouts.ts';
import { SimulatedSockets, TOKEN } from './sockets.ts';
import { SimulatedWebhooks } from './webhooks.ts';

/** One run in so many keeps its Secrets and ConfigMaps encrypted. */
const SEEDS_WITH_ENCRYPTION = 4;
const ENCRYPTION: readonly ResourceEncryption[] = [
  {
    resources: ['secrets', 'configmaps'],
    providers: [{ kind: 'aesgcm', keys: [{ name: 'simulated', secret: new Uint8Array(32).fill(7) }] }],
  },
];
const RESTART_MS = 300;
const LIMIT_MS = 600_000;

/** How one server is made; the parts that a planted bug replaces. */
export interface Server {
  readonly actors: (outside: OutsideWorld) => readonly ActorDefinition<ServerSettings>[];
  readonly engine: (disk: SimulatedDisk, world: World) => StorageEngine;
}

export const SERVER: Server = { actors: rosterFor, engine: (disk) => disk.engine() };

export interface WorldOptions {
  readonly seed: number;
  readonly faults: FaultPlan;
  readonly server: Server;
  /** They write as much at their start as clients do in a run. */
  readonly hasControllers: boolean;
  /** By the seed when absent. */
  readonly layout?: Layout;
  readonly trace?: (line: string) => void;
  /** Silent when absent. */
  readonly log?: LogOptions;
}

export class World {
  readonly time = new VirtualTime();
  readonly committed: Committed;
  readonly sockets = new SimulatedSockets();
  readonly faults: Faults;
  readonly disk: SimulatedDisk;
  /** Threads that ended by themselves, with the reason; crashes that the run makes are not among them. */
  readonly crashes: string[] = [];
  /** What the hubs' own checks found wrong, one line each. */
  readonly divergences: string[] = [];
  /** How often a hub found that it holds what the store does, or that it does not. */
  selfChecks = 0;
  threads: SimulatedThreads<ServerSettings>;
  readonly #options: WorldOptions;
  readonly #random: SeededRandom;
  #settings: ServerSettings;
  readonly #layout: Layout;
  readonly #webhooks: SimulatedWebhooks;
  #moment = 0;
  #lives = 0;

  constructor(options: WorldOptions) {
    lending.wipes = true;
    this.#options = options;
    const { seed } = options;
    this.#random = new SeededRandom(seed ^ 0x0c70);
    const storeCompactionIntervalMs = [0, 1000, 300_000][this.#random.below(3)]!;
    this.#settings = { ...SETTINGS, options: { ...SETTINGS.options, storeCompactionIntervalMs } };
    if (seed % SEEDS_WITH_ENCRYPTION === 0) this.#settings = { ...this.#settings, encryption: ENCRYPTION };
    // What is checked is what lies on the disk, with keys of its own to read it.
    const environment = { clock: this.time, timers: this.time, random: new SeededRandom(seed), disk: new MemoryDisk() };
    const encryption = encryptionFor(this.#settings.encryption ?? [], REGISTRY, environment);
    this.committed = new Committed((key, bytes) => encryption.open(key, bytes) as Uint8Array);
    this.#layout = options.layout ?? drawLayout(this.#random, options.hasControllers);
    this.faults = new Faults(
      options.faults,
      new SeededRandom(seed ^ 0xfa017),
      this.#layout.threads.map(({ name }) => name),
    );
    this.#webhooks = new SimulatedWebhooks(this.time, new SeededRandom(seed ^ 0x3eb), this.faults);
    this.disk = new SimulatedDisk({
      tokenKey: this.#random.bytes(32),
      nowMs: () => this.time.monotonicMs(),
      after: (delayMs, callback) => void this.time.after(delayMs, callback),
      nextFate: () => this.faults.commitFate(),
      onDurable: (batch) => {
        this.committed.add(batch, this.moment());
        this.trace(`durable ${batch.firstRevision}-${batch.lastRevision}`);
      },
    });
    this.threads = this.#newThreads();
  }

  /** The next moment on the counter that orders everything. */
  moment(): number {
    return ++this.#moment;
  }

  trace(line: string): void {
    this.#options.trace?.(`${String(Math.round(this.time.monotonicMs())).padStart(7)} ms  ${line}`);
  }

  get ingresses(): readonly string[] {
    return this.#layout.ingresses;
  }

  /** The thread that an actor runs on. */
  threadOf(actor: string): string {
    return this.#layout.threads.find(({ actors }) => actors.includes(actor))!.name;
  }

  /** `ingress/0#2`: an ingress and which life of its thread it is in. */
  frontOf(ingress: string): string {
    return `${ingress}#${this.#lives}.${this.threads.livesOf(this.threadOf(ingress))}`;
  }

  start(): Promise<void> {
    return this.during(this.threads.start());
  }

  /** Awaits work while time passes as fast as nothing happens. */
  async during<T>(work: Promise<T>): Promise<T> {
    const { time } = this;
    const state = { settled: false };
    const done = work.finally(() => {
      state.settled = true;
    });
    done.catch(() => {}); // Returned below.
    const untilMs = time.monotonicMs() + LIMIT_MS;
    await time.runUntilIdle();
    while (!state.settled) {
      const nextMs = time.nextDueMs;
      if (nextMs === undefined || nextMs > untilMs) throw new Error('nothing more happens, and it is not done');
      await time.advance(nextMs - time.monotonicMs());
    }
    return done;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.time.after(ms, resolve);
    });
  }

  crash(thread: string): void {
    this.trace(`crash ${thread}`);
    this.threads.crash(thread, new Error('injected'));
  }

  /** The process dies and is started again. */
  async restart(): Promise<void> {
    this.trace('kill');
    this.threads.kill();
    for (const ingress of this.ingresses) this.sockets.cutAll(ingress);
    this.disk.crash();
    await this.sleep(RESTART_MS);
    this.threads = this.#newThreads();
    await this.threads.start();
    this.trace('started again');
  }

  #newThreads(): SimulatedThreads<ServerSettings> {
    const { server, log } = this.#options;
    const { time } = this;
    this.#lives++;
    const roster = server.actors({
      engine: () => server.engine(this.disk, this),
      openListener: ({ name }) => this.sockets.openListener(name),
      jobs: () => NO_JOB_POOL,
      webhookClient: this.#webhooks.client,
    });
    return new SimulatedThreads<ServerSettings>({
      actors: (thread) => {
        const isTight = thread === this.#layout.threads[this.#options.faults.tightThread ?? -1]?.name;
        return roster.map((definition) => ({
          ...this.#withWatchedChecks(withSharedRegistry(isTight ? tightened(definition) : definition)),
          ...this.#options.faults.mailboxes[definition.actor],
          ...(isTight ? { mailboxMax: TIGHT_MAILBOX } : {}),
        }));
      },
      plan: planOf(this.#layout, roster, this.#random),
      options: { ...this.#settings, requestSeats: seatMemory() },
      environment: { clock: time, timers: time, random: this.#random, disk: new MemoryDisk() },
      time,
      random: new SeededRandom(this.#options.seed ^ 0x5eed),
      faults: this.faults,
      onEnd: (thread, error) => this.#onEnd(thread, error),
      ...(log === undefined ? {} : { log }),
    });
  }

  /** Metrics go with their thread: what the hubs' checks say is taken down as they say it. */
  #withWatchedChecks(definition: ActorDefinition<ServerSettings>): ActorDefinition<ServerSettings> {
    if (definition.actor !== 'hub') return definition;
    const create: typeof definition.create = (context, options) => {
      const { metrics: kept, name } = context;
      const counter = (metric: string, help: string, labels?: Labels) => {
        if (metric === DIVERGENCE_METRIC) this.divergences.push(`${name} did not hold the store's ${labels?.resource}`);
        return kept.counter(metric, help, labels);
      };
      const gauge: Metrics['gauge'] = (metric, help, labels) => {
        if (metric === CHECKED_METRIC) this.selfChecks++;
        return kept.gauge(metric, help, labels);
      };
      const metrics: Metrics = {
        counter,
        gauge,
        histogram: (...what) => kept.histogram(...what),
        beforeReading: (collect) => kept.beforeReading(collect),
        reading: () => kept.reading(),
      };
      return definition.create({ ...context, metrics }, options);
    };
    return { ...definition, create };
  }

  #onEnd(thread: string, error: Error): void {
    this.trace(`ended ${thread}: ${error.message}`);
    if (!EXPECTED_ENDS.has(error.message)) this.crashes.push(`${thread}: ${error.stack ?? error.message}`);
    if (this.threadOf('store') === thread) this.disk.crash();
    for (const ingress of this.ingresses) if (this.threadOf(ingress) === thread) this.sockets.cutAll(ingress);
  }
}

/** The least that an actor can work with: it asks another and is asked meanwhile. */
const TIGHT_MAILBOX = 2;
const TIGHT_LIMITS = { encodingCacheBytes: 1, maxRequestsInflight: 2, maxMutatingRequestsInflight: 1 };

/** The same actor under the smallest limits that an operator can set. */
function tightened(definition: ActorDefinition<ServerSettings>): ActorDefinition<ServerSettings> {
  const create: typeof definition.create = (context, settings) =>
    definition.create(context, { ...settings, options: { ...settings.options, ...TIGHT_LIMITS } });
  return { ...definition, create };
}

/** A full disk is none: writes are refused and everything goes on. */
const EXPECTED_ENDS: ReadonlySet<string> = new Set(['injected', 'the process was killed', 'the disk reports an error']);

function settings(): ServerSettings {
  const parsed = parseArguments('up', []);
  if (parsed.action !== 'run') throw new Error('no options');
  const user = { name: 'simulated', uid: '', groups: ['system:masters'], extra: {} };
  return {
    dialect: 'orch',
    options: { ...parsed.options, requestTimeoutMs: 20_000, storeHistoryBytes: 100_000 },
    dataDirectory: '/nowhere',
    storeEngine: 'memory',
    tls: undefined,
    caPem: '',
    tokens: [{ digest: tokenDigest(TOKEN), user }],
    advertiseAddress: '10.0.0.1',
    build: { major: '1', minor: '21', gitVersion: 'v1.21.0', gitCommit: '', buildDate: '', platform: '' },
    startedWallMs: 0,
    schedulerName: 'default-scheduler',
  } as unknown as ServerSettings;
}

const SETTINGS = settings();
const REGISTRY = registryFor(SETTINGS);

/** The registry never changes, and making it would take longer than most of a run. */
function withSharedRegistry(definition: ActorDefinition<ServerSettings>): ActorDefinition<ServerSettings> {
  const create: typeof definition.create = (context, options) => {
    context.threadLocal('registry', () => REGISTRY);
    return definition.create(context, options);
  };
  return { ...definition, create };
}
