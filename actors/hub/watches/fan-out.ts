// What live watches are sent: the events of a batch go to the pending ones of each cohort that sees them, and are then framed
// once and sent to all of its members at once. It knows no watch's own position: who there is no room for goes on alone.
import type { Clock } from '../../../runtime/environment.ts';
import type { SlabView } from '../../../storage/records/thread-slabs.ts';
import type { CacheEvent, ResourceCache } from '../caches/resource-cache.ts';
import { BatchFrames } from '../frames/batch-frames.ts';
import type { FramedEvent } from '../frames/frames.ts';
import { type Cohort, EventAttributes, seenThrough } from './cohort.ts';
import type { CohortIndexes } from './cohort-indexes.ts';
import type { Framing } from './framing.ts';
import type { WatchDelivery } from './watch-delivery.ts';
import type { WatchMetrics } from './watch-metrics.ts';

/** A silent watcher that asked for bookmarks gets one this often; some clients give up after 30 s of silence. */
const BOOKMARK_IDLE_MS = 10_000;

export interface FanOutParts {
  readonly clock: Clock;
  readonly slabs: SlabView;
  readonly selectableFields: (storageKey: string) => readonly string[];
  readonly cohorts: CohortIndexes;
  readonly framing: Framing;
  readonly delivery: WatchDelivery;
  readonly metrics: WatchMetrics;
  /** Bytes that one chunk may come to for all of its watchers together. */
  readonly bytesMax: number;
  /** The watcher was not sent the batch: there was no room left. */
  readonly goAlone: (id: number) => void;
}

export class FanOut {
  readonly #parts: FanOutParts;
  readonly #batchFrames = new BatchFrames();
  /** Cohorts that something is pending for. */
  #dirty: Cohort[] = [];

  constructor(parts: FanOutParts) {
    this.#parts = parts;
  }

  get isPending(): boolean {
    return this.#dirty.length > 0;
  }

  /** One event of a batch being applied; `send` sends what it means to whom. */
  collect(cache: ResourceCache, event: CacheEvent): void {
    const index = this.#parts.cohorts.get(cache);
    if (index === undefined) return;
    const { slabs, selectableFields } = this.#parts;
    const attributes = new EventAttributes(event, slabs);
    const fieldIndex = (field: string): number => selectableFields(cache.storageKey).indexOf(field);
    index.forEachCandidate(event, attributes, fieldIndex, (cohort) => {
      if (cohort.live.size === 0) return;
      const framed = seenThrough(cohort.selection, event, attributes);
      if (framed === undefined) return;
      if (cohort.pending.length === 0) this.#dirty.push(cohort);
      cohort.pending.push(framed);
    });
  }

  /** Sends all that is pending, which goes up to this revision. */
  send(throughRevision: number): void {
    if (this.#dirty.length === 0) return;
    // Those who have yet to be sent what others of their cohort were get the same bytes.
    this.forget();
    const nowMs = this.#parts.clock.monotonicMs();
    for (const cohort of this.#dirty) this.#sendPending(cohort, throughRevision, nowMs);
    this.#dirty = [];
  }

  /** Sends what is pending of one type alone. */
  sendOf(storageKey: string, throughRevision: number): void {
    const isOfType = ({ cache }: Cohort): boolean => cache.storageKey === storageKey;
    const nowMs = this.#parts.clock.monotonicMs();
    for (const cohort of this.#dirty.filter(isOfType)) this.#sendPending(cohort, throughRevision, nowMs);
    this.#dirty = this.#dirty.filter((cohort) => !isOfType(cohort));
  }

  /** Gives bookmarks to cohorts that have been silent. Nothing is pending. */
  bookmark(revision: number): void {
    const { clock, cohorts, framing } = this.#parts;
    const nowMs = clock.monotonicMs();
    for (const cohort of cohorts) {
      if (!cohort.bookmarks || cohort.live.size === 0 || nowMs - cohort.lastSentMs < BOOKMARK_IDLE_MS) continue;
      cohort.lastSentMs = nowMs;
      this.#sendLive(cohort, revision, (withColumns) => framing.bookmark(cohort, revision, undefined, withColumns));
    }
  }

  /** The events as one chunk, made once for all who see the same in the same rendering, until `forget`. */
  framed(cohort: Cohort, events: readonly FramedEvent[], withColumns: boolean): Buffer {
    const { framing, metrics } = this.#parts;
    const rendering = withColumns ? `${cohort.renderingText} columns` : cohort.renderingText;
    return this.#batchFrames.chunkOf(rendering, events, () => {
      metrics.framings.add(1);
      return framing.events(cohort, events, withColumns);
    });
  }

  /** Nobody is left who is to have the chunks of the last batch. */
  forget(): void {
    this.#batchFrames.clear();
  }

  #sendPending(cohort: Cohort, throughRevision: number, nowMs: number): void {
    const { pending } = cohort;
    cohort.pending = [];
    cohort.lastSentMs = nowMs;
    let bytes = 0;
    const watchers = this.#sendLive(cohort, throughRevision, (withColumns) => {
      const chunk = this.framed(cohort, pending, withColumns);
      bytes = chunk.length;
      return chunk;
    });
    cohort.series.sent(pending.length, bytes, watchers);
  }

  /** Sends the whole cohort the same bytes; a Table's columns only to those who do not know them yet. Answers to how many. */
  #sendLive(cohort: Cohort, throughRevision: number, frame: (withColumns: boolean) => Buffer): number {
    const { columnsDue, live } = cohort;
    if (columnsDue.size === 0) return this.#sendSome(cohort, [...live], frame(false), throughRevision);
    const due: number[] = [];
    const others: number[] = [];
    for (const id of live) (columnsDue.has(id) ? due : others).push(id);
    const sent = others.length > 0 ? this.#sendSome(cohort, others, frame(false), throughRevision) : 0;
    return due.length > 0 ? sent + this.#sendSome(cohort, due, frame(true), throughRevision) : sent;
  }

  /** To as many as there is room for in one go; the others go on by themselves. */
  #sendSome({ columnsDue }: Cohort, ids: number[], chunk: Buffer, throughRevision: number): number {
    for (const id of ids.splice(Math.ceil(this.#parts.bytesMax / chunk.length))) this.#parts.goAlone(id);
    if (columnsDue.size > 0) for (const id of ids) columnsDue.delete(id);
    this.#parts.delivery.live(ids, chunk, throughRevision);
    return ids.length;
  }
}
