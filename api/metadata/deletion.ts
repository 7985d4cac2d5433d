// What a DELETE does to an object before, or instead of, its removal: grace periods, the finalizers of garbage
// collection, preconditions (SPEC.md "Deletion of a resource"). Pure; the object given is never changed.
import type { JsonObject } from '../json/json-value.ts';
import { isSet } from '../json/object-fields.ts';
import { type Own, ownCopy } from '../json/own-copy.ts';
import { kindKey } from '../kind-key.ts';
import type { ResourceType } from '../resource-type.ts';
import { conflict } from '../status/failures.ts';
import { refusedGroup } from '../status/refused-group.ts';
import { StatusError } from '../status/status.ts';
import { metadataOf, type ObjectMeta, timestampOf, withMetadata } from './object-meta.ts';

export const ORPHAN_FINALIZER = 'orphan';
export const FOREGROUND_FINALIZER = 'foregroundDeletion';

export type PropagationPolicy = 'Orphan' | 'Background' | 'Foreground';

/** What must hold for a DELETE to go on. */
export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** The options of a DELETE that touch the object, validated (requests/request-options.ts). */
export interface Deletion {
  readonly nowMs: number;
  /**
   * Seconds the object may take to end, already decided for the types that end gracefully (pods). Undefined
   * for all others: they are removed at once, or when their last finalizer goes.
   */
  readonly graceSeconds: number | undefined;
  /**
   * Seconds that the client asked for, whatever the type made of them. A grace period that runs goes by these alone: without them a
   * repeated DELETE leaves it alone, and it is no shorter for a pod that has ended meanwhile.
   */
  readonly graceAskedSeconds: number | undefined;
  readonly propagationPolicy: PropagationPolicy | undefined;
  /** Deprecated form of the policy. */
  readonly orphanDependents: boolean | undefined;
  /** False: nobody would carry out the finalizers of garbage collection, so that none is added or taken away. */
  readonly collectsGarbage: boolean;
}

/**
 * `remove`: delete it from the store now. `storeAndRemove`: write `object`, so that those who watch see that it ends, and
 * delete it. `store`: write `object`. `pending`: it is on its way out, nothing changes.
 */
export interface DeletionOutcome {
  readonly action: 'remove' | 'storeAndRemove' | 'store' | 'pending';
  readonly object: JsonObject;
}

/** They look at preconditions themselves, in words of their own. */
const LOOKING_THEMSELVES: ReadonlySet<string> = new Set(['core/namespaces', 'apiextensions/customresourcedefinitions']);

/** Throws StatusError 409 where a precondition does not hold. */
export function requirePreconditions(object: JsonObject, type: ResourceType, preconditions: Preconditions): void {
  const { name = '', uid = '', resourceVersion = '' } = metadataOf(object);
  const expected: readonly (readonly [member: string, expected: string | undefined, actual: string, what: string])[] = [
    ['UID', preconditions.uid, uid, 'deleted and then recreated'],
    ['ResourceVersion', preconditions.resourceVersion, resourceVersion, 'modified'],
  ];
  for (const [member, value, actual, what] of expected) {
    if (value === undefined || value === actual) continue;
    if (LOOKING_THEMSELVES.has(kindKey(type))) {
      const failed = `Precondition failed: ${member} in precondition: ${value}, ${member} in object meta: ${actual}`;
      throw new StatusError(conflict(type, name, failed));
    }
    const mismatch = `the ${member} in the precondition (${value}) does not match the ${member} in record (${actual})`;
    // Clients find the Kind here, where other conflicts name the resource.
    const named = { group: refusedGroup(type), plural: type.kind };
    throw new StatusError(conflict(named, name, `${mismatch}. The object might have been ${what}`));
  }
}

/** A negative period means at once, as short as one can ask for. */
export function graceSecondsOf(seconds: number): number {
  return seconds < 0 ? 1 : seconds;
}

/** What becomes of an object on DELETE. */
export function prepareDelete(object: JsonObject, type: ResourceType, deletion: Deletion): DeletionOutcome {
  const before = metadataOf(object);
  const finalizers = finalizersOnDelete(before.finalizers ?? [], type, deletion);
  const isDeleting = isSet(before.deletionTimestamp);
  const graceful = deletion.graceSeconds !== undefined;
  // Whose grace is over waits for finalizers alone, which can be asked for otherwise.
  if (!graceful || (isDeleting && (before.deletionGracePeriodSeconds ?? 0) === 0)) {
    if (finalizers.length === 0) return { action: 'remove', object };
    const alreadyMarked = isDeleting && before.deletionGracePeriodSeconds === 0;
    if (alreadyMarked && sameList(finalizers, before.finalizers ?? [])) return { action: 'pending', object };
    return store(object, marked(before, finalizers, deletion.nowMs, 0));
  }
  if (isDeleting) return shortened(object, before, finalizers, deletion);
  return ended(object, marked(before, finalizers, deletion.nowMs, Math.max(0, deletion.graceSeconds)));
}

