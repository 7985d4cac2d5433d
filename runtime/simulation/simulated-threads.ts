// All threads of a plan in the calling thread, as the supervisor runs them on real ones: joined by links that delay and
// refuse messages, ended by crashes, and started again after the same backoff with word to their peers.
import type { ActorDefinition, Protocol, Ref } from '../actor.ts';
import type { Clock, Environment, Timers } from '../environment.ts';
import { createLogger } from '../logging/log.ts';
import type { LogOptions } from '../logging/log-options.ts';
import { MetricsRegistry } from '../metrics/metrics-registry.ts';
import type { Address, Plan } from '../placement/plan.ts';
import { Backoff, RESTART_BACKOFF } from '../threads/backoff.ts';
import { System } from '../threads/system.ts';
import type { SeededRandom } from './seeded-random.ts';
import { type LinkFaults, SimulatedRef, ThreadLife } from './simulated-link.ts';
import { StepDelivery } from './step-delivery.ts';

export interface SimulatedThreadsOptions<Options> {
  /** By the thread: one may be given less room than the others. */
  readonly actors: (thread: string) => readonly ActorDefinition<Options>[];
  readonly plan: Plan;
  readonly options: Options;
  readonly environment: Environment;
  readonly time: Clock & Timers;
  /** Decides the order in which mailboxes are drained. */
  readonly random: SeededRandom;
  readonly faults: LinkFaults;
  /** A thread has ended, with what broke on it; before it is started again. */
  readonly onEnd?: (thread: string, error: Error) => void;
  /** Silent when absent. */
  readonly log?: LogOptions;
}

interface Seat<Options> {
  readonly index: number;
  readonly name: string;
  readonly backoff: Backoff;
  life: ThreadLife | undefined;
  system: System<Options> | undefined;
  state: 'starting' | 'running' | 'down';
  startedMs: number;
  lives: number;
}

export class SimulatedThreads<Options> {
  readonly #setup: SimulatedThreadsOptions<Options>;
  readonly #seats: readonly Seat<Options>[];
  readonly #delivery: StepDelivery;
  #over = false;

  /** Nothing runs before `start`. */
  constructor(setup: SimulatedThreadsOptions<Options>) {
    this.#setup = setup;
    this.#delivery = new StepDelivery(setup.time, setup.random);
    this.#seats = setup.plan.threads.map(({ name }, index) => ({
      index,
      name,
      backoff: new Backoff(RESTART_BACKOFF),
      life: undefined,
      system: undefined,
      state: 'down',
      startedMs: 0,
      lives: 0,
    }));
  }

  /** Makes and starts everything, as when a server starts: a failure is not retried. Needs time to pass meanwhile. */
  async start(): Promise<void> {
    for (const seat of this.#seats) this.#launch(seat);
    await Promise.all(this.#seats.map((seat) => seat.system!.create()));
    await Promise.all(this.#seats.map((seat) => seat.system!.start()));
    for (const seat of this.#seats) seat.state = 'running';
  }

  /** The names of the threads that run now. */
  get running(): readonly string[] {
    return this.#seats.filter(({ state }) => state === 'running').map(({ name }) => name);
  }

  /** How often a thread has been started. */
  livesOf(thread: string): number {
    return this.#seat(thread).lives;
  }

  /** An actor's ref as its own thread sees it; the thread must be up. */
  ref<P extends Protocol>(thread: string, actor: string): Ref<P> {
    return this.#seat(thread).system!.refNamed<P>(actor);
  }

  /** Something breaks on a thread: it ends, and is started again. */
  crash(thread: string, error: Error): void {
    this.#seat(thread).system?.crash(error);
  }

  /** The process is gone from one moment to the next. */
  kill(): void {
    this.#over = true;
    for (const { life } of this.#seats) if (life !== undefined) life.isAlive = false;
    for (const { system } of this.#seats) system?.crash(new Error('the process was killed'));
  }

  #seat(thread: string): Seat<Options> {
    return this.#seats.find(({ name }) => name === thread)!;
  }

  #launch(seat: Seat<Options>): void {
    const { plan, actors, options, environment, time, log } = this.#setup;
    const life = new ThreadLife(seat.name);
    const system = new System<Options>({
      plan,
      thread: seat.index,
      actors: actors(seat.name),
      options,
      environment,
      log: createLogger(seat.name, log ?? { level: 'silent', format: 'json' }),
      metrics: new MetricsRegistry(),
      peers: { ref: (address) => this.#link(life, address) },
      freezeMessages: false,
      delivery: this.#delivery,
      onCrash: (error) => this.#onEnd(seat, life, error),
    });
    life.system = system;
    seat.life = life;
    seat.system = system;
    seat.state = 'starting';
    seat.startedMs = time.monotonicMs();
    seat.lives++;
  }

  #link(sender: ThreadLife, address: Address): SimulatedRef {
    const { time, faults } = this.#setup;
    const receiver = (): ThreadLife | undefined => this.#seats[address.thread]!.life;
    return new SimulatedRef({ time, faults, sender, receiver, address });
  }

  #onEnd(seat: Seat<Options>, life: ThreadLife, error: Error): void {
    if (seat.life !== life) return;
    life.isAlive = false;
    seat.life = undefined;
    seat.system!.deadlines.close();
    seat.system = undefined;
    seat.state = 'down';
    this.#setup.onEnd?.(seat.name, error);
    if (this.#over) return;
    for (const { system } of this.#seats) system?.failAsksTo(seat.index);
    const { time } = this.#setup;
    time.after(seat.backoff.nextDelayMs(time.monotonicMs() - seat.startedMs), () => {
      if (!this.#over) this.#restart(seat);
    });
  }

  #restart(seat: Seat<Options>): void {
    this.#launch(seat);
    const { system, life } = seat;
    const begin = async (): Promise<void> => {
      await system!.create();
      await system!.start();
      if (seat.life !== life) return;
      seat.state = 'running';
      for (const peer of this.#seats) if (peer !== seat) peer.system?.peerRestarted(seat.index);
    };
    begin().catch((error: unknown) => system!.crash(error instanceof Error ? error : new Error(String(error))));
  }
}
