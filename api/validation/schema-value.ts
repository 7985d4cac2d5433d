// Holds a value to a schema of a custom resource definition: defaults must be what the schema admits, and have nothing
// that pruning would take away. Patterns are not run: they are the author's, and may take for ever on the author's text.

import { deepEqual } from '../deep-equal.ts';
import { isJsonObject, type JsonObject } from '../json-value.ts';
import { asObject } from '../object-fields.ts';

export interface ValueProblem {
  /** Below the value: `.a[0]`. */
  readonly path: string;
  readonly value: unknown;
  readonly detail: string;
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'object':
      return isJsonObject(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** The first thing that is wrong with a value. */
export function schemaValueProblem(
  value: unknown,
  schema: JsonObject,
  prefix: string,
  path = '',
): ValueProblem | undefined {
  const problem = (detail: string): ValueProblem => ({ path, value, detail });
  if (value === null) return schema.nullable === true ? undefined : problem('must not be null');
  const { type } = schema;
  if (typeof type === 'string' && type !== '' && !isOfType(value, type)) return problem(`must be of type ${type}`);
  if (schema[`${prefix}int-or-string`] === true && typeof value !== 'string' && !isOfType(value, 'integer')) {
    return problem('must be of type integer or string');
  }
  const { enum: allowed } = schema;
  if (Array.isArray(allowed) && allowed.length > 0 && !allowed.some((one) => deepEqual(one, value))) {
    return problem('must be one of the values of enum');
  }
  if (typeof value === 'number') return boundsProblem(value, schema, problem);
  if (typeof value === 'string') return lengthProblem([...value].length, schema, 'Length', problem);
  if (Array.isArray(value)) return listProblem(value, schema, prefix, path, problem);
  return isJsonObject(value) ? objectProblem(value, schema, prefix, path, problem) : undefined;
}

type Complain = (detail: string) => ValueProblem;

function boundsProblem(value: number, schema: JsonObject, problem: Complain): ValueProblem | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (typeof minimum === 'number' && (value < minimum || (exclusiveMinimum === true && value === minimum))) {
    return problem(`should be greater than ${exclusiveMinimum === true ? '' : 'or equal to '}${minimum}`);
  }
  if (typeof maximum === 'number' && (value > maximum || (exclusiveMaximum === true && value === maximum))) {
    return problem(`should be less than ${exclusiveMaximum === true ? '' : 'or equal to '}${maximum}`);
  }
  if (typeof multipleOf === 'number' && multipleOf > 0 && !Number.isInteger(value / multipleOf)) {
    return problem(`should be a multiple of ${multipleOf}`);
  }
  return undefined;
}

function lengthProblem(
  length: number,
  schema: JsonObject,
  what: 'Length' | 'Items' | 'Properties',
  problem: Complain,
): ValueProblem | undefined {
  const min = schema[`min${what}`];
  const max = schema[`max${what}`];
  if (typeof min === 'number' && length < min) return problem(`should have at least ${min} ${what.toLowerCase()}`);
  if (typeof max === 'number' && length > max) return problem(`should have at most ${max} ${what.toLowerCase()}`);
  return undefined;
}

function listProblem(
  list: readonly unknown[],
  schema: JsonObject,
  prefix: string,
  path: string,
  problem: Complain,
): ValueProblem | undefined {
  const count = lengthProblem(list.length, schema, 'Items', problem);
  if (count !== undefined || !isJsonObject(schema.items)) return count;
  for (const [index, item] of list.entries()) {
    const found = schemaValueProblem(item, schema.items, prefix, `${path}[${index}]`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function objectProblem(
  object: JsonObject,
  schema: JsonObject,
  prefix: string,
  path: string,
  problem: Complain,
): ValueProblem | undefined {
  const count = lengthProblem(Object.keys(object).length, schema, 'Properties', problem);
  if (count !== undefined) return count;
  for (const name of Array.isArray(schema.required) ? (schema.required as readonly string[]) : []) {
    if (!Object.hasOwn(object, name)) return { path: `${path}.${name}`, value: null, detail: 'is required' };
  }
  const properties = asObject(schema.properties);
  const rest = isJsonObject(schema.additionalProperties) ? schema.additionalProperties : undefined;
  const keepsUnknown = schema[`${prefix}preserve-unknown-fields`] === true || schema.additionalProperties === true;
  for (const [name, member] of Object.entries(object)) {
    const known = Object.hasOwn(properties, name) ? properties[name] : rest;
    if (!isJsonObject(known)) {
      if (keepsUnknown) continue;
      return { path: `${path}.${name}`, value: member, detail: 'must not have fields the schema does not specify' };
    }
    const found = schemaValueProblem(member, known, prefix, `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
