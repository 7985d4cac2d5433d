// What a schema says of values, compiled once into functions over the parsed value: types, bounds, lengths, patterns,
// enumerations, what is required, and the combinations of schemas. Messages are Kubernetes 1.21's.
import { deepEqual } from '../deep-equal.ts';
import { isJsonObject, type JsonObject } from '../json-value.ts';
import { asList } from '../object-fields.ts';
import { notSupported } from '../status/field-error.ts';
import { listTypeCheck } from './list-types.ts';
import { patternOf } from './patterns.ts';
import { formatTest } from './text-formats.ts';
import type { ValueReport } from './value-report.ts';

/** Reports what is wrong with a value at the place where the report stands. */
export type ValueCheck = (value: unknown, at: ValueReport) => void;

/** @param prefix what names of our own in a schema begin with. Needs `loadPatterns`. */
export function valueCheckOf(schema: JsonObject, prefix: string): ValueCheck {
  const checks = [
    typeCheck(schema, prefix),
    ...junctorChecks(schema, prefix),
    textCheck(schema),
    numberCheck(schema),
    listCheck(schema, prefix),
    enumCheck(schema),
    objectCheck(schema, prefix),
    listTypeCheck(schema, prefix),
  ].filter((check) => check !== undefined);
  if (checks.length === 1) return checks[0]!;
  return (value, at) => {
    for (let index = 0; index < checks.length; index++) checks[index]!(value, at);
  };
}

/** What JSON Schema calls the type of a value. */
function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function typeCheck(schema: JsonObject, prefix: string): ValueCheck | undefined {
  const { type, nullable } = schema;
  const types =
    schema[`${prefix}int-or-string`] === true
      ? ['integer', 'string']
      : typeof type === 'string' && type !== ''
        ? [type]
        : [];
  if (types.length === 0) return undefined;
  const takesNull = nullable === true;
  const takesNumber = types.includes('number');
  const wanted = [...types, ...(takesNull ? ['null'] : [])].join(',');
  return (value, at) => {
    const actual = typeName(value);
    if (types.includes(actual) || (takesNumber && actual === 'integer') || (takesNull && actual === 'null')) return;
    at.invalid(actual, `must be of type ${wanted}: ${JSON.stringify(actual)}`);
  };
}

function junctorChecks(schema: JsonObject, prefix: string): (ValueCheck | undefined)[] {
  const checksIn = (name: string): readonly ValueCheck[] =>
    asList(schema[name])
      .filter(isJsonObject)
      .map((part) => valueCheckOf(part, prefix));
  return [anyOf(checksIn('anyOf')), oneOf(checksIn('oneOf')), allOf(checksIn('allOf')), not(schema.not, prefix)];
}

function anyOf(checks: readonly ValueCheck[]): ValueCheck | undefined {
  if (checks.length === 0) return undefined;
  return (value, at) => {
    let first: ReturnType<ValueReport['tried']> | undefined;
    for (const check of checks) {
      const found = at.tried(() => check(value, at));
      if (found.length === 0) return;
      first ??= found;
    }
    at.composite('must validate at least one schema (anyOf)');
    at.addAll(first ?? []);
  };
}

function oneOf(checks: readonly ValueCheck[]): ValueCheck | undefined {
  if (checks.length === 0) return undefined;
  return (value, at) => {
    let first: ReturnType<ValueReport['tried']> | undefined;
    let valid = 0;
    for (const check of checks) {
      const found = at.tried(() => check(value, at));
      if (found.length === 0) valid++;
      else first ??= found;
    }
    if (valid === 1) return;
    const how = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
    at.composite(`must validate one and only one schema (oneOf). ${how}`);
    if (valid === 0) at.addAll(first ?? []);
  };
}

function allOf(checks: readonly ValueCheck[]): ValueCheck | undefined {
  if (checks.length === 0) return undefined;
  return (value, at) => {
    let valid = 0;
    for (const check of checks) {
      const found = at.tried(() => check(value, at));
      if (found.length === 0) valid++;
      at.addAll(found);
    }
    if (valid === checks.length) return;
    at.composite(`must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`);
  };
}

function not(schema: unknown, prefix: string): ValueCheck | undefined {
  if (!isJsonObject(schema)) return undefined;
  const check = valueCheckOf(schema, prefix);
  return (value, at) => {
    if (at.tried(() => check(value, at)).length === 0) at.composite('must not validate the schema (not)');
  };
}

function textCheck(schema: JsonObject): ValueCheck | undefined {
  const { minLength, maxLength, pattern, format } = schema;
  const isPatterned = typeof pattern === 'string' && pattern !== '';
  const matches = isPatterned ? patternOf(pattern) : undefined;
  const isOfFormat = typeof format === 'string' ? formatTest(format) : undefined;
  const min = typeof minLength === 'number' ? minLength : 0;
  const max = typeof maxLength === 'number' ? maxLength : Number.POSITIVE_INFINITY;
  if (!isPatterned && isOfFormat === undefined && min === 0 && max === Number.POSITIVE_INFINITY) {
    return undefined;
  }
  return (value, at) => {
    if (typeof value !== 'string') return;
    // Characters are counted only where the number of code units leaves it open.
    if (value.length > max && lengthOf(value) > max) at.invalid(value, `should be at most ${max} chars long`);
    else if (value.length < min * 2 && lengthOf(value) < min) at.invalid(value, `should be at least ${min} chars long`);
    else if (isPatterned && matches === undefined)
      at.invalid(value, `should match '${pattern}', but pattern is invalid`);
    else if (matches !== undefined && !matches(value)) at.invalid(value, `should match '${String(pattern)}'`);
    if (isOfFormat !== undefined && !isOfFormat(value)) {
      at.invalid(value, `must be of type ${String(format)}: ${JSON.stringify(value)}`);
    }
  };
}

