// The bytes a cohort gets, by its rendering: its objects as they are stored, or rendered one by one. Decides only how
// events are written; which ones, and to whom, is decided in watchers.ts.
import { Renderer } from '../../api/render/renderer.ts';
import { keepsStoredBytes } from '../../api/render/rendering.ts';
import { apiVersionOf } from '../../api/resources/resource-table.ts';
import type { Clock } from '../../runtime/environment.ts';
import type { SlabView } from '../../storage/slab-view.ts';
import type { Cohort } from './cohort.ts';
import { bookmarkObject, type FramedEvent, frameBookmark, frameEvents } from './frames.ts';
import { frameRenderedEvents } from './rendered-frames.ts';

export class Framing {
  readonly #slabs: SlabView;
  readonly #clock: Clock;

  constructor(slabs: SlabView, clock: Clock) {
    this.#slabs = slabs;
    this.#clock = clock;
  }

  /** One chunk with all the events. `withColumns` matters to Tables only: the first one says what its columns are. */
  events({ rendering }: Cohort, events: readonly FramedEvent[], withColumns: boolean): Buffer {
    return keepsStoredBytes(rendering)
      ? frameEvents(events, this.#slabs)
      : frameRenderedEvents(events, this.#slabs, new Renderer(rendering, this.#clock.nowMs()), withColumns);
  }

  /** `initialEventsEnd`: the annotation that marks the end of the initial ADDED events, on the bookmark that does. */
  bookmark(
    { rendering }: Cohort,
    revision: number,
    initialEventsEnd: string | undefined,
    withColumns: boolean,
  ): Buffer {
    const { group, version, kind } = rendering.target;
    const object = bookmarkObject(apiVersionOf(group, version), kind, revision, initialEventsEnd);
    const renderer = new Renderer(rendering, this.#clock.nowMs());
    return frameBookmark(renderer.object(object, withColumns));
  }
}
