// Any value that names its kind, written as Protobuf: objects and lists of built-in types, Status, partial metadata,
// discovery documents. Finds the type; how a message is written is api/codec's business.

import { encodeEnveloped } from '../api/codec/protobuf.ts';
import type { JsonObject } from '../api/json/json-value.ts';
import { splitApiVersion } from '../api/resources/resource-table.ts';
import type { Schema, TypeSchema } from '../api/schema/schema.ts';
import type { RowType } from '../api/table/table.ts';
import { META_GROUPS } from '../config/dialect.ts';

/** The message of a kind; undefined for kinds that only JSON has (Tables, custom kinds). */
export function protobufTypeOf(schema: Schema, { group, version, kind }: RowType): TypeSchema | undefined {
  // The meta group of either dialect is spoken, the schema has that of its own.
  const home = META_GROUPS.includes(group) ? schema.dialect.metaGroup : group;
  const type = schema.kind(home, version, kind);
  return type === undefined || type.jsonOnly ? undefined : type;
}

/** Whether `protobufValue` takes the value. */
export function hasProtobufForm(value: object, schema: Schema): boolean {
  return typeOfValue(value as JsonObject, schema) !== undefined;
}

/**
 * The value in its envelope, under the kind and apiVersion that it names. Discovery documents that name no apiVersion are
 * of `v1`, and their envelope names none either.
 *
 * @throws RangeError for a kind that has no Protobuf form.
 */
export function protobufValue(value: object, schema: Schema): Buffer {
  const object = value as JsonObject;
  const type = typeOfValue(object, schema);
  if (type === undefined)
    throw new RangeError(`${String(object.apiVersion)} ${String(object.kind)} has no Protobuf form`);
  return encodeEnveloped(object, type);
}

function typeOfValue({ apiVersion, kind }: JsonObject, schema: Schema): TypeSchema | undefined {
  if (typeof kind !== 'string') return undefined;
  return protobufTypeOf(schema, { ...splitApiVersion(String(apiVersion ?? 'v1')), kind });
}
