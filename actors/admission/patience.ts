// How long writes are waited for, and what is to stop when their clients go away: what nobody waits for is not made.
import type { CancelSignal } from '../../runtime/actor.ts';
import type { Clock } from '../../runtime/environment.ts';
import type { WriteRequest } from './protocol.ts';

type Listener = Parameters<CancelSignal['addEventListener']>[1];

/** The time that a write has. What is asked on its account with it as the signal is cancelled when its client goes away. */
export class Patience implements CancelSignal {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #endsMs: number;
  #listeners: Listener[] | undefined;

  /** `leftMs`: infinite for what waits as long as the server is there. */
  constructor(clock: Pick<Clock, 'monotonicMs'>, leftMs: number) {
    this.#clock = clock;
    this.#endsMs = clock.monotonicMs() + leftMs;
  }

  /** When nobody waits any more (monotonic). */
  get endsMs(): number {
    return this.#endsMs;
  }

  /** Milliseconds that are left; 0 and less: nobody waits any more. */
  get leftMs(): number {
    return this.#endsMs - this.#clock.monotonicMs();
  }

  get isOver(): boolean {
    return this.leftMs <= 0;
  }

  /** Its client has gone away. */
  get aborted(): boolean {
    return this.#endsMs === Number.NEGATIVE_INFINITY;
  }

  /** The client goes away: there is no time left. */
  end(): void {
    this.#endsMs = Number.NEGATIVE_INFINITY;
    const listeners = this.#listeners ?? [];
    this.#listeners = undefined;
    for (const listener of listeners) listener.handleEvent();
  }

  /** For what goes on when this client goes away: as much time as is left, or another. */
  apart(leftMs = this.leftMs): Patience {
    return new Patience(this.#clock, leftMs);
  }

  addEventListener(_type: 'abort', listener: Listener): void {
    if (this.#listeners === undefined) this.#listeners = [listener];
    else this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: Listener): void {
    const at = this.#listeners?.indexOf(listener) ?? -1;
    if (at !== -1) this.#listeners!.splice(at, 1);
  }
}

/** A write, as far as it is told apart from others. */
interface Waited {
  readonly requestNumber: number;
  readonly patience: Patience;
}

/** The writes of clients that are under way. */
export class WritesUnderWay {
  readonly #patience = new Map<number, Patience>();

  /** Answers the write. What a component writes on account of a request has that one's number, and no client. */
  begun<W extends Waited>(write: W, { isInside }: Pick<WriteRequest, 'isInside'>): W {
    const { requestNumber, patience } = write;
    if (isInside !== true) this.#patience.set(requestNumber, patience);
    return write;
  }

  /** Of a write that may have begun here. */
  ended({ requestNumber, patience }: Waited): void {
    if (this.#patience.get(requestNumber) === patience) this.#patience.delete(requestNumber);
  }

  /** The client of a request has gone away. */
  abandoned(requestNumber: number): void {
    this.#patience.get(requestNumber)?.end();
  }
}
