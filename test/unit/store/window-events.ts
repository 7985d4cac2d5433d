// The events of a history window one by one, as tests look at them.
import type { HistoryWindow } from '../../../actors/store/log/history-window.ts';
import type { Place } from '../../../actors/store/protocol.ts';

/** One event, with the record it replaced (NO_SLAB: none). */
export interface HistoryEvent extends Place {
  readonly previousSlab: number;
  readonly previousOffset: number;
}

export function windowEvents(window: HistoryWindow): HistoryEvent[] {
  const places = window.places();
  return Array.from({ length: window.length }, (_, index) => {
    const [slab = 0, offset = 0, previousSlab = 0, previousOffset = 0] = places.subarray(index * 4);
    return { revision: window.revisionOfEvent(index + 1), slab, offset, previousSlab, previousOffset };
  });
}
