// A field that a list was put beside later: it still says the first of the list. Clients of either age write one of them or both,
// and find both. Pure.
import { isJsonObject, type JsonObject } from '../../json/json-value.ts';
import { asList, asText } from '../../json/object-fields.ts';
import { ownCopy } from '../../json/own-copy.ts';

/** Where an object says something twice. */
export interface FirstOfList {
  readonly part: 'spec' | 'status';
  readonly field: string;
  readonly list: string;
  readonly item: (text: string) => unknown;
  readonly textOf: (item: unknown) => string;
}

/** The object with both in step: the field counts where they differ, the list where it is alone. */
export function withFirstInStep(object: JsonObject, { part, field, list, item, textOf }: FirstOfList): JsonObject {
  const around = object[part];
  if (!isJsonObject(around)) return object;
  const text = asText(around[field]);
  const items = asList(around[list]);
  const first = items.length === 0 ? '' : textOf(items[0]);
  if (text === first) return object;
  const own = ownCopy(around);
  if (text === '') own[field] = first;
  else own[list] = [item(text)];
  return { ...object, [part]: own };
}
