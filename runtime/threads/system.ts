// The actors of one thread: makes them, hands them what they may use, starts and stops them, and ends them together when
// one breaks. How other threads are reached is given (`Peers`): links in a server, other systems in one thread.
import type { Logger } from 'pino';
import type { Actor, ActorContext, ActorDefinition, ActorName, ActorProtocols, Protocol, Ref } from '../actor.ts';
import type { ActorFacts } from '../actor-facts.ts';
import type { Environment, Timer, Timers } from '../environment.ts';
import { CrashError, isOrchError } from '../errors.ts';
import type { FlatFormTable } from '../flat-form.ts';
import { logEnd, setLogLevel } from '../logging/log.ts';
import { Deadlines } from '../messages/deadlines.ts';
import { type Delivery, GatheringDelivery } from '../messages/delivery.ts';
import { type AnyRef, LocalRef, type LocalSender, UnplacedRef } from '../messages/local-ref.ts';
import { type Inbound, Mailbox, type MailboxStats } from '../messages/mailbox.ts';
import { publishMailboxMetrics } from '../messages/mailbox-metrics.ts';
import { actorDown, PendingAsk } from '../messages/pending-ask.ts';
import type { MetricsReading } from '../metrics/metrics.ts';
import type { MetricsRegistry } from '../metrics/metrics-registry.ts';
import {
  type Address,
  AddressBook,
  type Plan,
  type PlannedActor,
  type RunningActor,
  THREAD_ACTOR,
} from '../placement/plan.ts';
import { threadMemory } from '../profiles/thread-memory.ts';
import type { Profiler } from '../profiles/thread-profile.ts';
import type { ThreadState } from '../profiles/thread-state.ts';
import { RequestNumbers } from '../turn.ts';
import { ThreadActor, type ThreadProtocol } from './thread-actor.ts';
import { ThreadMetrics } from './thread-metrics.ts';

/** How a system reaches the actors of other threads. */
export interface Peers {
  ref(address: Address): AnyRef;
}

export interface SystemOptions<Options> {
  readonly plan: Plan;
  /** Index into plan.threads of the thread that this system is. */
  readonly thread: number;
  /** At least those that the plan places on this thread. */
  readonly actors: readonly ActorDefinition<Options>[];
  /** Of every actor of the plan; absent where `actors` are all of them. */
  readonly facts?: readonly ActorFacts[];
  readonly options: Options;
  readonly environment: Environment;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly peers: Peers;
  /** Freezes local messages and replies and refuses what could not cross a thread. For tests. */
  readonly freezeMessages?: boolean;
  /** GatheringDelivery when absent. */
  readonly delivery?: Delivery;
  /** What takes profiles of the thread; absent where nothing can. */
  readonly profiler?: Profiler;
  /** Whether mailboxes measure how long messages wait in them. */
  readonly measuresWaits?: boolean;
  /** Called once, after the actors' `onCrash`: ends the thread. */
  readonly onCrash: (error: Error) => void;
}

export interface ActorStats extends MailboxStats {
  readonly name: string;
}

/** How long a thread that ends waits for its actors' sockets to be closed. */
const ABANDON_MS = 2000;

export class System<Options> {
  readonly mailboxes: ReadonlyMap<number, Mailbox>;
  readonly deadlines: Deadlines;
  /** What this thread's local refs share. */
  readonly sender: LocalSender;
  private readonly setup: SystemOptions<Options>;
  private readonly book: AddressBook;
  private readonly requestNumbers: RequestNumbers;
  private readonly shared = new Map<string, unknown>();
  private readonly refs = new Map<number, AnyRef>();
  private readonly running: RunningActor[] = [];
  private readonly stopped = new Set<string>();
  private crashed: Error | undefined;
  /** Made when they are first asked for. */
  private threadMetrics: ThreadMetrics | undefined;

  constructor(setup: SystemOptions<Options>) {
    this.setup = setup;
    this.book = new AddressBook(setup.plan, setup.facts ?? setup.actors);
    this.requestNumbers = new RequestNumbers(setup.thread, setup.plan.threads.length);
    const { clock, timers } = setup.environment;
    this.deadlines = new Deadlines(clock, timers);
    this.sender = { deadlines: this.deadlines, freezeMessages: setup.freezeMessages ?? false };
    const delivery = setup.delivery ?? new GatheringDelivery(timers);
    const here = this.book.addresses.filter((address) => address.thread === setup.thread);
    const mailbox = (address: Address): Mailbox =>
      new Mailbox(address.name, address.mailboxMax, delivery, clock, this.onThrow(address.name), setup.measuresWaits);
    this.mailboxes = new Map(here.map((address) => [address.id, mailbox(address)]));
    const { metrics, profiler } = setup;
    const { name } = setup.plan.threads[setup.thread]!;
    const thread = new ThreadActor({
      metrics,
      profiler,
      clock,
      setLogLevel: (level) => setLogLevel(setup.log, level),
      state: () => this.state(),
      memory: () => threadMemory(name),
    });
    this.mailboxes.get(this.book.ofThread(setup.thread).id)!.open(thread as Actor<Protocol>);
    publishMailboxMetrics(setup.metrics, name, this.mailboxes);
  }

