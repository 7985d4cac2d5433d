// What a watcher that goes by itself gets next: the rest of the state it began with, or the events it has not seen, at
// most a chunk at a time. Pure: reads a cohort's cache and the slabs.
import type { SlabView } from '../../../storage/records/thread-slabs.ts';
import type { Entry } from '../caches/resource-cache.ts';
import { type FramedEvent, frameBytes } from '../frames/frames.ts';
import { EventAttributes, isRendered, seenThrough } from './cohort.ts';
import type { InitialState, Watcher } from './watcher.ts';

/** Bytes of one catch-up chunk: more would sit in the socket's buffer. */
const CATCH_UP_BYTES = 128 * 1024;

/** Of the events that may be looked at in one turn: so many are in the very turn that a watcher asks in, as very many may ask in it. */
const NEAR_SHARE = 1 / 32;

/**
 * Whether a watcher's next chunk is not made at once: it has to be rendered, or to be looked for among many events, or follows others
 * that have been sent of its initial state. A socket may take all of those as fast as they come.
 */
export function takesLong({ cohort, initial, position }: Watcher, eventsMax: number): boolean {
  const { cache } = cohort;
  const behind = initial === undefined ? cache.events.length - cache.eventsAfter(position) : initial.places.length;
  if (isRendered(cohort)) return behind > 0;
  return initial === undefined ? behind > eventsMax * NEAR_SHARE : initial.next > 0;
}

/**
 * At most a chunk's worth of the events that a watcher has not seen, and the revision up to which they are complete: no more than
 * `eventsMax` are looked at, but for those of one revision.
 */
export function eventsAfter(
  { cohort: { cache, selection }, position: after }: Watcher,
  applied: number,
  slabs: SlabView,
  eventsMax: number,
): { readonly framed: readonly FramedEvent[]; readonly through: number } {
  const { events } = cache;
  const framed: FramedEvent[] = [];
  let bytes = 0;
  const first = cache.eventsAfter(after);
  for (let i = first; i < events.length; i++) {
    const event = events[i]!;
    const isEnough = bytes >= CATCH_UP_BYTES || i - first >= eventsMax;
    // Only between revisions: what changed together is delivered together.
    if (isEnough && event.revision !== events[i - 1]?.revision) {
      return { framed, through: events[i - 1]!.revision };
    }
    const seen = seenThrough(selection, event, new EventAttributes(event, slabs));
    if (seen === undefined) continue;
    framed.push(seen);
    bytes += frameBytes(seen.type, seen.entry, slabs);
  }
  return { framed, through: applied };
}

/** The next chunk's worth of an initial state, which moves on by as much. */
export function takeInitial(initial: InitialState, slabs: SlabView): readonly FramedEvent[] {
  const framed: FramedEvent[] = [];
  let bytes = 0;
  while (initial.next < initial.places.length && bytes < CATCH_UP_BYTES) {
    const slab = initial.places[initial.next]!;
    const entry: Entry = { key: '', revision: 0, slab, offset: initial.places[initial.next + 1]! };
    framed.push({ type: 'ADDED', entry, shownRevision: undefined });
    bytes += frameBytes('ADDED', entry, slabs);
    initial.next += 2;
  }
  return framed;
}
