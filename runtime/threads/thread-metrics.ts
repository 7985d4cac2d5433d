// The metrics of all threads together, as one of them asks for them. Keeps what each said last: their sums must not shrink because a
// thread is busy when it is asked, which would look like a restart to who follows them.
import type { Ref } from '../actor.ts';
import type { MetricsReading } from '../metrics/metrics.ts';
import type { ThreadProtocol } from './thread-actor.ts';

/** Half of the time that who collects metrics usually waits for them. */
const DEADLINE_MS = 5000;

export class ThreadMetrics {
  readonly #threads: readonly Pick<Ref<ThreadProtocol>, 'ask'>[];
  /** By thread. */
  readonly #last: (MetricsReading | undefined)[];

  constructor(threads: readonly Pick<Ref<ThreadProtocol>, 'ask'>[]) {
    this.#threads = threads;
    this.#last = threads.map(() => undefined);
  }

  /** What each thread says now; of one that does not answer in time, what it said last, if anything. */
  async readings(): Promise<readonly MetricsReading[]> {
    await Promise.allSettled(
      this.#threads.map(async (thread, index) => {
        this.#last[index] = await thread.ask({ type: 'metrics' }, { deadlineMs: DEADLINE_MS });
      }),
    );
    return this.#last.filter((reading) => reading !== undefined);
  }
}
