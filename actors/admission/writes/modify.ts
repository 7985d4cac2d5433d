// Changing an object that is there: read, changed by the steps of an update, and stored against the revision that was read, until nobody
// came in between. What is wanted of it, a PUT, a patch or an apply, is its caller's.

import type { StoredForm } from '../../../api/catalog/stored-form.ts';
import type { InParts } from '../../../api/in-parts.ts';
import { deepEqual } from '../../../api/json/deep-equal.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { ownCopy } from '../../../api/json/own-copy.ts';
import { isReadyToRemove } from '../../../api/metadata/deletion.ts';
import { insistsOnVersion, isUnchanged } from '../../../api/metadata/metadata.ts';
import { metadataOf, timestampOf, withMetadata } from '../../../api/metadata/object-meta.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { conflictModified } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import { type Soon, whenThere } from '../../../runtime/soon.ts';
import { type Attributes, NO_OBJECT } from '../attributes.ts';
import { withWarnings } from '../bodies/field-validation.ts';
import { draftDelete, draftPut, draftUpdate, requireSize, withAlso } from '../commits/draft.ts';
import { asReadBack, converted } from '../conversion/converted.ts';
import { isReadAtOnce } from '../heap-of-writes.ts';
import { afterOthers, done } from '../large-writes.ts';
import type { WriteReply, WriteRequest } from '../protocol.ts';
import { takeSteps, UNCHANGED_STEPS, UPDATE_STEPS } from '../steps/steps.ts';
import { requireValidView } from '../steps/validity.ts';
import { findStored } from '../stored/store-reader.ts';
import type { StoredObject } from '../stored/stored-object.ts';
import type { WriteContext } from '../write-context.ts';
import { asAnswer } from './answer.ts';
import { type Attempt, type Refusal, TRIES_MAX, untilCommitted } from './attempts.ts';
import { draftsWithRemoval } from './deletion-outcome.ts';
import { foundInRoom } from './large-stored.ts';
import {
  changeOfNothing,
  isByMetadata,
  type MetadataChange,
  metadataChange,
  type WantedMetadata,
} from './metadata-change.ts';
import { attributesOf } from './request-attributes.ts';

/** One way of changing an object. */
export interface Modification {
  readonly dryRun: boolean;
  /** Who changes fields owns them; false where what is wanted says itself who does. */
  readonly isTracked: boolean;
  /** What is wanted is the object itself, also where the client is shown a view of it. */
  readonly isWhole?: boolean;
  /** What the client wants, from what it is shown; an apply that is known to change nothing answers just that. */
  readonly wanted: (shown: JsonObject, forms: StoredForm) => InParts<JsonObject>;
  /** The same of metadata alone, where nothing else is wanted. */
  readonly wantedMetadata?: WantedMetadata | undefined;
  /** Of what was wanted last: as `DecodedObject.emptied`. */
  readonly emptied?: () => readonly string[] | undefined;
  /** True where it is known to be what is there at a revision. */
  readonly isKnown?: (revision: string) => boolean;
  /** Answers undefined when the object was there after all. */
  readonly whenMissing: () => Promise<WriteReply | undefined>;
}

/** Reads, changes and stores until nobody came in between. */
export async function modify(
  write: WriteContext,
  request: WriteRequest,
  type: KnownType,
  modification: Modification,
): Promise<WriteReply> {
  const { namespace, name } = request.target;
  const { dryRun, isTracked, isKnown, whenMissing } = modification;
  const isPatch = request.verb === 'patch';
  const attributes = attributesOf(write, request, type, { operation: 'update', dryRun, isTracked, isPatch });
  const byMetadata = isByMetadata(write, attributes) ? modification.wantedMetadata : undefined;
  const isPut = request.verb === 'update';
  // What is found is read in the turn that was told of it.
  const change = (stored: StoredObject | null, tries: number): Soon<Attempt<WriteReply> | undefined> => {
    if (stored === null) return whenMissing().then((answer) => answer && { answer });
    const short = isKnown?.(String(stored.place.revision))
      ? changeOfNothing(write, attributes, stored, tries)
      : byMetadata && metadataChange(write, attributes, stored, tries, byMetadata);
    if (short !== undefined) return changeMetadata(write, attributes, stored, short, isPut);
    return changeWhole(write, attributes, stored, { tries, isPut, modification });
  };
  const attempt = (tries: number): Soon<Attempt<WriteReply> | undefined> =>
    whenThere(findStored(write, type, namespace, name), (stored) => {
      if (stored === null || isReadAtOnce(write.heapShare, stored)) return change(stored, tries);
      return foundInRoom(write, type, request.target, stored).then((present) => change(present, tries));
    });
  return untilCommitted(write, TRIES_MAX, attempt, () => conflictModified(type, name), attributes);
}

