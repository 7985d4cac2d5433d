// The schema of a custom kind as OpenAPI 2.0 publishes it: what that version of OpenAPI cannot say is left out, so that clients
// that check objects by it take all that the server takes.

import { isJsonObject, type JsonObject } from '../json-value.ts';
import type { Extensions, SwaggerSchema } from '../openapi/swagger.ts';
import type { CustomType } from './custom-type.ts';
import { parseSchema } from './schema-text.ts';

/** What is said in the same words. */
const KEPT: readonly string[] = [
  'description',
  'title',
  'format',
  'pattern',
  'enum',
  'default',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'required',
];

/** Undefined for a kind of which nothing can be said: any object is one. */
export function publishedSchema({ version, definition }: CustomType, prefix: string): SwaggerSchema | undefined {
  const { schemaText } = version;
  if (schemaText === undefined || definition.keepsUnknown) return undefined;
  const schema = parseSchema(schemaText);
  if (schema[`${prefix}preserve-unknown-fields`] === true) return undefined;
  return published(schema, prefix);
}

function published(schema: JsonObject, prefix: string): SwaggerSchema {
  const result: Record<string, unknown> = {};
  for (const name of KEPT) if (schema[name] !== undefined && schema[name] !== null) result[name] = schema[name];
  for (const name in schema) if (name.startsWith(prefix)) result[name] = schema[name];
  // There is no null, no type out of two, and no object with members that nobody has named.
  const isOpen = schema[`${prefix}preserve-unknown-fields`] === true || schema[`${prefix}embedded-resource`] === true;
  if (schema.nullable === true || schema[`${prefix}int-or-string`] === true) return withoutBounds(result);
  if (typeof schema.type === 'string' && schema.type !== '') result.type = schema.type;
  if (isOpen) return withoutBounds(result);
  if (isJsonObject(schema.items)) result.items = published(schema.items, prefix);
  if (isJsonObject(schema.properties)) {
    result.properties = Object.fromEntries(
      Object.entries(schema.properties)
        .filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]))
        .map(([name, property]) => [name, published(property, prefix)]),
    );
  }
  const { additionalProperties } = schema;
  if (isJsonObject(additionalProperties)) result.additionalProperties = published(additionalProperties, prefix);
  else if (additionalProperties === true) result.additionalProperties = true;
  return result as SwaggerSchema;
}

/** Where a value may be of several kinds, only its words and our own extensions are kept. */
function withoutBounds(schema: Readonly<Record<string, unknown>>): SwaggerSchema {
  const { description, title, type } = schema;
  const own = Object.entries(schema).filter(([name]) => name.startsWith('x-'));
  const words = Object.entries({ description, title, type }).filter(([, value]) => value !== undefined);
  return Object.fromEntries([...words, ...own]) as SwaggerSchema & Extensions;
}
