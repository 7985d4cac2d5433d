// The structure that a schema gives the objects of a custom kind: which members there are, what each holds when it is left
// out, where anything goes. Pruning and defaulting walk it; what values may be is value-checks.ts.
import { isJsonObject, type JsonObject } from '../../json/json-value.ts';

/** A schema's structure, read once. */
export interface Structure {
  readonly properties: ReadonlyMap<string, Structure>;
  readonly items: Structure | undefined;
  /** Of members that are not named. Undefined where there are none, or where nothing is said of them. */
  readonly rest: Structure | undefined;
  /** Members that are not named are kept, if only as what `rest` says: without it their own members are none. */
  readonly hasRest: boolean;
  readonly keepsUnknown: boolean;
  /** A whole object of the API, with kind, apiVersion and metadata. */
  readonly isEmbedded: boolean;
  readonly isNullable: boolean;
  /** Undefined: none. Shared: to be copied into an object. */
  readonly whenAbsent: unknown;
  /** The schema itself. */
  readonly node: JsonObject;
}

export type Members = Record<string, unknown>;

/** Members of every whole object. */
export const TYPE_MEMBERS: ReadonlySet<string> = new Set(['kind', 'apiVersion', 'metadata']);

const DEPTH_MAX = 512;

/** @param prefix what names of our own in a schema begin with (`Dialect.openapiExtensionPrefix`). */
export function structureOf(schema: JsonObject, prefix: string, depth = 0): Structure {
  if (depth > DEPTH_MAX) throw new RangeError(`a schema nested deeper than ${DEPTH_MAX} levels`);
  const below = (value: unknown): Structure | undefined =>
    isJsonObject(value) ? structureOf(value, prefix, depth + 1) : undefined;
  const properties = new Map<string, Structure>();
  if (isJsonObject(schema.properties)) {
    for (const [name, value] of Object.entries(schema.properties)) {
      const property = below(value);
      if (property !== undefined) properties.set(name, property);
    }
  }
  const { additionalProperties } = schema;
  return {
    properties,
    items: below(schema.items),
    rest: below(additionalProperties),
    hasRest: additionalProperties === true || isJsonObject(additionalProperties),
    keepsUnknown: schema[`${prefix}preserve-unknown-fields`] === true,
    isEmbedded: schema[`${prefix}embedded-resource`] === true,
    isNullable: schema.nullable === true,
    whenAbsent: schema.default === null ? undefined : schema.default,
    node: schema,
  };
}

/** Whether anything in objects of a structure may be given. */
export function givesAnything({ whenAbsent, properties, items, rest }: Structure): boolean {
  if (whenAbsent !== undefined) return true;
  return [...properties.values(), items, rest].some((below) => below !== undefined && givesAnything(below));
}
