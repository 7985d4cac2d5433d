// Steps that must not see a batch which is not durable yet: taken at once between batches, else once after the one being
// written.
import type { Reply } from '../../runtime/actor.ts';

export class SettledSteps {
  readonly #isSettled: () => boolean;
  #waiting: (() => void)[] = [];

  /** `isSettled`: no batch is being written. */
  constructor(isSettled: () => boolean) {
    this.#isSettled = isSettled;
  }

  /** A step that waits already is not taken twice. */
  when(step: () => void): void {
    if (this.#isSettled()) step();
    else if (!this.#waiting.includes(step)) this.#waiting.push(step);
  }

  answer(reply: Reply, answer: () => unknown): void {
    this.when(() => {
      try {
        reply.send(answer());
      } catch (error) {
        reply.fail(error);
      }
    });
  }

  /** Takes the steps that have waited: the batch is written. */
  run(): void {
    const steps = this.#waiting;
    this.#waiting = [];
    for (const step of steps) step();
  }
}
