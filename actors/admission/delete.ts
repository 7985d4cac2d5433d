// DELETE of one object and of a collection: what the object's finalizers and grace period still allow, it waits for;
// else it is removed.
import { type Deletion, type DeletionOutcome, prepareDelete, requirePreconditions } from '../../api/deletion.ts';
import type { JsonObject } from '../../api/json-value.ts';
import { metadataOf } from '../../api/object-meta.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { compileFieldSelector } from '../../api/selectors/field-selector.ts';
import { parseLabelSelector } from '../../api/selectors/label-selector.ts';
import { conflictModified, forbidden, notFound, serviceUnavailable } from '../../api/status/failures.ts';
import { StatusError } from '../../api/status/status.ts';
import { deleted } from '../../api/status/successes.ts';
import { type DeleteOptions, isDryRun } from '../../api/validation/options.ts';
import { asAnswer } from './answer.ts';
import { commitEach, commitOne, type Draft, draftDelete, draftPut, withAlso } from './commit.ts';
import type { WriteReply, WriteRequest } from './protocol.ts';
import { deleteOptions } from './request-body.ts';
import { decodePlace, readCurrent, type StoredObject, type WriteContext } from './write-context.ts';

const TRIES_MAX = 32;
/** Objects removed by one commit of a DELETE on a collection, times the workers asked for. */
const COLLECTION_COMMIT_OBJECTS = 128;

export async function deleteOne(write: WriteContext, request: WriteRequest, type: KnownType): Promise<WriteReply> {
  const options = deleteOptions(write.schema, request, write.dialect.metaGroup);
  const { namespace, name } = request.target;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const stored = await readCurrent(write, type, namespace, name);
    if (stored === null) throw new StatusError(notFound(type, name));
    requirePreconditions(stored.object, type, options.preconditions ?? {});
    const outcome = outcomeFor(write, type, stored.object, options);
    const { action, object } = outcome;
    if (isDryRun(options))
      return { code: 200, body: action === 'remove' ? removedAnswer(type, object) : asAnswer(type, object) };
    if (action === 'pending') return { code: 200, place: stored.place };
    const result = await commitOne(write, await draftFor(write, type, stored, outcome));
    if (result.ok)
      return action === 'remove'
        ? { code: 200, body: removedAnswer(type, object) }
        : { code: 200, place: result.places[0]! };
  }
  throw new StatusError(conflictModified(type, name));
}

/** Deletes what the selectors select, and answers with the list of it. What appears meanwhile may stay. */
export async function deleteCollection(
  write: WriteContext,
  request: WriteRequest,
  type: KnownType,
): Promise<WriteReply> {
  const options = deleteOptions(write.schema, request, write.dialect.metaGroup);
  const { labelSelector = '', fieldSelector = '' } = request.parameters;
  if (labelSelector !== '') parseLabelSelector(labelSelector);
  if (fieldSelector !== '') compileFieldSelector(fieldSelector, type.selectableFields);
  const { storageKey } = type;
  const { namespace } = request.target;
  const answer = await write.hub.ask(
    {
      type: 'list',
      storageKey,
      namespace,
      labelSelector,
      fieldSelector,
      limit: 0,
      continueToken: '',
      freshness: { kind: 'mostRecent' },
    },
    { deadlineMs: write.requestTimeoutMs },
  );
  if (answer.refused !== undefined)
    throw new StatusError(serviceUnavailable('the server has not read the store yet, try again'));
  const items: JsonObject[] = [];
  try {
    const { places } = answer;
    for (let from = 0; from < places.length; from += COLLECTION_COMMIT_OBJECTS * 2) {
      const some = places.subarray(from, from + COLLECTION_COMMIT_OBJECTS * 2);
      items.push(...(await deleteSome(write, type, some, options)));
    }
  } finally {
    write.hub.tell<'release'>({ type: 'release', pin: answer.pin });
  }
  const metadata = { resourceVersion: String(answer.revision) };
  return { code: 200, body: { kind: type.listKind, apiVersion: type.apiVersion, metadata, items } };
}

