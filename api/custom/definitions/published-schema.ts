// The schema of a custom kind as OpenAPI publishes it: what a version of OpenAPI cannot say is left out, so that clients that check
// objects by it take all that the server takes. Only 3.0 has null, and takes members that nobody has named beside others.

import { isJsonObject, type JsonObject } from '../../json/json-value.ts';
import type { Extensions, ObjectMembers, SwaggerSchema } from '../../openapi/swagger.ts';
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

/** How the schemas of a document are written. */
interface Publication {
  /** In front of the names of our own extensions. */
  readonly prefix: string;
  readonly openapi: PublishedIn;
  /** Of an object within another. */
  readonly embedded: ObjectMembers;
}

/** Undefined for a kind of which nothing can be said: any object is one. */
export function publishedSchema(
  { version, definition }: CustomType,
  publication: Publication,
): SwaggerSchema | undefined {
  const { schemaText } = version;
  if (schemaText === undefined || definition.keepsUnknown) return undefined;
  const schema = parseSchema(schemaText);
  if (schema[`${publication.prefix}preserve-unknown-fields`] === true) return undefined;
  return published(schema, publication);
}

function published(schema: JsonObject, publication: Publication): SwaggerSchema {
  return publication.openapi === 2 ? publishedIn2(schema, publication) : publishedIn3(schema, publication);
}

/**
 * In 2.0 there is no null, no type out of two, and no object with members that nobody has named: such a value has no type, nor members
 * or items, by which kubectl would refuse some of what the server takes. Bounds stay: a value without a type is not held to them.
 */
function publishedIn2(schema: JsonObject, publication: Publication): SwaggerSchema {
  const { prefix } = publication;
  const { default: _, ...result } = inSameWords(schema, prefix);
  const keepsUnknown = schema[`${prefix}preserve-unknown-fields`] === true;
  const isOpen = keepsUnknown && (schema.type === 'object' || schema.type === 'array');
  const isUntyped = schema.nullable === true || isOpen || schema[`${prefix}int-or-string`] === true;
  const isEmbedded = schema[`${prefix}embedded-resource`] === true && !keepsUnknown;
  if (!isUntyped && isNamed(schema.type)) result.type = schema.type;
  if (!isUntyped && isJsonObject(schema.items)) result.items = published(schema.items, publication);
  const members = isUntyped ? [] : membersOf(schema);
  if (members.length > 0 || isEmbedded) {
    const named = members.map(([name, member]) => [name, published(member, publication)] as const);
    result.properties = { ...Object.fromEntries(named), ...(isEmbedded ? publication.embedded : undefined) };
  }
  const nullable = new Set(members.filter(([, member]) => mayHoldNull(member)).map(([name]) => name));
  const own = Array.isArray(schema.required) && !mayHoldNull(schema.additionalProperties) ? schema.required : [];
  const demanded = [...own, ...(isEmbedded ? NAMING : [])];
  const required = [...new Set(demanded)].filter((name) => !nullable.has(name));
  if (required.length > 0) result.required = required;
  else delete result.required;
  return withMoreMembers(result, schema, publication);
}

const NAMING: readonly string[] = ['kind', 'apiVersion'];

/** To a client that checks by 2.0, a member that is null is missing. */
function mayHoldNull(schema: unknown): boolean {
  return isJsonObject(schema) && schema.nullable === true;
}

function publishedIn3(schema: JsonObject, publication: Publication): SwaggerSchema {
  const { prefix } = publication;
  const result = inSameWords(schema, prefix);
  if (schema[`${prefix}int-or-string`] === true) return withoutBounds(result);
  if (schema.nullable === true) result.nullable = true;
  if (isNamed(schema.type)) result.type = schema.type;
  if (isJsonObject(schema.items)) result.items = published(schema.items, publication);
  if (isJsonObject(schema.properties)) {
    result.properties = Object.fromEntries(
      membersOf(schema).map(([name, member]) => [name, published(member, publication)]),
    );
  }
  return withMoreMembers(result, schema, publication);
}

function inSameWords(schema: JsonObject, prefix: string): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const name of KEPT) if (schema[name] !== undefined && schema[name] !== null) result[name] = schema[name];
  for (const name in schema) if (name.startsWith(prefix)) result[name] = schema[name];
  return result;
}

function isNamed(type: unknown): type is string {
  return typeof type === 'string' && type !== '';
}

function membersOf({ properties }: JsonObject): readonly (readonly [name: string, schema: JsonObject])[] {
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]));
}

function withMoreMembers(
  result: Record<string, unknown>,
  { additionalProperties }: JsonObject,
  publication: Publication,
): SwaggerSchema {
  if (isJsonObject(additionalProperties)) result.additionalProperties = published(additionalProperties, publication);
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
