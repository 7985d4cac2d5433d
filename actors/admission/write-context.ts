// What every write works with: the registry, the hub's present, the store's commit, time and randomness. One per
// admission actor; holds no state of any request.
import type { StoredForm } from '../../api/conversion/stored-form.ts';
import type { JsonObject } from '../../api/json-value.ts';
import type { Registry } from '../../api/resources/registry.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import type { Schema } from '../../api/schema/schema.ts';
import { storeNotRead } from '../../api/status/failures.ts';
import { StatusError } from '../../api/status/status.ts';
import type { ObjectValidation } from '../../api/validation/object-validation.ts';
import type { Dialect } from '../../config/dialect.ts';
import type { ActorContext, Ref } from '../../runtime/actor.ts';
import { objectKey } from '../../storage/object-key.ts';
import { isStale, valueView } from '../../storage/slab-record.ts';
import { decodeStored } from '../../storage/stored-json.ts';
import type { ThreadSlabs } from '../../storage/thread-slabs.ts';
import type { AuthProtocol } from '../auth/protocol.ts';
import type { Freshness, HubProtocol } from '../hub/protocol.ts';
import type { PatientTells } from '../patient-tells.ts';
import type { PublishedPlace, StoreProtocol } from '../store/protocol.ts';
import type { ObjectPreparation } from './preparation.ts';
import type { ServiceAllocation } from './service-allocation.ts';

/** What reading the present takes. */
export interface StoreReader {
  readonly context: ActorContext;
  readonly hub: Ref<HubProtocol>;
  /** Lists that have been read to the end: what is not released keeps memory for ever. */
  readonly releases: PatientTells<HubProtocol>;
  readonly slabs: ThreadSlabs;
  readonly requestTimeoutMs: number;
}

/** How deletions are carried out, as the operator set it. */
export interface DeletionSettings {
  /** `--enable-garbage-collector`: someone acts on the finalizers of garbage collection. */
  readonly collectsGarbage: boolean;
  /** `--delete-collection-workers`. */
  readonly collectionWorkers: number;
}

export interface WriteContext extends StoreReader {
  readonly registry: Registry;
  readonly dialect: Dialect;
  readonly schema: Schema;
  /** Between the version a client speaks and the one that is stored. */
  readonly forms: StoredForm;
  readonly store: Ref<StoreProtocol>;
  /** Asked by few writes only. */
  readonly auth: () => Ref<AuthProtocol>;
  readonly preparation: ObjectPreparation;
  /** Objects keep who owns their fields, and can be applied. */
  readonly serverSideApply: boolean;
  readonly validation: ObjectValidation;
  readonly services: ServiceAllocation;
  readonly deletion: DeletionSettings;
}

/** An object as it is stored now. */
export interface StoredObject {
  readonly object: JsonObject;
  readonly place: PublishedPlace;
  /** It lies on disk in a form that is not written any more: an update that changes nothing is stored all the same. */
  readonly isStale: boolean;
}

const MOST_RECENT: Freshness = { kind: 'mostRecent' };

/** Where an object's record lies; null when there is no such object. */
export function findPlace(
  reader: StoreReader,
  type: KnownType,
  namespace: string,
  name: string,
  freshness: Freshness = MOST_RECENT,
): Promise<PublishedPlace | null> {
  return findRecord(reader, type.storageKey, namespace, name, freshness);
}

/** Where the record of a storage key, namespace and name lies; null when there is none. */
export async function findRecord(
  { hub, requestTimeoutMs }: StoreReader,
  storageKey: string,
  namespace: string,
  name: string,
  freshness: Freshness = MOST_RECENT,
): Promise<PublishedPlace | null> {
  const answer = await hub.ask(
    { type: 'get', storageKey, namespace, name, freshness },
    { deadlineMs: requestTimeoutMs },
  );
  if (answer.refused !== undefined) throw new StatusError(storeNotRead());
  return answer.place;
}

/** The present object, decoded, in the version it is stored in; null when there is none. */
export async function readCurrent(
  write: WriteContext,
  type: KnownType,
  namespace: string,
  name: string,
): Promise<StoredObject | null> {
  const place = await findPlace(write, type, namespace, name);
  if (place === null) return null;
  return { place, object: decodePlace(write, place), isStale: isStale(write.slabs.slab(place), place.offset) };
}

/** Parses the object a record holds. Call it in the turn that was told the place. */
export function decodePlace(write: WriteContext, place: PublishedPlace): JsonObject {
  return decodeStored(valueView(write.slabs.slab(place), place.offset));
}

/** The store's key of an object. */
export function keyOf(type: KnownType, namespace: string, name: string): string {
  return objectKey(type.storageKey, type.namespaced ? namespace : '', name);
}
