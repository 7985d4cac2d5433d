// DELETE of a collection: everything that the selectors select as of one revision, in commits of many objects. Holds the
// records of the list until the last one has been read.
import { type DeletionOutcome, requirePreconditions } from '../../api/deletion.ts';
import type { JsonObject } from '../../api/json-value.ts';
import { metadataOf } from '../../api/object-meta.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { storedFieldSelector } from '../../api/selectors/field-selector.ts';
import { parseLabelSelector } from '../../api/selectors/label-selector.ts';
import { conflictModified } from '../../api/status/failures.ts';
import { StatusError } from '../../api/status/status.ts';
import { type DeleteOptions, isDryRun } from '../../api/validation/options.ts';
import { commitEach, commitOne } from './commit.ts';
import { draftFor, outcomeFor } from './deletion-outcome.ts';
import type { WriteReply, WriteRequest } from './protocol.ts';
import { deleteOptions } from './request-body.ts';
import { readCurrent, type StoredObject } from './store-reader.ts';
import { type ListedPlaces, NUMBERS_A_PLACE, storedAt, withList } from './stored-list.ts';
import type { WriteContext } from './write-context.ts';

const TRIES_MAX = 32;
/** Objects in one commit of one worker. */
const COMMIT_OBJECTS = 128;

/** Deletes what the selectors select, and answers with the list of it as it was. What appears meanwhile may stay. */
export async function deleteCollection(
  write: WriteContext,
  request: WriteRequest,
  type: KnownType,
): Promise<WriteReply> {
  const options = deleteOptions(write.schema, request, write.dialect.metaGroup);
  const { labelSelector = '', fieldSelector = '' } = request.parameters;
  if (labelSelector !== '') parseLabelSelector(labelSelector);
  const selection = {
    storageKey: type.storageKey,
    namespace: request.target.namespace,
    labelSelector,
    fieldSelector: fieldSelector === '' ? '' : storedFieldSelector(fieldSelector, type),
  };
  return withList(write, selection, async (listed) => {
    const items = await deleteAll(write, type, listed, options);
    const metadata = { resourceVersion: String(listed.revision) };
    return { code: 200, body: { kind: type.listKind, apiVersion: type.apiVersion, metadata, items } };
  });
}

/** Answers the objects as they were listed. Rejects after every worker has ended: they read records until then. */
async function deleteAll(
  write: WriteContext,
  type: KnownType,
  { places, slabs }: ListedPlaces,
  options: DeleteOptions,
): Promise<JsonObject[]> {
  const step = COMMIT_OBJECTS * NUMBERS_A_PLACE;
  const commits: JsonObject[][] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < places.length) {
      const from = next;
      next += step;
      try {
        const some = storedAt(places.subarray(from, from + step), slabs);
        await deleteSome(write, type, some, options);
        commits[from / step] = some.map(({ object }) => asItem(write.forms.asked(type, object)));
      } catch (error) {
        next = places.length;
        throw error;
      }
    }
  };
  const workers = Math.min(write.deletion.collectionWorkers, Math.ceil(places.length / step));
  const ends = await Promise.allSettled(Array.from({ length: workers }, work));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return commits.flat();
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
  const changes: { readonly stored: StoredObject; readonly outcome: DeletionOutcome }[] = [];
  for (const stored of some) {
    requirePreconditions(stored.object, type, options.preconditions ?? {});
    const outcome = outcomeFor(write, type, stored.object, options);
    if (outcome.action !== 'pending' && !isDryRun(options)) changes.push({ stored, outcome });
  }
  const drafts = await Promise.all(changes.map(({ stored, outcome }) => draftFor(write, type, stored, outcome)));
  const results = drafts.length === 0 ? [] : await commitEach(write, drafts);
  for (const [index, result] of results.entries()) {
    if (!result.ok && result.reason !== 'missing')
      await deleteAgain(write, type, changes[index]!.stored.object, options);
  }
}

/** An object that changed between the list and its removal is deleted by itself. Throws 409 when it never stands still. */
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
  throw new StatusError(conflictModified(type, name));
}
