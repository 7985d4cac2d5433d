// Watch events as bytes. A frame is built once for all watchers that see the same thing, by copying the object's bytes
// between two constants: nothing is parsed, nothing encoded.
import type { JsonObject } from '../../../api/json/json-value.ts';
import { copyValue } from '../../../storage/records/record-reading.ts';
import { revisionOffset, stampRevision, valueLength } from '../../../storage/records/slab-record.ts';
import type { SlabView } from '../../../storage/records/thread-slabs.ts';
import type { Entry } from '../caches/resource-cache.ts';

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

const OPENINGS: Readonly<Record<WatchEventType, Buffer>> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
};
const CLOSING = Buffer.from('}\n');

/** An event to be framed. */
export interface FramedEvent {
  readonly type: WatchEventType;
  readonly entry: Entry;
  /**
   * The revision the object is shown with when it differs from the entry's: an object that left a selection is shown as
   * it last was inside it, with the revision of the change.
   */
  readonly shownRevision: number | undefined;
}

/** One chunk with all the events, one per line (SPEC.md "Watch"). */
export function frameEvents(events: readonly FramedEvent[], slabs: SlabView): Buffer {
  let bytes = 0;
  for (const { type, entry } of events) bytes += frameBytes(type, entry, slabs);
  const chunk = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  for (const { type, entry, shownRevision } of events) {
    const slab = slabs.slab(entry.slab);
    at += OPENINGS[type].copy(chunk, at);
    const objectAt = at;
    at = copyValue(slab, entry.offset, chunk, at);
    if (shownRevision !== undefined) stampRevision(chunk, objectAt + revisionOffset(slab, entry.offset), shownRevision);
    at += CLOSING.copy(chunk, at);
  }
  return chunk;
}

/** Bytes that one event takes in a chunk. */
export function frameBytes(type: WatchEventType, entry: Entry, slabs: SlabView): number {
  return OPENINGS[type].length + valueLength(slabs.slab(entry.slab), entry.offset) + CLOSING.length;
}

/** What a bookmark holds. `initialEventsEnd` is the annotation that marks the end of the initial ADDED events. */
export function bookmarkObject(
  apiVersion: string,
  kind: string,
  revision: number,
  initialEventsEnd: string | undefined,
): JsonObject {
  const metadata: Record<string, unknown> = { resourceVersion: String(revision), creationTimestamp: null };
  if (initialEventsEnd !== undefined) metadata.annotations = { [initialEventsEnd]: 'true' };
  return { kind, apiVersion, metadata };
}

/** What the ERROR event holds when a watch's revision is no longer in the window. */
export function expiredStatus(message: string): JsonObject {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: 'Expired',
    code: 410,
  };
}
