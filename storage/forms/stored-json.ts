// Decoding what is stored. Reads and watches send stored bytes as they lie; whoever needs the object itself comes here,
// so that it is counted what is decoded.
import { parseExact } from '../../api/json/exact-json.ts';
import type { JsonObject } from '../../api/json/json-value.ts';

/** Of this thread since its start; nothing but a metric depends on it. */
let decoded = 0;

/** The object (or list) that stored bytes are the JSON of. */
export function decodeStored(bytes: Buffer): JsonObject {
  countDecoded();
  return parseExact(bytes.toString('utf8')) as JsonObject;
}

/** Counts an object that was decoded elsewhere. */
export function countDecoded(): void {
  decoded++;
}

/** How many objects this thread has decoded. */
export function decodedCount(): number {
  return decoded;
}
