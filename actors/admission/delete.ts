// DELETE of one object: what its finalizers and grace period still allow, it waits for; else it is removed. What becomes
// of its dependents is asked of the garbage collector, by way of a finalizer.
import { requirePreconditions } from '../../api/deletion.ts';
import type { JsonObject } from '../../api/json-value.ts';
import { metadataOf } from '../../api/object-meta.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { conflictModified, notFound } from '../../api/status/failures.ts';
import { StatusError } from '../../api/status/status.ts';
import { deleted } from '../../api/status/successes.ts';
import { isDryRun } from '../../api/validation/options.ts';
import { asAnswer } from './answer.ts';
import { commitOne } from './commit.ts';
import { draftFor, outcomeFor } from './deletion-outcome.ts';
import type { WriteReply, WriteRequest } from './protocol.ts';
import { deleteOptions } from './request-body.ts';
import { readCurrent } from './store-reader.ts';
import type { WriteContext } from './write-context.ts';

const TRIES_MAX = 32;

/** Answers with a Status when the object is gone (some types with the object), with the object while it is on its way. */
export async function deleteOne(write: WriteContext, request: WriteRequest, type: KnownType): Promise<WriteReply> {
  const options = deleteOptions(write.schema, request, write.dialect.metaGroup);
  const { namespace, name } = request.target;
  // Only those who ask in the deprecated form are told by the code that there is more to come.
  const startedCode = options.orphanDependents === false ? 202 : 200;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const stored = await readCurrent(write, type, namespace, name);
    if (stored === null) throw new StatusError(notFound(type, name));
    requirePreconditions(stored.object, type, options.preconditions ?? {});
    const outcome = outcomeFor(write, type, stored.object, options);
    const { action, object } = outcome;
    const removed: WriteReply | undefined =
      action === 'remove' ? { code: 200, body: removedAnswer(write, type, object) } : undefined;
    if (isDryRun(options))
      return removed ?? { code: startedCode, body: asAnswer(type, write.forms.asked(type, object)) };
    if (action === 'pending') return { code: startedCode, place: stored.place };
    const result = await commitOne(write, await draftFor(write, type, stored, outcome));
    if (result.ok) return removed ?? { code: startedCode, place: result.places[0]! };
  }
  throw new StatusError(conflictModified(type, name));
}

/** What a completed DELETE answers with. */
function removedAnswer(write: WriteContext, type: KnownType, object: JsonObject): object {
  const { name = '', uid = '' } = metadataOf(object);
  return type.strategy.deleteReturns === 'object'
    ? asAnswer(type, write.forms.asked(type, object))
    : deleted(type, name, uid);
}
