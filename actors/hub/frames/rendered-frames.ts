// Watch events whose objects are not the bytes they are stored as (another version, Table, partial metadata): the only
// frames for which objects are decoded, once per event and cohort. Plain frames are frames.ts.
import type { JsonObject } from '../../../api/json/json-value.ts';
import type { Renderer } from '../../../rendering/renderer.ts';
import { decodeRecord } from '../../../storage/records/record-reading.ts';
import type { SlabView } from '../../../storage/records/thread-slabs.ts';
import type { FramedEvent } from './frames.ts';

/** One chunk with all the events, one per line. `withColumns`: the first Table says what its columns are. */
export function frameRenderedEvents(
  events: readonly FramedEvent[],
  slabs: SlabView,
  renderer: Renderer,
  withColumns: boolean,
): Buffer {
  let text = '';
  for (let i = 0; i < events.length; i++) {
    const event = events[i]!;
    const object = renderer.stored(decoded(event, slabs), withColumns && i === 0);
    text += `{"type":"${event.type}","object":${JSON.stringify(object)}}\n`;
  }
  return Buffer.from(text);
}

function decoded({ entry, shownRevision }: FramedEvent, slabs: SlabView): JsonObject {
  const object = decodeRecord(slabs.slab(entry.slab), entry.offset);
  if (shownRevision === undefined) return object;
  return { ...object, metadata: { ...(object.metadata as JsonObject), resourceVersion: String(shownRevision) } };
}
