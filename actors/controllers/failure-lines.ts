// What the log says of writes of a controller that fail again and again: of each key ever more seldom, and of all together so much
// at a time, since a store that takes no writes fails all keys at once.
import type { ActorContext } from '../../runtime/actor.ts';

/** A key that has failed so often is worth a line, and then each time that it has failed twice as often. */
const FAILURES_WORTH_A_LINE = 5;
const LINES_MAX = 10;
const PERIOD_MS = 10_000;

export class FailureLines {
  readonly #context: Pick<ActorContext, 'clock' | 'log'>;
  readonly #controller: string;
  #periodBeganMs = Number.NEGATIVE_INFINITY;
  #lines = 0;
  #leftOut = 0;

  constructor(context: Pick<ActorContext, 'clock' | 'log'>, controller: string) {
    this.#context = context;
    this.#controller = controller;
  }

  /** `failures`: of the key, this one among them. */
  failed(key: string, failures: number, message: string): void {
    const line = { controller: this.#controller, key, failures, message };
    const { log } = this.#context;
    if (!isWorthALine(failures) || !this.#hasRoom()) {
      log.debug(line, 'write failed, will retry');
      return;
    }
    const leftOut = this.#leftOut;
    this.#leftOut = 0;
    log.warn(leftOut === 0 ? line : { ...line, leftOut }, 'write failed, will retry');
  }

  /** False where so much has been said that it is left out. */
  #hasRoom(): boolean {
    const nowMs = this.#context.clock.monotonicMs();
    if (nowMs - this.#periodBeganMs >= PERIOD_MS) {
      this.#periodBeganMs = nowMs;
      this.#lines = 0;
    }
    if (this.#lines < LINES_MAX) this.#lines++;
    else {
      this.#leftOut++;
      return false;
    }
    return true;
  }
}

/** 5, 10, 20, 40 … */
function isWorthALine(failures: number): boolean {
  const times = failures / FAILURES_WORTH_A_LINE;
  return times >= 1 && Number.isInteger(Math.log2(times));
}
