// The arrays of a present state (storage/publication.ts says what stands where).
import type { RevisionLog } from './revision-log.ts';

/** The places of all live objects: slab and offset. */
export function livePlaces(log: RevisionLog): Uint32Array {
  const places = new Uint32Array(log.current.size * 2);
  let at = 0;
  for (const { slab, offset } of log.current.values()) {
    places[at++] = slab;
    places[at++] = offset;
  }
  return places;
}

/** The places of all events of the window, in order: slab and offset of the record, and of the one it replaced. */
export function historyPlaces(log: RevisionLog): Uint32Array {
  const places = new Uint32Array(log.window.events.length * 4);
  let at = 0;
  for (const { slab, offset, previousSlab, previousOffset } of log.window.events) {
    places[at++] = slab;
    places[at++] = offset;
    places[at++] = previousSlab;
    places[at++] = previousOffset;
  }
  return places;
}
