// Publications on their way to followers that need not hear of each at once. While much is written, what comes within some
// milliseconds is sent to them as one: waking another thread costs as much as creating an object. While little is written nothing
// waits. Owns what is held and for how long, and knows nothing of who follows.
import type { Clock, Timer, Timers } from '../../../runtime/environment.ts';
import type { StoreBatch } from '../protocol.ts';

/** A publication without what differs between followers. */
export type News = Omit<StoreBatch, 'incarnation' | 'newSlabs'>;

/** See STORE_SETTINGS. */
export interface Patience {
  readonly patienceMs: number;
  readonly denseRecords: number;
}

interface Parts extends Patience {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly send: (news: News) => void;
}

function recordsIn(runs: readonly number[]): number {
  let records = 0;
  for (let run = 0; run < runs.length; run += 3) records += runs[run + 2]!;
  return records;
}

/** Both as one: `later` was published directly after `earlier`, which moved nothing. */
function joined(earlier: News, later: News): News {
  const unreadable = later.unreadable ?? earlier.unreadable;
  const runs = [...earlier.runs, ...later.runs];
  return { ...later, after: earlier.after, runs, ...(unreadable && { unreadable }) };
}

export class HeldPublications {
  readonly #parts: Parts;
  #held: News | undefined;
  #timer: Timer | undefined;
  #windowEndMs = 0;
  /** Published in this window. */
  #records = 0;
  /** Much was written in the window before this one. */
  #isDense = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Sends the publication now, or with those of the same window. What moves records is sent now: it holds for its own moment alone. */
  add(news: News): void {
    const { clock, timers } = this.#parts;
    const nowMs = clock.monotonicMs();
    if (nowMs >= this.#windowEndMs) this.#beginWindow(nowMs);
    this.#records += recordsIn(news.runs);
    this.#held = this.#held === undefined ? news : joined(this.#held, news);
    if (!this.#isDense || news.movedRuns.length > 0) this.flush();
    else this.#timer ??= timers.after(this.#windowEndMs - nowMs, () => this.flush());
  }

  /** Sends what is held. */
  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#parts.send(held);
  }

  #beginWindow(nowMs: number): void {
    const { patienceMs, denseRecords } = this.#parts;
    this.#isDense = this.#records >= denseRecords && nowMs < this.#windowEndMs + patienceMs;
    this.#records = 0;
    this.#windowEndMs = nowMs + patienceMs;
  }
}
