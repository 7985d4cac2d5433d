// A whole server under a seed, or several on one store: the actors of the server's own roster on simulated threads, over a disk that loses what was
// not synced and sockets without a network. Notes every commit and numbers every moment.
import type { ServiceNetwork } from '../../actors/admission/service-allocation.ts';
import { tokenDigest } from '../../actors/auth/authenticators/token-file.ts';
import type { OutsideWorld } from '../../actors/define.ts';
import type { ServerSettings } from '../../actors/server-settings.ts';
import { encryptionFor } from '../../actors/store/encryption/encryption-at-rest.ts';
import { registryFor } from '../../actors/thread-registry.ts';
import type { ResourceEncryption } from '../../config/encryption-configuration.ts';
import type { ActorContext, ActorDefinition } from '../../runtime/actor.ts';
import type { LogOptions } from '../../runtime/logging/log-options.ts';
import { MemoryDisk } from '../../runtime/simulation/memory-disk.ts';
import { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import type { SimulatedThreads } from '../../runtime/simulation/simulated-threads.ts';
import { VirtualTime } from '../../runtime/simulation/virtual-time.ts';
import type { StoreEngine } from '../../storage/engines/shared-engine.ts';
import { lending } from '../../storage/records/record-reading.ts';
import { parseIpRange } from '../../values/ip.ts';
import { actorsFor } from '../server/every-actor.ts';
import { memorySettings } from '../server/memory-settings.ts';
import type { HistoryBounds } from './check-history.ts';
import type { LeaderWord } from './check-leaders.ts';
import { Committed } from './committed.ts';
import { SimulatedDisk } from './disk.ts';
import { type FaultPlan, Faults, SLOW_COMMIT_MS_MAX } from './faults.ts';
import { drawLayout, type Layout } from './layouts.ts';
import { serverOf } from './server-names.ts';
import { SimulatedProcess } from './simulated-process.ts';
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
/** Room for few services, so that two of them choose the same. */
export const NETWORK: ServiceNetwork = {
  clusterIpRanges: [parseIpRange('10.0.0.0/28')!],
  nodePorts: { first: 30_000, last: 30_031 },
};
const LIMIT_MS = 600_000;
const HISTORY_BYTES = 100_000;

/** How one server is made; the parts that a planted bug replaces. */
export interface Server {
  readonly actors: (outside: OutsideWorld) => readonly ActorDefinition<ServerSettings>[];
  readonly engine: (disk: SimulatedDisk, world: World, context: ActorContext) => StoreEngine;
  /** Others write to its store as well, and compact it. */
  readonly isShared?: boolean;
  /** How many run at once; one when absent. */
  readonly count?: number;
  /** `--store-layout`; values lie as they are in another than our own, which encrypts them itself. */
  readonly storeLayout?: ServerSettings['options']['storeLayout'];
  /** What happens to them beside the faults of every run, in an order that chance draws. */
  readonly incidents?: (world: World) => readonly (() => void | Promise<void>)[];
}

export const SERVER: Server = { actors: actorsFor, engine: (disk) => disk.engine() };

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
  /** In the order of their names; the first has none when it is alone. */
  readonly processes: readonly SimulatedProcess[];
  /** Threads that ended by themselves, with the reason; crashes that the run makes are not among them. */
  readonly crashes: string[] = [];
  /** A thread has, and begun again: by an error of its disk, say. */
  #hasEnded = false;
  /** What the hubs' own checks found wrong, one line each. */
  readonly divergences: string[] = [];
  /** How often a hub found that it holds what the store does, or that it does not. */
  selfChecks = 0;
  /** What servers have said to their schedulers, where only one of them schedules. */
  readonly leaderWords: LeaderWord[] = [];
  readonly #options: WorldOptions;
  readonly #webhooks: SimulatedWebhooks;
  /** What history is kept to: by age, and of the events the fewest that any life of the server had room for. */
  readonly compactionIntervalMs: number;
  leastHistoryEvents = Number.POSITIVE_INFINITY;
  /** When each moment was, by a clock that nobody sets. */
  readonly #momentsMs: number[] = [0];

  constructor(options: WorldOptions) {
    lending.wipes = true;
    this.#options = options;
    const { seed, server } = options;
    const random = new SeededRandom(seed ^ 0x0c70);
    this.compactionIntervalMs = [0, 1000, 300_000][random.below(3)]!;
    const compaction = { storeCompactionIntervalMs: this.compactionIntervalMs };
    let settings: ServerSettings = { ...SETTINGS, options: { ...SETTINGS.options, ...compaction } };
    const { storeLayout = 'own' } = options.server;
    settings = { ...settings, options: { ...settings.options, storeLayout } };
    // By this alone the actors know that others may be there, and that one of them leads.
    if (server.isShared === true) settings = { ...settings, storeAccess: NO_ACCESS };
    if (seed % SEEDS_WITH_ENCRYPTION === 0 && storeLayout === 'own') settings = { ...settings, encryption: ENCRYPTION };
    // What is checked is what lies on the disk, with keys of its own to read it.
    const environment = { clock: this.time, timers: this.time, random: new SeededRandom(seed), disk: new MemoryDisk() };
    const encryption = encryptionFor(settings.encryption ?? [], REGISTRY, environment);
    this.committed = new Committed((key, bytes) => encryption.open(key, bytes) as Uint8Array);
    const count = server.count ?? 1;
    const randoms = Array.from({ length: count }, (_, index) =>
      index === 0 ? random : new SeededRandom((seed ^ 0x0c70) + index * 104_729),
    );
    const layouts = randoms.map((own, index) => {
      const layout = options.layout ?? drawLayout(own, options.hasControllers);
      return count === 1 ? layout : { ...layout, threads: layout.threads.map(namedOf(index)) };
    });
    const threads = layouts.flatMap((layout) => layout.threads.map(({ name }) => name));
    this.faults = new Faults(options.faults, new SeededRandom(seed ^ 0xfa017), threads);
    this.#webhooks = new SimulatedWebhooks(this.time, new SeededRandom(seed ^ 0x3eb), this.faults);
    this.processes = layouts.map((layout, index) => this.#newProcess(layout, index, randoms[index]!, settings));
  }

  /** The next moment on the counter that orders everything. */
  moment(): number {
    return this.#momentsMs.push(this.time.monotonicMs()) - 1;
  }

  get historyBounds(): HistoryBounds {
    const { faults, compactionIntervalMs } = this;
    const { kills, crashes, clockJumps } = faults.plan;
    const ageSlackMs = clockJumps > 0 ? Number.POSITIVE_INFINITY : SLOW_COMMIT_MS_MAX;
    return {
      events: this.leastHistoryEvents,
      bytes: HISTORY_BYTES,
      intervalMs: compactionIntervalMs,
      ageSlackMs: kills + crashes > 0 || this.#hasEnded ? ageSlackMs : 0,
      msAt: (moment) => this.#momentsMs[moment] ?? Number.POSITIVE_INFINITY,
    };
  }

  trace(line: string): void {
    this.#options.trace?.(`${String(Math.round(this.time.monotonicMs())).padStart(7)} ms  ${line}`);
  }

  /** Of all servers. */
  get ingresses(): readonly string[] {
    return this.processes.flatMap(({ ingresses }) => ingresses);
  }

  /** The threads of all servers that run now. */
  get running(): readonly string[] {
    return this.processes.flatMap(({ threads }) => threads.running);
  }

  /** The first server's. */
  get threads(): SimulatedThreads<ServerSettings> {
    return this.processes[0]!.threads;
  }

  /** The server that an ingress or a thread is of. */
  processOf(name: string): SimulatedProcess {
    return this.processes.find((process) => process.name === serverOf(name)) ?? this.processes[0]!;
  }

  /** The thread that an actor runs on. */
  threadOf(actor: string): string {
    return this.processOf(actor).threadOf(actor);
  }

  async start(): Promise<void> {
    for (const { threads } of this.processes) await this.during(threads.start());
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
    this.processOf(thread).threads.crash(thread, new Error('injected'));
  }

  /** One of the servers, by chance where there are several. */
  anyProcess(random: SeededRandom): SimulatedProcess {
    const { processes } = this;
    return processes[processes.length === 1 ? 0 : random.below(processes.length)]!;
  }

  /** What the run makes happen beside the faults of every run. */
  incidents(): readonly (() => void | Promise<void>)[] {
    return this.#options.server.incidents?.(this) ?? [];
  }

  #newProcess(layout: Layout, index: number, random: SeededRandom, settings: ServerSettings): SimulatedProcess {
    const { seed, server, log } = this.#options;
    const disk = new SimulatedDisk({
      tokenKey: random.bytes(32),
      nowMs: () => this.time.monotonicMs(),
      after: (delayMs, callback) => void this.time.after(delayMs, callback),
      nextFate: () => this.faults.commitFate(),
      onDurable: (batch) => {
        this.committed.add(batch, this.moment());
        this.trace(`durable ${batch.firstRevision}-${batch.lastRevision}`);
      },
    });
    const process: SimulatedProcess = new SimulatedProcess({
      world: this,
      name: (server.count ?? 1) === 1 ? '' : String(index),
      seed: seed + index,
      layout,
      settings: { ...settings, advertiseAddress: `10.0.0.${index + 1}` },
      random,
      disk,
      openEngine: (context) => server.engine(disk, this, context),
      actors: (outside) => server.actors(outside).map(withSharedRegistry),
      webhookClient: this.#webhooks.client,
      onEnd: (thread, error) => this.#onEnd(process, disk, thread, error),
      ...(log === undefined ? {} : { log }),
    });
    return process;
  }

  #onEnd(process: SimulatedProcess, disk: SimulatedDisk, thread: string, error: Error): void {
    this.trace(`ended ${thread}: ${error.message}`);
    this.#hasEnded = true;
    if (!EXPECTED_ENDS.has(error.message)) this.crashes.push(`${thread}: ${error.stack ?? error.message}`);
    if (process.storeThread === thread) disk.crash();
    for (const ingress of process.ingresses) if (process.threadOf(ingress) === thread) this.sockets.cutAll(ingress);
  }
}

