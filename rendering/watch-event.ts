// One watch event around an object made for the occasion (a bookmark, an error, a Table), as it stands in a stream of
// either encoding. Events around stored objects are framed by the hub, without making them.
import { encodeWatchEvent } from '../api/codec/envelope.ts';
import type { Schema } from '../api/schema/schema.ts';
import { protobufValue } from './protobuf-value.ts';
import type { Encoding } from './rendering.ts';

/** Bytes before each Protobuf event: its length, the most significant byte first. */
export const EVENT_LENGTH_BYTES = 4;

/** A line of JSON, or a Protobuf WatchEvent behind its length. The object names its kind. */
export function watchEventFrame(type: string, object: object, encoding: Encoding, schema: () => Schema): Buffer {
  if (encoding !== 'protobuf') return Buffer.from(`${JSON.stringify({ type, object })}\n`);
  const event = encodeWatchEvent(type, protobufValue(object, schema()));
  const frame = Buffer.allocUnsafeSlow(EVENT_LENGTH_BYTES + event.length);
  frame.writeUInt32BE(event.length, 0);
  event.copy(frame, EVENT_LENGTH_BYTES);
  return frame;
}