/** One try of changing a stored object. */
interface Change {
  readonly tries: number;
  readonly isPut: boolean;
  readonly modification: Modification;
}

async function changeWhole(
  write: WriteContext,
  attributes: Attributes,
  stored: StoredObject,
  { tries, isPut, modification }: Change,
): Promise<Attempt<WriteReply> | undefined> {
  const { type } = attributes;
  const { dryRun, isTracked, isWhole = false, wanted, wantedMetadata } = modification;
  const view = isWhole ? undefined : attributes.asked.view;
  const { object: found, isLarge: isLargeNow } = stored;
  attributes.isLarge ||= isLargeNow;
  // All that are read in this turn are, before the first of them goes on: writes that take a step one after the other find its code in
  // the processor's cache, which is an eighth of what a PUT costs beside 63 others.
  await (isLargeNow ? afterOthers(write) : undefined);
  const shownAs = converted(write, type, (forms) => forms.asked(type, found, stored.schemaGeneration));
  const asStored = shownAs instanceof Promise ? await shownAs : shownAs;
  const isOlder = type.custom === undefined && stored.schemaGeneration !== write.completion.generation;
  const old = isOlder ? write.completion.ofOlder(asStored, attributes.kind, write.dialect) : asStored;
  const shown = view === undefined ? old : view.of(old);
  const wants = converted(write, type, (forms) => done(write, attributes.isLarge, wanted(shown, forms)));
  const sent = wants instanceof Promise ? await wants : wants;
  if (attributes.isLarge) await afterOthers(write);
  requireValidView(write, view, sent);
  const object = view === undefined ? sent : view.applied(old, sent, type);
  attributes.begin(tries, timestampOf(write.context.clock.nowMs()), old, object);
  attributes.emptied = modification.emptied?.() ?? attributes.emptied;
  const isSettled = object === old && !isTracked;
  const waiting = takeSteps(isSettled ? UNCHANGED_STEPS : UPDATE_STEPS, attributes, write);
  if (waiting !== undefined) await waiting;
  if (dryRun) return { answer: answerWith(attributes, await asReadBack(write, type, attributes.object)) };
  // Not all that completes an object is asked about a part of it.
  const isCompleted = !isSettled && attributes.subresource === '';
  const completedBy = isCompleted ? write.completion.generation : stored.schemaGeneration;
  const hasVersion = insistsOnVersion(metadataOf(sent));
  return decide(write, attributes, stored, { isPut, hasVersion, completedBy, cameTo: wantedMetadata?.cameTo });
}

/** What a change of metadata alone comes to, once it is let pass. */
function changeMetadata(
  write: WriteContext,
  attributes: Attributes,
  stored: StoredObject,
  { draft, hasVersion: insists, admitted }: MetadataChange,
  isPut: boolean,
): Soon<Attempt<WriteReply>> {
  const decideNow = (): Soon<Attempt<WriteReply>> => {
    const completedBy = stored.schemaGeneration;
    if (!attributes.isApart) return decide(write, attributes, stored, { isPut, hasVersion: insists, completedBy });
    if (draft === undefined) return { answer: answerAt(attributes, stored.place, NO_OBJECT) };
    requireSize(draft, stored.bytes);
    return {
      draft: withAlso(draft, attributes.also, attributes.guards),
      committed: (written) => answerAt(attributes, written, NO_OBJECT),
      lost: () => refuseLost(attributes, isPut && insists),
    };
  };
  return admitted === undefined ? decideNow() : admitted.then(decideNow);
}

