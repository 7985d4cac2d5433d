// What of JSON Schema the schemas of custom resource definitions may use, at every place of a schema, and what our own words
// in them mean. Whether a schema is structural is structural-schema.ts.
import { EFFORT, spend } from '../custom/checks/effort.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { asList, asObject, asTexts } from '../json/object-fields.ts';
import { shownList } from '../status/shown-value.ts';
import type { Report } from './report.ts';

const TYPES: readonly string[] = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

/** Members of JSON Schema that these schemas may not have, and whether an empty one is as good as none. */
const NOT_ALLOWED: readonly (readonly [member: string, mayBeEmpty: boolean])[] = [
  ['id', true],
  ['additionalItems', false],
  ['patternProperties', true],
  ['definitions', true],
  ['dependencies', false],
  ['$ref', false],
];

const TYPE_MEMBERS: readonly string[] = ['metadata', 'kind', 'apiVersion'];

/** Why a definition of v1beta1 has no defaults. */
const OLDER_HAS_NONE =
  '(cannot set default values in apiextensions.@group/v1beta1 CRDs, must use apiextensions.@group/v1)';

/** Where in an object a schema stands. */
interface Place {
  readonly isRoot: boolean;
  /** It is about a member that every whole object has. */
  readonly isOfMetadata: boolean;
  /** Why there may be no default; undefined: there may be one. */
  readonly noDefaults: string | undefined;
  /** A type may be one that no value is of. */
  readonly anyType: boolean;
}

/** What of the vocabulary depends on where a schema comes from. */
export interface VocabularyRules {
  /** It may say what members hold that are left out. */
  readonly mayDefault: boolean;
  /** Its types may have any names. */
  readonly anyType: boolean;
}

/** What stands below a place and is not about metadata anew. */
function within(place: Place): Place {
  return place.isRoot ? { ...place, isRoot: false } : place;
}

/** Reports what a schema may not say, below where `at` stands. */
export function checkVocabulary(schema: JsonObject, { mayDefault, anyType }: VocabularyRules, at: Report): void {
  const noDefaults = mayDefault ? undefined : at.dialect.spell(OLDER_HAS_NONE);
  const root: Place = { isRoot: true, isOfMetadata: false, noDefaults, anyType };
  checkNode(schema, root, at.dialect.openapiExtensionPrefix, at);
}

function checkNode(node: JsonObject, place: Place, prefix: string, at: Report): void {
  spend(EFFORT.schema);
  checkWords(node, place, prefix, at);
  checkMapType(node, prefix, at);
  checkListType(node, prefix, at);
  checkBelow(node, place, prefix, at);
}

function checkBelow(node: JsonObject, place: Place, prefix: string, at: Report): void {
  const below = within(place);
  const { properties, items, additionalProperties, not } = node;
  const inside = (name: string, value: unknown, where: Place): void => {
    if (!isJsonObject(value)) return;
    at.enter(name);
    checkNode(value, where, prefix, at);
    at.leave();
  };
  const reason = 'inside additionalProperties applying to object metadata';
  inside('additionalProperties', additionalProperties, below.isOfMetadata ? { ...below, noDefaults: reason } : below);
  if (isJsonObject(properties)) {
    const isWhole = place.isRoot || node[`${prefix}embedded-resource`] === true;
    at.enter('properties');
    for (const [name, child] of Object.entries(properties)) {
      if (!isJsonObject(child)) continue;
      at.enterKey(name);
      checkNode(child, isWhole && TYPE_MEMBERS.includes(name) ? ofMetadata(place, name) : below, prefix, at);
      at.leave();
    }
    at.leave();
  }
  inside('not', not, below);
  for (const junctor of ['allOf', 'oneOf', 'anyOf']) {
    for (const [index, part] of asList(node[junctor]).entries()) inside(`${junctor}[${index}]`, part, below);
  }
  inside('items', items, below);
}

function ofMetadata({ isRoot, noDefaults, anyType }: Place, name: string): Place {
  return { isRoot: false, isOfMetadata: true, noDefaults: isRoot ? `in top-level ${name}` : noDefaults, anyType };
}

/** Not there, or empty. */
export function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** True for a schema with a type that no value is of. */
export function hasOddType({ type }: JsonObject): boolean {
  return typeof type === 'string' && type !== '' && !TYPES.includes(type);
}