/** True when an update has left nothing to wait for: the object is being deleted, without grace and finalizers. */
export function isReadyToRemove(object: JsonObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = metadataOf(object);
  return isSet(deletionTimestamp) && (deletionGracePeriodSeconds ?? 0) === 0 && (finalizers?.length ?? 0) === 0;
}

/** A grace period that runs can only be shortened. */
function shortened(
  object: JsonObject,
  before: ObjectMeta,
  finalizers: readonly string[],
  deletion: Deletion,
): DeletionOutcome {
  const pendingSeconds = before.deletionGracePeriodSeconds ?? 0;
  const { graceAskedSeconds: asked } = deletion;
  if (asked === undefined || asked >= pendingSeconds) return { action: 'pending', object };
  const graceSeconds = graceSecondsOf(asked);
  const begunMs = Date.parse(before.deletionTimestamp ?? '') - pendingSeconds * 1000;
  const endMs = Number.isFinite(begunMs) ? begunMs + graceSeconds * 1000 : deletion.nowMs;
  const metadata = withFinalizers(before, finalizers);
  metadata.deletionTimestamp = timestampOf(endMs);
  metadata.deletionGracePeriodSeconds = graceSeconds;
  return ended(object, metadata);
}

function marked(before: ObjectMeta, finalizers: readonly string[], nowMs: number, graceSeconds: number): ObjectMeta {
  // The first mark counts as a change of the desired state, for those who follow generations.
  const firstMark = !isSet(before.deletionTimestamp) && (before.generation ?? 0) > 0;
  const wasEarlier = isSet(before.deletionTimestamp) && Date.parse(before.deletionTimestamp!) <= nowMs;
  const metadata = withFinalizers(before, finalizers);
  if (firstMark) metadata.generation = before.generation! + 1;
  metadata.deletionTimestamp = wasEarlier ? before.deletionTimestamp! : timestampOf(nowMs + graceSeconds * 1000);
  metadata.deletionGracePeriodSeconds = graceSeconds;
  return metadata;
}

function withFinalizers(before: ObjectMeta, finalizers: readonly string[]): Own<ObjectMeta> {
  if (finalizers.length === 0 && before.finalizers !== undefined) {
    const { finalizers: _, ...rest } = before;
    return rest;
  }
  const metadata = ownCopy(before);
  if (finalizers.length > 0) metadata.finalizers = finalizers;
  return metadata;
}

/** Of an object that ends gracefully: gone at once where it has no time left and nothing keeps it. */
function ended(object: JsonObject, metadata: ObjectMeta): DeletionOutcome {
  const { object: next } = store(object, metadata);
  return { action: isReadyToRemove(next) ? 'storeAndRemove' : 'store', object: next };
}

function store(object: JsonObject, metadata: ObjectMeta): DeletionOutcome {
  return { action: 'store', object: withMetadata(object, metadata) };
}

/** The finalizers with those of garbage collection set as asked, else as they are, else as the type's default says. */
export function finalizersOnDelete(
  present: readonly string[],
  type: ResourceType,
  { propagationPolicy, orphanDependents, collectsGarbage }: Omit<Deletion, 'graceSeconds' | 'graceAskedSeconds'>,
): readonly string[] {
  if (!collectsGarbage) return present;
  const { defaultPropagation } = type.traits;
  const asked = propagationPolicy ?? policyOf(orphanDependents) ?? presentPolicy(present);
  const policy = defaultPropagation === 'Unsupported' ? defaultPropagation : (asked ?? defaultPropagation);
  const others = present.filter((finalizer) => finalizer !== ORPHAN_FINALIZER && finalizer !== FOREGROUND_FINALIZER);
  if (policy === 'Orphan') others.push(ORPHAN_FINALIZER);
  if (policy === 'Foreground') others.push(FOREGROUND_FINALIZER);
  return others.length === present.length && (sameList(others, present) || areAmong(others, new Set(present)))
    ? present
    : others;
}

function areAmong(finalizers: readonly string[], known: ReadonlySet<string>): boolean {
  return finalizers.every((finalizer) => known.has(finalizer));
}

function policyOf(orphanDependents: boolean | undefined): PropagationPolicy | undefined {
  if (orphanDependents === undefined) return undefined;
  return orphanDependents ? 'Orphan' : 'Background';
}

function presentPolicy(finalizers: readonly string[]): PropagationPolicy | undefined {
  const found = finalizers.find((finalizer) => finalizer === ORPHAN_FINALIZER || finalizer === FOREGROUND_FINALIZER);
  if (found === undefined) return undefined;
  return found === ORPHAN_FINALIZER ? 'Orphan' : 'Foreground';
}

function sameList(left: readonly string[], right: readonly string[]): boolean {
  return left === right || (left.length === right.length && left.every((item, index) => item === right[index]));
}
