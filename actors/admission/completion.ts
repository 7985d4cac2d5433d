// Makes objects complete before they are validated: what they stand for, the defaults of their type, no fields of closed
// feature gates, in canonical form.
import { crc32 } from 'node:zlib';
import { decode } from '../../api/codec/decode.ts';
import { applyDefaults } from '../../api/codec/defaults.ts';
import { appArmorPrefix, dropAppArmor } from '../../api/features/app-armor.ts';
import { type DropGated, gatedFieldDropper } from '../../api/features/drop-gated.ts';
import type { JsonObject } from '../../api/json-value.ts';
import type { ValidationSettings } from '../../api/validation/report.ts';
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
    const meant = strategy.meant === undefined ? object : strategy.meant(object, attributes);
    if (schema === undefined) {
      attributes.type.custom?.schema.complete(meant);
      return meant;
    }
    applyDefaults(meant as Record<string, unknown>, schema, this.#gate);
    this.#dropGated(meant, attributes.old, schema);
    if (!this.#gate('AppArmor'))
      dropAppArmor(meant, attributes.old, schema.kind, appArmorPrefix(attributes.dialect.labelDomain));
    return meant;
  }
}

/** Of the rules for defaults and for fields of closed gates: one more with every change of them. */
const RULES = 1;
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
