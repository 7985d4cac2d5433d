// Metadata of custom objects as another server left it, in the form that all metadata has. The original holds no stored object to it
// that way: a null is as good as nothing, and what cannot be metadata (labels that are a list, a number among annotations) is left
// out, so that one odd object hides nothing else.
import { decode } from '../../../api/codec/decode.ts';
import { DecodeError } from '../../../api/codec/decode-error.ts';
import { isJsonObject, type JsonObject } from '../../../api/json/json-value.ts';
import type { TypeSchema } from '../../../api/schema/schema.ts';

/** Of these a bad member is left out alone, as the original does it. */
const MAPS: ReadonlySet<string> = new Set(['labels', 'annotations']);

/**
 * The metadata without what is none. What is given is consumed.
 *
 * @param type `meta/v1.ObjectMeta`.
 */
export function foreignMetadata(metadata: JsonObject, type: TypeSchema): JsonObject {
  return decoded(metadata, type) ?? decoded(withoutBad(metadata, type), type)!;
}

function withoutBad(metadata: JsonObject, type: TypeSchema): JsonObject {
  const sound: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(metadata)) {
    if (isSound(name, value, type)) sound[name] = value;
    else if (MAPS.has(name) && isJsonObject(value)) sound[name] = textsOf(value);
  }
  return sound;
}

function textsOf(map: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(map).filter(([, value]) => typeof value === 'string'));
}

function isSound(name: string, value: unknown, type: TypeSchema): boolean {
  return decoded({ [name]: structuredClone(value) }, type) !== undefined;
}

/** Undefined: it is none. */
function decoded(metadata: JsonObject, type: TypeSchema): JsonObject | undefined {
  try {
    return decode(metadata, type).object;
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}
