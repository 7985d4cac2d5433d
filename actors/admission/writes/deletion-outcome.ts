// What a DELETE makes of one object: whether its plugins let it go, its grace period, its finalizers. Decides and drafts;
// reading and committing is the callers'.

import type { StoredForm } from '../../../api/catalog/stored-form.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import {
  type Deletion,
  type DeletionOutcome,
  type PropagationPolicy,
  prepareDelete,
} from '../../../api/metadata/deletion.ts';
import { metadataOf, timestampOf } from '../../../api/metadata/object-meta.ts';
import type { DeleteOptions } from '../../../api/requests/request-options.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import type { Strategy } from '../../../api/strategy/strategy.ts';
import { type Soon, whenThere } from '../../../runtime/soon.ts';
import { fieldText } from '../../../storage/records/record-fields.ts';
import type { Attributes } from '../attributes.ts';
import {
  type Draft,
  draftDelete,
  draftMetadata,
  draftOfLast,
  draftPut,
  draftPutAsStored,
  NO_DRAFTS,
  withAlso,
} from '../commits/draft.ts';
import { converted } from '../conversion/converted.ts';
import type { KindVersion } from '../kind-version.ts';
import { NO_PLUGINS } from '../plugins/chain.ts';
import { PLUGIN_STEPS, takeSteps } from '../steps/steps.ts';
import { findStored } from '../stored/store-reader.ts';
import type { StoredObject } from '../stored/stored-object.ts';
import type { WriteContext } from '../write-context.ts';

/** What becomes of an object, or of as much of it as was read. */
export interface DecidedDeletion extends DeletionOutcome {
  /** `object` is metadata alone (`StoredObject.metadataApart`). */
  readonly isApart: boolean;
}

/**
 * What becomes of an object on a DELETE with valid options. `isShown`: the object that it comes to is answered, and has to be there
 * whole.
 */
export function outcomeFor(
  write: WriteContext,
  type: KnownType,
  stored: StoredObject,
  options: DeleteOptions,
  isShown = false,
): DecidedDeletion {
  const kind = write.kinds.of(type);
  const { strategy } = kind;
  const deletion: Deletion = {
    nowMs: write.context.clock.nowMs(),
    graceSeconds: graceSeconds(type, strategy, stored, options.gracePeriodSeconds),
    graceAskedSeconds: options.gracePeriodSeconds,
    propagationPolicy: options.propagationPolicy as PropagationPolicy | undefined,
    orphanDependents: options.orphanDependents,
    collectsGarbage: write.deletion.collectsGarbage,
  };
  const apart = isShown || stored.isParsed || !goesByMetadata(kind) ? undefined : stored.metadataApart;
  if (apart !== undefined) {
    const { action, object } = prepareDelete(apart, type, deletion);
    // A removal answers the object of some types.
    if (action !== 'remove' || type.traits.deleteReturns !== 'object') return { action, object, isApart: true };
  }
  const outcome = strategy.onDelete?.(stored.object, type, deletion) ?? prepareDelete(stored.object, type, deletion);
  return { action: outcome.action, object: outcome.object, isApart: false };
}

function graceSeconds(
  type: KnownType,
  strategy: Strategy,
  stored: StoredObject,
  asked: number | undefined,
): number | undefined {
  if (strategy.graceSeconds === undefined) return undefined;
  if (!stored.isParsed && marksOf(type, strategy).some(({ index, text }) => stored.fieldIs(index, text))) return 0;
  return strategy.graceSeconds(stored.object, asked);
}

/** Whether metadata says all that a DELETE of the kind asks, for objects that end at once. */
function goesByMetadata({ type, strategy, allocation }: KindVersion): boolean {
  if (type.custom !== undefined || strategy.onDelete !== undefined || allocation !== undefined) return false;
  return strategy.graceSeconds !== undefined || type.traits.deleteReturns !== 'object';
}

/** A field that is stored with the objects of a type to select them by, and a text of it. */
interface FieldMark {
  readonly index: number;
  readonly text: Buffer;
}

const marks = new WeakMap<KnownType, readonly FieldMark[]>();

/** By which the record of an object tells that it ends at once. */
function marksOf(type: KnownType, { endsAtOnce = [] }: Strategy): readonly FieldMark[] {
  let known = marks.get(type);
  if (known === undefined) {
    known = endsAtOnce.map(([field, text]) => ({ index: type.storedFields.indexOf(field), text: fieldText(text) }));
    marks.set(type, known);
  }
  return known;
}

