// Reads the present for writes: asks the hub of the thread where a record lies and parses it there.
import type { JsonObject } from '../../../api/json/json-value.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { ActorContext, Ref } from '../../../runtime/actor.ts';
import { type Soon, whenThere } from '../../../runtime/soon.ts';
import { NO_REQUEST } from '../../../runtime/turn.ts';
import { objectKey } from '../../../storage/object-key.ts';
import { ThreadSlabs } from '../../../storage/records/thread-slabs.ts';
import type { Freshness, HubProtocol } from '../../hub/protocol.ts';
import { PatientTells } from '../../patient-tells.ts';
import { refusalStatus } from '../../read-refusal.ts';
import type { PublishedPlace } from '../../store/protocol.ts';
import { Patience } from '../patience.ts';
import { StoredObject } from './stored-object.ts';

/** What reading the present takes. */
export interface StoreReader {
  readonly context: ActorContext;
  readonly hub: Ref<HubProtocol>;
  /** Lists that have been read to the end: what is not released keeps memory for ever. */
  readonly releases: PatientTells<HubProtocol>;
  readonly slabs: ThreadSlabs;
  readonly requestTimeoutMs: number;
  /** How long somebody waits for what is read and written: what has not been committed by then is not made. */
  readonly patience: Patience;
  /** Of the request that it is read for (runtime/turn.ts). */
  readonly requestNumber: number;
}

/** For what is read on nobody's account. */
export function readerOf(context: ActorContext, requestTimeoutMs: number): StoreReader {
  const hub = context.ref('hub');
  const releases = new PatientTells(hub, context.timers);
  const patience = new Patience(context.clock, Number.POSITIVE_INFINITY);
  return {
    context,
    hub,
    releases,
    slabs: ThreadSlabs.of(context),
    requestTimeoutMs,
    patience,
    requestNumber: NO_REQUEST,
  };
}

const MOST_RECENT: Freshness = { kind: 'mostRecent' };

/** Where an object's record lies; null when there is no such object. Throws, or rejects with, 503. */
export function findPlace(
  reader: StoreReader,
  type: KnownType,
  namespace: string,
  name: string,
  freshness: Freshness = MOST_RECENT,
): Soon<PublishedPlace | null> {
  return findRecord(reader, type.storageKey, namespace, name, freshness);
}

/** Where the record of a storage key, namespace and name lies; null when there is none. */
export function findRecord(
  { hub, requestTimeoutMs, requestNumber }: StoreReader,
  storageKey: string,
  namespace: string,
  name: string,
  freshness: Freshness = MOST_RECENT,
): Soon<PublishedPlace | null> {
  const asking = hub.askSoon(
    { type: 'get', storageKey, namespace, name, freshness },
    { deadlineMs: requestTimeoutMs, requestNumber },
  );
  return whenThere(asking, (answer) => {
    if (answer.refused !== undefined) throw new StatusError(refusalStatus(answer));
    return answer.place;
  });
}

/** The present object, parsed, in the version it is stored in; null when there is none. */
export function readCurrent(
  reader: StoreReader,
  type: KnownType,
  namespace: string,
  name: string,
): Soon<StoredObject | null> {
  return whenThere(findStored(reader, type, namespace, name), (stored) => {
    void stored?.object;
    return stored;
  });
}

/** The same, not parsed: see `StoredObject` for what has to be asked for when. */
export function findStored(
  reader: StoreReader,
  type: KnownType,
  namespace: string,
  name: string,
): Soon<StoredObject | null> {
  return whenThere(
    findPlace(reader, type, namespace, name),
    (place) => place && new StoredObject(reader.slabs.slab(place), place),
  );
}

/** Parses the object a record holds. Call it in the turn that was told the place. */
export function decodePlace(reader: StoreReader, place: PublishedPlace): JsonObject {
  return reader.slabs.decodeOwned(place);
}

/** The store's key of an object. */
export function keyOf(type: KnownType, namespace: string, name: string): string {
  return objectKey(type.storageKey, type.namespaced ? namespace : '', name);
}
