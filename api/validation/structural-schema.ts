// The rules of the schemas that custom resource definitions carry: what of JSON Schema they may use, and the structural
// rules that let objects be pruned and defaulted (every value has one type, said outside of allOf and its like). Works on
// a schema as it stands in the definition, without compiling it.

import { isPattern } from '../custom/patterns.ts';
import type { JsonObject } from '../json-value.ts';
import { isJsonObject } from '../json-value.ts';
import { asObject } from '../object-fields.ts';
import type { Report } from './report.ts';
import { schemaValueProblem } from './schema-value.ts';

type SchemaNode = JsonObject;

export interface SchemaRules {
  /** Objects of the type are pruned: the schema must be structural. */
  readonly structural: boolean;
}

const TYPES: readonly string[] = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

/** Members of JSON Schema that these schemas may not have. */
const NOT_ALLOWED = ['definitions', 'dependencies', 'patternProperties', 'additionalItems', 'id', '$ref'];

/** What must not be said inside allOf, anyOf, oneOf and not. */
const OUTSIDE_ONLY = ['description', 'type', 'default', 'title', 'additionalProperties', 'nullable'];

const JUNCTORS = ['allOf', 'anyOf', 'oneOf'] as const;

/** Where in an object a schema stands: rules of metadata depend on it. */
type Place = 'root' | 'embedded' | 'metadata' | 'inner';

interface Walk extends SchemaRules {
  readonly prefix: string;
}

/** Reports what is wrong with a schema, below where `at` stands. */
export function checkCustomSchema(schema: SchemaNode, rules: SchemaRules, at: Report): void {
  const walk: Walk = { ...rules, prefix: at.dialect.openapiExtensionPrefix };
  if (schema.nullable === true) at.forbidden('nullable', 'nullable cannot be true at the root');
  if (rules.structural && (schema.type ?? '') !== '' && schema.type !== 'object') {
    at.invalid('type', schema.type, 'must be object at the root');
  }
  checkNode(schema, 'root', walk, at);
}

function checkNode(node: SchemaNode, place: Place, walk: Walk, at: Report): void {
  checkVocabulary(node, at);
  checkExtensions(node, place, walk, at);
  if (walk.structural) {
    checkType(node, place, walk, at);
    checkJunctors(node, walk, at);
    if (node.default !== undefined && node.default !== null) checkDefault(node, place, at);
  }
  eachChild(node, (child, childPlace) => checkNode(child, childPlace, walk, at), place, walk, at);
}

