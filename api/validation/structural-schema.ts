// The structural rules of the schemas that custom resource definitions carry, which let objects be pruned and defaulted:
// every value has one type, said outside of allOf and its like. Works on a schema as it stands in the definition, without
// compiling it. What a schema may say at all is schema-vocabulary.ts.
import { EFFORT, spend } from '../custom/checks/effort.ts';
import { patternProblem } from '../custom/checks/patterns.ts';
import { deepEqual } from '../json/deep-equal.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { asList, asObject } from '../json/object-fields.ts';
import { type FieldError, forbidden, invalid, required } from '../status/field-error.ts';
import { Report } from './report.ts';
import { checkDefaults } from './schema-defaults.ts';
import { checkVocabulary, isEmpty, type VocabularyRules } from './schema-vocabulary.ts';

export interface SchemaRules extends VocabularyRules {
  /** Objects of the type are pruned: the schema must be structural. */
  readonly structural: boolean;
  /** The version has a status of its own, whose schema is taken out of the whole one. */
  readonly hasStatus: boolean;
}

/** Errors of one schema that are kept. */
const ERRORS_MAX = 1000;

const JUNCTORS = ['anyOf', 'allOf', 'oneOf'] as const;

/** What is said of a place that has no type, by where it is. */
const UNTYPED = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
} as const;

type Level = keyof typeof UNTYPED;

