// DELETE of one object: what its finalizers and grace period still allow, it waits for; else it is removed. What becomes
// of its dependents is asked of the garbage collector, by way of a finalizer.

import type { JsonObject } from '../../../api/json/json-value.ts';
import { type DeletionOutcome, requirePreconditions } from '../../../api/metadata/deletion.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import { type DeleteOptions, isDryRun } from '../../../api/requests/request-options.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { conflictModified, forbidden, notFound } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import { deleted } from '../../../api/status/successes.ts';
import { type Soon, whenThere } from '../../../runtime/soon.ts';
import type { PublishedPlace } from '../../store/protocol.ts';
import type { Attributes } from '../attributes.ts';
import { withWarnings } from '../bodies/field-validation.ts';
import { deleteOptions } from '../bodies/request-body.ts';
import { withAlso } from '../commits/draft.ts';
import { converted } from '../conversion/converted.ts';
import { isReadAtOnce } from '../heap-of-writes.ts';
import type { WriteReply, WriteRequest } from '../protocol.ts';
import { findStored } from '../stored/store-reader.ts';
import type { StoredObject } from '../stored/stored-object.ts';
import type { WriteContext } from '../write-context.ts';
import { asAnswer } from './answer.ts';
import { type Attempt, TRIES_MAX, untilCommitted } from './attempts.ts';
import { admitDeletion, draftFor, outcomeFor } from './deletion-outcome.ts';
import { foundInRoom } from './large-stored.ts';
import { attributesOf } from './request-attributes.ts';

/** Answers with a Status when the object is gone (some types with the object), with the object while it is on its way. */
export async function deleteOne(write: WriteContext, request: WriteRequest, type: KnownType): Promise<WriteReply> {
  const options = deleteOptions(write.schema, request, write.dialect.metaGroup);
  const { name } = request.target;
  const dryRun = isDryRun(options);
  const attributes = attributesOf(write, request, type, { operation: 'delete', dryRun, deletion: options });
  const why = attributes.kind.strategy.keptFor?.(name);
  if (why !== undefined) throw new StatusError(forbidden(type, name, why));
  const done = await deleteNamed(write, attributes, name, options);
  if (done === undefined) throw new StatusError(notFound(type, name));
  return withWarnings(await answerOf(write, attributes, options, done), attributes.warnings);
}

async function answerOf(
  write: WriteContext,
  { type, asked: { dryRun } }: Attributes,
  options: DeleteOptions,
  done: Deleted,
): Promise<WriteReply> {
  const { schemaGeneration } = done;
  const { action, object } = done.outcome;
  if (action === 'remove' || action === 'storeAndRemove') {
    // What was stored last is answered from the bytes that everybody reads, as any object is.
    const isRead = action === 'storeAndRemove' && !dryRun && type.traits.deleteReturns === 'object';
    if (isRead) return { code: 200, place: done.place };
    return { code: 200, body: await removedAnswer(write, type, object, schemaGeneration) };
  }
  // Only those who ask in the deprecated form are told by the code that there is more to come.
  const code = options.orphanDependents === false ? 202 : 200;
  if (!dryRun) return { code, place: done.place };
  const shown = await converted(write, type, (forms) => forms.asked(type, object, schemaGeneration));
  return { code, body: asAnswer(type, shown) };
}

/** What a DELETE has made of an object, and where that lies if it is not removed. */
export interface Deleted {
  readonly outcome: DeletionOutcome;
  readonly place: PublishedPlace;
  /** Of the schema that it was written under. */
  readonly schemaGeneration: number;
}

/** Deletes the object of a name, if there is one. Throws 409 where a precondition fails, or the object never stands still. */
export function deleteNamed(
  write: WriteContext,
  attributes: Attributes,
  name: string,
  options: DeleteOptions,
): Promise<Deleted | undefined> {
  const { type, asked } = attributes;
  const decide = (stored: StoredObject): Soon<Attempt<Deleted | undefined>> => {
    const { place, schemaGeneration } = stored;
    const outcome = outcomeFor(write, type, stored, options, asked.dryRun);
    if (asked.dryRun || outcome.action === 'pending') return { answer: { outcome, place, schemaGeneration } };
    return whenThere(draftFor(write, type, stored, outcome), (draft) => ({
      draft: withAlso(draft, attributes.also, attributes.guards),
      committed: (written) => ({ outcome, place: written, schemaGeneration }),
    }));
  };
  const admit = (tries: number, stored: StoredObject): Soon<Attempt<Deleted | undefined>> => {
    if (options.preconditions !== undefined) requirePreconditions(stored.described, type, options.preconditions);
    const waiting = admitDeletion(write, attributes, tries, stored);
    return waiting === undefined ? decide(stored) : waiting.then(() => decide(stored));
  };
  const attempt = (tries: number): Soon<Attempt<Deleted | undefined>> =>
    whenThere(findStored(write, type, asked.namespace, name), (stored) => {
      if (stored === null) return { answer: undefined };
      if (isReadAtOnce(write.heapShare, stored)) return admit(tries, stored);
      return foundInRoom(write, type, asked, stored).then((present) => {
        if (present === null) return { answer: undefined };
        // What it says may lie elsewhere when a plugin asks for it.
        void present.object;
        return admit(tries, present);
      });
    });
  return untilCommitted(write, TRIES_MAX, attempt, () => conflictModified(type, name), attributes);
}

/** What a completed DELETE answers with. */
async function removedAnswer(
  write: WriteContext,
  type: KnownType,
  object: JsonObject,
  schemaGeneration: number,
): Promise<object> {
  const { name = '', uid = '' } = metadataOf(object);
  return type.traits.deleteReturns === 'object'
    ? asAnswer(type, await converted(write, type, (forms) => forms.asked(type, object, schemaGeneration)))
    : deleted(type, name, uid);
}
