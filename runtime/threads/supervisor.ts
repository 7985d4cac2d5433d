// The main thread's work: starts a worker for every thread of the plan, joins each two with a channel, replaces those that
// end, and stops them in order. It hosts no actor and sees no actor's message.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { Timer } from '../environment.ts';
import { createLogger } from '../logging/log.ts';
import type { LogOptions } from '../logging/log-options.ts';
import { actorDown } from '../messages/pending-ask.ts';
import type { Plan } from '../placement/plan.ts';
import { realEnvironment } from '../real-environment.ts';
import { Backoff, type BackoffOptions, RESTART_BACKOFF } from './backoff.ts';
import { HeartbeatMonitor, heartbeatMemory } from './heartbeat.ts';
import type { ActorStats } from './system.ts';
import { WorkerThread } from './worker-thread.ts';

export interface SupervisorOptions {
  readonly plan: Plan;
  /** A module that exports `roster` (roster.ts); every thread imports it. */
  readonly rosterUrl: string;
  /** Handed to every actor. Plain data. */
  readonly options: unknown;
  /** Set in the process before any thread starts, so that native modules see them too. */
  readonly env?: Readonly<Record<string, string>>;
  readonly log: LogOptions;
  /** Whether mailboxes measure how long messages wait in them. */
  readonly measuresWaits?: boolean;
  /** Whether it is known from the beginning who allocated what each thread's heap holds. */
  readonly followsHeap?: boolean;
  /** Called once, when all threads have loaded their code and made their actors, before any of these starts. */
  readonly onCreated?: () => void;
  readonly heartbeatMs?: number;
  /** A thread without a heartbeat for this long hangs (heartbeat.ts); nothing can end it but the end of the process. */
  readonly hangTimeoutMs?: number;
  /** For each stop order, and for the end of each thread. */
  readonly stopTimeoutMs?: number;
  readonly restartBackoff?: BackoffOptions;
  /** What to do when the process cannot go on; logs and exits with code 1 when absent. */
  readonly onFatal?: (reason: string) => void;
}

export interface ThreadStats {
  readonly name: string;
  readonly state: ThreadState;
  readonly restarts: number;
  readonly actors: readonly ActorStats[];
}

export interface Supervisor {
  /** All actors of all threads are ready to serve. Rejects with what kept one from starting, after all have ended. */
  readonly ready: Promise<void>;
  /** Tells every actor that the server is going to stop, those of threads that are started again too. */
  drain(): void;
  /** Stops the actors in ascending stop order across the threads, then ends the threads. */
  stop(): Promise<void>;
  stats(): Promise<readonly ThreadStats[]>;
  /** Whether all threads run, and every actor has done what its start began. */
  hasSettled(): Promise<boolean>;
}

export type ThreadState = 'starting' | 'running' | 'down';

/** A thread of the plan, across restarts. */
interface Seat {
  readonly index: number;
  readonly name: string;
  readonly backoff: Backoff;
  worker: WorkerThread | undefined;
  state: ThreadState;
  stopOrders: readonly number[];
  startedMs: number;
  restarts: number;
}

const HEARTBEAT_MS = 1000;
const HANG_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 15_000;
/** How long the healthy threads may take to end when another one hangs. */
const FATAL_PATIENCE_MS = 1000;

/** Starts every thread of the plan, in parallel, and keeps them running. Resolves as soon as they have been launched. */
export async function startSupervisor(options: SupervisorOptions): Promise<Supervisor> {
  Object.assign(process.env, options.env);
  return new ThreadSupervisor(options);
}

class ThreadSupervisor implements Supervisor {
  readonly ready: Promise<void>;
  private readonly setup: SupervisorOptions;
  private readonly seats: readonly Seat[];
  private readonly heartbeats: SharedArrayBuffer;
  private readonly monitor: HeartbeatMonitor;
  private readonly log: Logger;
  private readonly pulse: Timer;
  private draining = false;
  private stopping: Promise<void> | undefined;

