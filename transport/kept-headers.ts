// Headers that many answers have in common. Whoever answers gives the same list each time, and what such a list comes to is kept
// with it: the longer one with what another step adds, and the bytes that a listener makes of it. Any other list works as well.
import type { HeaderList } from './http.ts';

/** What one list has come to. */
interface Known {
  /** By what was put behind it. */
  readonly joined: WeakMap<HeaderList, HeaderList>;
  /** By the code of the answer. */
  readonly heads: Map<number, ArrayBuffer>;
}

const known = new WeakMap<HeaderList, Known>();

/** `headers`, to be given again and again. For lists of which there are few: what they come to lives as long as they do. */
export function keptHeaders(headers: HeaderList): HeaderList {
  known.set(headers, { joined: new WeakMap(), heads: new Map() });
  return headers;
}

/** Both lists in one: the same one each time where both are lists that are given again and again. */
export function joinedHeaders(headers: HeaderList, more: HeaderList): HeaderList {
  const joined = known.get(headers)?.joined;
  let both = joined?.get(more);
  if (both !== undefined) return both;
  both = [...headers, ...more];
  if (joined !== undefined && known.has(more)) joined.set(more, keptHeaders(both));
  return both;
}

/** What `make` says of the code and the headers: bytes that are kept, or a text where the list is not. */
export function headOf(
  status: number,
  headers: HeaderList,
  make: (status: number, headers: HeaderList) => string,
): ArrayBuffer | string {
  const heads = known.get(headers)?.heads;
  if (heads === undefined) return make(status, headers);
  let head = heads.get(status);
  if (head === undefined) {
    head = Uint8Array.from(Buffer.from(make(status, headers))).buffer;
    heads.set(status, head);
  }
  return head;
}
