// Objects in answers that are not stored bytes: dry runs, removed objects.
import type { JsonObject } from '../../../api/json/json-value.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';

/** An object of the type as a client sees it, kind and apiVersion first. */
export function asAnswer(type: KnownType, object: JsonObject): JsonObject {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return { kind: type.kind, apiVersion: type.apiVersion, ...rest };
}
