// One object under the hands of several managers, as admission treats it: decoded, defaulted, its owners kept. For tests of
// ownership; time passes by one second a step.

import { pathText } from '../../../../api/apply/field-path.ts';
import { type FieldSet, places } from '../../../../api/apply/field-set.ts';
import { ownedType, resetFields } from '../../../../api/apply/owned-type.ts';
import {
  type Application,
  applyInParts,
  entriesOfCreate,
  entriesOfUpdate,
  withEntries,
} from '../../../../api/apply/ownership.ts';
import { decode } from '../../../../api/codec/decode.ts';
import { applyDefaults } from '../../../../api/codec/defaults.ts';
import { inOneGo } from '../../../../api/in-parts.ts';
import { deepEqual } from '../../../../api/json/deep-equal.ts';
import { jsonCopy } from '../../../../api/json/json-copy.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { placedNew, prepareUpdate } from '../../../../api/metadata/metadata.ts';
import { type ManagedFieldsEntry, metadataOf } from '../../../../api/metadata/object-meta.ts';
import type { ResourceType } from '../../../../api/resource-type.ts';
import { schemaOf, type TypeSchema } from '../../../../api/schema/schema.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { sampleType } from '../sample-type.ts';

export const schema = schemaOf(DIALECTS.orch);

/** A kind of the schema by its type's name, or `custom` for one without a schema. */
export interface TestKind {
  readonly type: ResourceType;
  readonly schema: TypeSchema | undefined;
}

export function kindNamed(name: string): TestKind {
  if (name === 'custom') {
    const type = sampleType({ group: 'example.com', apiVersion: 'example.com/v1', kind: 'Thing', plural: 'things' });
    return { type, schema: undefined };
  }
  const typeSchema = schema.type(name);
  const { group, version, kind } = typeSchema;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const hasStatus = typeSchema.field('status') !== undefined;
  const plural = `${kind.toLowerCase()}s`;
  const storageKey = `${group || 'core'}/${plural}`;
  return {
    type: sampleType({ group, version, apiVersion, kind, plural, storageKey }, { hasStatus }),
    schema: typeSchema,
  };
}

export interface ApplyOptions {
  readonly force?: boolean;
  readonly subresource?: string;
  readonly apiVersion?: string;
}

export class LiveObject {
  readonly #kind: TestKind;
  #object: JsonObject | undefined;
  #seconds = 0;
  #version = 0;
  /** The write before made no difference. */
  unchanged = false;

  constructor(kind: TestKind | string) {
    this.#kind = typeof kind === 'string' ? kindNamed(kind) : kind;
  }

  /** As stored; its spec, status and metadata without managedFields are in `content`. */
  get object(): JsonObject {
    if (this.#object === undefined) throw new Error('there is no object');
    return this.#object;
  }

  get content(): JsonObject {
    const { metadata: _, kind: __, apiVersion: ___, ...rest } = this.object;
    const { managedFields: ____, name: _____, resourceVersion: ______, ...metadata } = metadataOf(this.object);
    const { creationTimestamp: _______, generation: ________, ...said } = metadata;
    return Object.keys(said).length === 0 ? rest : { metadata: said, ...rest };
  }

  get entries(): readonly ManagedFieldsEntry[] {
    return metadataOf(this.object).managedFields ?? [];
  }

  /** `manager/Operation` of everyone who owns the field at a path as messages show it, in the order of the entries. */
  ownersOf(path: string): readonly string[] {
    return this.entries
      .filter(({ fieldsV1 }) => fieldsOf(fieldsV1).includes(path))
      .map(({ manager, operation }) => `${manager}/${operation}`);
  }

  /** The paths that a manager owns, over all its entries. */
  fieldsOf(manager: string): readonly string[] {
    return this.entries.filter((entry) => entry.manager === manager).flatMap(({ fieldsV1 }) => fieldsOf(fieldsV1));
  }

  create(manager: string, given: JsonObject): void {
    const object = this.#defaulted(placedNew(this.#whole(given), this.#kind.type, { namespace: '', name: 'it' }));
    const owned = ownedType(this.#kind.schema);
    const text = entriesOfCreate(object, owned, this.#writer(manager));
    this.#store(text === '' ? object : withEntries(object, JSON.parse(text) as ManagedFieldsEntry[]));
  }

  /** Makes an object that nobody owns. */
  createUntracked(given: JsonObject): void {
    this.#store(this.#defaulted(this.#whole(given)));
  }

  /** PUT with what `change` makes of a copy of the object. */
  update(manager: string, change: (object: Writable) => void, subresource = '', apiVersion?: string): void {
    const next = jsonCopy(this.object) as Writable;
    change(next);
    const { type } = this.#kind;
    const prepared = prepareUpdate(next, this.object, type, { namespace: '', name: 'it', subresource });
    const complete = this.#defaulted(prepared);
    const writer = { ...this.#writer(manager), ...(apiVersion === undefined ? {} : { apiVersion }) };
    const owned = ownedType(this.#kind.schema);
    this.#store(withEntries(complete, entriesOfUpdate(complete, this.object, owned, writer, subresource === '')));
  }

  apply(manager: string, given: JsonObject, { force = false, subresource = '', apiVersion }: ApplyOptions = {}): void {
    const { type } = this.#kind;
    const config = this.#whole(given);
    const owned = ownedType(this.#kind.schema);
    const live = this.#object;
    const before = JSON.stringify([config, live]);
    const application: Application = {
      writer: { ...this.#writer(manager), ...(apiVersion === undefined ? {} : { apiVersion }) },
      type: owned,
      force,
      reset: resetFields(type, owned, subresource, live === undefined ? [config] : [config, live]),
    };
    const applied = inOneGo(applyInParts(config, live, application));
    if (JSON.stringify([config, live]) !== before) throw new Error('an apply changed its arguments');
    const prepared =
      live === undefined ? applied : prepareUpdate(applied, live, type, { namespace: '', name: 'it', subresource });
    this.#store(this.#defaulted(prepared));
  }

  #whole(given: JsonObject): JsonObject {
    const { apiVersion, kind } = this.#kind.type;
    const metadata = { name: 'it', ...(given.metadata as JsonObject | undefined) };
    return jsonCopy({ apiVersion, kind, ...given, metadata }) as JsonObject;
  }

  #defaulted(object: JsonObject): JsonObject {
    const { schema: typeSchema } = this.#kind;
    if (typeSchema === undefined) return object;
    const copy = decode(jsonCopy(object) as JsonObject, typeSchema).object;
    applyDefaults(copy, typeSchema);
    return decode(copy, typeSchema).object;
  }

  #writer(manager: string): { manager: string; apiVersion: string; nowIso: string } {
    const nowIso = `2026-01-01T00:00:${String(this.#seconds++ % 60).padStart(2, '0')}Z`;
    return { manager, apiVersion: this.#kind.type.apiVersion, nowIso };
  }

  #store(object: JsonObject): void {
    const stored = JSON.parse(JSON.stringify(object)) as JsonObject;
    this.unchanged = deepEqual(stored, this.#object);
    if (this.unchanged) return;
    this.#object = { ...stored, metadata: { ...metadataOf(stored), resourceVersion: String(++this.#version) } };
  }
}

/** An object as a test changes it. */
// biome-ignore lint/suspicious/noExplicitAny: tests reach deep into objects whose shape they know.
export type Writable = Record<string, any>;

function fieldsOf(fieldsV1: unknown): readonly string[] {
  return [...places((fieldsV1 ?? {}) as FieldSet)].map(pathText);
}