/** Steps into properties, items and additionalProperties: what objects consist of. */
function eachChild(
  node: SchemaNode,
  visit: (child: SchemaNode, place: Place) => void,
  place: Place,
  walk: Walk,
  at: Report,
): void {
  const { properties, items, additionalProperties } = node;
  const holdsObject = place === 'root' || node[`${walk.prefix}embedded-resource`] === true;
  if (isJsonObject(properties)) {
    at.enter('properties');
    for (const [name, child] of Object.entries(properties)) {
      if (!isJsonObject(child)) continue;
      at.enterKey(name);
      visit(child, holdsObject && name === 'metadata' ? 'metadata' : 'inner');
      at.leave();
    }
    at.leave();
  }
  for (const [name, child] of [
    ['items', items],
    ['additionalProperties', additionalProperties],
  ] as const) {
    if (!isJsonObject(child)) continue;
    at.enter(name);
    visit(child, 'inner');
    at.leave();
  }
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function checkVocabulary(node: SchemaNode, at: Report): void {
  for (const member of NOT_ALLOWED) if (!isEmpty(node[member])) at.forbidden(member, `${member} is not supported`);
  if (node.uniqueItems === true) {
    at.forbidden('uniqueItems', 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic');
  }
  const { type, items, properties, additionalProperties } = node;
  if (type === 'null') at.forbidden('type', 'type cannot be set to null, use nullable as an alternative');
  else if (typeof type === 'string' && type !== '' && !TYPES.includes(type)) at.notSupported('type', type, TYPES);
  if (Array.isArray(items)) at.forbidden('items', 'items must be a schema object and not an array');
  if (additionalProperties === false)
    at.forbidden('additionalProperties', 'additionalProperties cannot be set to false');
  else if (isJsonObject(additionalProperties) && !isEmpty(properties)) {
    at.forbidden('additionalProperties', 'additionalProperties and properties are mutual exclusive');
  }
  const { pattern } = node;
  if (typeof pattern === 'string' && pattern !== '' && !isPattern(pattern)) {
    at.invalid('pattern', pattern, 'must be a valid regular expression');
  }
}

function checkType(node: SchemaNode, place: Place, { prefix }: Walk, at: Report): void {
  const { type = '' } = node as { type?: string };
  const isIntOrString = node[`${prefix}int-or-string`] === true;
  if (isIntOrString) {
    if (type !== '') at.forbidden('type', `must be empty if ${prefix}int-or-string is true`);
    return;
  }
  if (type !== '' || node[`${prefix}preserve-unknown-fields`] === true) return;
  if (place === 'root') at.required('type', 'must not be empty at the root');
  else at.required('type', 'must not be empty for specified object fields, array items and additional properties');
}

/** Says which part of the structure something inside a junctor may be about. */
function checkJunctors(node: SchemaNode, walk: Walk, at: Report): void {
  const isIntOrString = node[`${walk.prefix}int-or-string`] === true;
  for (const junctor of JUNCTORS) {
    const parts = node[junctor];
    if (!Array.isArray(parts)) continue;
    // anyOf integer and string is how int-or-string is said in JSON Schema.
    if (isIntOrString && (junctor === 'anyOf' || junctor === 'allOf')) continue;
    at.enter(junctor);
    for (const [index, part] of parts.entries()) {
      if (!isJsonObject(part)) continue;
      at.enter(index);
      checkInside(part, node, walk, at);
      at.leave();
    }
    at.leave();
  }
  if (isJsonObject(node.not)) {
    at.enter('not');
    checkInside(node.not, node, walk, at);
    at.leave();
  }
}

function checkInside(node: SchemaNode, outside: SchemaNode | undefined, walk: Walk, at: Report): void {
  checkVocabulary(node, at);
  for (const member of OUTSIDE_ONLY) {
    if (!isEmpty(node[member])) at.forbidden(member, 'must be empty to be structural');
  }
  for (const member in node) {
    if (member.startsWith(walk.prefix) && !isEmpty(node[member]))
      at.forbidden(member, 'must be false or empty to be structural');
  }
  const { properties, items } = node;
  if (isJsonObject(properties)) {
    const outer = asObject(outside?.properties);
    for (const [name, child] of Object.entries(properties)) {
      if (!isJsonObject(child)) continue;
      at.enter('properties');
      at.enterKey(name);
      const specified = Object.hasOwn(outer, name) ? outer[name] : undefined;
      if (!isJsonObject(specified))
        at.required('', 'because it is defined in a junctor, it must be specified outside as well');
      checkInside(child, isJsonObject(specified) ? specified : undefined, walk, at);
      at.leave();
      at.leave();
    }
  }
  if (isJsonObject(items)) {
    at.enter('items');
    if (!isJsonObject(outside?.items))
      at.required('', 'because it is defined in a junctor, it must be specified outside as well');
    checkInside(items, isJsonObject(outside?.items) ? outside.items : undefined, walk, at);
    at.leave();
  }
  checkJunctorsInside(node, outside, walk, at);
}

function checkJunctorsInside(node: SchemaNode, outside: SchemaNode | undefined, walk: Walk, at: Report): void {
  for (const junctor of JUNCTORS) {
    const parts = node[junctor];
    if (!Array.isArray(parts)) continue;
    at.enter(junctor);
    for (const [index, part] of parts.entries()) {
      at.enter(index);
      if (isJsonObject(part)) checkInside(part, outside, walk, at);
      at.leave();
    }
    at.leave();
  }
  if (isJsonObject(node.not)) {
    at.enter('not');
    checkInside(node.not, outside, walk, at);
    at.leave();
  }
}

const LIST_TYPES = ['atomic', 'map', 'set'];
const MAP_TYPES = ['atomic', 'granular'];

function checkExtensions(node: SchemaNode, place: Place, { prefix }: Walk, at: Report): void {
  if (node[`${prefix}preserve-unknown-fields`] === false) {
    at.invalid(`${prefix}preserve-unknown-fields`, false, 'must be true or undefined');
  }
  const embedded = `${prefix}embedded-resource`;
  if (node[embedded] === true) {
    if (place === 'metadata') at.forbidden(embedded, 'must not be used inside of resource meta');
    if (node.type !== 'object') at.invalid('type', node.type ?? '', `must be object if ${embedded} is true`);
    if (isEmpty(node.properties) && node[`${prefix}preserve-unknown-fields`] !== true) {
      at.required('properties', `must not be empty if ${embedded} is true without ${prefix}preserve-unknown-fields`);
    }
  }
  const mapType = node[`${prefix}map-type`] as string | undefined;
  if (mapType !== undefined && mapType !== null) {
    if (!MAP_TYPES.includes(mapType)) at.notSupported(`${prefix}map-type`, mapType, MAP_TYPES);
    if (node.type !== 'object') at.invalid('type', node.type ?? '', `must be object if ${prefix}map-type is specified`);
  }
  checkListType(node, prefix, at);
}

function checkListType(node: SchemaNode, prefix: string, at: Report): void {
  const listType = node[`${prefix}list-type`] as string | undefined;
  const keys = (node[`${prefix}list-map-keys`] ?? []) as readonly string[];
  const keysMember = `${prefix}list-map-keys`;
  if (listType !== undefined && listType !== null) {
    if (!LIST_TYPES.includes(listType)) at.notSupported(`${prefix}list-type`, listType, LIST_TYPES);
    if (node.type !== 'array') at.invalid('type', node.type ?? '', `must be array if ${prefix}list-type is specified`);
  }
  if (keys.length > 0 && listType !== 'map')
    at.invalid(keysMember, keys, `must be empty unless ${prefix}list-type is map`);
  if (listType !== 'map' && listType !== 'set') return;
  const items = isJsonObject(node.items) ? node.items : undefined;
  if (items === undefined) {
    at.required('items', `must be specified if ${prefix}list-type is ${listType}`);
    return;
  }
  if (listType === 'set') {
    const isAtomic =
      items.type === 'array' ? items[`${prefix}list-type`] === 'atomic' : items[`${prefix}map-type`] === 'atomic';
    if (items.nullable === true) at.forbidden('items.nullable', `cannot be nullable when ${prefix}list-type is set`);
    if (items.type === 'object' && !isAtomic) {
      at.invalid(
        `items.${prefix}map-type`,
        items[`${prefix}map-type`] ?? null,
        `must be atomic as item of a list with ${prefix}list-type=set`,
      );
    }
    if (items.type === 'array' && items[`${prefix}list-type`] !== undefined && !isAtomic) {
      at.invalid(
        `items.${prefix}list-type`,
        items[`${prefix}list-type`],
        `must be atomic as item of a list with ${prefix}list-type=set`,
      );
    }
    return;
  }
  checkMapKeys(keys, items, keysMember, at);
}

function checkMapKeys(keys: readonly string[], items: SchemaNode, member: string, at: Report): void {
  if (keys.length === 0) {
    at.required(member, 'must not be empty if the list type is map');
    return;
  }
  if (items.type !== 'object') {
    at.invalid('items.type', items.type ?? '', 'must be object if the parent array has the list type map');
    return;
  }
  const properties = asObject(items.properties);
  const needed = new Set(Array.isArray(items.required) ? items.required : []);
  for (const [index, key] of keys.entries()) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (!isJsonObject(property)) {
      at.invalid(`${member}[${index}]`, key, 'must exist in items.properties');
      continue;
    }
    if (property.type === 'array' || property.type === 'object') {
      at.invalid(
        `items.properties[${key}].type`,
        property.type,
        'must be a scalar type if the parent array has the list type map',
      );
    }
    if (!needed.has(key) && (property.default === undefined || property.default === null)) {
      at.required(
        `items.properties[${key}].default`,
        'this property is a map key, so it must have a default or be required',
      );
    }
  }
  if (new Set(keys).size < keys.length) at.invalid(member, keys, 'keys must not repeat');
}

/** A default is what the schema itself admits. The metadata of an object is not defaulted. */
function checkDefault(node: SchemaNode, place: Place, at: Report): void {
  if (place === 'metadata') {
    at.forbidden('default', 'must not be set in top-level metadata');
    return;
  }
  const problem = schemaValueProblem(node.default, node, at.dialect.openapiExtensionPrefix);
  if (problem !== undefined)
    at.invalid(problem.path === '' ? 'default' : `default${problem.path}`, problem.value, problem.detail);
}
