// Delivery that a test can hold back, one mailbox at a time, to bring about an order of its choice.
import type { Delivery, Drainable } from '../../../runtime/messages/delivery.ts';

/** A message in a microtask of its own. */
const onePerMicrotask: Delivery = {
  schedule: (mailbox) => queueMicrotask(() => mailbox.drain(1)),
  handsOverAtOnce: () => false,
};

/** Drains each mailbox as another delivery does, unless it is held back. */
export class HeldDelivery implements Delivery {
  readonly #inner: Delivery;
  readonly #held = new Map<string, Drainable | undefined>();

  constructor(inner: Delivery = onePerMicrotask) {
    this.#inner = inner;
  }

  hold(name: string): void {
    if (!this.#held.has(name)) this.#held.set(name, undefined);
  }

  letGo(name: string): void {
    const waiting = this.#held.get(name);
    this.#held.delete(name);
    if (waiting !== undefined) this.schedule(waiting);
  }

  schedule(mailbox: Drainable): void {
    const { name } = mailbox as Drainable & { name: string };
    if (this.#held.has(name)) this.#held.set(name, mailbox);
    else this.#inner.schedule({ drain: (max) => this.#drain(name, mailbox, max) });
  }

  handsOverAtOnce(mailbox: Drainable): boolean {
    const { name } = mailbox as Drainable & { name: string };
    return !this.#held.has(name) && this.#inner.handsOverAtOnce(mailbox);
  }

  #drain(name: string, mailbox: Drainable, max: number): number {
    if (!this.#held.has(name)) return mailbox.drain(max);
    this.#held.set(name, mailbox);
    return 0;
  }
}
