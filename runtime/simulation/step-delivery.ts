// Delivery under a seed: one message at a time, from a mailbox that chance picks among those that wait. Every order it can
// produce is one that threads could produce too: within a mailbox the order of arrival stands.

import type { Clock, Timers } from '../environment.ts';
import type { Delivery, Drainable } from '../messages/delivery.ts';
import type { SeededRandom } from './seeded-random.ts';

export class StepDelivery implements Delivery {
  private readonly time: Clock & Timers;
  private readonly random: SeededRandom;
  private readonly waiting: Drainable[] = [];
  private armed = false;

  constructor(time: Clock & Timers, random: SeededRandom) {
    this.time = time;
    this.random = random;
  }

  schedule(mailbox: Drainable): void {
    this.waiting.push(mailbox);
    this.arm();
  }

  /** Now so, now so: who asks may count on neither. */
  handsOverAtOnce(): boolean {
    return this.random.below(2) === 0;
  }

  private arm(): void {
    if (this.armed) return;
    this.armed = true;
    this.time.soon(this.step);
  }

  private readonly step = (): void => {
    this.armed = false;
    const [mailbox] = this.waiting.splice(this.random.below(this.waiting.length), 1);
    mailbox?.drain(1);
    if (this.waiting.length > 0) this.arm();
  };
}
