// Decides when a mailbox with waiting messages is drained. The real policy waits for no more than the I/O at hand; the
// simulation brings its own (simulation/step-delivery.ts), which is where delay, reordering between senders and crashes can
// be put in.

import type { Timers } from '../environment.ts';

export interface Drainable {
  /** Handles at most `messagesMax` waiting messages; answers how many it handled. Schedules itself again if more wait. */
  drain(messagesMax: number): number;
}

export interface Delivery {
  /** Called when a mailbox goes from empty to waiting. It must be drained later, never within this call. */
  schedule(mailbox: Drainable): void;
  /** Whether the actor of an empty mailbox may be handed a message within the sender's turn (`Ref.askSoon`, `Ref.tellSoon`). */
  handsOverAtOnce(mailbox: Drainable): boolean;
}

/**
 * Messages handled before the event loop gets its turn. Without it, actors that keep each other busy would starve
 * sockets and timers, since microtasks run before any I/O.
 */
const MESSAGES_BETWEEN_YIELDS = 1000;

const settled = Promise.resolve();

/**
 * Drains all waiting mailboxes of a thread together, in the order in which they began to wait, once the I/O that waits has been taken
 * in: what several sockets bring is handled one message after the other, by code that is in the caches then. What the messages
 * lead to follows in the same turn of the event loop.
 */
export class GatheringDelivery implements Delivery {
  private readonly timers: Pick<Timers, 'soon'>;
  private ready: Drainable[] = [];
  private spare: Drainable[] = [];
  private armed = false;
  private draining = false;
  private budget = 0;

  constructor(timers: Pick<Timers, 'soon'>) {
    this.timers = timers;
  }

  schedule(mailbox: Drainable): void {
    this.ready.push(mailbox);
    if (!this.armed) this.arm();
  }

  handsOverAtOnce(): boolean {
    return true;
  }

  private arm(): void {
    this.armed = true;
    if (this.draining && this.budget > 0) {
      void settled.then(this.run);
    } else {
      this.timers.soon(this.runAfterInput);
    }
  }

  private readonly runAfterInput = (): void => {
    this.budget = MESSAGES_BETWEEN_YIELDS;
    this.run();
  };

  private readonly run = (): void => {
    const batch = this.ready;
    this.ready = this.spare;
    this.draining = true;
    for (const mailbox of batch) this.budget -= mailbox.drain(MESSAGES_BETWEEN_YIELDS);
    batch.length = 0;
    this.spare = batch;
    if (this.ready.length > 0) this.arm();
    else this.armed = false;
    this.draining = false;
  };
}
