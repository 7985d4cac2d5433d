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

/** A list of one answer, such as one that names its audit record, behind what many answers have in common. */
type Continued = HeaderList & { [BEGINNING]?: HeaderList };

const BEGINNING = Symbol('beginning');

const known = new WeakMap<HeaderList, Known>();

/** `headers`, to be given again and again. For lists of which there are few: what they come to lives as long as they do. */
export function keptHeaders(headers: HeaderList): HeaderList {
  known.set(headers, { joined: new WeakMap(), heads: new Map() });
  return headers;
}

/** Both lists in one: the same one each time where both are lists that are given again and again. */
export function joinedHeaders(headers: HeaderList, more: HeaderList): HeaderList {
  const joined = known.get(headers)?.joined;
  if (joined === undefined) return [...headers, ...more];
  if (!known.has(more)) {
    const continued: Continued = [...headers, ...more];
    continued[BEGINNING] = headers;
    return continued;
  }
  let both = joined.get(more);
  if (both === undefined) {
    both = keptHeaders([...headers, ...more]);
    joined.set(more, both);
  }
  return both;
}

/** The kept list that another begins with which is not given again; undefined: there is none. */
export function keptBeginning(headers: HeaderList): HeaderList | undefined {
  return (headers as Continued)[BEGINNING];
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
