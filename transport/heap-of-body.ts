// What the body of a request comes to on the heap once it is read: a list of empty objects, two bytes each on the wire, takes a hundred
// times as much there. Who holds several at a time counts them by this.

/** An object or a list: as it was sent, in canonical form, with its defaults. An empty container of a pod takes 330 in all, its comma included. */
const CONTAINER_BYTES = 256;
/** Any other value, and the place that it has in what it is in. */
const VALUE_BYTES = 64;
/** A text, as long as it is there as sent, as stored and as answered. */
const TEXT_FACTOR = 4;

/** By the bytes of JSON and YAML that begin a container, or part two values. */
const BYTES_BY_CODE = new Uint16Array(256);
for (const code of Buffer.from('{[')) BYTES_BY_CODE[code] = CONTAINER_BYTES;
for (const code of Buffer.from(',-\n')) BYTES_BY_CODE[code] = VALUE_BYTES;

/** What JSON or YAML, or a message, of so many bytes comes to where it is nothing but beginnings of containers. */
export function heapBytesAtMost(bytes: number): number {
  return bytes * (CONTAINER_BYTES + TEXT_FACTOR);
}

/** About so many bytes, rather more than fewer. */
export function heapBytesOfBody(body: Uint8Array, contentType: string): number {
  let bytes = body.length * TEXT_FACTOR;
  // An empty message is two bytes, and those may be any.
  if (contentType.includes('protobuf')) return bytes + (body.length / 2) * CONTAINER_BYTES;
  for (let at = 0; at < body.length; at++) bytes += BYTES_BY_CODE[body[at]!]!;
  return bytes;
}