/** What must not be said inside allOf, anyOf, oneOf and not, and what is told of it. */
const OUTSIDE_ONLY: readonly (readonly [member: string, detail: string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['externalDocs', 'must be undefined to be structural'],
];

/** The same of our own words. */
const OWN_OUTSIDE_ONLY: readonly (readonly [word: string, detail: string])[] = [
  ['preserve-unknown-fields', 'must be false to be structural'],
  ['embedded-resource', 'must be false to be structural'],
  ['int-or-string', 'must be false to be structural'],
  ['list-map-keys', 'must be empty to be structural'],
  ['list-type', 'must be undefined to be structural'],
  ['map-type', 'must be undefined to be structural'],
];

/** What may stand at the root where the status has an endpoint of its own, in the words of the original. */
const AT_ROOT_WITH_STATUS =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems ' +
  'MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields';
const NOT_AT_ROOT_WITH_STATUS = [
  ...['default', 'enum', 'allOf', 'anyOf', 'oneOf', 'not', 'additionalProperties', 'maxProperties', 'minProperties'],
  ...['nullable', 'id', '$schema', '$ref', 'patternProperties', 'dependencies', 'additionalItems', 'definitions'],
];
const OWN_NOT_AT_ROOT_WITH_STATUS = ['embedded-resource', 'int-or-string', 'list-map-keys', 'list-type', 'map-type'];

/** Reports what is wrong with a schema, below where `at` stands. */
export function checkCustomSchema(schema: JsonObject, rules: SchemaRules, at: Report): void {
  if (rules.hasStatus) checkRootWithStatus(schema, at);
  if (schema.nullable === true) at.forbidden('nullable', 'nullable cannot be true at the root');
  const before = at.count;
  checkVocabulary(schema, rules, at);
  if (!rules.structural) return;
  const unread = unreadWord(schema, at.dialect.openapiExtensionPrefix);
  if (unread !== undefined) {
    // What cannot be read as a structural schema is told of for that alone, unless it has been told of.
    if (at.count === before) at.invalid('', '', `OpenAPIV3Schema '${unread}' is not supported`);
    return;
  }
  const errors = new StructuralCheck(at).errorsIn(schema);
  if (errors.length > 0) at.addAll(errors);
  else checkDefaults(schema, at);
}

/** Words by which a schema cannot be read as a structural one. */
const UNREAD = ['id', '$schema', '$ref', 'patternProperties', 'dependencies', 'additionalItems', 'definitions'];

/** The first of them in a schema, however deep. */
function unreadWord(schema: JsonObject, prefix: string): string | undefined {
  const open = `${prefix}preserve-unknown-fields`;
  if (schema[open] === false) return open;
  const own = UNREAD.find((word) => !isEmpty(schema[word]) || isClosing(word, schema[word]));
  if (own !== undefined) return own.replace('$schema', 'schema');
  if (Array.isArray(schema.items)) return 'items';
  for (const one of schemasInside(schema)) {
    const found = isJsonObject(one) ? unreadWord(one, prefix) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** False says something of what more there may be. */
function isClosing(word: string, value: unknown): boolean {
  return value === false && (word === 'additionalItems' || word === 'additionalProperties');
}

/** What a schema holds where further schemas belong: any number of them. */
export function schemasInside(schema: JsonObject): readonly unknown[] {
  const { items, not, additionalProperties, properties, allOf, anyOf, oneOf } = schema;
  const named = Object.values(asObject(properties));
  return [items, not, additionalProperties, ...named, ...asList(allOf), ...asList(anyOf), ...asList(oneOf)];
}

/** `at` says whose server it is; nothing is reported there. */
export function isStructural(schema: JsonObject, at: Report): boolean {
  const report = new Report(at.dialect, at.settings);
  report.begin(schema);
  return new StructuralCheck(report).errorsIn(schema).length === 0;
}

function checkRootWithStatus(schema: JsonObject, at: Report): void {
  const { openapiExtensionPrefix: prefix } = at.dialect;
  const type = schema.type ?? '';
  const where = 'at the root of the schema if the status subresource is enabled';
  if (type !== '' && type !== 'object') at.invalid('type', type, `only "object" is allowed as the type ${where}`);
  const words = [...NOT_AT_ROOT_WITH_STATUS, ...OWN_NOT_AT_ROOT_WITH_STATUS.map((word) => `${prefix}${word}`)];
  if (words.some((word) => !isEmpty(schema[word]) || isClosing(word, schema[word]))) {
    at.invalid('', schema, `only [${AT_ROOT_WITH_STATUS}] fields are allowed ${where}`);
  }
}

/** Finds where a schema is not structural. Errors are in the order of their texts. */
class StructuralCheck {
  readonly #at: Report;
  readonly #prefix: string;
  readonly #errors: FieldError[] = [];

  constructor(at: Report) {
    this.#at = at;
    this.#prefix = at.dialect.openapiExtensionPrefix;
  }

  errorsIn(schema: JsonObject): readonly FieldError[] {
    this.#node(schema, 'root');
    const path = this.#at.path();
    this.#complete(schema, schema, path, path);
    const textOf = ({ path: place, message }: FieldError): string => `${place}: ${message}`;
    return this.#errors.sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
  }

  #add(error: FieldError): void {
    if (this.#errors.length < ERRORS_MAX) this.#errors.push(error);
  }

  #required(sub: string, detail: string): void {
    this.#add(required(this.#at.path(sub), detail));
  }

  #invalid(sub: string, value: unknown, detail: string): void {
    this.#add(invalid(this.#at.path(sub), value, detail));
  }

  #forbidden(sub: string, detail: string): void {
    this.#add(forbidden(this.#at.path(sub), detail));
  }

  #has(node: JsonObject, word: string): boolean {
    return node[this.#prefix + word] === true;
  }

  /** A schema outside of junctors, and those below it. */
  #node(node: JsonObject, level: Level): void {
    spend(EFFORT.schema);
    const { items, additionalProperties, type } = node;
    if (type === 'array' && !isJsonObject(items)) this.#required('items', 'must be specified');
    this.#below('items', items, 'item');
    for (const [name, child] of Object.entries(asObject(node.properties))) {
      this.#below(`properties[${name}]`, child, 'field');
    }
    if (level === 'root' && additionalProperties !== undefined && additionalProperties !== null) {
      this.#forbidden('additionalProperties', 'must not be used at the root');
    }
    this.#below('additionalProperties', additionalProperties, 'field');
    this.#type(node, level);
    this.#wholeObject(node, level);
    const of = isIntOrString(node.anyOf)
      ? 'anyOf'
      : isIntOrString(asObject(asList(node.allOf)[0]).anyOf)
        ? 'allOf'
        : '';
    this.#values(node, of);
  }

  #below(name: string, node: unknown, level: Level): void {
    if (!isJsonObject(node)) return;
    this.#at.enter(name);
    this.#node(node, level);
    this.#at.leave();
  }

  #type(node: JsonObject, level: Level): void {
    const { type = '' } = node as { type?: string };
    const isEither = this.#has(node, 'int-or-string');
    const isOpen = this.#has(node, 'preserve-unknown-fields');
    for (const word of ['preserve-unknown-fields', 'embedded-resource']) {
      if (!isEither || !this.#has(node, word)) continue;
      this.#invalid(this.#prefix + word, true, `must be false if ${this.#prefix}int-or-string is true`);
    }
    if (this.#has(node, 'embedded-resource') && type !== 'object') {
      const detail = `must be object if ${this.#prefix}embedded-resource is true`;
      if (type === '') this.#required('type', detail);
      else this.#invalid('type', type, detail);
    } else if (type === '' && !isEither && !isOpen) this.#required('type', UNTYPED[level]);
    if (level === 'root' && type !== '' && type !== 'object') this.#invalid('type', type, 'must be object at the root');
  }

  /** What a schema of a whole object may say of the members that all of them have. */
  #wholeObject(node: JsonObject, level: Level): void {
    const isEmbedded = this.#has(node, 'embedded-resource');
    if (level !== 'root' && !isEmbedded) return;
    const { kind, apiVersion, metadata } = asObject(node.properties);
    for (const [name, schema] of Object.entries({ kind, apiVersion })) {
      const type = isJsonObject(schema) ? (schema.type ?? '') : 'string';
      if (type !== 'string') this.#invalid(`properties[${name}].type`, type, 'must be string');
    }
    if (isJsonObject(metadata)) this.#metadata(metadata, level);
    if (!isEmbedded) return;
    const word = `${this.#prefix}embedded-resource`;
    if (!isEmpty(node.additionalProperties) || node.additionalProperties === false) {
      this.#forbidden('additionalProperties', `must not be used if ${word} is set`);
    }
    if (isEmpty(node.properties) && !this.#has(node, 'preserve-unknown-fields')) {
      const detail = `must not be empty if ${word} is true without ${this.#prefix}preserve-unknown-fields`;
      this.#required('properties', detail);
    }
  }

  #metadata(metadata: JsonObject, level: Level): void {
    const { type = '', properties, ...others } = metadata as { type?: string; properties?: JsonObject };
    if (type !== 'object') this.#invalid('properties[metadata].type', type, 'must be object');
    if (level !== 'root') return;
    const isNames = Object.keys(properties ?? {}).every((name) => name === 'name' || name === 'generateName');
    const says = Object.entries(others).some(([name, value]) => name !== 'default' && !isEmpty(value));
    if (isNames && !says) return;
    this.#forbidden(
      'properties[metadata]',
      'must not specify anything other than name and generateName, but metadata is implicitly specified',
    );
  }

  /** What a schema says of values. `intOrString`: the junctor in which two types are how int-or-string is said. */
  #values(node: JsonObject, intOrString: '' | 'anyOf' | 'allOf'): void {
    for (const junctor of JUNCTORS) {
      if (junctor === intOrString && junctor === 'anyOf') continue;
      for (const [index, part] of asList(node[junctor]).entries()) {
        const saysTypes = junctor === 'allOf' && intOrString === 'allOf' && index === 0;
        this.#nested(`${junctor}[${index}]`, part, saysTypes ? 'anyOf' : '');
      }
    }
    this.#nested('not', node.not, '');
    const { pattern } = node;
    const problem = typeof pattern === 'string' && pattern !== '' ? patternProblem(pattern) : '';
    if (problem !== '') this.#invalid('pattern', pattern, `must be a valid regular expression, but isn't: ${problem}`);
  }

  #nested(name: string, node: unknown, intOrString: '' | 'anyOf'): void {
    if (!isJsonObject(node)) return;
    spend(EFFORT.schema);
    this.#at.enter(name);
    this.#values(node, intOrString);
    this.#nested('items', node.items, '');
    const properties = asObject(node.properties);
    for (const [key, child] of Object.entries(properties)) this.#nested(`properties[${key}]`, child, '');
    for (const [member, detail] of OUTSIDE_ONLY) {
      if (!isEmpty(node[member]) || isClosing(member, node[member])) this.#forbidden(member, detail);
    }
    for (const [word, detail] of OWN_OUTSIDE_ONLY) {
      if (!isEmpty(node[this.#prefix + word])) this.#forbidden(this.#prefix + word, detail);
    }
    if (Object.hasOwn(properties, 'metadata')) {
      this.#forbidden('properties[metadata]', 'must not be specified in a nested context');
    }
    this.#at.leave();
  }

  /** What junctors at the root speak of is said outside too. */
  #complete(values: JsonObject, outside: JsonObject, outsidePath: string, path: string): void {
    this.#completePart(values.not, outside, outsidePath, `${path}.not`);
    for (const junctor of ['allOf', 'anyOf', 'oneOf']) {
      for (const [index, part] of asList(values[junctor]).entries()) {
        this.#completePart(part, outside, outsidePath, `${path}.${junctor}[${index}]`);
      }
    }
  }

  #completePart(part: unknown, outside: unknown, outsidePath: string, path: string): void {
    if (!isJsonObject(part)) return;
    if (!isJsonObject(outside)) {
      this.#add(required(outsidePath, `because it is defined in ${path}`));
      return;
    }
    this.#complete(part, outside, outsidePath, path);
    this.#completePart(part.items, outside.items, `${outsidePath}.items`, `${path}.items`);
    const properties = asObject(outside.properties);
    for (const [name, child] of Object.entries(asObject(part.properties))) {
      const member = `.properties[${name}]`;
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
      this.#completePart(child, known, outsidePath + member, path + member);
    }
  }
}

const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }];

/** True for the two schemas that say int-or-string in JSON Schema's own words. */
function isIntOrString(anyOf: unknown): boolean {
  return Array.isArray(anyOf) && anyOf.length === 2 && deepEqual(anyOf, INT_OR_STRING);
}
