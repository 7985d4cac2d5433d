// What happens to an object's metadata, status and generation between a client's body and the store, on create and on
// update. Pure: time, uid and randomness come in as parameters, the objects given are never changed. Field rules are in
// object-meta-rules.ts, deletion in deletion.ts, rules of single kinds with the kinds.
import { deepEqual, deepEqualBut } from '../json/deep-equal.ts';
import type { JsonObject } from '../json/json-value.ts';
import { isSet } from '../json/object-fields.ts';
import { type Own, ownCopy } from '../json/own-copy.ts';
import { kindKey } from '../kind-key.ts';
import type { GenerationPart, ResourceType } from '../resource-type.ts';
import { badRequest, conflict, conflictModified, missingResourceVersion, type NamedType } from '../status/failures.ts';
import { type Status, StatusError } from '../status/status.ts';
import { metadataOf, type ObjectMeta, type OwnerReference, withMetadata } from './object-meta.ts';

/** What a request's path says of the object. */
export interface RequestIdentity {
  /** Empty for cluster-scoped types. */
  readonly namespace: string;
  /** Empty for POST to a collection. */
  readonly name: string;
}

/** What a new object is given. */
export interface Birth {
  /** The present time (object-meta.ts, `timestampOf`). */
  readonly nowIso: string;
  readonly uid: string;
  /** What completes a generateName (see `nameSuffix`). */
  readonly randomSuffix: string;
}

/** The letters and digits of generated names: none that make words, none that look alike. */
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
/** Characters of a generateName that are kept, so that the name is a valid label. */
const GENERATE_NAME_LENGTH_MAX = 58;

/** Five characters for the end of a generated name. `random` answers numbers in [0, 1). */
export function nameSuffix(random: () => number): string {
  let suffix = '';
  while (suffix.length < SUFFIX_LENGTH) suffix += SUFFIX_ALPHABET[Math.floor(random() * SUFFIX_ALPHABET.length)];
  return suffix;
}

/**
 * A new object under the path's namespace and name, without what its creator cannot say: the status of most types. Throws
 * StatusError 400 where name or namespace differ from the path's, and where a resourceVersion is set (to which others of
 * this API answer 500).
 */
export function placedNew(
  object: JsonObject,
  type: ResourceType & { readonly custom?: object | undefined },
  identity: RequestIdentity,
): JsonObject {
  const given = metadataOf(object);
  if (insistsOnVersion(given)) {
    throw refused(badRequest('resourceVersion should not be set on objects to be created'));
  }
  const metadata = withIdentity(given, type, identity);
  const { hasStatus, keepsStatusOnCreate } = type.traits;
  const isBare = type.custom === undefined ? saysNothing(object.status) : object.status === undefined;
  if (!hasStatus || keepsStatusOnCreate || isBare) {
    return metadata === given ? object : withMetadata(object, metadata);
  }
  const { status: _, ...rest } = object;
  return withMetadata(rest, metadata);
}

/** True of nothing, and of an object without members, which is how most built-in kinds leave out a status. */
function saysNothing(status: unknown): boolean {
  if (typeof status !== 'object' || status === null || Array.isArray(status)) return status === undefined;
  for (const _ in status) return false;
  return true;
}

/**
 * The object as it begins its life: named, dated, with a fresh uid, its first generation where those are counted, and its
 * initial status.
 */
export function begun(object: JsonObject, type: ResourceType, { nowIso, uid, randomSuffix }: Birth): JsonObject {
  const metadata = ownCopy(metadataOf(object));
  if ((metadata.name ?? '') === '' && (metadata.generateName ?? '') !== '') {
    metadata.name = metadata.generateName!.slice(0, GENERATE_NAME_LENGTH_MAX) + randomSuffix;
  }
  for (const member of CLEARED_ON_CREATE) clear(metadata, member);
  metadata.uid = uid;
  metadata.creationTimestamp = nowIso;
  const { initialGeneration, initialStatus } = type.traits;
  // Where nobody counts, what the creator says stays, as every update leaves it.
  if (initialGeneration > 0) metadata.generation = initialGeneration;
  const made = withMetadata(object, metadata);
  if (initialStatus !== undefined) made.status = ownCopy(initialStatus);
  return made;
}

/** Asks first: V8 deletes slowly even what is not there. */
function clear(metadata: Own<ObjectMeta>, member: keyof ObjectMeta): void {
  if (metadata[member] !== undefined) delete metadata[member];
}

