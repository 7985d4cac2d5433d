// Values as the original stores them, from our stored forms and back. Built-in types are Protobuf in its envelope, or JSON; what
// definitions make is JSON. Both forms of both are read, in every version that the schema knows: the value says which. As the
// original does, what an older release did not know of is filled in as it is read; what of a value no type here has is not read, and
// gone once the object is written from here.

import { storedKind } from '../../../api/catalog/stored-form.ts';
import { decode } from '../../../api/codec/decode.ts';
import type { Features } from '../../../api/codec/default-rules.ts';
import { applyDefaults } from '../../../api/codec/defaults.ts';
import { hasEnvelope } from '../../../api/codec/envelope.ts';
import { decodeEnveloped, encodeEnveloped } from '../../../api/codec/protobuf.ts';
import { encodeStored, REVISION_SLOT_BYTES } from '../../../api/codec/stored-object.ts';
import { conversionsOf } from '../../../api/conversion/conversion.ts';
import { parseExact } from '../../../api/json/exact-json.ts';
import { isJsonObject, type JsonObject } from '../../../api/json/json-value.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import type { Registry } from '../../../api/resources/registry.ts';
import { DEFAULT_SELECTABLE_FIELDS } from '../../../api/resources/resource-row.ts';
import { type KnownType, splitApiVersion } from '../../../api/resources/resource-table.ts';
import { schemaOf, type TypeSchema } from '../../../api/schema/schema.ts';
import { selectableValues } from '../../../api/selectors/selectable-values.ts';
import { serviceAsRead } from '../../../api/services/service-as-read.ts';
import type { IpFamily } from '../../../api/services/service-fields.ts';
import { packAttributes } from '../../forms/attributes.ts';
import { decodeStored } from '../../forms/stored-json.ts';
import {
  type StorageMedia,
  type StoredValue,
  storedValueBytesMax,
  writeStoredValue,
} from '../../forms/stored-value.ts';
import { parseKey } from '../../object-key.ts';
import { foreignMetadata } from './foreign-metadata.ts';
import { MasterLeases } from './master-leases.ts';
import { isJsonThere, type OriginalKeys, SERVICES } from './original-keys.ts';
import { writtenVersions } from './written-versions.ts';

const METADATA = 'meta/v1.ObjectMeta';
/** Of everything that no definition's schema is about; what a definition's is about has not been brought into any. */
const BUILT_IN_GENERATION = 1;
const FOREIGN_GENERATION = 0;
const BEFORE_SLOT = '"resourceVersion":';
const COMMA = 0x2c;
const BRACE = 0x7b;

export interface OriginalValuesParts {
  readonly registry: Registry;
  readonly keys: OriginalKeys;
  readonly media: StorageMedia;
  readonly features: Features;
  /** Of services that say none. */
  readonly defaultFamily: IpFamily | undefined;
}

interface Form {
  readonly type: KnownType;
  readonly schema: TypeSchema;
  /** Undefined: as it is in memory. */
  readonly written:
    | { readonly schema: TypeSchema; readonly apiVersion: string; readonly convert: (object: JsonObject) => JsonObject }
    | undefined;
  readonly isJson: boolean;
}

export class OriginalValues {
  readonly #parts: OriginalValuesParts;
  readonly #masterLeases: MasterLeases;
  readonly #written: ReadonlyMap<string, string>;
  /** By storage key; undefined for what definitions make. */
  readonly #forms = new Map<string, Form | undefined>();

  constructor(parts: OriginalValuesParts) {
    this.#parts = parts;
    const { dialect } = parts.registry;
    this.#masterLeases = new MasterLeases(dialect);
    this.#written = writtenVersions(dialect);
  }

