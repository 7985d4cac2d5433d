// One controller's keys on their way to being as they should be: each planned by one worker at a time, again after a
// backoff while its writes fail. Owns timers and counts, not state: what to write is the controller's word each time.
import type { ActorContext } from '../../runtime/actor.ts';
import type { Timer } from '../../runtime/environment.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Controller, Due, Plan, WriteOutcome } from './controller.ts';
import { FailureLines } from './failure-lines.ts';
import { WorkQueueMetrics } from './work-queue-metrics.ts';
import type { Writer } from './writer.ts';

const BACKOFF_FIRST_MS = 10;
const BACKOFF_MAX_MS = 30_000;
/** Keys planned in one turn of the event loop; the rest follow in the next. */
const KEYS_PER_TURN_MAX = 500;
/** The longest delay given to a timer (setTimeout takes 31 bits); whoever waits longer is planned once in vain. */
const DELAY_MAX_MS = 24 * 3600 * 1000;
interface Delay {
  readonly timer: Timer;
  readonly dueAtMs: number;
}

type QueueContext = Pick<ActorContext, 'clock' | 'timers' | 'random' | 'log' | 'metrics'>;

/** Makes a controller and the queue of its keys. */
export type QueueOf = <C extends Controller>(make: (due: Due) => C) => WorkQueue<C>;

/**
 * Keys are planned in the order they became due, each at most once at a time; a key added while its writes are under
 * way is planned again afterwards. Closed until `open`: keys gather, nothing is planned. While it rests, no keys gather either.
 */
export class WorkQueue<C extends Controller = Controller> implements Due {
  readonly #context: QueueContext;
  readonly #writer: Writer;
  readonly #controller: C;
  /** By key, since when it is due. */
  readonly #ready = new Map<string, number>();
  readonly #delays = new Map<string, Delay>();
  readonly #failures = new Map<string, number>();
  readonly #lines: FailureLines;
  readonly #running = new Set<string>();
  readonly #metrics: WorkQueueMetrics;
  #open = false;
  #isResting = false;
  /** It was begun, and not ended since: it may rest all the same. */
  #isBegun = false;
  #isBlind = false;
  #stopped = false;
  #turnAsked = false;
  #onIdle: (() => void) | undefined;

  /** `make` builds the controller, which reports its keys to the queue it is given. */
  constructor(context: QueueContext, writer: Writer, make: (due: Due) => C) {
    this.#context = context;
    this.#writer = writer;
    this.#controller = make(this);
    this.#lines = new FailureLines(context, this.#controller.name);
    this.#metrics = new WorkQueueMetrics(context, this.#controller.name);
  }

  get controller(): C {
    return this.#controller;
  }

