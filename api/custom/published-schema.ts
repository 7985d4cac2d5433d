// The schema of a custom kind as OpenAPI publishes it: what a version of OpenAPI cannot say is left out, so that clients that check
// objects by it take all that the server takes. Only 3.0 has null, and takes members that nobody has named beside others.

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

/** Versions of OpenAPI. */
type PublishedIn = 2 | 3;

/** Undefined for a kind of which nothing can be said: any object is one. */
export function publishedSchema(
  { version, definition }: CustomType,
  prefix: string,
  openapi: PublishedIn,
): SwaggerSchema | undefined {
  const { schemaText } = version;
  if (schemaText === undefined || definition.keepsUnknown) return undefined;
  const schema = parseSchema(schemaText);
  if (schema[`${prefix}preserve-unknown-fields`] === true) return undefined;
  return published(schema, prefix, openapi);
}

function published(schema: JsonObject, prefix: string, openapi: PublishedIn): SwaggerSchema {
  const result: Record<string, unknown> = {};
  for (const name of KEPT) if (schema[name] !== undefined && schema[name] !== null) result[name] = schema[name];
  for (const name in schema) if (name.startsWith(prefix)) result[name] = schema[name];
  // In 2.0 there is no null, no type out of two, and no object with members that nobody has named.
  const isOpen = schema[`${prefix}preserve-unknown-fields`] === true || schema[`${prefix}embedded-resource`] === true;
  const isNullable = schema.nullable === true;
  if (schema[`${prefix}int-or-string`] === true || (isNullable && openapi === 2)) return withoutBounds(result);
  if (isNullable) result.nullable = true;
  if (typeof schema.type === 'string' && schema.type !== '') result.type = schema.type;
  if (isOpen && openapi === 2) return withoutBounds(result);
  if (isJsonObject(schema.items)) result.items = published(schema.items, prefix, openapi);
  if (isJsonObject(schema.properties)) {
    result.properties = Object.fromEntries(
      Object.entries(schema.properties)
        .filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]))
        .map(([name, property]) => [name, published(property, prefix, openapi)]),
    );
  }
  const { additionalProperties } = schema;
  if (isJsonObject(additionalProperties))
    result.additionalProperties = published(additionalProperties, prefix, openapi);
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
