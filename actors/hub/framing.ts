// The bytes a cohort gets: its objects as they are stored, or brought into the shape it asked for. Decides only how events
// are written; which ones, and to whom, is decided in watchers.ts.
import { splitApiVersion } from '../../api/resources/resource-table.ts';
import { Shaping } from '../../api/table/shape.ts';
import type { Clock } from '../../runtime/environment.ts';
import type { SlabView } from '../../storage/slab-view.ts';
import type { Cohort } from './cohort.ts';
import { bookmarkObject, type FramedEvent, frameBookmark, frameEvents } from './frames.ts';
import { frameShapedEvents } from './shaped-frames.ts';

export class Framing {
  readonly #slabs: SlabView;
  readonly #clock: Clock;

  constructor(slabs: SlabView, clock: Clock) {
    this.#slabs = slabs;
    this.#clock = clock;
  }

  /** One chunk with all the events. `withColumns` matters to Tables only: the first one says what its columns are. */
  events(cohort: Cohort, events: readonly FramedEvent[], withColumns: boolean): Buffer {
    const shaping = this.#shaping(cohort);
    return shaping === undefined
      ? frameEvents(events, this.#slabs)
      : frameShapedEvents(events, this.#slabs, shaping, withColumns);
  }

  /** `initialEventsEnd`: the annotation that marks the end of the initial ADDED events, on the bookmark that does. */
  bookmark(cohort: Cohort, revision: number, initialEventsEnd: string | undefined, withColumns: boolean): Buffer {
    const object = bookmarkObject(cohort.apiVersion, cohort.kind, revision, initialEventsEnd);
    return frameBookmark(this.#shaping(cohort)?.object(object, withColumns) ?? object);
  }

  #shaping({ shape, apiVersion, kind }: Cohort): Shaping | undefined {
    if (shape === undefined) return undefined;
    return new Shaping(shape, { ...splitApiVersion(apiVersion), kind }, this.#clock.nowMs());
  }
}