async function deleteSome(
  write: WriteContext,
  type: KnownType,
  places: Uint32Array,
  options: DeleteOptions,
): Promise<JsonObject[]> {
  const outcomes: DeletionOutcome[] = [];
  const stored: StoredObject[] = [];
  for (let i = 0; i < places.length; i += 2) {
    const place = { slab: places[i]!, offset: places[i + 1]!, revision: 0 };
    const object = decodePlace(write, place);
    const current = { object, place: { ...place, revision: Number(metadataOf(object).resourceVersion) } };
    const outcome = outcomeFor(write, type, object, options);
    if (outcome.action === 'pending' || isDryRun(options)) continue;
    outcomes.push(outcome);
    stored.push(current);
  }
  const drafts = await Promise.all(outcomes.map((outcome, at) => draftFor(write, type, stored[at]!, outcome)));
  const results = drafts.length === 0 ? [] : await commitEach(write, drafts);
  for (const [index, result] of results.entries()) {
    if (!result.ok && result.reason !== 'missing') await deleteAgain(write, type, stored[index]!.object, options);
  }
  return stored.map(({ object }) => object);
}

/** An object that changed between the list and its removal is deleted by itself. */
async function deleteAgain(
  write: WriteContext,
  type: KnownType,
  object: JsonObject,
  options: DeleteOptions,
): Promise<void> {
  const { namespace = '', name = '' } = metadataOf(object);
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const stored = await readCurrent(write, type, namespace, name);
    if (stored === null) return;
    const outcome = outcomeFor(write, type, stored.object, options);
    if (outcome.action === 'pending') return;
    if ((await commitOne(write, await draftFor(write, type, stored, outcome))).ok) return;
  }
}

async function draftFor(
  write: WriteContext,
  type: KnownType,
  stored: StoredObject,
  { action, object }: DeletionOutcome,
): Promise<Draft> {
  const { namespace = '', name = '' } = metadataOf(object);
  const { revision } = stored.place;
  if (action !== 'remove') return draftPut(type, object, revision);
  return withAlso(draftDelete(type, namespace, name, revision), await write.services.release(type, object));
}

function outcomeFor(write: WriteContext, type: KnownType, object: JsonObject, options: DeleteOptions): DeletionOutcome {
  const deletion: Deletion = {
    nowMs: write.context.clock.nowMs(),
    graceSeconds: type.storageKey === 'core/pods' ? podGraceSeconds(object, options) : undefined,
    graceAsked: options.gracePeriodSeconds !== undefined,
    // Dependents are left to whoever owns them until the garbage collector runs: a finalizer only it removes would keep
    // the object for ever.
    propagationPolicy: 'Background',
    orphanDependents: undefined,
  };
  if (type.storageKey === 'core/namespaces') return namespaceOutcome(write, type, object, deletion);
  return prepareDelete(object, type, deletion);
}

/** Facts: option, else the pod's own period, else 0; 0 when it is bound to no node or has ended. */
function podGraceSeconds(pod: JsonObject, options: DeleteOptions): number {
  const spec = (pod.spec ?? {}) as { nodeName?: string; terminationGracePeriodSeconds?: number };
  const { phase } = (pod.status ?? {}) as { phase?: string };
  if ((spec.nodeName ?? '') === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
  const asked = options.gracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? 0;
  // A negative period means at once, as short as one can ask for.
  return asked < 0 ? 1 : asked;
}

/** A namespace goes through Terminating: its contents first, then spec.finalizers, then itself. */
function namespaceOutcome(
  write: WriteContext,
  type: KnownType,
  object: JsonObject,
  deletion: Deletion,
): DeletionOutcome {
  const { name = '', deletionTimestamp } = metadataOf(object);
  const { dialect } = write;
  if (name === 'default' || name === dialect.systemNamespace || name === dialect.publicNamespace) {
    throw new StatusError(forbidden(type, name, 'this namespace may not be deleted'));
  }
  const finalizers = (object.spec as { finalizers?: readonly string[] } | undefined)?.finalizers ?? [];
  if (finalizers.length === 0) return prepareDelete(object, type, deletion);
  if (deletionTimestamp) return { action: 'pending', object };
  const metadata = {
    ...metadataOf(object),
    deletionTimestamp: new Date(deletion.nowMs).toISOString().replace(/\.\d+Z$/, 'Z'),
  };
  return {
    action: 'store',
    object: { ...object, metadata, status: { ...(object.status as JsonObject | undefined), phase: 'Terminating' } },
  };
}

/** What a completed DELETE answers with. */
function removedAnswer(type: KnownType, object: JsonObject): object {
  const { name = '', uid = '' } = metadataOf(object);
  return type.strategy.deleteReturns === 'object' ? asAnswer(type, object) : deleted(type, name, uid);
}