  /** Makes all actors of this thread, one after the other. Rejects with what the first failing one threw. */
  async create(): Promise<void> {
    const definitions = new Map(this.setup.actors.map((definition) => [definition.actor, definition]));
    for (const planned of this.setup.plan.threads[this.setup.thread]!.actors) {
      const definition = definitions.get(planned.actor);
      if (definition === undefined) throw new Error(`no actor is called ${planned.actor}`);
      const actor = await definition.create(this.contextOf(planned), this.setup.options);
      this.running.push({ planned, facts: definition, actor });
    }
  }

  /** Starts all actors at once; each one's mailbox opens when its own start has resolved. */
  async start(): Promise<void> {
    await Promise.all(
      this.running.map(async ({ planned, actor }) => {
        await actor.start?.();
        this.mailboxOf(planned.name).open(actor);
      }),
    );
  }

  /** Whether all actors have started and done what they began then. */
  hasSettled(): boolean {
    return this.crashed === undefined && this.running.every(({ actor }) => actor.hasSettled?.() !== false);
  }

  /** The stop orders of this thread's actors, ascending, each once. */
  stopOrders(): readonly number[] {
    return [...new Set(this.running.map(({ facts }) => facts.stopOrder))].sort((left, right) => left - right);
  }

  /** Stops the actors of one stop order; all of them when it is left out, in ascending order. */
  async stop(stopOrder?: number): Promise<void> {
    for (const order of stopOrder === undefined ? this.stopOrders() : [stopOrder]) {
      const group = this.running.filter(({ facts }) => facts.stopOrder === order);
      await Promise.all(group.map((one) => this.stopActor(one)));
    }
    if (this.stopped.size === this.running.length) this.deadlines.close();
  }

  /**
   * Ends this thread's actors because one broke: no message reaches them any more. `onCrash` of each and of the thread
   * follow when the call stack is empty: a native callback at the bottom of it would abort the process if the thread ended
   * under it, and the sockets it serves are not to be closed from within.
   */
  crash(error: Error): void {
    if (this.crashed !== undefined) return;
    this.crashed = error;
    logEnd(this.setup.log, error);
    for (const mailbox of this.mailboxes.values()) mailbox.close();
    this.setup.environment.timers.soon(() => {
      void this.abandon().then(() => this.setup.onCrash(error));
    });
  }

  /**
   * Calls `onCrash` of every actor that has not stopped, because the thread is about to end. Resolves when they have closed
   * what they had to, or after two seconds.
   */
  async abandon(): Promise<void> {
    const running = this.running.filter(({ planned }) => !this.stopped.has(planned.name));
    const closed = Promise.all(
      running.map(async ({ planned, actor }) => {
        try {
          await actor.onCrash?.();
        } catch (error) {
          this.setup.log.error({ err: error, actor: planned.name }, 'the emergency hook failed');
        }
      }),
    );
    let late: Timer | undefined;
    const gaveUp = new Promise<void>((resolve) => {
      late = this.setup.environment.timers.after(ABANDON_MS, resolve);
    });
    await Promise.race([closed, gaveUp]);
    late?.cancel();
  }

  /** Tells this thread's actors that the server is going to stop. */
  drain(): void {
    for (const { planned, actor } of this.running) this.turn(planned.name, () => actor.drain?.());
  }

  /** Tells this thread's actors that the actors of another thread are new. */
  peerRestarted(thread: number): void {
    for (const { name } of this.setup.plan.threads[thread]?.actors ?? []) {
      for (const { planned, actor } of this.running) this.turn(planned.name, () => actor.peerRestarted?.(name));
    }
  }

  /** Another thread is gone: this thread's asks to its actors fail. A link sees to that itself. */
  failAsksTo(thread: number): void {
    const gone = new Set(this.setup.plan.threads[thread]?.actors.map(({ name }) => name));
    for (const entry of this.deadlines.entries()) {
      if (entry instanceof PendingAsk && gone.has(entry.targetName)) entry.failWith(actorDown(entry.targetName));
    }
  }

  metricsReading(): MetricsReading {
    return this.setup.metrics.reading();
  }

  stats(): readonly ActorStats[] {
    return [...this.mailboxes.values()].map((mailbox) => ({ name: mailbox.name, ...mailbox.stats() }));
  }

  /** What the thread and its actors are about now. */
  state(): ThreadState {
    const awaited = new Map<string, number>();
    for (const entry of this.deadlines.entries()) {
      if (entry instanceof PendingAsk) awaited.set(entry.targetName, (awaited.get(entry.targetName) ?? 0) + 1);
    }
    return {
      thread: this.setup.plan.threads[this.setup.thread]!.name,
      actors: this.stats().map(({ name, depth, unanswered, handled, turnMsMax, waits, waitMs }) => {
        return { actor: name, waiting: depth - unanswered, unanswered, handled, turnMsMax, waits, waitMs };
      }),
      awaited: [...awaited],
    };
  }