function checkWords(node: JsonObject, { isOfMetadata, noDefaults, anyType }: Place, prefix: string, at: Report): void {
  const { type, items, properties, additionalProperties, uniqueItems } = node;
  if (!anyType && hasOddType(node)) at.notSupported('type', type, TYPES);
  if (noDefaults !== undefined && node.default !== undefined && node.default !== null) {
    at.forbidden('default', `must not be set ${noDefaults}`);
  }
  for (const [member, mayBeEmpty] of NOT_ALLOWED) {
    const value = node[member] ?? undefined;
    if (value !== undefined && !(mayBeEmpty && isEmpty(value))) at.forbidden(member, `${member} is not supported`);
  }
  if (type === 'null') at.forbidden('type', 'type cannot be set to null, use nullable as an alternative');
  if (Array.isArray(items)) at.forbidden('items', 'items must be a schema object and not an array');
  const embedded = `${prefix}embedded-resource`;
  if (isOfMetadata && node[embedded] === true) at.forbidden(embedded, 'must not be used inside of resource meta');
  if (uniqueItems === true) {
    at.forbidden('uniqueItems', 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic');
  }
  if (!isEmpty(properties) && (additionalProperties === false || isJsonObject(additionalProperties))) {
    at.forbidden('additionalProperties', 'additionalProperties and properties are mutual exclusive');
  }
  const open = `${prefix}preserve-unknown-fields`;
  if (node[open] === false) at.invalid(open, false, 'must be true or undefined');
}

/** A type that one of our words asks for. */
function checkTypeIs(wanted: string, word: string, type: unknown, at: Report): void {
  const detail = `must be ${wanted} if ${word} is specified`;
  if (isEmpty(type)) at.required('type', detail);
  else if (type !== wanted) at.invalid('type', type, detail);
}

function checkMapType(node: JsonObject, prefix: string, at: Report): void {
  const word = `${prefix}map-type`;
  const mapType = node[word];
  if (mapType === undefined || mapType === null) return;
  checkTypeIs('object', word, node.type, at);
  if (mapType !== 'atomic' && mapType !== 'granular') at.notSupported(word, mapType, ['atomic', 'granular']);
}

function checkListType(node: JsonObject, prefix: string, at: Report): void {
  const word = `${prefix}list-type`;
  const listType = node[word] ?? undefined;
  const keys = asTexts(node[`${prefix}list-map-keys`]);
  const items = isJsonObject(node.items) ? node.items : undefined;
  if (listType !== undefined) {
    checkTypeIs('array', word, node.type, at);
    if (node.type === 'array' && listType === 'set' && items !== undefined) checkSetItems(items, prefix, at);
    if (listType !== 'atomic' && listType !== 'set' && listType !== 'map') {
      at.notSupported(word, listType, ['atomic', 'set', 'map']);
    }
  }
  if (keys.length > 0 && listType !== 'map') {
    const detail = `must be map if ${prefix}list-map-keys is non-empty`;
    if (listType === undefined) at.required(word, detail);
    else at.invalid(word, listType, detail);
  }
  if (listType === 'map') checkMapList(node, keys, prefix, at);
  if ((listType === 'set' || listType === 'map') && items?.nullable === true) {
    at.forbidden('items.nullable', `cannot be nullable when ${word} is ${listType}`);
  }
  if (listType === 'map' && items !== undefined) checkKeysAreThere(keys, items, prefix, at);
}

/** Elements of a set are compared as wholes. */
function checkSetItems(items: JsonObject, prefix: string, at: Report): void {
  const listType = items[`${prefix}list-type`] ?? null;
  const detail = `must be atomic as item of a list with ${prefix}list-type=set`;
  if (items.type === 'array' && listType !== null && listType !== 'atomic') {
    at.invalid(`items.${prefix}list-type`, listType, detail);
  }
  // What is told is the type of the list, as the original does.
  if (items.type === 'object' && items[`${prefix}map-type`] !== 'atomic') {
    at.invalid(`items.${prefix}map-type`, listType, detail);
  }
}

function checkMapList({ items }: JsonObject, keys: readonly string[], prefix: string, at: Report): void {
  const member = `${prefix}list-map-keys`;
  if (keys.length === 0) at.required(member, `must not be empty if ${prefix}list-type is map`);
  if (items === undefined || items === null) at.required('items', `must have a schema if ${prefix}list-type is map`);
  if (!isJsonObject(items)) return;
  const inMap = `if parent array's ${prefix}list-type is map`;
  if (items.type !== 'object') {
    at.invalid('items.type', items.type ?? '', `must be object ${inMap}`);
    return;
  }
  const properties = asObject(items.properties);
  const met = new Set<string>();
  const shown = shownList('string', keys);
  for (const key of keys) {
    const property = Object.hasOwn(properties, key) ? asObject(properties[key]) : undefined;
    if (property === undefined) at.invalid(member, shown, 'entries must all be names of item properties');
    else if (property.type === 'array' || property.type === 'object') {
      at.invalid(`items.properties[${key}].type`, 'object', `must be a scalar type ${inMap}`);
    }
    if (met.has(key)) at.invalid(member, shown, 'must not contain duplicate entries');
    met.add(key);
  }
}

/** Every element has all its keys, or is given them. */
function checkKeysAreThere(keys: readonly string[], items: JsonObject, prefix: string, at: Report): void {
  const properties = asObject(items.properties);
  const needed = new Set(asTexts(items.required));
  const word = `this property is in ${prefix}list-map-keys, so it`;
  for (const key of keys) {
    const property = Object.hasOwn(properties, key) ? asObject(properties[key]) : undefined;
    if (property === undefined) continue;
    const place = `items.properties[${key}]`;
    if (!needed.has(key) && (property.default === undefined || property.default === null)) {
      at.required(`${place}.default`, `${word} must have a default or be a required property`);
    }
    if (property.nullable === true) at.forbidden(`${place}.nullable`, `${word} cannot be nullable`);
  }
}
