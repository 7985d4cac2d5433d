// The bytes a cohort gets, by its rendering: its objects as they are stored, or rendered one by one. Decides only how
// events are written; which ones, and to whom, is decided in watchers.ts.

import { apiVersionOf } from '../../api/resources/resource-table.ts';
import type { ProtobufRecords } from '../../rendering/protobuf-records.ts';
import { Renderer } from '../../rendering/renderer.ts';
import { keepsStoredBytes, type Rendering } from '../../rendering/rendering.ts';
import { watchEventFrame } from '../../rendering/watch-event.ts';
import type { Clock } from '../../runtime/environment.ts';
import type { SlabView } from '../../storage/thread-slabs.ts';
import type { Cohort } from './cohort.ts';
import { bookmarkObject, expiredStatus, type FramedEvent, frameEvents } from './frames.ts';
import { frameProtobufEvents } from './protobuf-frames.ts';
import { frameRenderedEvents } from './rendered-frames.ts';

export class Framing {
  readonly #slabs: SlabView;
  readonly #clock: Clock;
  readonly #records: ProtobufRecords;

  constructor(slabs: SlabView, records: ProtobufRecords, clock: Clock) {
    this.#slabs = slabs;
    this.#records = records;
    this.#clock = clock;
  }

  /** One chunk with all the events. `withColumns` matters to Tables only: the first one says what its columns are. */
  events({ rendering }: Cohort, events: readonly FramedEvent[], withColumns: boolean): Buffer {
    if (keepsStoredBytes(rendering)) return frameEvents(events, this.#slabs);
    return rendering.encoding === 'protobuf'
      ? frameProtobufEvents(events, this.#slabs, this.#records.of(rendering))
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
    return this.#frame('BOOKMARK', renderer.object(object, withColumns), rendering);
  }

  /** The event a watch ends with when its revision is no longer in the window. */
  expired({ rendering }: Cohort, message: string): Buffer {
    return this.#frame('ERROR', expiredStatus(message), rendering);
  }

  #frame(type: string, object: object, { encoding }: Rendering): Buffer {
    return watchEventFrame(type, object, encoding, () => this.#records.schema);
  }
}