/**
 * True for an object whose end is under way, and which the DELETE does not hasten: its grace period runs, or what is in it is going. Who
 * waits for finalizers alone is asked about again: a DELETE may ask for others.
 */
function isUnderWay(write: WriteContext, { type, kind, asked }: Attributes, stored: StoredObject): boolean {
  const { graceSeconds, onDelete } = kind.strategy;
  if ((graceSeconds === undefined && onDelete === undefined) || asked.deletion === undefined) return false;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadataOf(stored.described);
  if ((deletionTimestamp ?? '') === '' || deletionGracePeriodSeconds === 0) return false;
  return outcomeFor(write, type, stored, asked.deletion, asked.dryRun).action === 'pending';
}

/** Asks the plugins whether an object may be deleted; of one whose end is under way they have been asked. Throws what refuses it. */
export function admitDeletion(
  write: WriteContext,
  attributes: Attributes,
  tries: number,
  stored: StoredObject,
): Promise<void> | undefined {
  const { plugins } = attributes.asked;
  if (plugins === NO_PLUGINS || isUnderWay(write, attributes, stored)) return undefined;
  const { type } = attributes;
  const shownBy = (forms: StoredForm): JsonObject => forms.asked(type, stored.object, stored.schemaGeneration);
  const admit = (readOld: () => JsonObject): Promise<void> | undefined => {
    attributes.beginDeletion(tries, timestampOf(write.context.clock.nowMs()), readOld);
    const waiting = takeSteps(PLUGIN_STEPS, attributes, write);
    // Whoever goes on after a wait finds it parsed.
    if (waiting !== undefined) void attributes.old;
    return waiting;
  };
  if (type.custom === undefined) return admit(() => shownBy(write.forms));
  const old = converted(write, type, shownBy);
  return old instanceof Promise ? old.then((shown) => admit(() => shown)) : admit(() => old);
}

/** What stays of a custom object: it may lie there in a version that was stored once, or under an earlier schema. */
function customStored(
  { registry }: WriteContext,
  forms: StoredForm,
  type: KnownType,
  { schemaGeneration }: StoredObject,
  object: JsonObject,
): JsonObject {
  const lies = forms.stored(type, object);
  const own = registry.storageType(type.storageKey);
  return lies !== object || own === undefined ? lies : forms.asked(own, object, schemaGeneration);
}

/** The outcome as a draft against the revision that was read, with what goes along with a removed object. */
export function draftFor(
  write: WriteContext,
  type: KnownType,
  stored: StoredObject,
  { action, object, isApart }: DecidedDeletion,
): Soon<Draft> {
  const metadata = metadataOf(object);
  const { revision } = stored.place;
  if (action === 'remove') {
    const removal = draftDelete(type, metadata.namespace ?? '', metadata.name ?? '', revision);
    return whenThere(draftsWithRemoval(write, type, object), (others) => withAlso(removal, others));
  }
  const asLast = (draft: Draft): Draft => (action === 'storeAndRemove' ? draftOfLast(draft) : draft);
  if (isApart) return asLast(draftMetadata(type, metadata, stored));
  const stays =
    type.custom === undefined
      ? object
      : converted(write, type, (forms) => customStored(write, forms, type, stored, object));
  return whenThere(stays, (next) =>
    asLast(next === object ? draftPutAsStored(type, next, stored) : draftPut(type, next, revision)),
  );
}

/** What is committed with the removal of an object: what it gives back, and the end of its companion. */
export function draftsWithRemoval(write: WriteContext, type: KnownType, object: JsonObject): Soon<readonly Draft[]> {
  const { allocation, strategy } = write.kinds.of(type);
  const given = allocation === undefined ? NO_DRAFTS : allocation.release(type, object);
  if (strategy.companion === undefined) return given;
  const { namespace = '', name = '' } = metadataOf(object);
  const { companion } = strategy;
  return whenThere(given, (drafts) =>
    whenThere(companionEnd(write, companion, namespace, name), (end) => [...drafts, ...end]),
  );
}

/** As a DELETE without options ends it; nothing where there is none, or where it is ending already. */
function companionEnd(
  write: WriteContext,
  storageKey: string,
  namespace: string,
  name: string,
): Soon<readonly Draft[]> {
  const type = write.registry.storageType(storageKey);
  if (type === undefined) return NO_DRAFTS;
  return whenThere(findStored(write, type, namespace, name), (stored) => {
    if (stored === null) return NO_DRAFTS;
    const outcome = outcomeFor(write, type, stored, {});
    return outcome.action === 'pending' ? NO_DRAFTS : whenThere(draftFor(write, type, stored, outcome), (end) => [end]);
  });
}
