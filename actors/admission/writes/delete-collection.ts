// DELETE of a collection: everything that the selectors select as of one revision, in commits of many objects. Holds the
// records of the list until the last one has been read.

import { isLarge } from '../../../api/in-parts.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { listOptions } from '../../../api/list-options.ts';
import { requirePreconditions } from '../../../api/metadata/deletion.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import { type DeleteOptions, isDryRun } from '../../../api/requests/request-options.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { emptyList } from '../../../rendering/list.ts';
import { itemsText } from '../../../rendering/value-pieces.ts';
import { StepsInRoom } from '../../../runtime/memory/steps-in-room.ts';
import { valueLength } from '../../../storage/records/slab-record.ts';
import type { StoreSlabs } from '../../../storage/records/thread-slabs.ts';
import type { Attributes } from '../attributes.ts';
import { withWarnings } from '../bodies/field-validation.ts';
import { deleteOptions } from '../bodies/request-body.ts';
import { commitEach } from '../commits/commit.ts';
import { type Draft, withAlso } from '../commits/draft.ts';
import { afterOthers } from '../large-writes.ts';
import type { WriteReply, WriteRequest } from '../protocol.ts';
import { heapBytesOfListed, type ListedPlaces, NUMBERS_A_PLACE, storedAt, withList } from '../stored/stored-list.ts';
import type { StoredObject } from '../stored/stored-object.ts';
import type { WriteContext } from '../write-context.ts';
import { deleteNamed } from './delete.ts';
import { admitDeletion, draftFor, outcomeFor } from './deletion-outcome.ts';
import { attributesOf } from './request-attributes.ts';

/** Objects in one commit of one worker, and bytes that they are stored as: whichever is first. */
const COMMIT_OBJECTS = 128;
const COMMIT_BYTES = 1024 * 1024;
/** What is decided is not kept uncommitted for longer: behind slow webhooks the time of the request could end before the first commit. */
const UNCOMMITTED_MS = 1_000;
const NOTHING = new Uint8Array();
/** Each is a header of the answer. */
const WARNINGS_MAX = 16;

/**
 * Deletes what a list with the same parameters would answer, and answers with that list. What appears meanwhile may stay.
 * Throws what the list would be refused with, and 409 where a precondition does not hold.
 */
export async function deleteCollection(
  write: WriteContext,
  request: WriteRequest,
  type: KnownType,
): Promise<WriteReply> {
  const { metaGroup } = write.dialect;
  const options = deleteOptions(write.schema, request, metaGroup);
  const { target, parameters } = request;
  const asked = listOptions(type, { get: (name) => parameters[name as 'limit'] }, metaGroup);
  const selection = { storageKey: type.storageKey, namespace: target.namespace, ...asked };
  const isPresent = asked.continueToken === '' && asked.freshness.kind !== 'exact';
  return withList(write, selection, async (listed) => {
    const deletion = new CollectionDeletion(write, request, type, options, isPresent);
    const items = await deletion.run(listed);
    const { listKind, apiVersion } = type;
    const list = emptyList({ listKind, apiVersion, ...listed }, { areWhole: type.custom !== undefined });
    return withWarnings({ code: 200, list: { ...list, items } }, deletion.warnings);
  });
}

class CollectionDeletion {
  readonly #write: WriteContext;
  readonly #request: WriteRequest;
  readonly #type: KnownType;
  readonly #options: DeleteOptions;
  /** False where the list is of the past: then each object is looked at again. */
  readonly #isPresent: boolean;
  /** What the workers read of the list. */
  readonly #rooms: StepsInRoom;
  readonly #warnings = new Set<string>();

  constructor(write: WriteContext, request: WriteRequest, type: KnownType, options: DeleteOptions, isPresent: boolean) {
    this.#write = write;
    this.#request = request;
    this.#type = type;
    this.#options = options;
    this.#isPresent = isPresent;
    this.#rooms = new StepsInRoom(write.heapShare);
  }

  /** What webhooks have said of the deletions, once each. */
  get warnings(): readonly string[] {
    return [...this.#warnings];
  }

  /** Answers the objects as they were listed, as JSON: the answer has all of them. Rejects after every worker has ended: they read records until then. */
  async run({ places, slabs }: ListedPlaces): Promise<Uint8Array[]> {
    const steps = stepsOf(places, slabs);
    const texts: Uint8Array[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < steps.length) {
        const step = next++;
        try {
          texts[step] = await this.#stepInRoom(steps[step]!, slabs);
        } catch (error) {
          next = steps.length;
          throw error;
        }
      }
    };
    const workers = Math.min(this.#write.deletion.collectionWorkers, steps.length);
    const ends = await Promise.allSettled(Array.from({ length: workers }, work));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    return texts.filter(({ length }) => length > 0);
  }

  #stepInRoom(step: Step, slabs: StoreSlabs): Promise<Uint8Array> {
    return this.#rooms.run(heapBytesOfListed(step.places, slabs), () => this.#step(step, slabs));
  }

