// What must not see a batch that is not durable yet: waits for the batch being written, and runs at once when none is.
import type { Reply } from '../../runtime/actor.ts';

export class SettledSteps {
  #waiting: (() => void)[] = [];
  /** When the batch that is being written was given to the engine; undefined: none is. */
  writingSinceMs: number | undefined;

  /** Runs a step now, or once after the batch being written. */
  run(step: () => void): void {
    if (this.writingSinceMs === undefined) step();
    else if (!this.#waiting.includes(step)) this.#waiting.push(step);
  }

  /** Answers an ask in such a step; what `answer` throws is the answer's failure. */
  answer(reply: Reply, answer: () => unknown): void {
    this.run(() => {
      try {
        reply.send(answer());
      } catch (error) {
        reply.fail(error);
      }
    });
  }

  /** The batch is durable, or taken back: runs what waited for it. */
  settle(): void {
    const steps = this.#waiting;
    this.#waiting = [];
    for (const step of steps) step();
  }
}
