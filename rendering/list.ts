// A list as it was gathered: where its records lie, and what it says of itself. How it is written is list-pieces.ts,
// protobuf-list.ts and list-body.ts.
import { parseExact } from '../api/json/exact-json.ts';
import type { JsonObject } from '../api/json/json-value.ts';
import { copyItem, copyValue, decodeRecord, itemLength } from '../storage/records/record-reading.ts';
import { type Slab, valueLength } from '../storage/records/slab-record.ts';
import { isAsAsked, type Rendering } from './rendering.ts';

export interface ListEnvelope {
  readonly apiVersion: string;
  readonly listKind: string;
  readonly revision: number;
  readonly continueToken: string;
  readonly remaining: number | undefined;
}

/** The records of a list, and the slabs as they were when it was gathered. */
export interface ListItems {
  /** Slab and offset of each, two numbers. */
  readonly places: Uint32Array;
  readonly slabs: readonly (Slab | undefined)[];
  /** Each says its kind and apiVersion itself, as those of custom types do. */
  readonly areWhole?: boolean;
  /** JSON of the items in place of what is stored: of the version asked for already. */
  readonly converted?: readonly Buffer[];
}

/** What a list says of itself (SPEC.md "List envelope"). */
export function listMetadata({ revision, continueToken, remaining }: ListEnvelope): object {
  const metadata: Record<string, unknown> = { resourceVersion: String(revision) };
  if (continueToken !== '') metadata.continue = continueToken;
  if (continueToken !== '' && remaining !== undefined) metadata.remainingItemCount = remaining;
  return metadata;
}

interface EmptyList {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: object;
  readonly items: readonly [];
}

/** The list without its items, which are the last member. A list of a custom type says that nothing follows, too. */
export function emptyList(envelope: ListEnvelope, { areWhole = false }: Pick<ListItems, 'areWhole'>): EmptyList {
  const { listKind, apiVersion } = envelope;
  const metadata = listMetadata(envelope);
  return { kind: listKind, apiVersion, metadata: areWhole ? { continue: '', ...metadata } : metadata, items: [] };
}

/** How many items the list has. */
export function itemCount({ places }: ListItems): number {
  return places.length >>> 1;
}

/** The item at an index, decoded, as it is stored. */
export function decodedItem({ places, slabs, converted }: ListItems, index: number): JsonObject {
  if (converted !== undefined) return parseExact(converted[index]!.toString()) as JsonObject;
  return decodeRecord(slabs[places[index * 2]!]!, places[index * 2 + 1]!);
}

/** True for an item that is of the version asked for already. */
export function isItemAsAsked(rendering: Rendering, { places, slabs, converted }: ListItems, index: number): boolean {
  return converted !== undefined || isAsAsked(rendering, slabs[places[index * 2]!]!, places[index * 2 + 1]!);
}

/** True where all are. */
export function areItemsAsAsked(rendering: Rendering, items: ListItems): boolean {
  if (rendering.target.form?.storedGeneration === undefined) return false;
  const count = itemCount(items);
  for (let index = 0; index < count; index++) if (!isItemAsAsked(rendering, items, index)) return false;
  return true;
}

/** Bytes of the stored value at an index. */
export function storedItemBytes({ places, slabs, converted }: ListItems, index: number): number {
  if (converted !== undefined) return converted[index]!.length;
  return valueLength(slabs[places[index * 2]!]!, places[index * 2 + 1]!);
}

/** The JSON of the item at an index: the stored value, without its kind and apiVersion unless items are whole. A copy. */
export function storedItem({ places, slabs, areWhole, converted }: ListItems, index: number): Buffer {
  if (converted !== undefined) return converted[index]!;
  const slab = slabs[places[index * 2]!]!;
  const offset = places[index * 2 + 1]!;
  if (areWhole === true) {
    const value = Buffer.allocUnsafe(valueLength(slab, offset));
    copyValue(slab, offset, value, 0);
    return value;
  }
  const item = Buffer.allocUnsafe(itemLength(slab, offset) + 1);
  item[0] = OPEN_BRACE;
  copyItem(slab, offset, item, 1);
  return item;
}

const OPEN_BRACE = 0x7b;
