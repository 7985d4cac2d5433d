// Messages without an answer that must arrive all the same: what a full mailbox refuses is told again, in order, until it
// is taken. For news that the receiver's state hangs on and that comes once: a socket that has drained, a list that is over.
import type { Protocol, Ref, TellMessage, TellType } from '../runtime/actor.ts';
import type { Timers } from '../runtime/environment.ts';

/** Until a refused message is tried again. */
const RETRY_MS = 50;

export class PatientTells<P extends Protocol> {
  readonly #ref: Ref<P>;
  readonly #timers: Timers;
  /** Bounded by what the sender keeps anyway: a few messages for each of its sockets. */
  #waiting: (() => 'queued' | 'full')[] = [];

  constructor(ref: Ref<P>, timers: Timers) {
    this.#ref = ref;
    this.#timers = timers;
  }

  /** Tells now, or after those that wait. */
  tell<T extends TellType<P>>(message: TellMessage<P, T>): void {
    const send = (): 'queued' | 'full' => this.#ref.tell<T>(message);
    if (this.#waiting.length === 0 && send() === 'queued') return;
    this.#waiting.push(send);
    if (this.#waiting.length === 1) this.#retryLater();
  }

  #retryLater(): void {
    this.#timers.after(RETRY_MS, () => {
      const refused = this.#waiting.findIndex((send) => send() === 'full');
      this.#waiting = refused < 0 ? [] : this.#waiting.slice(refused);
      if (this.#waiting.length > 0) this.#retryLater();
    });
  }
}
