// DELETE of a collection: everything that the selectors select as of one revision, in commits of many objects. Holds the
// records of the list until the last one has been read.
import { requirePreconditions } from '../../api/deletion.ts';
import type { JsonObject } from '../../api/json-value.ts';
import { metadataOf } from '../../api/object-meta.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { storedFieldSelector } from '../../api/selectors/field-selector.ts';
import { parseLabelSelector } from '../../api/selectors/label-selector.ts';
import { type DeleteOptions, isDryRun } from '../../api/validation/options.ts';
import { commitEach } from './commit.ts';
import { deleteNamed } from './delete.ts';
import { admitDeletion, draftFor, outcomeFor } from './deletion-outcome.ts';
import { type Draft, withAlso } from './draft.ts';
import type { WriteReply, WriteRequest } from './protocol.ts';
import { attributesOf } from './request-attributes.ts';
import { deleteOptions } from './request-body.ts';
import type { StoredObject } from './store-reader.ts';
import { type ListedPlaces, NUMBERS_A_PLACE, storedAt, withList } from './stored-list.ts';
import type { WriteContext } from './write-context.ts';

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
    const items = await new CollectionDeletion(write, request, type, options).run(listed);
    const metadata = { resourceVersion: String(listed.revision) };
    return { code: 200, body: { kind: type.listKind, apiVersion: type.apiVersion, metadata, items } };
  });
}

class CollectionDeletion {
  readonly #write: WriteContext;
  readonly #request: WriteRequest;
  readonly #type: KnownType;
  readonly #options: DeleteOptions;

  constructor(write: WriteContext, request: WriteRequest, type: KnownType, options: DeleteOptions) {
    this.#write = write;
    this.#request = request;
    this.#type = type;
    this.#options = options;
  }

  /** Answers the objects as they were listed. Rejects after every worker has ended: they read records until then. */
  async run({ places, slabs }: ListedPlaces): Promise<JsonObject[]> {
    const step = COMMIT_OBJECTS * NUMBERS_A_PLACE;
    const commits: JsonObject[][] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < places.length) {
        const from = next;
        next += step;
        try {
          const some = storedAt(places.subarray(from, from + step), slabs);
          await this.#deleteSome(some);
          commits[from / step] = some.map(({ object }) => asItem(this.#write.forms.asked(this.#type, object)));
        } catch (error) {
          next = places.length;
          throw error;
        }
      }
    };
    const workers = Math.min(this.#write.deletion.collectionWorkers, Math.ceil(places.length / step));
    const ends = await Promise.allSettled(Array.from({ length: workers }, work));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    return commits.flat();
  }

  /** Throws 409 where a precondition does not hold; what was deleted before stays deleted. */
  async #deleteSome(some: readonly StoredObject[]): Promise<void> {
    const dryRun = isDryRun(this.#options);
    const target = { ...this.#request.target, name: '' };
    const manner = { operation: 'delete', dryRun } as const;
    const attributes = attributesOf(this.#write, { ...this.#request, target }, this.#type, manner);
    const drafts: Draft[] = [];
    const drafted: StoredObject[] = [];
    for (const stored of some) {
      requirePreconditions(stored.object, this.#type, this.#options.preconditions ?? {});
      const waiting = admitDeletion(this.#write, attributes, 0, stored.object);
      if (waiting !== undefined) await waiting;
      const outcome = outcomeFor(this.#write, this.#type, stored.object, this.#options);
      if (outcome.action === 'pending' || dryRun) continue;
      const draft = await draftFor(this.#write, this.#type, stored, outcome);
      drafts.push(withAlso(draft, attributes.also, attributes.guards));
      drafted.push(stored);
    }
    const results = drafts.length === 0 ? [] : await commitEach(this.#write, drafts);
    for (const [index, result] of results.entries()) {
      if (result.ok || result.reason === 'missing') continue;
      // It changed between the list and its removal: by itself, then.
      const { name = '' } = metadataOf(drafted[index]!.object);
      await deleteNamed(this.#write, attributes, name, this.#options);
    }
  }
}

/** Items of a list leave out what the list says of all of them. */
function asItem({ kind: _kind, apiVersion: _apiVersion, ...item }: JsonObject): JsonObject {
  return item;
}
