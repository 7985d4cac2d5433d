// When extension servers are asked for what they have: their objects are not followed, but all are listed from time to time, and soon after
// one was written to. Several controllers share one: each asks for the next listing when it is due, and all are told what a listing found.
import type { RemoteListing } from '../../api/aggregation/remote-object.ts';
import type { Clock } from '../../runtime/environment.ts';
import { type Due, NOTHING, type Plan } from './controller.ts';

/** Asks all extension servers. Rejects where nobody can. */
export type ListRemotes = () => Promise<RemoteListing>;

/** The key of a controller under which the next listing is due: that of no object. */
export const LISTING_KEY = 'objects of extension servers';
/** From the end of one listing to the next: as often as the original asks which types there are. */
const LIST_AGAIN_MS = 30_000;
/** As much when something has been written. */
const LIST_SOON_MS = 1_000;
/** What lists for long is left alone for this many times as long. */
const REST_TIMES = 20;

/** Who is told. */
export interface ListingTaker {
  readonly due: Due;
  take(listing: RemoteListing): void;
}

export class RemoteListings {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #list: ListRemotes;
  readonly #takers: ListingTaker[] = [];
  /** What was begun before the last `reset` is not listened to. */
  #epoch = 0;
  #isUnderWay = false;
  /** Monotonic time; undefined: none has ended. */
  #endedMs: number | undefined;
  #tookMs = 0;
  #isStale = false;

  constructor(clock: Pick<Clock, 'monotonicMs'>, list: ListRemotes) {
    this.#clock = clock;
    this.#list = list;
  }

  /** Has one told of every listing from now on. */
  tell(taker: ListingTaker): void {
    this.#takers.push(taker);
  }

  /** Nothing has been listed. */
  reset(): void {
    this.#epoch++;
    this.#isUnderWay = false;
    this.#endedMs = undefined;
    this.#isStale = false;
  }

  /** The servers are others, or one of their objects has been written to. */
  stale(): void {
    this.#isStale = true;
    for (const { due } of this.#takers) due.add(LISTING_KEY);
  }

  /** Of `LISTING_KEY`, for who needs a listing: begins it when it is time. */
  plan(): Plan {
    if (this.#isUnderWay) return NOTHING;
    const waitMs = this.#waitMs(this.#clock.monotonicMs());
    if (waitMs > 0) return { writes: [], againAfterMs: waitMs };
    void this.#begin();
    return NOTHING;
  }

  #waitMs(nowMs: number): number {
    if (this.#endedMs === undefined) return 0;
    const restMs = Math.max(this.#isStale ? LIST_SOON_MS : LIST_AGAIN_MS, REST_TIMES * this.#tookMs);
    return this.#endedMs + restMs - nowMs;
  }

  async #begin(): Promise<void> {
    const epoch = this.#epoch;
    const begunMs = this.#clock.monotonicMs();
    this.#isUnderWay = true;
    this.#isStale = false;
    const listing = await this.#list().catch(() => NOTHING_SAID);
    if (epoch !== this.#epoch) return;
    this.#isUnderWay = false;
    this.#endedMs = this.#clock.monotonicMs();
    this.#tookMs = this.#endedMs - begunMs;
    for (const taker of this.#takers) {
      taker.take(listing);
      taker.due.add(LISTING_KEY);
    }
  }
}

const NOTHING_SAID: RemoteListing = { objects: [], counts: [], types: [], isWhole: false };
