// What a schema says of values, compiled once into functions over the parsed value: types, members, elements, and the
// combinations of schemas. Texts and numbers are scalar-checks.ts. Messages are Kubernetes 1.21's, which name a list where
// one of its elements is wrong.
import { isInteger } from '../../json/exact-json.ts';
import { isJsonObject, type JsonObject } from '../../json/json-value.ts';
import { asList } from '../../json/object-fields.ts';
import { EFFORT, spend } from './effort.ts';
import { enumCheck, numberCheck, textCheck } from './scalar-checks.ts';
import { formatTest } from './text-formats.ts';
import type { Attempt, ValueReport } from './value-report.ts';

/** Reports what is wrong with a value at the place where the report stands. */
export type ValueCheck = (value: unknown, at: ValueReport) => void;

/** What the original counts as matched of any value, whatever it is. */
const MATCHES_OF_ANY = 4;

/** @param prefix what names of our own in a schema begin with. Needs `loadPatterns`. */
export function valueCheckOf(schema: JsonObject, prefix: string): ValueCheck {
  const type = typeCheck(schema, prefix);
  const combined = junctorCheck(schema, prefix);
  const listed = enumCheck(schema);
  const text = textCheck(schema);
  const number = numberCheck(schema);
  const list = listCheck(schema, prefix);
  const object = objectCheck(schema, prefix);
  const isOfFormat = knownFormat(schema) !== '';
  return (value, at) => {
    spend(EFFORT.value);
    type?.(value, at);
    // Of nothing, only the type is looked at, and whether it is listed.
    if (value === null) return listed?.(value, at);
    at.matches += MATCHES_OF_ANY;
    combined?.(value, at);
    if (typeof value === 'string') {
      at.matches += isOfFormat ? 2 : 1;
      text?.(value, at);
    } else if (typeof value === 'number' || typeof value === 'bigint') {
      at.matches += 2;
      number?.(value, at);
    } else if (Array.isArray(value)) {
      at.matches += 2;
      list?.(value, at);
    }
    listed?.(value, at);
    if (typeof value !== 'object' || Array.isArray(value)) return;
    at.matches += 1;
    object?.(value as JsonObject, at);
  };
}

/** What JSON Schema calls the type of a value. */
function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isInteger(value)) return 'integer';
  return typeof value;
}

/** Of what format a value is taken to be, where it is no text. */
const FORMATS: Readonly<Record<string, string>> = { integer: 'int64', number: 'float64' };

/** The format that a schema asks for; empty where none is asked for that is looked at. */
function knownFormat({ format }: JsonObject): string {
  return typeof format === 'string' && formatTest(format) !== undefined ? format : '';
}

function typesOf({ type, ...schema }: JsonObject, prefix: string): readonly string[] {
  if (schema[`${prefix}int-or-string`] === true) return ['integer', 'string'];
  return typeof type === 'string' && type !== '' ? [type] : [];
}

function typeCheck(schema: JsonObject, prefix: string): ValueCheck | undefined {
  const types = typesOf(schema, prefix);
  const format = knownFormat(schema);
  if (types.length === 0 && format === '') return undefined;
  const takesNull = schema.nullable === true || types.length === 0;
  const takesNumber = types.includes('number');
  const isNumeric = takesNumber || types.includes('integer');
  const wanted = types.join(',');
  return (value, at) => {
    const actual = typeName(value);
    const isRight = types.includes(actual) || (takesNumber && actual === 'integer');
    if (isRight || (actual === 'null' && takesNull)) {
      at.matches += actual === 'null' ? 1 : 2;
      return;
    }
    if (actual !== 'null') at.matches += 1;
    if (format === '' || actual === 'null') {
      at.invalid(actual, `must be of type ${wanted}: ${JSON.stringify(actual)}`);
    } else if (actual !== 'string' && actual !== 'array') {
      const found = FORMATS[actual] ?? '';
      at.invalid(found, `must be of type ${format}: ${JSON.stringify(found)}`);
    } else if (isNumeric) {
      at.invalid(actual, `must be of type ${wanted}: ${JSON.stringify(actual)}`);
    } else {
      // What has a format is a text or a list for the original, whatever type is asked for.
      at.matches += 1;
    }
  };
}

function junctorCheck(schema: JsonObject, prefix: string): ValueCheck | undefined {
  const checksIn = (name: string): readonly ValueCheck[] =>
    asList(schema[name])
      .filter(isJsonObject)
      .map((part) => valueCheckOf(part, prefix));
  const checks = [
    anyOf(checksIn('anyOf')),
    oneOf(checksIn('oneOf')),
    allOf(checksIn('allOf')),
    not(schema.not, prefix),
  ].filter((check) => check !== undefined);
  if (checks.length === 0) return undefined;
  return (value, at) => {
    for (let index = 0; index < checks.length; index++) checks[index]!(value, at);
  };
}