  /** How some messages to an actor cross threads. */
  formsOf(actorId: number): FlatFormTable | undefined {
    return this.book.addresses[actorId]?.flat;
  }

  /** The ref of one actor of the plan. */
  refTo(address: Address): AnyRef {
    const known = this.refs.get(address.id);
    if (known !== undefined) return known;
    const mailbox = this.mailboxes.get(address.id);
    const ref = mailbox === undefined ? this.setup.peers.ref(address) : new LocalRef(mailbox, this.sender);
    this.refs.set(address.id, ref);
    return ref;
  }

  /** The ref of an actor by its full name; one that never delivers when there is no such actor. */
  refNamed<P extends Protocol>(name: string): Ref<P> {
    const address = this.book.byName(name);
    return typed<P>(address === undefined ? new UnplacedRef(name) : this.refTo(address));
  }

  private contextOf(planned: PlannedActor): ActorContext {
    const { environment, metrics, log } = this.setup;
    return {
      clock: environment.clock,
      random: environment.random,
      disk: environment.disk,
      timers: this.timersOf(planned.name),
      name: planned.name,
      index: planned.index,
      log: log.child({ actor: planned.name }),
      metrics,
      settings: planned.settings,
      ref: <A extends ActorName>(actor: A) => typed<ActorProtocols[A]>(this.refOf(actor, planned.index)),
      refs: <A extends ActorName>(actor: A) =>
        this.book.instancesOf(actor).map((address) => typed<ActorProtocols[A]>(this.refTo(address))),
      refNamed: <P extends Protocol>(name: string) => this.refNamed<P>(name),
      threadLocal: <T>(key: string, create: () => T) => this.threadLocal(key, create),
      hasWaitingMessages: () => this.mailboxOf(planned.name).hasWaiting(),
      nextRequestNumber: () => this.requestNumbers.take(),
      metricsOfAllThreads: () => this.metricsOfAllThreads(),
      crash: (error) => {
        this.crash(error);
        throw new CrashError(error);
      },
    };
  }

  private refOf(actor: string, index: number): AnyRef {
    const addresses = this.book.instancesOf(actor);
    const near = addresses.find((address) => address.thread === this.setup.thread);
    const chosen = near ?? addresses[index % addresses.length];
    return chosen === undefined ? new UnplacedRef(actor) : this.refTo(chosen);
  }

  private threadLocal<T>(key: string, create: () => T): T {
    if (!this.shared.has(key)) this.shared.set(key, create());
    return this.shared.get(key) as T;
  }

  private metricsOfAllThreads(): Promise<readonly MetricsReading[]> {
    this.threadMetrics ??= new ThreadMetrics(
      this.book.instancesOf(THREAD_ACTOR).map((address) => typed<ThreadProtocol>(this.refTo(address))),
    );
    return this.threadMetrics.readings();
  }

  /** The actor's timers: callbacks run as its turns, and no more once it has stopped. */
  private timersOf(actorName: string): Timers {
    const { timers } = this.setup.environment;
    const asTurn = (callback: () => void) => () => this.turn(actorName, callback);
    return {
      after: (delayMs, callback) => timers.after(delayMs, asTurn(callback)),
      every: (intervalMs, callback) => timers.every(intervalMs, asTurn(callback)),
      soon: (callback) => timers.soon(asTurn(callback)),
    };
  }

  private turn(actorName: string, run: () => void): void {
    if (this.crashed !== undefined || this.stopped.has(actorName)) return;
    try {
      run();
    } catch (error) {
      if (error instanceof CrashError) this.crash(error);
      else this.setup.log.error({ err: error, actor: actorName }, 'a timer or notification failed');
    }
  }

  private onThrow(actorName: string): (error: unknown, message: object, inbound: Inbound) => void {
    return (error, message, inbound) => {
      if (error instanceof CrashError) {
        this.crash(error);
        inbound.fail(actorDown(actorName));
        return;
      }
      inbound.fail(error);
      if (isOrchError(error)) return;
      const type = (message as { readonly type?: unknown }).type;
      this.setup.log.error({ err: error, actor: actorName, message: type }, 'a message could not be handled');
    };
  }

  private async stopActor({ planned, actor }: RunningActor): Promise<void> {
    if (this.stopped.has(planned.name)) return;
    try {
      await actor.stop?.();
    } catch (error) {
      this.setup.log.error({ err: error, actor: planned.name }, 'did not stop cleanly');
    }
    this.stopped.add(planned.name);
    this.mailboxOf(planned.name).close();
  }

  private mailboxOf(actorName: string): Mailbox {
    return this.mailboxes.get(this.book.byName(actorName)!.id)!;
  }
}

/** A ref as its user sees it: the compiler knows by the actor's name what it understands. */
function typed<P extends Protocol>(ref: AnyRef): Ref<P> {
  return ref as unknown as Ref<P>;
}
