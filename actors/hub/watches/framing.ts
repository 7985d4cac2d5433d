// The bytes a cohort gets, by its rendering: its objects as they are stored, or rendered one by one. Decides only how
// events are written; which ones, and to whom, is decided in watchers.ts.

import { apiVersionOf } from '../../../api/resources/resource-table.ts';
import type { ProtobufRecords } from '../../../rendering/protobuf-records.ts';
import { Renderer } from '../../../rendering/renderer.ts';
import { isAsAsked, keepsStoredBytes, type Rendering, withoutConversion } from '../../../rendering/rendering.ts';
import { watchEventFrame } from '../../../rendering/watch-event.ts';
import type { Clock } from '../../../runtime/environment.ts';
import type { SlabView } from '../../../storage/records/thread-slabs.ts';
import { bookmarkObject, expiredStatus, type FramedEvent, frameEvents } from '../frames/frames.ts';
import { frameProtobufEvents } from '../frames/protobuf-frames.ts';
import { frameRenderedEvents } from '../frames/rendered-frames.ts';
import type { Cohort } from './cohort.ts';

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
    if (rendering.encoding === 'protobuf') return frameProtobufEvents(events, this.#slabs, this.#records.of(rendering));
    if (rendering.target.form?.storedGeneration !== undefined && this.#areAsAsked(rendering, events)) {
      return this.#plain(withoutConversion(rendering), events, withColumns);
    }
    return this.#rendered(rendering, events, withColumns);
  }

  /** Events come one at a time but for the first ones, so that one record of an earlier schema costs its own chunk only. */
  #areAsAsked(rendering: Rendering, events: readonly FramedEvent[]): boolean {
    return events.every(({ entry }) => isAsAsked(rendering, this.#slabs.slab(entry.slab), entry.offset));
  }

  #plain(rendering: Rendering, events: readonly FramedEvent[], withColumns: boolean): Buffer {
    return keepsStoredBytes(rendering)
      ? frameEvents(events, this.#slabs)
      : this.#rendered(rendering, events, withColumns);
  }

  #rendered(rendering: Rendering, events: readonly FramedEvent[], withColumns: boolean): Buffer {
    return frameRenderedEvents(events, this.#slabs, new Renderer(rendering, this.#clock.nowMs()), withColumns);
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