/** A thread under the name that it has among those of several servers. */
function namedOf(server: number): (thread: Layout['threads'][number]) => Layout['threads'][number] {
  return ({ name, actors }) => ({ name: `${server}:${name}`, actors });
}

/** A full disk is none: writes are refused and everything goes on. */
const EXPECTED_ENDS: ReadonlySet<string> = new Set([
  'injected',
  'the process was killed',
  'the disk reports an error',
  // A watch that was broken off while what it had yet to hear was compacted: the store begins anew.
  'the watch of the store ended: required revision has been compacted',
]);

function settings(): ServerSettings {
  const plain = memorySettings('up', []);
  const user = { name: 'simulated', uid: '', groups: ['system:masters'], extra: {} };
  return {
    ...plain,
    options: {
      ...plain.options,
      requestTimeoutMs: 20_000,
      storeHistoryBytes: HISTORY_BYTES,
      serviceClusterIpRange: NETWORK.clusterIpRanges,
      serviceNodePortRange: NETWORK.nodePorts,
    },
    tokens: [{ digest: tokenDigest(TOKEN), user }],
    advertiseAddress: '10.0.0.1',
    schedulerName: 'default-scheduler',
  };
}

/** The engine is the model's, which is come to otherwise. */
const NO_ACCESS: NonNullable<ServerSettings['storeAccess']> = { servers: [] };

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
