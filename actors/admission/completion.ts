// Makes objects complete before they are validated: what they stand for, the defaults of their type, no fields of closed
// feature gates, in canonical form.
import { decode } from '../../api/codec/decode.ts';
import { applyDefaults } from '../../api/codec/defaults.ts';
import { appArmorPrefix, dropAppArmor } from '../../api/features/app-armor.ts';
import { type DropGated, gatedFieldDropper } from '../../api/features/drop-gated.ts';
import type { JsonObject } from '../../api/json-value.ts';
import type { ValidationSettings } from '../../api/validation/report.ts';
import type { Attributes } from './attributes.ts';
import type { KindVersion } from './kind-version.ts';

export class Completion {
  readonly #gate: (name: string) => boolean;
  readonly #dropGated: DropGated;

  /** `gate`: whether a feature gate is open. */
  constructor(gate: ValidationSettings['gate']) {
    // The defaults' names of gates are those of the table.
    this.#gate = gate as (name: string) => boolean;
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

/** An object in canonical form, custom ones pruned; of a kind without a schema as it is. */
export function canonicalOf(object: JsonObject, { schema, type: { custom } }: KindVersion): JsonObject {
  if (schema !== undefined) return decode(object, schema).object;
  return custom === undefined ? object : custom.schema.shape({ ...object }).object;
}
