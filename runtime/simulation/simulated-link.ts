// Messages between the simulated threads: under way for as long as the faults say, in order from one thread to one actor,
// lost with either thread. Keeps the guarantees of docs/RUNTIME.md and no more than those.
import type { AskOptions } from '../actor.ts';
import type { Clock, Timers } from '../environment.ts';
import { fromErrorFrame, OrchError, toErrorFrame } from '../errors.ts';
import { FieldReader, type FlatForm } from '../flat-form.ts';
import type { AnyRef } from '../messages/local-ref.ts';
import type { Inbound } from '../messages/mailbox.ts';
import { actorDown, overloaded, PendingAsk } from '../messages/pending-ask.ts';
import type { Address } from '../placement/plan.ts';
import type { System } from '../threads/system.ts';
import { turn } from '../turn.ts';
import { copyAcrossThreads } from './copy-across-threads.ts';

/** What happens to messages between threads; decided by the seed. */
export interface LinkFaults {
  /** Milliseconds that the next message from one thread to another is under way. */
  delayMs(from: string, to: string): number;
  /** The receiving actor's mailbox is full just now. */
  isFull(from: string, toActor: string): boolean;
}

/** One life of a thread. A message for a life that is over goes nowhere. */
export class ThreadLife {
  readonly name: string;
  /** What its actors and asks are kept in; set as soon as it is made, which needs this life. */
  system!: Pick<System<unknown>, 'mailboxes' | 'deadlines'>;
  isAlive = true;

  constructor(name: string) {
    this.name = name;
  }
}

export interface LinkParts {
  readonly time: Clock & Timers;
  readonly faults: LinkFaults;
  readonly sender: ThreadLife;
  /** The thread's present life; undefined while it is down. */
  readonly receiver: () => ThreadLife | undefined;
  readonly address: Address;
}

/** A ref to an actor of another simulated thread. */
export class SimulatedRef implements AnyRef {
  readonly name: string;
  readonly #parts: LinkParts;
  /** When the last message sent arrives: the next does not overtake it. */
  #lastArrivalMs = 0;

  constructor(parts: LinkParts) {
    this.name = parts.address.name;
    this.#parts = parts;
  }

  ask(message: object, options: AskOptions): Promise<unknown> {
    const { sender, faults } = this.#parts;
    // The code of a thread that has ended goes nowhere either.
    if (!sender.isAlive) return new Promise(() => {});
    const receiver = this.#parts.receiver();
    if (receiver === undefined) return Promise.reject(actorDown(this.name));
    if (options.signal?.aborted) return Promise.reject(new OrchError('Cancelled', `the ask to ${this.name}`));
    if (faults.isFull(sender.name, this.name)) return Promise.reject(overloaded(this.name));
    const answerForm = this.#parts.address.flat?.ofAnswerTo(message);
    const ask = new SimulatedAsk(this.#parts, receiver, answerForm, options);
    this.#send(message, receiver, ask, options.requestNumber || turn.requestNumber);
    return ask.promise;
  }

  askSoon(message: object, options: AskOptions): Promise<unknown> {
    return this.ask(message, options);
  }

  tell(message: object, requestNumber = turn.requestNumber): 'queued' | 'full' {
    const { sender, faults } = this.#parts;
    const receiver = this.#parts.receiver();
    if (!sender.isAlive || receiver === undefined || faults.isFull(sender.name, this.name)) return 'full';
    this.#send(message, receiver, undefined, requestNumber);
    return 'queued';
  }

  tellSoon(message: object, requestNumber?: number): 'queued' | 'full' {
    return this.tell(message, requestNumber);
  }

  #send(message: object, receiver: ThreadLife, ask: SimulatedAsk | undefined, requestNumber: number): void {
    const { time, faults, sender, address } = this.#parts;
    const copy = crossed(message, address.flat?.ofMessage(message)?.form) as object;
    const nowMs = time.monotonicMs();
    this.#lastArrivalMs = Math.max(this.#lastArrivalMs, nowMs + faults.delayMs(sender.name, receiver.name));
    time.after(this.#lastArrivalMs - nowMs, () => {
      if (!receiver.isAlive) return;
      const mailbox = receiver.system.mailboxes.get(address.id)!;
      if (ask === undefined) mailbox.accept(copy, new SimulatedTell(() => mailbox.release()), requestNumber);
      else ask.arrive(copy, requestNumber);
    });
  }
}

class SimulatedAsk extends PendingAsk implements Inbound {
  /** That the asker has given up is not known here in time. */
  readonly isAwaited = true;
  readonly targetName: string;
  readonly #parts: LinkParts;
  readonly #receiver: ThreadLife;
  readonly #answerForm: FlatForm | undefined;
  #answered = false;
  #accepted = false;

  constructor(parts: LinkParts, receiver: ThreadLife, answerForm: FlatForm | undefined, options: AskOptions) {
    super(parts.sender.system.deadlines, options);
    this.targetName = parts.address.name;
    this.#parts = parts;
    this.#receiver = receiver;
    this.#answerForm = answerForm;
  }

  arrive(message: object, requestNumber: number): void {
    const mailbox = this.#receiver.system.mailboxes.get(this.#parts.address.id)!;
    const refusal = mailbox.refusal();
    if (refusal !== undefined) {
      this.fail(refusal);
      return;
    }
    this.#accepted = true;
    mailbox.accept(message, this, requestNumber);
  }

  begin(): boolean {
    return true;
  }

  end(): void {}

  send(value: unknown): void {
    const copy = crossed(value, this.#answerForm);
    this.#answer(() => this.succeed(copy));
  }

  fail(error: unknown): void {
    const frame = toErrorFrame(error);
    this.#answer(() => this.failWith(fromErrorFrame(frame)));
  }

  drop(error: OrchError): void {
    this.#accepted = false;
    this.fail(error);
  }

  protected abandoned(): void {}

  #answer(deliver: () => void): void {
    if (this.#answered) return;
    this.#answered = true;
    const { address, faults, sender, time } = this.#parts;
    if (this.#accepted) this.#receiver.system.mailboxes.get(address.id)!.release();
    if (!this.#receiver.isAlive) return;
    time.after(faults.delayMs(this.#receiver.name, sender.name), () => {
      if (sender.isAlive && this.#receiver.isAlive) deliver();
    });
  }
}

/** What becomes of a message on the way: laid out flat and read again where its actor has a form for it, else cloned. */
function crossed(message: unknown, form: FlatForm | undefined): unknown {
  const fields: unknown[] = [];
  if (form?.write(message as object, fields) !== true) return copyAcrossThreads(message);
  const read = form.read(new FieldReader().from(copyAcrossThreads(fields) as unknown[], 0));
  const { payload } = message as { readonly payload?: Uint8Array };
  return payload === undefined ? read : { ...read, payload: copyAcrossThreads(payload) };
}

class SimulatedTell implements Inbound {
  readonly isAwaited = false;
  readonly #release: () => void;

  constructor(release: () => void) {
    this.#release = release;
  }

  begin(): boolean {
    return true;
  }

  end(): void {
    this.#release();
  }

  send(): void {}
  fail(): void {}
  drop(): void {}
}
