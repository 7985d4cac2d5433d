// Objects that were stored in another version than this server stores them in (`--storage-versions`, an older release): they
// are converted as they are read back, so that nobody else ever meets them. What lies on disk changes when the object is
// next written. An object in the right version costs a comparison of its first bytes.

import { storedKind } from '../../../api/catalog/stored-form.ts';
import { encodeStored } from '../../../api/codec/stored-object.ts';
import { conversionsOf } from '../../../api/conversion/conversion.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import type { Registry } from '../../../api/resources/registry.ts';
import { type KnownType, splitApiVersion } from '../../../api/resources/resource-table.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { selectableValues } from '../../../api/selectors/selectable-values.ts';
import { ByType } from '../../../storage/by-type.ts';
import { packAttributes } from '../../../storage/forms/attributes.ts';
import { decodeStored } from '../../../storage/forms/stored-json.ts';
import type { StoredValue } from '../../../storage/forms/stored-value.ts';
import { stampRevision } from '../../../storage/records/slab-record.ts';

interface ExpectedForm {
  readonly type: KnownType;
  /** What a value in the right version begins with. */
  readonly opening: Buffer;
}

export class StoredVersions {
  readonly #registry: () => Registry;
  /** Undefined for what is no type of the registry, and left alone. */
  readonly #expected: ByType<ExpectedForm | undefined>;
  #converted = 0;

  /** `registry` is asked for when there is something to look at. */
  constructor(registry: () => Registry) {
    this.#registry = registry;
    this.#expected = new ByType((storageKey) => expectedForm(registry().storageType(storageKey)));
  }

  /** How many values were converted. */
  get converted(): number {
    return this.#converted;
  }

  /** The value in the version that its type is stored in: the one given, or another of the same revision. */
  current(key: string, value: StoredValue): StoredValue {
    const expected = this.#expected.of(key);
    if (expected === undefined || beginsWith(value.json, expected.opening)) return value;
    return this.#convert(value, expected.type);
  }

  #convert(value: StoredValue, type: KnownType): StoredValue {
    const stored = decodeStored(value.json);
    const { dialect } = this.#registry();
    const from = { ...splitApiVersion(String(stored.apiVersion)), kind: type.kind };
    const schema = schemaOf(dialect);
    if (stored.kind !== type.kind || schema.kind(from.group, from.version, from.kind) === undefined) return value;
    const object = conversionsOf(schema).between(from, storedKind(type)).convert(stored);
    const metadata = metadataOf(object);
    const { text, revisionOffset, itemOffset } = encodeStored(
      object as JsonObject & { metadata: Record<string, unknown> },
      type.storageApiVersion,
      type.kind,
    );
    const json = Buffer.from(text);
    stampRevision(json, revisionOffset, value.revision);
    const attributes = packAttributes(metadata.labels, selectableValues(object, type.storedFields));
    this.#converted++;
    return { ...value, attributes, revisionOffset, itemOffset, json };
  }
}

function expectedForm(type: KnownType | undefined): ExpectedForm | undefined {
  // Objects of custom types may lie in any version, and which types there are changes: they are looked at where they are read.
  if (type === undefined || type.custom !== undefined) return undefined;
  const { kind, storageApiVersion } = type;
  const opening = `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(storageApiVersion)},`;
  return { type, opening: Buffer.from(opening) };
}

function beginsWith(bytes: Buffer, opening: Buffer): boolean {
  return bytes.length >= opening.length && bytes.compare(opening, 0, opening.length, 0, opening.length) === 0;
}