/** Of alternatives that all fail, the errors of that which matched most. */
function better(best: Attempt | undefined, found: Attempt): Attempt {
  return best === undefined || found.matches > best.matches ? found : best;
}

function anyOf(checks: readonly ValueCheck[]): ValueCheck | undefined {
  if (checks.length === 0) return undefined;
  return (value, at) => {
    let best: Attempt | undefined;
    for (const check of checks) {
      const found = at.tried(check, value);
      if (found.errors === undefined) return at.take(found);
      best = better(best, found);
    }
    at.composite('must validate at least one schema (anyOf)');
    at.take(best!);
  };
}

function oneOf(checks: readonly ValueCheck[]): ValueCheck | undefined {
  if (checks.length === 0) return undefined;
  return (value, at) => {
    let best: Attempt | undefined;
    let valid = 0;
    for (const check of checks) {
      const found = at.tried(check, value);
      if (found.errors === undefined) {
        if (valid++ === 0) best = found;
      } else if (valid === 0) best = better(best, found);
    }
    if (valid === 1) return at.take(best!);
    const how = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
    at.composite(`must validate one and only one schema (oneOf). ${how}`);
    if (valid === 0) at.take(best!);
  };
}

function allOf(checks: readonly ValueCheck[]): ValueCheck | undefined {
  if (checks.length === 0) return undefined;
  return (value, at) => {
    let valid = 0;
    for (const check of checks) {
      const found = at.tried(check, value);
      if (found.errors === undefined) valid++;
      at.take(found);
    }
    if (valid === checks.length) return;
    at.composite(`must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`);
  };
}

function not(schema: unknown, prefix: string): ValueCheck | undefined {
  if (!isJsonObject(schema)) return undefined;
  const check = valueCheckOf(schema, prefix);
  return (value, at) => {
    if (at.tried(check, value).errors === undefined) at.composite('must not validate the schema (not)');
  };
}

function listCheck(
  schema: JsonObject,
  prefix: string,
): ((list: readonly unknown[], at: ValueReport) => void) | undefined {
  const { minItems, maxItems } = schema;
  const item = isJsonObject(schema.items) ? valueCheckOf(schema.items, prefix) : undefined;
  if (item === undefined && typeof minItems !== 'number' && typeof maxItems !== 'number') return undefined;
  return (list, at) => {
    if (item !== undefined) for (let index = 0; index < list.length; index++) item(list[index], at);
    if (typeof minItems === 'number' && list.length < minItems)
      at.invalid(list.length, `should have at least ${minItems} items`);
    if (typeof maxItems === 'number' && list.length > maxItems)
      at.invalid(list.length, `should have at most ${maxItems} items`);
  };
}

/** That of a property is compiled when an object first has it: most objects have few of those that a large schema knows. */
type LateCheck = JsonObject | ValueCheck;

function objectCheck(schema: JsonObject, prefix: string): ((object: JsonObject, at: ValueReport) => void) | undefined {
  const { minProperties, maxProperties, additionalProperties } = schema;
  const properties = new Map<string, LateCheck>();
  if (isJsonObject(schema.properties)) {
    for (const [name, property] of Object.entries(schema.properties)) {
      if (isJsonObject(property)) properties.set(name, property);
    }
  }
  const needed = asList(schema.required).filter((name) => typeof name === 'string');
  const rest = isJsonObject(additionalProperties) ? valueCheckOf(additionalProperties, prefix) : undefined;
  const isClosed = additionalProperties === false;
  const isCounted = typeof minProperties === 'number' || typeof maxProperties === 'number';
  if (properties.size === 0 && needed.length === 0 && rest === undefined && !isClosed && !isCounted) return undefined;
  return (object, at) => {
    if (isCounted && !hasRightCount(object, minProperties, maxProperties, at)) return;
    for (const name in object) {
      let check = properties.get(name) ?? rest;
      if (typeof check === 'object') {
        check = valueCheckOf(check, prefix);
        properties.set(name, check);
      }
      if (check === undefined) {
        if (isClosed) at.forbiddenMember(name);
        continue;
      }
      if (check === rest) at.enterUnnamed(name);
      else at.enter(name);
      check(object[name], at);
      at.leave();
    }
    for (const name of needed) if (!Object.hasOwn(object, name)) at.required(name);
  };
}

/** Told is the bound, as the original does. */
function hasRightCount(object: JsonObject, min: unknown, max: unknown, at: ValueReport): boolean {
  const count = Object.keys(object).length;
  if (typeof min === 'number' && count < min) at.invalid(min, `should have at least ${min} properties`);
  else if (typeof max === 'number' && count > max) at.invalid(max, `should have at most ${max} properties`);
  else return true;
  return false;
}