/** What was lost may be a free address and not the race for the object: then it is the caller's version still. Throws 409. */
function refuseLost({ type, asked, also }: Attributes, insists: boolean): void {
  if (insists && also.length === 0) throw new StatusError(conflictModified(type, asked.name));
}

/** What of a request tells how its object is to be taken. */
interface SentObject {
  readonly isPut: boolean;
  /** It insists on the version that it names. */
  readonly hasVersion: boolean;
  /** As `Made` has it. */
  readonly completedBy: number;
  /** As `WantedMetadata` has it. */
  readonly cameTo?: WantedMetadata['cameTo'];
}

/** What an updated object comes to: its removal, its new state, or nothing when it is as it was. */
async function decide(
  write: WriteContext,
  attributes: Attributes,
  stored: StoredObject,
  { isPut, hasVersion, completedBy, cameTo }: SentObject,
): Promise<Attempt<WriteReply>> {
  const { type, kind, object, also, guards } = attributes;
  const { namespace, name } = attributes.asked;
  const { place } = stored;
  const lost = (): void => refuseLost(attributes, isPut && hasVersion);
  if (isReadyToRemove(object) && !kind.strategy.isHeld?.(object)) {
    const others = await draftsWithRemoval(write, type, attributes.old!);
    const draft = withAlso(draftDelete(type, namespace, name, place.revision), others, guards);
    const lostItself = ({ key }: Refusal): void => {
      if (key === draft.key) lost();
    };
    return { draft, committed: () => answerWith(attributes, object), lost: others.length === 0 ? lost : lostItself };
  }
  const unchanged = { answer: answerAt(attributes, place, attributes.old!) };
  if (object === attributes.old && !stored.isStale) return unchanged;
  const made = await converted(write, type, (forms) => forms.stored(type, object));
  if (isUnchanged(made, stored.object) && !stored.isStale) return unchanged;
  if (attributes.isLarge) await afterOthers(write);
  // What a patch or a view leaves as it was is the stored object's own part, which may have been completed in place since it was read.
  // What a PUT says was complete before it was found to be the same.
  const isWhole = isPut && attributes.asked.view === undefined;
  const isTextOf = isWhole && attributes.isComplete && type.custom === undefined;
  const next = isTextOf ? withStoredSpec(made, stored.object) : made;
  if (isTextOf) cameTo?.(stored, next, attributes);
  const how = { completedBy, texts: attributes.texts };
  const put = isTextOf ? draftUpdate(type, next, stored, how) : draftPut(type, next, place.revision, how);
  requireSize(put, stored.bytes);
  const draft = withAlso(put, also, guards);
  return { draft, committed: (written) => answerAt(attributes, written, object), lost };
}

/** Where a spec says what is stored: plugins complete one in an order of theirs. */
function withStoredSpec(next: JsonObject, { spec }: JsonObject): JsonObject {
  return next.spec !== spec && deepEqual(next.spec, spec) ? { ...next, spec } : next;
}

/** What is answered of an object that lies at a place. */
function answerAt(attributes: Attributes, place: StoredObject['place'], object: JsonObject): WriteReply {
  if (attributes.asked.view === undefined) return withWarnings({ code: 200, place }, attributes.warnings);
  const metadata = ownCopy(metadataOf(object));
  metadata.resourceVersion = String(place.revision);
  return answerWith(attributes, withMetadata(object, metadata));
}

/** What is answered of an object that is not stored like this. */
function answerWith({ asked: { view }, type, warnings }: Attributes, object: JsonObject): WriteReply {
  const body = view === undefined ? asAnswer(type, object) : (view.ofWritten ?? view.of)(object);
  return withWarnings({ code: 200, body }, warnings);
}