  /**
   * Our stored form of what lies there, which does not say its version. Undefined: it is no object that this server could know
   * of. Throws when a built-in type's value cannot be read.
   */
  read(key: string, bytes: Uint8Array, bornRevision: number): Buffer | undefined {
    if (this.#parts.keys.isMasterLease(key)) return this.#readMasterLease(key, bytes, bornRevision);
    const form = this.#formOf(key);
    if (form === undefined) return this.#readCustom(key, bytes, bornRevision);
    return storedForm(key, this.#readBuiltIn(form, bytes), form.type, bornRevision, BUILT_IN_GENERATION);
  }

  /** What lies there of an object in our stored form. */
  write(key: string, { json, revisionOffset }: Pick<StoredValue, 'json' | 'revisionOffset'>): Uint8Array {
    if (this.#parts.keys.isMasterLease(key)) return this.#writeMasterLease(key, json);
    const form = this.#formOf(key);
    if (form === undefined) return withoutRevision(json, revisionOffset);
    const { written, isJson } = form;
    const asJson = isJson || this.#parts.media === 'json';
    if (asJson && written === undefined) return withoutRevision(json, revisionOffset);
    const object = withoutVersion(written === undefined ? decodeStored(json) : written.convert(decodeStored(json)));
    return asJson ? Buffer.from(JSON.stringify(object)) : encodeEnveloped(object, written?.schema ?? form.schema);
  }

  #readBuiltIn({ type, schema: known }: Form, bytes: Uint8Array): JsonObject {
    const { registry, features } = this.#parts;
    const schema = schemaOf(registry.dialect);
    const typeOf = (apiVersion: string, kind: string): TypeSchema => {
      const { group, version } = splitApiVersion(apiVersion);
      const found = schema.kind(group, version, kind);
      if (found === undefined || kind !== type.kind)
        throw new Error(`it is a ${kind} of ${apiVersion}, which is not known`);
      return found;
    };
    const given = hasEnvelope(bytes) ? decodeEnveloped(bytes, typeOf).object : decodeJson(bytes, typeOf);
    const from = typeOf(String(given.apiVersion), String(given.kind));
    applyDefaults(given, from, features);
    const whole = decode(given, from).object;
    const object =
      from === known ? whole : conversionsOf(schema).between(kindOf(from), storedKind(type)).convert(whole);
    if (type.storageKey !== SERVICES) return object;
    const service = serviceAsRead(object, this.#parts.defaultFamily);
    return service === object ? object : decode(service, known).object;
  }

  /** An object that a definition made, or one that nobody here knows of: another server's. */
  #readCustom(key: string, bytes: Uint8Array, bornRevision: number): Buffer | undefined {
    const object = parsed(bytes);
    if (object === undefined || !isJsonObject(object.metadata)) return undefined;
    const { kind, apiVersion } = object;
    if (typeof kind !== 'string' || typeof apiVersion !== 'string') return undefined;
    const metadata = foreignMetadata(object.metadata, schemaOf(this.#parts.registry.dialect).type(METADATA));
    const as = { storageApiVersion: apiVersion, kind, storedFields: DEFAULT_SELECTABLE_FIELDS };
    return storedForm(key, { ...object, metadata }, as, bornRevision, FOREIGN_GENERATION);
  }

  /** What is no lease counts for nothing: it says that a server lives, and that one says it again soon. */
  #readMasterLease(key: string, bytes: Uint8Array, bornRevision: number): Buffer | undefined {
    const { registry } = this.#parts;
    let lease: JsonObject;
    try {
      const endpoints = this.#readBuiltIn(this.#formOf('core/endpoints//')!, bytes);
      lease = this.#masterLeases.leaseOf(key, endpoints);
    } catch {
      return undefined;
    }
    return storedForm(key, lease, registry.storageType(parseKey(key).storageKey)!, bornRevision, BUILT_IN_GENERATION);
  }

  #writeMasterLease(key: string, json: Buffer): Uint8Array {
    const endpoints = withoutVersion(this.#masterLeases.endpointsOf(key, decodeStored(json)));
    const { schema } = this.#formOf('core/endpoints//')!;
    if (this.#parts.media === 'json') return Buffer.from(JSON.stringify(endpoints));
    return encodeEnveloped(endpoints as Record<string, unknown>, schema);
  }

  #formOf(key: string): Form | undefined {
    const { storageKey } = parseKey(key);
    let form = this.#forms.get(storageKey);
    if (form === undefined && !this.#forms.has(storageKey)) {
      form = this.#makeForm(storageKey);
      this.#forms.set(storageKey, form);
    }
    return form;
  }

  #makeForm(storageKey: string): Form | undefined {
    const { registry, keys } = this.#parts;
    const type = registry.storageType(storageKey);
    if (type === undefined || !keys.isBuiltIn(`${storageKey}//`)) return undefined;
    const schema = schemaOf(registry.dialect);
    const known = storedKind(type);
    const schemaIn = (apiVersion: string): TypeSchema => {
      const { group, version } = splitApiVersion(apiVersion);
      return schema.kind(group, version, type.kind)!;
    };
    const apiVersion = this.#written.get(storageKey) ?? type.storageApiVersion;
    const isJson = isJsonThere(type, registry.dialect);
    const stored = schemaIn(type.storageApiVersion);
    if (apiVersion === type.storageApiVersion) return { type, schema: stored, written: undefined, isJson };
    const to = schemaIn(apiVersion);
    const { convert } = conversionsOf(schema).between(known, kindOf(to));
    return { type, schema: stored, written: { schema: to, apiVersion, convert }, isJson };
  }
}

function kindOf({ group, version, kind }: TypeSchema): { group: string; version: string; kind: string } {
  return { group, version, kind };
}

function decodeJson(
  bytes: Uint8Array,
  typeOf: (apiVersion: string, kind: string) => TypeSchema,
): Record<string, unknown> {
  const value = parsed(bytes);
  if (value === undefined) throw new Error('it is neither Protobuf nor JSON');
  const { apiVersion, kind } = value;
  return decode(value, typeOf(String(apiVersion), String(kind))).object;
}

function parsed(bytes: Uint8Array): JsonObject | undefined {
  try {
    const value = parseExact(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function storedForm(
  key: string,
  object: JsonObject,
  { storageApiVersion, kind, storedFields }: Pick<KnownType, 'storageApiVersion' | 'kind' | 'storedFields'>,
  bornRevision: number,
  schemaGeneration: number,
): Buffer {
  const { selfLink: _, ...metadata } = metadataOf(object) as Record<string, unknown>;
  const { text, revisionOffset, itemOffset } = encodeStored({ ...object, metadata }, storageApiVersion, kind);
  const labels = metadata.labels as Readonly<Record<string, string>> | undefined;
  const attributes = packAttributes(labels, selectableValues(object, storedFields));
  const json = Buffer.from(text);
  const target = Buffer.allocUnsafe(storedValueBytesMax(attributes, json.length, itemOffset));
  const head = { revision: 0, bornRevision, schemaGeneration, revisionOffset, itemOffset };
  return target.subarray(0, writeStoredValue(target, 0, key, head, attributes, json, 'json'));
}

/** A stored object's text without the slot of its version, which it says by where it lies. */
function withoutRevision(json: Buffer, revisionOffset: number): Buffer {
  let from = revisionOffset - BEFORE_SLOT.length;
  let to = revisionOffset + REVISION_SLOT_BYTES;
  if (json[to] === COMMA) to++;
  else if (json[from - 1] === COMMA) from--;
  else if (json[from - 1] !== BRACE) throw new Error('a stored object has no slot where it says');
  return Buffer.concat([json.subarray(0, from), json.subarray(to)]);
}

function withoutVersion(object: JsonObject): Record<string, unknown> {
  const { resourceVersion: _, selfLink: __, ...metadata } = object.metadata as Record<string, unknown>;
  return { ...object, metadata };
}