  constructor(setup: SupervisorOptions) {
    this.setup = setup;
    this.heartbeats = heartbeatMemory(setup.plan.threads.length);
    this.monitor = new HeartbeatMonitor(this.heartbeats, this.heartbeatMs, setup.hangTimeoutMs ?? HANG_TIMEOUT_MS);
    this.log = createLogger('main', setup.log);
    this.seats = setup.plan.threads.map(({ name }, index) => ({
      index,
      name,
      backoff: new Backoff(setup.restartBackoff ?? RESTART_BACKOFF),
      worker: undefined,
      state: 'starting',
      stopOrders: [],
      startedMs: 0,
      restarts: 0,
    }));
    const links = channelsBetweenAll(this.seats.length);
    for (const seat of this.seats) this.launch(seat, links[seat.index]!);
    this.ready = this.startAll();
    this.ready.catch(() => {}); // Whoever awaits `ready` hears of it.
    this.pulse = realEnvironment.timers.every(this.heartbeatMs, () => this.checkHeartbeats());
  }

  drain(): void {
    this.draining = true;
    for (const { worker } of this.seats) this.drainThread(worker);
  }

  stop(): Promise<void> {
    this.stopping ??= this.stopAll();
    return this.stopping;
  }

  stats(): Promise<readonly ThreadStats[]> {
    return Promise.all(
      this.seats.map(async ({ name, state, restarts, worker }) => {
        const actors = await worker?.call((control) => control.stats()).catch(() => []);
        return { name, state, restarts, actors: actors ?? [] };
      }),
    );
  }

  async hasSettled(): Promise<boolean> {
    if (this.seats.some(({ state }) => state !== 'running')) return false;
    const settled = this.seats.map(({ worker }) => worker?.call((control) => control.hasSettled()).catch(() => false));
    return (await Promise.all(settled)).every((one) => one === true);
  }

  private get heartbeatMs(): number {
    return this.setup.heartbeatMs ?? HEARTBEAT_MS;
  }

