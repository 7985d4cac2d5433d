// Watch events as Protobuf: each a WatchEvent message behind four bytes of its length, its object in an envelope of its
// own (SPEC.md "Watch events", "Protobuf envelope"). Objects come encoded, once for all who watch; nothing else is made here.
import type { EnvelopePieces } from '../../../api/codec/envelope.ts';
import { putVarint, tagOf, varintBytes, WIRE_BYTES } from '../../../api/codec/wire.ts';
import type { RecordMessages } from '../../../rendering/protobuf-records.ts';
import { EVENT_LENGTH_BYTES } from '../../../rendering/watch-event.ts';
import type { SlabView } from '../../../storage/records/thread-slabs.ts';
import type { FramedEvent, WatchEventType } from './frames.ts';

const TYPE_TAG = tagOf(1, WIRE_BYTES);
const OBJECT_TAG = tagOf(2, WIRE_BYTES);
const RAW_TAG = tagOf(1, WIRE_BYTES);

/** The field `type` of the event. */
const TYPES: Readonly<Record<WatchEventType, Buffer>> = {
  ADDED: typeField('ADDED'),
  MODIFIED: typeField('MODIFIED'),
  DELETED: typeField('DELETED'),
};

/** One chunk with all the events. */
export function frameProtobufEvents(events: readonly FramedEvent[], slabs: SlabView, messages: RecordMessages): Buffer {
  const { envelope } = messages;
  const objects = events.map(({ entry, shownRevision }) =>
    messages.bytes(slabs.slab(entry.slab), entry.offset, shownRevision),
  );
  let bytes = 0;
  for (let i = 0; i < events.length; i++) {
    bytes += EVENT_LENGTH_BYTES + eventBytes(events[i]!.type, envelope, objects[i]!.length);
  }
  const chunk = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  for (let i = 0; i < events.length; i++) {
    const { type } = events[i]!;
    const object = objects[i]!;
    const objectBytes = envelope.bytesAround(object.length);
    at = chunk.writeUInt32BE(eventBytes(type, envelope, object.length), at);
    at += TYPES[type].copy(chunk, at);
    chunk[at++] = OBJECT_TAG;
    at = putVarint(chunk, at, 1 + varintBytes(objectBytes) + objectBytes);
    chunk[at++] = RAW_TAG;
    at = envelope.open(chunk, putVarint(chunk, at, objectBytes), object.length);
    at = envelope.close(chunk, at + object.copy(chunk, at));
  }
  return chunk;
}

/** Bytes of the message WatchEvent. */
function eventBytes(type: WatchEventType, envelope: EnvelopePieces, rawBytes: number): number {
  const objectBytes = envelope.bytesAround(rawBytes);
  const extensionBytes = 1 + varintBytes(objectBytes) + objectBytes;
  return TYPES[type].length + 1 + varintBytes(extensionBytes) + extensionBytes;
}

function typeField(type: string): Buffer {
  return Buffer.concat([Buffer.of(TYPE_TAG, type.length), Buffer.from(type)]);
}