  add(key: string): void {
    if (this.#stopped || this.#isResting) return;
    this.#cancelDelay(key);
    if (!this.#ready.has(key)) {
      this.#ready.set(key, this.#context.clock.monotonicMs());
      this.#metrics.adds.add(1);
    }
    this.#askForTurn();
  }

  /** The controller's state is whole: plan. */
  open(): void {
    this.#open = true;
    this.#askForTurn();
  }

  /** The controller's state is being rebuilt: plan nothing. Writes under way go on. */
  close(): void {
    this.#isBegun = false;
    this.#open = false;
  }

  /**
   * Something that the controller wants is there and cannot be read. To one for whom absence counts it would be absent: it rests until
   * that is over, whoever begins it.
   */
  setBlind(isBlind: boolean): void {
    if (this.#controller.countsAbsence !== true || this.#isBlind === isBlind) return;
    this.#isBlind = isBlind;
    const { log } = this.#context;
    if (isBlind)
      log.warn({ controller: this.#controller.name }, 'a controller rests: it cannot read all that it goes by');
    if (isBlind) this.#rest();
    else if (this.#isBegun) this.begin();
  }

  /**
   * Somebody else does the work, for as long as may be: what is due meanwhile is not for here, and would be more and more. Writes under
   * way go on.
   */
  rest(): void {
    this.#isBegun = false;
    this.#rest();
  }

  #rest(): void {
    this.#isResting = true;
    this.#open = false;
    this.#forget();
    this.#failures.clear();
    this.#metrics.depth.set(0);
  }

  /** The controller, whose state is whole, says what is due, and that is planned. */
  begin(): void {
    this.#isBegun = true;
    if (this.#isBlind) {
      this.#rest();
      return;
    }
    this.#isResting = false;
    this.#controller.onSynced();
    this.open();
  }

  /** Plans nothing any more, and resolves when the writes under way have ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#forget();
    if (this.#running.size > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  #forget(): void {
    this.#ready.clear();
    for (const delay of this.#delays.values()) delay.timer.cancel();
    this.#delays.clear();
  }

  // A turn of its own, so that no key is planned halfway through a batch of events.
  #askForTurn(): void {
    if (this.#turnAsked || !this.#open || this.#ready.size === 0) return;
    this.#turnAsked = true;
    this.#context.timers.soon(() => {
      this.#turnAsked = false;
      this.#turn();
    });
  }

  #turn(): void {
    let planned = 0;
    for (const [key, dueMs] of this.#ready) {
      if (!this.#open || this.#stopped || this.#running.size >= this.#controller.keysInFlightMax) break;
      if (planned === KEYS_PER_TURN_MAX) {
        this.#askForTurn();
        break;
      }
      // What runs already stays ready, and is looked at when it has ended.
      if (this.#running.has(key)) continue;
      planned += 1;
      this.#ready.delete(key);
      this.#metrics.begin(key, dueMs);
      this.#start(key);
    }
    this.#metrics.depth.set(this.#ready.size);
  }

  #start(key: string): void {
    let plan: Plan;
    try {
      plan = this.#controller.plan(key);
    } catch (error) {
      this.#metrics.end(key);
      this.#failed(key, messageOf(error));
      return;
    }
    if (plan.writes.length === 0) {
      this.#metrics.end(key);
      this.#settled(key, plan);
      return;
    }
    this.#running.add(key);
    void this.#perform(key, plan).finally(() => {
      this.#running.delete(key);
      this.#metrics.end(key);
      if (this.#running.size === 0) this.#onIdle?.();
      this.#askForTurn();
    });
  }

  async #perform(key: string, plan: Plan): Promise<void> {
    const outcomes = await Promise.all(
      plan.writes.map(async (write): Promise<WriteOutcome> => {
        const outcome = await this.#writer.write(write.as ?? this.#controller.identity, write);
        this.#report(key, write, outcome);
        return outcome;
      }),
    );
    const failure = outcomes.find((outcome) => !outcome.ok);
    if (failure === undefined) this.#settled(key, plan);
    else this.#failed(key, failure.message);
  }

  #report(key: string, write: Plan['writes'][number], outcome: WriteOutcome): void {
    try {
      this.#controller.onOutcome?.(key, write, outcome);
    } catch (error) {
      this.#context.log.error({ controller: this.#controller.name, key, err: error }, 'outcome not understood');
    }
  }

  #settled(key: string, plan: Plan): void {
    this.#failures.delete(key);
    if (plan.againAfterMs !== undefined) this.#addAfter(key, plan.againAfterMs);
  }

  #failed(key: string, message: string): void {
    if (this.#isResting) return;
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.#metrics.retries.add(1);
    this.#lines.failed(key, failures, message);
    const { backoffMaxMs = BACKOFF_MAX_MS } = this.#controller;
    const backoffMs = Math.min(backoffMaxMs, BACKOFF_FIRST_MS * 2 ** Math.min(failures - 1, 20));
    // Half fixed, half random: those who failed together do not come back together.
    this.#addAfter(key, backoffMs * (0.5 + this.#context.random.next() / 2));
  }

  #addAfter(key: string, delayMs: number): void {
    if (this.#stopped || this.#isResting || this.#ready.has(key)) return;
    const boundedMs = Math.min(Math.max(0, delayMs), DELAY_MAX_MS);
    const dueAtMs = this.#context.clock.monotonicMs() + boundedMs;
    const present = this.#delays.get(key);
    if (present !== undefined && present.dueAtMs <= dueAtMs) return;
    present?.timer.cancel();
    const timer = this.#context.timers.after(boundedMs, () => {
      this.#delays.delete(key);
      this.add(key);
    });
    this.#delays.set(key, { timer, dueAtMs });
  }

  #cancelDelay(key: string): void {
    this.#delays.get(key)?.timer.cancel();
    this.#delays.delete(key);
  }
}