  /** All threads create before any starts: a ref used in `start` finds its actor made. */
  private async startAll(): Promise<void> {
    try {
      await Promise.all(this.seats.map((seat) => this.create(seat)));
      this.setup.onCreated?.();
      await Promise.all(this.seats.map((seat) => this.start(seat)));
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  private launch(seat: Seat, links: readonly (readonly [number, MessagePort])[]): void {
    const { plan, rosterUrl, options, log, measuresWaits = false, followsHeap = false } = this.setup;
    const { heartbeats, heartbeatMs } = this;
    const thread = seat.index;
    const birth = {
      plan,
      thread,
      rosterUrl,
      options,
      log,
      measuresWaits,
      followsHeap,
      heartbeats,
      heartbeatMs,
      links,
    };
    seat.startedMs = performance.now();
    const worker = new WorkerThread(birth);
    seat.worker = worker;
    seat.state = 'starting';
    this.monitor.forget(seat.index);
    void worker.exited.then((error) => this.onExit(seat, worker, error));
  }

  private async create(seat: Seat): Promise<void> {
    seat.stopOrders = await workerOf(seat).attempt((control) => control.create());
  }

  private async start(seat: Seat): Promise<void> {
    await workerOf(seat).attempt((control) => control.start());
    seat.state = 'running';
  }

  private onExit(seat: Seat, worker: WorkerThread, error: Error | undefined): void {
    if (seat.worker !== worker) return;
    const wasRunning = seat.state === 'running' || seat.restarts > 0;
    seat.worker = undefined;
    seat.state = 'down';
    if (this.stopping !== undefined) return;
    this.log.error({ err: error, ended: seat.name }, 'a thread has ended');
    if (!wasRunning) return; // `startAll` fails.
    this.restartLater(seat);
  }

  private restartLater(seat: Seat): void {
    const delayMs = seat.backoff.nextDelayMs(performance.now() - seat.startedMs);
    // Unlike the environment's, this timer keeps the process alive: there may be no other thread to do so.
    setTimeout(() => void this.restart(seat), delayMs);
  }

  /** Replaces an ended thread: new channels to every live peer, then create, start, and word to the peers. */
  private async restart(seat: Seat): Promise<void> {
    if (this.stopping !== undefined) return;
    seat.restarts++;
    this.log.warn({ restarted: seat.name, restarts: seat.restarts }, 'starting a thread again');
    const links: [number, MessagePort][] = [];
    for (const peer of this.peersOf(seat)) {
      const { port1, port2 } = new MessageChannel();
      links.push([peer.index, port1]);
      peer.worker?.connect(seat.index, port2).catch(() => port2.close());
    }
    try {
      this.launch(seat, links);
    } catch (error) {
      // The system has no thread for it now.
      this.log.error({ err: error, restarted: seat.name }, 'a thread could not be started again');
      for (const [, port] of links) port.close();
      this.restartLater(seat);
      return;
    }
    const { worker } = seat;
    try {
      await this.create(seat);
      if (this.draining) this.drainThread(worker);
      await this.start(seat);
      for (const peer of this.peersOf(seat)) {
        peer.worker?.call((control) => control.peerRestarted(seat.index)).catch(() => {}); // It ended itself.
      }
    } catch (error) {
      this.log.error({ err: error, restarted: seat.name }, 'a thread could not be started again');
      await worker?.end(this.stopTimeoutMs);
    }
  }

  private drainThread(worker: WorkerThread | undefined): void {
    worker?.call((control) => control.drain()).catch(() => {}); // It ended; its successor is told.
  }

  private peersOf(seat: Seat): readonly Seat[] {
    return this.seats.filter((peer) => peer !== seat && peer.worker !== undefined);
  }

  private checkHeartbeats(): void {
    const watched = this.seats.filter((seat) => seat.worker !== undefined).map((seat) => seat.index);
    const { user, system } = process.cpuUsage();
    const [silent] = this.monitor.check(watched, (user + system) / 1000);
    if (silent === undefined || this.stopping !== undefined) return;
    void this.fatal(this.seats[silent]!, 'hangs and cannot be ended: it has given no sign of life');
  }

  /**
   * The other threads close what they have. The one that hangs cannot, and with a native socket open an exit would be an abort or worse,
   * which leaves a core of all that is in memory, secrets too.
   */
  private async fatal(seat: Seat, problem: string): Promise<void> {
    this.pulse.cancel();
    const reason = `thread ${seat.name} ${problem}`;
    this.log.fatal(reason);
    if (this.setup.onFatal !== undefined) {
      this.setup.onFatal(reason);
      return;
    }
    this.stopping ??= Promise.resolve();
    await Promise.all(this.peersOf(seat).map(({ worker }) => worker?.end(FATAL_PATIENCE_MS)));
    process.kill(process.pid, 'SIGKILL');
  }

  private get stopTimeoutMs(): number {
    return this.setup.stopTimeoutMs ?? STOP_TIMEOUT_MS;
  }

  private async stopAll(): Promise<void> {
    this.pulse.cancel();
    const orders = new Set(this.seats.flatMap((seat) => seat.stopOrders));
    for (const order of [...orders].sort((left, right) => left - right)) {
      await Promise.all(this.seats.map((seat) => this.stopOrder(seat, order)));
    }
    await Promise.all(
      this.seats.map(async ({ name, worker }) => {
        const ended = (await worker?.end(this.stopTimeoutMs)) ?? true;
        if (!ended) this.log.error({ lingering: name }, 'a thread did not end in time');
      }),
    );
  }

  private async stopOrder(seat: Seat, order: number): Promise<void> {
    const { worker } = seat;
    if (worker === undefined || !seat.stopOrders.includes(order)) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.log.error({ lingering: seat.name, stopOrder: order }, 'actors did not stop in time');
        resolve();
      }, this.stopTimeoutMs);
    });
    await Promise.race([worker.call((control) => control.stop(order)).catch(() => {}), late]);
    clearTimeout(timer);
  }
}

function workerOf(seat: Seat): WorkerThread {
  if (seat.worker === undefined) throw actorDown(`thread ${seat.name}`);
  return seat.worker;
}

/** For each thread its ends of the channels to all others. */
function channelsBetweenAll(threads: number): readonly (readonly (readonly [number, MessagePort])[])[] {
  const ends: [number, MessagePort][][] = Array.from({ length: threads }, () => []);
  for (let one = 0; one < threads; one++) {
    for (let other = one + 1; other < threads; other++) {
      const { port1, port2 } = new MessageChannel();
      ends[one]!.push([other, port1]);
      ends[other]!.push([one, port2]);
    }
  }
  return ends;
}
