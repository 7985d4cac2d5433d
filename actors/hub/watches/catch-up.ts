// What a watcher that goes by itself gets next: the rest of the state it began with, or the events it has not seen, at
// most a chunk at a time. Pure: reads a cohort's cache and the slabs.
import type { SlabView } from '../../../storage/records/thread-slabs.ts';
import type { Entry } from '../caches/resource-cache.ts';
import { type FramedEvent, frameBytes } from '../frames/frames.ts';
import { type Cohort, EventAttributes, seenThrough } from './cohort.ts';
import type { InitialState } from './watcher.ts';

/** Bytes of one catch-up chunk: more would sit in the socket's buffer. */
const CATCH_UP_BYTES = 128 * 1024;

/** At most a chunk's worth of the events after a revision, and the revision up to which they are complete. */
export function eventsAfter(
  { cache, selection }: Cohort,
  after: number,
  applied: number,
  slabs: SlabView,
): { readonly framed: readonly FramedEvent[]; readonly through: number } {
  const { events } = cache;
  const framed: FramedEvent[] = [];
  let bytes = 0;
  for (let i = cache.eventsAfter(after); i < events.length; i++) {
    const event = events[i]!;
    // Only between revisions: what changed together is delivered together.
    if (bytes >= CATCH_UP_BYTES && event.revision !== events[i - 1]?.revision) {
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