const CLEARED_ON_CREATE = [
  'resourceVersion',
  'selfLink',
  'clusterName',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const satisfies readonly (keyof ObjectMeta)[];

/** Those that write the status. */
const STATUS_SUBRESOURCES: ReadonlySet<string> = new Set(['status', 'approval']);

/** Everything of an update that is not in the body. */
export interface Update extends RequestIdentity {
  /** `status` and `approval` change the status and metadata only, anything else (and the empty one) all but the status. */
  readonly subresource: string;
  /** Absent: false. A patch that names another uid is not valid, where a PUT is in conflict: controllers tell the two apart. */
  readonly isPatch?: boolean;
}

/**
 * The object an update makes of `next` and `stored`: what the server owns is kept from the stored one, and the generation
 * grows when a part that counts has changed. Throws StatusError: 400 where name or namespace differ from the path's, 409
 * where uid or resourceVersion are not the stored ones, 422 where the type insists on a resourceVersion and there is none.
 */
export function prepareUpdate(next: JsonObject, stored: JsonObject, type: ResourceType, update: Update): JsonObject {
  const before = metadataOf(stored);
  requireNamespaceOfPath(metadataOf(next), update.namespace);
  const given = withIdentity(metadataOf(next), type, update);
  if (update.isPatch !== true) requireSameUid(given, before, type);
  requireCurrentVersion(given, before, type);
  const isStatusUpdate = STATUS_SUBRESOURCES.has(update.subresource) && type.traits.hasStatus;
  const metadata = keptMetadata(isStatusUpdate ? statusMetadata(given, before, type) : given, before);
  if (isStatusUpdate) return withStatus(withMetadata(stored, metadata), next);
  const updated = withMetadata(next, metadata);
  const result = type.traits.hasStatus ? withStatus(updated, stored) : updated;
  if (generationGrows(result, stored, type)) metadata.generation = (before.generation ?? 0) + 1;
  return result;
}

/**
 * True when writing `next` over `stored` would change nothing, so that the write is skipped: equal but for the order of
 * keys, the resourceVersion and the times in managedFields.
 */
export function isUnchanged(next: JsonObject, stored: JsonObject): boolean {
  if (next === stored) return true;
  if (next.metadata !== stored.metadata) {
    const after = metadataOf(next);
    const before = metadataOf(stored);
    if (!deepEqualBut(after, before, OWN_COMPARISON)) return false;
    if (!sameOwnership(after.managedFields, before.managedFields)) return false;
  }
  return deepEqualBut(next, stored, METADATA);
}

const METADATA: readonly string[] = ['metadata'];
/** Of the metadata, what `isUnchanged` does not compare, or compares by itself. */
const OWN_COMPARISON: readonly string[] = ['resourceVersion', 'managedFields'];
const TIME: readonly string[] = ['time'];

/** An object's owner references with repeated ones left out, and the uids that were repeated (clients are warned). */
export function distinctOwnerReferences(references: readonly OwnerReference[]): {
  readonly references: readonly OwnerReference[];
  readonly repeatedUids: readonly string[];
} {
  const kept: OwnerReference[] = [];
  const met = new Set<string>();
  const repeated = new Set<string>();
  for (const reference of references) {
    const said = textOfOwner(reference);
    if (met.has(said)) repeated.add(reference.uid ?? '');
    else {
      met.add(said);
      kept.push(reference);
    }
  }
  return { references: repeated.size === 0 ? references : kept, repeatedUids: [...repeated] };
}

/** The same for references that are equal. A body holds tens of thousands of them, which cannot be held against each other. */
function textOfOwner({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): string {
  return JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion]);
}

/** Metadata with name and namespace of the path filled in; a namespace means nothing in a cluster-scoped type. */
function withIdentity(given: ObjectMeta, type: ResourceType, { namespace, name }: RequestIdentity): ObjectMeta {
  const givenName = given.name ?? '';
  if (name !== '' && givenName !== '' && givenName !== name) {
    throw otherThanPath('name', givenName, name);
  }
  const named = givenName === '' && name !== '' ? withMember(given, 'name', name) : given;
  const givenNamespace = given.namespace ?? '';
  if (!type.namespaced) {
    if (givenNamespace === '') return named;
    const { namespace: _, ...placed } = named;
    return placed;
  }
  if (givenNamespace === namespace) return named;
  if (givenNamespace === '') return withMember(named, 'namespace', namespace);
  if (name !== '') throw otherThanPath('namespace', givenNamespace, namespace);
  throw refused(badRequest('the namespace of the provided object does not match the namespace sent on the request'));
}

const SAID_ON = { name: 'URL', namespace: 'request' } as const;

/** 400: the name or the namespace of an object is not that of its path. */
export function otherThanPath(member: keyof typeof SAID_ON, given: string, wanted: string): StatusError {
  const where = `the ${member} on the ${SAID_ON[member]} (${wanted})`;
  return refused(badRequest(`the ${member} of the object (${given}) does not match ${where}`));
}

/** An update is of what is in the namespace of its path. Throws 400. */
export function requireNamespaceOfPath({ namespace: given = '' }: ObjectMeta, namespace: string): void {
  if (namespace === '' || given === '' || given === namespace) return;
  throw otherThanPath('namespace', given, namespace);
}

function withMember(given: ObjectMeta, member: 'name' | 'namespace', value: string): ObjectMeta {
  const metadata = ownCopy(given);
  metadata[member] = value;
  return metadata;
}

