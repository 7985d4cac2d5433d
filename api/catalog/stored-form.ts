// The two forms an object has in a request: as its client speaks of it, and as it is stored. Where the two versions are one,
// nothing is done. Reviews are not stored: the server thinks of them in their preferred version. Where a webhook has to convert
// a custom object, what it has answered must be known: else each of the conversions throws ConversionDue.

import { type Conversions, conversionsOf, type VersionedKind } from '../conversion/conversion.ts';
import { KnownConversions } from '../custom/definitions/conversion-due.ts';
import type { CustomType } from '../custom/definitions/custom-type.ts';
import { DefinitionChanged } from '../custom/definitions/definition-changed.ts';
import { jsonCopy } from '../json/json-copy.ts';
import type { JsonObject } from '../json/json-value.ts';
import type { Registry } from '../resources/registry.ts';
import { type KnownType, splitApiVersion } from '../resources/resource-table.ts';
import type { Schema } from '../schema/schema.ts';

type Convert = (object: JsonObject) => JsonObject;

const asItIs: Convert = (object) => object;

/** The version that a type's objects are stored in; of types that are not stored, the preferred one. */
export function storedKind({ persisted, storageApiVersion, group, preferredVersion, kind }: KnownType): VersionedKind {
  return persisted ? { ...splitApiVersion(storageApiVersion), kind } : { group, version: preferredVersion, kind };
}

/** Whether a record that was written under a generation of the schema is an object of the type as it lies. */
export function liesAsAsked({ custom, apiVersion, storageApiVersion }: KnownType, generation: number): boolean {
  return custom === undefined ? apiVersion === storageApiVersion : custom.form.storedGeneration === generation;
}

function isStored(type: KnownType): boolean {
  const { group, version } = storedKind(type);
  return type.group === group && type.version === version;
}

export class StoredForm {
  readonly #registry: Registry;
  readonly #conversions: Conversions;
  readonly #schema: Schema;
  readonly #toStored = new WeakMap<KnownType, Convert>();
  readonly #toAsked = new WeakMap<KnownType, Convert>();
  readonly #known: KnownConversions;

  constructor(registry: Registry, schema: Schema, known = new KnownConversions()) {
    this.#registry = registry;
    this.#known = known;
    this.#schema = schema;
    this.#conversions = conversionsOf(schema);
  }

  /** The same with what webhooks have answered. */
  knowing(known: KnownConversions): StoredForm {
    return new StoredForm(this.#registry, this.#schema, known);
  }

  /** A canonical object of the type as it is to be stored. Itself, or a new object. */
  stored(type: KnownType, object: JsonObject): JsonObject {
    let convert = this.#toStored.get(type);
    if (convert === undefined) {
      convert = this.#storing(type);
      this.#toStored.set(type, convert);
    }
    return convert(object);
  }

  /**
   * A stored object as an object of the type. Itself, or a new object. `generation`: of the schema that its record was written
   * under, where that is known: a custom object of today's lies as it is asked for.
   */
  asked(type: KnownType, stored: JsonObject, generation?: number): JsonObject {
    if (generation !== undefined && liesAsAsked(type, generation)) return stored;
    let convert = this.#toAsked.get(type);
    if (convert === undefined) {
      convert = this.#asking(type);
      this.#toAsked.set(type, convert);
    }
    return convert(stored);
  }

  /**
   * The type in another version, as what one version calls the objects of another; undefined for none. It need not be served: who wrote
   * in a version owns what it wrote for as long as there is the version.
   */
  inVersion(type: KnownType, apiVersion: string): KnownType | undefined {
    const { group, version } = splitApiVersion(apiVersion);
    const isIt = (one: KnownType): boolean => one.apiVersion === apiVersion && one.kind === type.kind;
    const other = this.#registry.byKind(group, version, type.kind) ?? this.#registry.known().find(isIt);
    return other?.storageKey === type.storageKey ? other : undefined;
  }

  /** Converts between two versions of a type. */
  between(from: VersionedKind, to: VersionedKind & { readonly custom?: CustomType | undefined }): Convert {
    const { custom } = to;
    if (custom !== undefined) return (object) => this.#brought(custom, jsonCopy(object) as JsonObject, asItIs);
    return this.#conversions.between(from, to).convert;
  }

  #asking(type: KnownType): Convert {
    const { custom } = type;
    if (custom !== undefined) {
      const lying: Convert = (object) => custom.asItLies(object);
      return custom.needsForm ? (object) => this.#brought(custom, object, lying) : asItIs;
    }
    return isStored(type) ? asItIs : this.#conversions.between(storedKind(type), type).convert;
  }

  /** `lying`: the object as its webhook, if there is one, is sent it. */
  #brought(custom: CustomType, object: JsonObject, lying: Convert): JsonObject {
    if (!custom.isConvertedOutside(object)) return custom.inVersion(object);
    return custom.fromOutside(this.#known.of(custom, lying(object)));
  }

  /** Even in the stored version an object may say something in two ways, of which one is stored. */
  #storing(type: KnownType): Convert {
    if (type.custom !== undefined) return this.#storingCustom(type);
    if (this.#schema.kind(type.group, type.version, type.kind) === undefined) return asItIs;
    const { convert, isRelabeling } = this.#conversions.between(type, storedKind(type));
    return isRelabeling && isStored(type) ? asItIs : convert;
  }

  /** In the version that is stored, without what its schema does not know, and with its defaults: so it is read. */
  #storingCustom(type: KnownType): Convert {
    const stored = this.#registry.storageType(type.storageKey)?.custom;
    // The type is that of a definition which has been deleted meanwhile.
    if (stored === undefined) throw new DefinitionChanged(`no version of ${type.storageKey} is stored`);
    const { apiVersion } = stored.form;
    const { webhook } = stored.definition;
    return (object) => {
      if (object.apiVersion === apiVersion) return object;
      const copy = webhook === undefined ? (jsonCopy(object) as JsonObject) : this.#known.of(stored, object);
      const { object: shaped } = stored.schema.shape({ ...copy, apiVersion });
      stored.schema.complete(shaped);
      return shaped;
    };
  }
}
