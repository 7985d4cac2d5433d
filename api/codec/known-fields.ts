// The field sets of managedFields that this thread has read last, with their JSON: objects that were made alike have the same, which
// is a third of each. So it is neither parsed nor written again with each update. Who is given a field set shares it: it is frozen.
import type { JsonObject } from '../json/json-value.ts';
import { keepText } from './known-text.ts';

/** At most so many of so many bytes. */
const KEPT_MAX = 512;
const BYTES_MAX = 8 * 1024;
/** Bytes that a place is chosen by. */
const SAMPLES = 16;

interface Known {
  readonly bytes: Buffer;
  readonly fields: JsonObject;
}

const kept: (Known | undefined)[] = new Array<Known | undefined>(KEPT_MAX).fill(undefined);

/** The field set that the bytes from `start` to `end` are the JSON of. Throws SyntaxError, or TypeError for JSON of another kind. */
export function knownFields(bytes: Buffer, start: number, end: number): JsonObject {
  const place = placeOf(bytes, start, end);
  const known = kept[place];
  if (known !== undefined && known.bytes.compare(bytes, start, end) === 0) return known.fields;
  const text = bytes.toString('utf8', start, end);
  const fields: unknown = JSON.parse(text);
  if (typeof fields !== 'object' || fields === null) throw new TypeError('a field set is an object');
  if (end - start > BYTES_MAX) return fields as JsonObject;
  keepText(fields, text);
  kept[place] = { bytes: Buffer.from(bytes.subarray(start, end)), fields: fields as JsonObject };
  return fields as JsonObject;
}

function placeOf(bytes: Buffer, start: number, end: number): number {
  const length = end - start;
  let hash = length;
  for (let sample = 0; sample < SAMPLES; sample++)
    hash = (Math.imul(hash, 31) + bytes[start + Math.floor((sample * length) / SAMPLES)]!) | 0;
  return (hash >>> 0) % KEPT_MAX;
}