/** Throws 409 where an object is said to be another than the one that is there; `before` is without a uid where there is none. */
export function requireSameUid(given: ObjectMeta, before: ObjectMeta, type: NamedType): void {
  const uid = given.uid ?? '';
  if (uid === '' || uid === before.uid) return;
  const detail = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${before.uid ?? ''}`;
  throw refused(conflict(type, before.name ?? '', detail));
}

/** True when a client insists on the version it names. */
export function insistsOnVersion({ resourceVersion = '' }: ObjectMeta): boolean {
  return resourceVersion !== '' && resourceVersion !== '0';
}

function requireCurrentVersion(given: ObjectMeta, before: ObjectMeta, type: ResourceType): void {
  if ((given.resourceVersion ?? '') === before.resourceVersion) return;
  if (insistsOnVersion(given)) throw refused(conflictModified(type, before.name ?? ''));
  if (!type.traits.putWithoutResourceVersion) throw refused(missingResourceVersion(type, before.name ?? ''));
}

/** What no update can change: the members that the server sets. */
function keptMetadata(given: ObjectMeta, before: ObjectMeta): Own<ObjectMeta> {
  const metadata = ownCopy(given);
  if ((metadata.uid ?? '') === '') keep(metadata, before, 'uid');
  keep(metadata, before, 'resourceVersion');
  keep(metadata, before, 'generation');
  keep(metadata, before, 'creationTimestamp');
  if (isSet(before.deletionTimestamp)) metadata.deletionTimestamp = before.deletionTimestamp!;
  if (!isSet(metadata.deletionGracePeriodSeconds)) keep(metadata, before, 'deletionGracePeriodSeconds');
  clear(metadata, 'clusterName');
  clear(metadata, 'selfLink');
  return metadata;
}

function keep<K extends keyof ObjectMeta>(metadata: Own<ObjectMeta>, before: ObjectMeta, member: K): void {
  const value = before[member];
  if (value === undefined) clear(metadata, member);
  else (metadata as Record<K, unknown>)[member] = value;
}

/** Members of the metadata, or all of it. */
export type Kept = readonly (keyof ObjectMeta)[] | 'all';

const ALL_BUT_IDENTITY: Kept = ['labels', 'annotations', 'finalizers', 'ownerReferences'];

/** Metadata that a status update of a built-in type leaves as stored, by kind. Custom types leave all (`Traits`). */
const KEPT_BY_STATUS_UPDATES: ReadonlyMap<string, Kept> = new Map<string, Kept>([
  ['core/pods', ['deletionTimestamp', 'ownerReferences']],
  ['apps/deployments', ['labels']],
  ['apiregistration/apiservices', ALL_BUT_IDENTITY],
  ['internal/storageversions', ALL_BUT_IDENTITY],
  ['storage/volumeattachments', ALL_BUT_IDENTITY],
  ['flowcontrol/flowschemas', 'all'],
  ['flowcontrol/prioritylevelconfigurations', 'all'],
]);

/** The metadata that a status update of a type leaves as stored, if it says no more than its type (`Update`). */
export function metadataKeptByStatus(type: ResourceType): Kept {
  if (type.traits.statusKeepsMetadata) return 'all';
  return KEPT_BY_STATUS_UPDATES.get(kindKey(type)) ?? [];
}

function statusMetadata(given: ObjectMeta, before: ObjectMeta, type: ResourceType): ObjectMeta {
  const kept = metadataKeptByStatus(type);
  if (kept === 'all') {
    return given.managedFields === undefined ? before : { ...before, managedFields: given.managedFields };
  }
  if (kept.length === 0) return given;
  const metadata = ownCopy(given);
  for (const member of kept) keep(metadata, before, member);
  return metadata;
}

/** `object`, which is changed, with the status of another. */
function withStatus(object: Own<JsonObject>, from: JsonObject): JsonObject {
  if (from.status !== undefined) object.status = from.status;
  else if (object.status !== undefined) delete object.status;
  return object;
}

function generationGrows(next: JsonObject, stored: JsonObject, type: ResourceType): boolean {
  for (const part of type.traits.generationParts) {
    if (!deepEqual(GENERATION_PARTS[part](next), GENERATION_PARTS[part](stored))) return true;
  }
  return false;
}

const GENERATION_PARTS: Readonly<Record<GenerationPart, (object: JsonObject) => unknown>> = {
  spec: (object) => object.spec,
  webhooks: (object) => object.webhooks,
  'metadata.annotations': (object) => metadataOf(object).annotations ?? {},
  'metadata.labels': (object) => metadataOf(object).labels ?? {},
  contentWithStatus: ({ metadata: _, kind: __, apiVersion: ___, ...content }) => content,
  content: ({ metadata: _, status: __, kind: ___, apiVersion: ____, ...content }) => content,
};

function sameOwnership(left: ObjectMeta['managedFields'] = [], right: ObjectMeta['managedFields'] = []): boolean {
  if (left === right) return true;
  if (left.length !== right.length) return false;
  return left.every((entry, index) => deepEqualBut(entry, right[index]!, TIME));
}

function refused(status: Status): StatusError {
  return new StatusError(status);
}
