// Makes objects complete before they are validated: what they stand for, fields that say the same in step, the defaults of their
// type, no fields of closed feature gates, in canonical form.
import { crc32 } from 'node:zlib';
import { decode } from '../../api/codec/decode.ts';
import { DecodeError } from '../../api/codec/decode-error.ts';
import { applyDefaults } from '../../api/codec/defaults.ts';
import { type DropGated, gatedFieldDropper } from '../../api/features/drop-gated.ts';
import { jsonCopy } from '../../api/json/json-copy.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import type { ObjectMeta } from '../../api/metadata/object-meta.ts';
import { appArmorPrefix, dropAppArmor } from '../../api/pods/app-armor.ts';
import type { TypeSchema } from '../../api/schema/schema.ts';
import { defaultsTooLarge } from '../../api/status/failures.ts';
import { StatusError } from '../../api/status/status.ts';
import type { ValidationSettings } from '../../api/validation/report.ts';
import type { Dialect } from '../../config/dialect.ts';
import { FEATURE_GATE_TABLE } from '../../config/options/feature-gate-table.ts';
import type { Attributes } from './attributes.ts';
import type { KindVersion } from './kind-version.ts';

export class Completion {
  readonly #gate: (name: string) => boolean;
  readonly #dropGated: DropGated;

  /** Stands for all that completes an object here: what is stored with it lacks nothing of that. */
  readonly generation: number;

  /**
   * @param gate whether a feature gate is open.
   * @param plugins those that complete objects as well, and what they do that by, in any words.
   */
  constructor(gate: ValidationSettings['gate'], plugins: string) {
    // The defaults' names of gates are those of the table.
    this.#gate = gate as (name: string) => boolean;
    this.generation = generationUnder(this.#gate, plugins);
    this.#dropGated = gatedFieldDropper(gate);
  }

  /** A decoded object as its writer means it. It belongs to the write and may be changed in place. */
  completed(object: JsonObject, attributes: Attributes): JsonObject {
    const { schema, strategy } = attributes.kind;
    const said = strategy.meant === undefined ? object : strategy.meant(object, attributes);
    const meant = strategy.inStep === undefined ? said : strategy.inStep(said);
    if (schema === undefined) {
      // What an apply says is said of an object, and not read as one: no null in it counts as left out.
      if (attributes.type.custom?.schema.complete(meant, !attributes.asked.isTracked) === false)
        throw new StatusError(defaultsTooLarge());
      return meant;
    }
    return this.#complete(meant, attributes.old, schema, attributes.dialect);
  }

  /** The same of a new object of a built-in kind that stands for itself. Undefined where its metadata has a part in it. */
  completedApart(object: JsonObject, { schema, strategy }: KindVersion, dialect: Dialect): JsonObject | undefined {
    if (schema === undefined || strategy.meant !== undefined || !this.#gate('AppArmor')) return undefined;
    return this.#complete(object, undefined, schema, dialect);
  }

  /**
   * A stored object of a built-in kind that other rules completed, as these would have: what an older release left out, or a gate
   * that was closed then, is no change of what cannot be changed.
   */
  ofOlder(stored: JsonObject, kind: KindVersion, dialect: Dialect): JsonObject {
    const copy = jsonCopy(stored) as JsonObject;
    const { schema } = kind;
    return canonicalOf(schema === undefined ? copy : this.#complete(copy, stored, schema, dialect), kind);
  }

  #complete(object: JsonObject, old: JsonObject | undefined, schema: TypeSchema, dialect: Dialect): JsonObject {
    if (!applyDefaults(object as Record<string, unknown>, schema, this.#gate))
      throw new StatusError(defaultsTooLarge());
    this.#dropGated(object, old, schema);
    if (!this.#gate('AppArmor')) dropAppArmor(object, old, schema.kind, appArmorPrefix(dialect.labelDomain));
    return object;
  }
}

/** Of the rules for defaults, for fields in step and for those of closed gates: one more with every change of them. */
const RULES = 6;
/** Smaller numbers are of objects that nothing is known of (storage/etcd) or that are of no schema. */
const GENERATION_MIN = 2;

/** 32 bits. */
function generationUnder(gate: (name: string) => boolean, plugins: string): number {
  const open = FEATURE_GATE_TABLE.filter(({ name }) => gate(name)).map(({ name }) => name);
  return Math.max(crc32([RULES, plugins, ...open].join(' ')), GENERATION_MIN);
}

/** An object in canonical form, custom ones pruned; of a kind without a schema as it is. */
export function canonicalOf(object: JsonObject, { schema, type: { custom } }: KindVersion): JsonObject {
  if (schema !== undefined) return decode(object, schema).object;
  return custom === undefined ? object : custom.schema.shape({ ...object }).object;
}

/** Metadata in canonical form; undefined where it is none that can be stored, or has members that nobody knows. */
export function canonicalMetadata(metadata: JsonObject | undefined, { schema }: KindVersion): ObjectMeta | undefined {
  const type = schema?.field('metadata')?.type;
  if (metadata === undefined || type === undefined) return undefined;
  try {
    const { object, unknownFields } = decode(metadata, type);
    return unknownFields.length === 0 ? (object as ObjectMeta) : undefined;
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}