  async #step({ places, bytes }: Step, slabs: StoreSlabs): Promise<Uint8Array> {
    if (isLarge(bytes)) await afterOthers(this.#write);
    const some = storedAt(places, slabs);
    if (isLarge(bytes)) await afterOthers(this.#write);
    await this.#deleteSome(some);
    if (this.#request.target.asStored) return NOTHING;
    const asked = await this.#asked(some);
    if (isLarge(bytes)) await afterOthers(this.#write);
    // Custom objects say what they are in a list as well.
    return itemsText(this.#type.custom === undefined ? asked.map(asItem) : asked);
  }

  /** As a list of that revision would show them: by the newest definition, which may have changed since the request came. */
  async #asked(some: readonly StoredObject[]): Promise<readonly JsonObject[]> {
    const { conversion, forms, registry } = this.#write;
    const { group, version, plural } = this.#type;
    const type = (this.#type.custom && registry.byPath(group, version, plural)) ?? this.#type;
    const { custom } = type;
    if (custom?.mayBeOutside === true) {
      return conversion.into(
        custom,
        some.map(({ object }) => object),
      );
    }
    return some.map(({ object, schemaGeneration }) => forms.asked(type, object, schemaGeneration));
  }

  /** Throws 409 where a precondition does not hold; what was deleted before stays deleted. */
  async #deleteSome(some: readonly StoredObject[]): Promise<void> {
    const dryRun = isDryRun(this.#options);
    const target = { ...this.#request.target, name: '' };
    const manner = { operation: 'delete', dryRun, deletion: this.#options } as const;
    const attributes = attributesOf(this.#write, { ...this.#request, target }, this.#type, manner);
    if (!this.#isPresent) {
      for (const { object } of some) await this.#deleteAlone(attributes, object);
      return;
    }
    const { clock } = this.#write.context;
    let decided: Decided[] = [];
    let sinceMs = clock.monotonicMs();
    for (const stored of some) {
      requirePreconditions(stored.object, this.#type, this.#options.preconditions ?? {});
      const waiting = admitDeletion(this.#write, attributes, 0, stored);
      if (waiting !== undefined) await waiting;
      this.#keep(attributes.warnings);
      const outcome = outcomeFor(this.#write, this.#type, stored, this.#options);
      if (outcome.action === 'pending' || dryRun) continue;
      const draft = await draftFor(this.#write, this.#type, stored, outcome);
      decided.push({ stored, draft: withAlso(draft, attributes.also, attributes.guards) });
      if (waiting === undefined || clock.monotonicMs() - sinceMs < UNCOMMITTED_MS) continue;
      await this.#commit(attributes, decided);
      decided = [];
      sinceMs = clock.monotonicMs();
    }
    await this.#commit(attributes, decided);
  }

  async #commit(attributes: Attributes, decided: readonly Decided[]): Promise<void> {
    if (decided.length === 0) return;
    const results = await commitEach(
      this.#write,
      decided.map(({ draft }) => draft),
    );
    for (const [index, result] of results.entries()) {
      if (result.ok || result.reason === 'missing') continue;
      // It changed between the list and its removal: by itself, then.
      await this.#deleteAlone(attributes, decided[index]!.stored.object);
    }
  }

  async #deleteAlone(attributes: Attributes, object: JsonObject): Promise<void> {
    await deleteNamed(this.#write, attributes, nameOf(object), this.#options);
    this.#keep(attributes.warnings);
  }

  #keep(warnings: readonly string[]): void {
    for (const one of warnings) if (this.#warnings.size < WARNINGS_MAX) this.#warnings.add(one);
  }
}

/** An object, and what its deletion comes to. */
interface Decided {
  readonly stored: StoredObject;
  readonly draft: Draft;
}

/** What one worker reads, deletes and commits at a time. */
interface Step {
  readonly places: Uint32Array;
  readonly bytes: number;
}

function stepsOf(places: Uint32Array, slabs: StoreSlabs): readonly Step[] {
  const steps: Step[] = [];
  for (let from = 0; from < places.length; ) {
    const most = Math.min(places.length, from + COMMIT_OBJECTS * NUMBERS_A_PLACE);
    let to = from;
    let bytes = 0;
    for (; to < most && bytes < COMMIT_BYTES; to += NUMBERS_A_PLACE) {
      bytes += valueLength(slabs.slab(places[to]!), places[to + 1]!);
    }
    steps.push({ places: places.subarray(from, to), bytes });
    from = to;
  }
  return steps;
}

function nameOf(object: JsonObject): string {
  return metadataOf(object).name ?? '';
}

/** Items of a list leave out what the list says of all of them. */
function asItem({ kind: _kind, apiVersion: _apiVersion, ...item }: JsonObject): JsonObject {
  return item;
}
