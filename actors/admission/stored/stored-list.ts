// Lists for writes: what is stored now, read where it lies. The records of a list are kept for its reader until the reading
// has ended, and are given back however it ends.

import type { ListOptions } from '../../../api/list-options.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { StatusError } from '../../../api/status/status.ts';
import { decodeRecord, withBody } from '../../../storage/records/record-reading.ts';
import type { StoreSlabs } from '../../../storage/records/thread-slabs.ts';
import { heapBytesOfBody } from '../../../transport/heap-of-body.ts';
import { refusalStatus } from '../../read-refusal.ts';
import type { StoreReader } from './store-reader.ts';
import { StoredObject } from './stored-object.ts';

/** Numbers of a place in a list: slab and offset. */
export const NUMBERS_A_PLACE = 2;

/** What is listed; what is left out of the options is everything, as it is now. */
export interface ListSelection extends Partial<ListOptions> {
  readonly storageKey: string;
  /** Empty: all namespaces. */
  readonly namespace: string;
}

/** Records that lie in the slabs of one store, as of one revision. */
export interface ListedPlaces {
  /** `NUMBERS_A_PLACE` numbers for each record. */
  readonly places: Uint32Array;
  readonly slabs: StoreSlabs;
  readonly revision: number;
  /** For the next part when more follow, else empty. */
  readonly continueToken: string;
  /** How many follow; undefined where selectors make counting a scan. */
  readonly remaining: number | undefined;
}

/**
 * Hands what is stored to `read`, which has ended with the records when it returns or resolves. Throws 503; where the
 * selection asks for a version or goes on with a list 400, 410 and 504.
 */
export async function withList<T>(
  { hub, slabs, releases, requestTimeoutMs, requestNumber }: StoreReader,
  selection: ListSelection,
  read: (listed: ListedPlaces) => T | Promise<T>,
): Promise<T> {
  const answer = await hub.ask(
    { type: 'list', ...EVERYTHING, ...selection },
    { deadlineMs: requestTimeoutMs, requestNumber },
  );
  if (answer.refused !== undefined) throw new StatusError(refusalStatus(answer, versionIn(selection)));
  const { places, incarnation, revision, continueToken, remaining, pin } = answer;
  try {
    return await read({ places, slabs: slabs.ofStore(incarnation), revision, continueToken, remaining });
  } finally {
    if (pin !== 0) releases.tell<'release'>({ type: 'release', pin });
  }
}

const EVERYTHING: ListOptions = {
  labelSelector: '',
  fieldSelector: '',
  limit: 0,
  continueToken: '',
  freshness: { kind: 'mostRecent' },
};

function versionIn({ freshness }: ListSelection): string {
  return freshness !== undefined && 'revision' in freshness ? String(freshness.revision) : '';
}

/** About what the objects of places come to on the heap at most, once they are read. */
export function heapBytesOfListed(places: Uint32Array, slabs: StoreSlabs): number {
  let bytes = 0;
  for (let at = 0; at < places.length; at += NUMBERS_A_PLACE) {
    const slab = slabs.slab(places[at]!);
    bytes += withBody(slab, places[at + 1]!, heapBytesOfBody, 'application/json', undefined, undefined);
  }
  return bytes;
}

/** The objects of places, decoded. */
export function storedAt(places: Uint32Array, slabs: StoreSlabs): StoredObject[] {
  const stored: StoredObject[] = [];
  for (let i = 0; i < places.length; i += NUMBERS_A_PLACE) {
    const [slab, offset] = [places[i]!, places[i + 1]!];
    const record = slabs.slab(slab);
    const object = decodeRecord(record, offset);
    const revision = Number(metadataOf(object).resourceVersion);
    const place = { incarnation: slabs.incarnation, slab, offset, revision };
    stored.push(new StoredObject(record, place, object));
  }
  return stored;
}

/** Every present object of a type in a namespace, decoded. For lists that are short by nature. */
export function readList(reader: StoreReader, { storageKey }: KnownType, namespace: string): Promise<StoredObject[]> {
  return withList(reader, { storageKey, namespace }, ({ places, slabs }) => storedAt(places, slabs));
}
