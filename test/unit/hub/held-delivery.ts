// Delivery that a test can hold back, one mailbox at a time, to bring about an order of its choice.
import type { Delivery, Drainable } from '../../../runtime/delivery.ts';

/** Drains each mailbox in a microtask, unless it is held back. */
export class HeldDelivery implements Delivery {
  readonly #held = new Map<string, Drainable | undefined>();

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
    else queueMicrotask(() => (this.#held.has(name) ? this.#held.set(name, mailbox) : mailbox.drain(1)));
  }
}