function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

function numberCheck(schema: JsonObject): ValueCheck | undefined {
  const { minimum, maximum, multipleOf } = schema;
  const isBounded = typeof minimum === 'number' || typeof maximum === 'number' || typeof multipleOf === 'number';
  if (!isBounded) return undefined;
  const excludesMin = schema.exclusiveMinimum === true;
  const excludesMax = schema.exclusiveMaximum === true;
  return (value, at) => {
    if (typeof value !== 'number') return;
    if (typeof multipleOf === 'number' && !isMultiple(value, multipleOf))
      at.invalid(value, `should be a multiple of ${multipleOf}`);
    if (typeof maximum === 'number' && (value > maximum || (excludesMax && value === maximum)))
      at.invalid(value, `should be less than ${excludesMax ? '' : 'or equal to '}${maximum}`);
    if (typeof minimum === 'number' && (value < minimum || (excludesMin && value === minimum)))
      at.invalid(value, `should be greater than ${excludesMin ? '' : 'or equal to '}${minimum}`);
  };
}

/** In decimal: 0.3 is a multiple of 0.1, though their binary forms are not. */
function isMultiple(value: number, factor: number): boolean {
  if (factor <= 0) return true;
  const quotient = value / factor;
  const nearest = Math.round(quotient);
  return Math.abs(quotient - nearest) <= 1e-9 * Math.max(1, Math.abs(quotient));
}

function listCheck(schema: JsonObject, prefix: string): ValueCheck | undefined {
  const { minItems, maxItems } = schema;
  const item = isJsonObject(schema.items) ? valueCheckOf(schema.items, prefix) : undefined;
  if (item === undefined && typeof minItems !== 'number' && typeof maxItems !== 'number') return undefined;
  return (value, at) => {
    if (!Array.isArray(value)) return;
    if (item !== undefined) {
      for (let index = 0; index < value.length; index++) {
        at.enter(index);
        item(value[index], at);
        at.leave();
      }
    }
    if (typeof minItems === 'number' && value.length < minItems)
      at.invalid(value.length, `should have at least ${minItems} items`);
    if (typeof maxItems === 'number' && value.length > maxItems)
      at.invalid(value.length, `should have at most ${maxItems} items`);
  };
}

function enumCheck({ enum: allowed, nullable }: JsonObject): ValueCheck | undefined {
  if (!Array.isArray(allowed) || allowed.length === 0) return undefined;
  const plain = new Set<unknown>(allowed.filter((one) => typeof one !== 'object' || one === null));
  const others = allowed.filter((one) => typeof one === 'object' && one !== null);
  const shown = allowed.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
  return (value, at) => {
    if (plain.has(value) || (value === null && nullable === true)) return;
    if (others.some((one) => deepEqual(one, value))) return;
    at.add((path) => notSupported(path, value, shown));
  };
}

function objectCheck(schema: JsonObject, prefix: string): ValueCheck | undefined {
  const { minProperties, maxProperties } = schema;
  const properties = new Map<string, ValueCheck>();
  if (isJsonObject(schema.properties)) {
    for (const [name, property] of Object.entries(schema.properties)) {
      if (isJsonObject(property)) properties.set(name, valueCheckOf(property, prefix));
    }
  }
  const needed = asList(schema.required).filter((name) => typeof name === 'string');
  const { additionalProperties } = schema;
  const rest = isJsonObject(additionalProperties) ? valueCheckOf(additionalProperties, prefix) : undefined;
  const isCounted = typeof minProperties === 'number' || typeof maxProperties === 'number';
  const isEmbedded = schema[`${prefix}embedded-resource`] === true;
  if (properties.size === 0 && needed.length === 0 && rest === undefined && !isCounted && !isEmbedded) return undefined;
  return (value, at) => {
    if (!isJsonObject(value)) return;
    if (isCounted && !hasRightCount(value, minProperties, maxProperties, at)) return;
    if (isEmbedded) checkEmbedded(value, at);
    for (const name of needed) if (!Object.hasOwn(value, name)) at.required(name);
    for (const name in value) {
      const check = properties.get(name) ?? rest;
      if (check === undefined) continue;
      at.enter(name);
      check(value[name], at);
      at.leave();
    }
  };
}

function hasRightCount(object: JsonObject, min: unknown, max: unknown, at: ValueReport): boolean {
  const count = Object.keys(object).length;
  if (typeof min === 'number' && count < min) at.invalid(count, `should have at least ${min} properties`);
  else if (typeof max === 'number' && count > max) at.invalid(count, `should have at most ${max} properties`);
  else return true;
  return false;
}

/** A whole object says what it is. */
function checkEmbedded(object: JsonObject, at: ValueReport): void {
  for (const name of ['apiVersion', 'kind']) {
    if (typeof object[name] !== 'string' || object[name] === '') at.required(name);
  }
}
