// What has to be asked of a definition's conversion webhook before an object can be had in another version. Work that must not
// wait throws it, and is done again once the answer is known (actors/admission/conversion).
import { jsonCopy } from '../../json/json-copy.ts';
import type { JsonObject } from '../../json/json-value.ts';
import type { CustomType } from './custom-type.ts';

/** An object that is not known in a version yet. */
export class ConversionDue extends Error {
  readonly custom: CustomType;
  readonly object: JsonObject;

  constructor(custom: CustomType, object: JsonObject) {
    super(`${custom.definition.name} has to be converted to ${custom.version.name} by a webhook`);
    this.custom = custom;
    this.object = object;
  }
}

/** What webhooks have answered in the course of one piece of work; what they have not been asked is due. */
export class KnownConversions {
  readonly #known = new Map<string, JsonObject>();

  /** A copy of the object in the custom type's version. Throws ConversionDue. */
  of(custom: CustomType, object: JsonObject): JsonObject {
    const known = this.#known.get(keyOf(custom, object));
    if (known === undefined) throw new ConversionDue(custom, object);
    return jsonCopy(known) as JsonObject;
  }

  add({ custom, object }: ConversionDue, converted: JsonObject): void {
    this.#known.set(keyOf(custom, object), converted);
  }
}

/** By what the object says: work that is done again makes it anew. */
function keyOf({ form }: CustomType, object: JsonObject): string {
  return `${form.apiVersion} ${JSON.stringify(object)}`;
}
