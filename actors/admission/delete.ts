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
import { type Slab, valueView } from '../../storage/slab-record.ts';
import { asAnswer } from './answer.ts';
import { commitEach, commitOne, type Draft, draftDelete, draftPut, withAlso } from './commit.ts';
import type { WriteReply, WriteRequest } from './protocol.ts';
import { deleteOptions } from './request-body.ts';
import { readCurrent, type StoredObject, type WriteContext } from './write-context.ts';

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
    // Facts: a deletion that has only begun is 202 to those who ask for it in this way.
    const begunCode = options.orphanDependents === false ? 202 : 200;
    if (action === 'pending') return { code: begunCode, place: stored.place };
    const result = await commitOne(write, await draftFor(write, type, stored, outcome));
    if (result.ok)
      return action === 'remove'
        ? { code: 200, body: removedAnswer(type, object) }
        : { code: begunCode, place: result.places[0]! };
  }
  throw new StatusError(conflictModified(type, name));
}

/** Deletes what the selectors select, and answers with the list of it as it was. What appears meanwhile may stay. */
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
  // As they are now: the places stay readable in these, whatever becomes of the store meanwhile.
  const slabs = write.slabs.current;
  const items: JsonObject[] = [];
  try {
    const { places } = answer;
    for (let from = 0; from < places.length; from += COLLECTION_COMMIT_OBJECTS * 2) {
      const some = storedAt(places.subarray(from, from + COLLECTION_COMMIT_OBJECTS * 2), slabs);
      await deleteSome(write, type, some, options);
      for (const { object } of some) items.push(asItem(object));
    }
  } finally {
    write.hub.tell<'release'>({ type: 'release', pin: answer.pin });
  }
  const metadata = { resourceVersion: String(answer.revision) };
  return { code: 200, body: { kind: type.listKind, apiVersion: type.apiVersion, metadata, items } };
}

function storedAt(places: Uint32Array, slabs: readonly (Slab | undefined)[]): StoredObject[] {
  const stored: StoredObject[] = [];
  for (let i = 0; i < places.length; i += 2) {
    const [slab, offset] = [places[i]!, places[i + 1]!];
    const object = JSON.parse(valueView(slabs[slab]!, offset).toString('utf8')) as JsonObject;
    stored.push({ object, place: { slab, offset, revision: Number(metadataOf(object).resourceVersion) } });
  }
  return stored;
}

/** Items of a list leave out what the list says of all of them. */
function asItem({ kind: _kind, apiVersion: _apiVersion, ...item }: JsonObject): JsonObject {
  return item;
}

/** Throws 409 where a precondition does not hold; what was deleted before stays deleted. */
async function deleteSome(
  write: WriteContext,
  type: KnownType,
  some: readonly StoredObject[],
  options: DeleteOptions,
): Promise<void> {
  const outcomes: DeletionOutcome[] = [];
  const drafted: StoredObject[] = [];
  for (const stored of some) {
    requirePreconditions(stored.object, type, options.preconditions ?? {});
    const outcome = outcomeFor(write, type, stored.object, options);
    if (outcome.action === 'pending' || isDryRun(options)) continue;
    outcomes.push(outcome);
    drafted.push(stored);
  }
  const drafts = await Promise.all(outcomes.map((outcome, at) => draftFor(write, type, drafted[at]!, outcome)));
  const results = drafts.length === 0 ? [] : await commitEach(write, drafts);
  for (const [index, result] of results.entries()) {
    if (!result.ok && result.reason !== 'missing') await deleteAgain(write, type, drafted[index]!.object, options);
  }
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
    requirePreconditions(stored.object, type, options.preconditions ?? {});
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
