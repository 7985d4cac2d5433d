// An object as it is stored now: where its record lies, and what it says, parsed when it is first asked for. A DELETE mostly goes
// by the metadata alone, which takes a quarter of a pod's parse, and so does an update that changes nothing else.

import { isLarge } from '../../../api/in-parts.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import type { ManagedFieldsEntry } from '../../../api/metadata/object-meta.ts';
import { fieldIs } from '../../../storage/records/record-fields.ts';
import {
  decodeOwned,
  entriesApart,
  holdsText,
  lengthBefore,
  type MetadataApart,
  metadataApart,
  textFrom,
  withBody,
} from '../../../storage/records/record-reading.ts';
import {
  isStale,
  recordAttributes,
  recordRevision,
  recordSchemaGeneration,
  type Slab,
  valueLength,
} from '../../../storage/records/slab-record.ts';
import { heapBytesOfBody } from '../../../transport/heap-of-body.ts';
import type { PublishedPlace } from '../../store/protocol.ts';

/** Enough to tell most bodies that end otherwise. */
const LAST_BYTES = 12;

/** Reads a record in the turn that was told its place. What is to be known later has to be asked for in that turn. */
export class StoredObject {
  readonly place: PublishedPlace;
  /** It lies on disk in a form that is not written any more: an update that changes nothing is stored all the same. */
  readonly isStale: boolean;
  /** Of the schema that it was written under. */
  readonly schemaGeneration: number;
  readonly isLarge: boolean;
  /** It is stored as so many. */
  readonly bytes: number;
  readonly #slab: Slab;
  #object: JsonObject | undefined;
  #apart: MetadataApart | undefined;
  #rest: string | undefined;

  /** `object`: what the record holds, where it has been parsed. */
  constructor(slab: Slab, place: PublishedPlace, object?: JsonObject) {
    this.place = place;
    this.isStale = isStale(slab, place.offset);
    this.schemaGeneration = recordSchemaGeneration(slab, place.offset);
    this.bytes = valueLength(slab, place.offset);
    this.isLarge = isLarge(this.bytes);
    this.#slab = slab;
    this.#object = object;
  }

  /** The whole object, in the version it is stored in. */
  get object(): JsonObject {
    if (this.#object !== undefined) return this.#object;
    const { object, rest } = decodeOwned(this.#record(), this.place.offset);
    this.#rest = rest;
    this.#object = object;
    return object;
  }

  /**
   * The stored text of what comes after metadata, from the brace on that closes those, if that is what `next` is to have there: its
   * members are those of `object`, which nobody has completed or pruned in place. Undefined as well where it is not known.
   */
  restFor(next: JsonObject): string | undefined {
    return this.#rest !== undefined && hasMembersOf(next, this.object) ? this.#rest : undefined;
  }

  /** About what it takes of the heap at most, once it is read. */
  get heapBytes(): number {
    return withBody(this.#record(), this.place.offset, heapBytesOfBody, 'application/json', undefined, undefined);
  }

  get isParsed(): boolean {
    return this.#object !== undefined;
  }

  /** The object with its metadata alone, without managedFields; undefined where those cannot be told apart without parsing. */
  get metadataApart(): JsonObject | undefined {
    this.#apart ??= metadataApart(this.#record(), this.place.offset);
    return this.#apart?.object;
  }

  /** Its managedFields, of an object whose metadata has been read apart; undefined where that takes parsing the object. */
  get managersApart(): readonly ManagedFieldsEntry[] | undefined {
    return entriesApart(this.#record(), this.place.offset, this.#apart!);
  }

  /** The stored text from managedFields on. Only of an object whose metadata has been read apart. */
  get restApart(): string {
    return textFrom(this.#record(), this.place.offset, this.#apart!.end);
  }

  /** The same from the brace on that closes metadata. */
  get restBehindManagers(): string {
    return textFrom(this.#record(), this.place.offset, this.#apart!.behind);
  }

  /** Whether a body ends as the stored text does, by their last bytes. */
  mayEnd(body: Uint8Array): boolean {
    const bytes = Math.min(LAST_BYTES, this.bytes);
    return lengthBefore(this.#record(), this.place.offset, this.bytes - bytes, body) >= 0;
  }

  /**
   * How many bytes of a body come before what it repeats of the stored text: all from managedFields on, or all behind them. -1 where it
   * ends otherwise. Only of an object whose metadata has been read apart.
   */
  lengthBeforeRest(body: Uint8Array): number {
    const { end, behind } = this.#apart!;
    const record = this.#record();
    const length = lengthBefore(record, this.place.offset, end, body);
    return length < 0 ? lengthBefore(record, this.place.offset, behind, body) : length;
  }

  /** Whether the stored text goes on with these bytes from the brace that closes metadata. Only of an object whose metadata has been read apart. */
  goesOnWith(text: Uint8Array): boolean {
    return holdsText(this.#record(), this.place.offset, this.#apart!.behind, text);
  }

  /** The object, or its metadata alone: for who asks about no more. */
  get described(): JsonObject {
    return this.#object ?? this.metadataApart ?? this.object;
  }

  /** As `fieldIs` of record-fields.ts. */
  fieldIs(index: number, text: Buffer): boolean {
    return fieldIs(this.#record(), this.place.offset, index, text);
  }

  /** What it is selected by, packed (storage/forms/attributes.ts). */
  get attributes(): string {
    return recordAttributes(this.#record(), this.place.offset);
  }

  /** Throws where the record has been written over: a broken invariant of who reads it. */
  #record(): Slab {
    if (recordRevision(this.#slab, this.place.offset) !== this.place.revision)
      throw new Error('a record was read after its turn');
    return this.#slab;
  }
}

/** True where all members but metadata are the same ones, in the same order. */
function hasMembersOf(next: JsonObject, stored: JsonObject): boolean {
  const names = Object.keys(next);
  let place = 0;
  for (const name in stored) {
    if (names[place++] !== name || (name !== 'metadata' && next[name] !== stored[name])) return false;
  }
  return place === names.length;
}
