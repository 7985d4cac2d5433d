// Fills what a client left unset, from the defaults in the schema and the rules beside them (default-rules.ts). Runs
// on canonical objects (decode.ts), in place; what it adds stands at the end of its object until decode puts it in
// order again. Pure: names, uids and times are not made here.
import { roundedToMilli } from '../../values/quantity.ts';
import type { FieldSchema, TypeSchema } from '../schema/schema.ts';
import { OBJECT_BYTES_MAX } from '../status/failures.ts';
import type { JsonObject } from './decode.ts';
import type { DefaultRule, Features } from './default-rules.ts';
import { ROOT_RULES, TYPE_RULES } from './default-rules.ts';

/** How long the JSON of what the object at hand is given by its schema may still get: a list of empty containers comes to a hundred megabytes. */
let left = 0;

/** In JSON, beside a name, and its value: quotes, a colon, a comma. */
const AROUND_NAME = '"":,'.length;
const EMPTY_OBJECT = '{}'.length;

/**
 * Sets the defaults of an object of the kind, and of everything in it. False: they came to more than an object may be, and were not
 * all set.
 *
 * @param object in canonical form, as `decode` returns it; changed in place.
 * @param features says which feature gates are on: a few defaults belong to one.
 */
export function applyDefaults(object: JsonObject, type: TypeSchema, features: Features = gateDefaults): boolean {
  left = OBJECT_BYTES_MAX;
  ROOT_RULES[type.name]?.(object, type, features);
  defaulterOf(type)?.apply(object, features);
  return left >= 0;
}

/** The gates that defaults ask for and that are on unless the operator says otherwise. */
const gateDefaults: Features = (gate) => gate === 'NamespaceDefaultLabelName';

interface Child {
  readonly name: string;
  readonly cardinality: FieldSchema['cardinality'];
  /** Is there even when it was not given. */
  readonly isAlways: boolean;
  readonly defaulter: Defaulter;
}

const defaulters = new WeakMap<TypeSchema, Defaulter | null>();

/** Undefined for a type in which nothing has a default, however deep. */
function defaulterOf(type: TypeSchema): Defaulter | undefined {
  let defaulter = defaulters.get(type);
  if (defaulter === undefined) {
    defaulter = hasDefaults(type, new Set()) ? new Defaulter(type) : null;
    defaulters.set(type, defaulter);
  }
  return defaulter ?? undefined;
}

const isResourceList = (field: FieldSchema): boolean => field.cardinality === 'map' && field.type?.form === 'quantity';

function hasDefaults(type: TypeSchema, visited: Set<TypeSchema>): boolean {
  if (visited.has(type)) return false;
  visited.add(type);
  if (TYPE_RULES[type.name] !== undefined) return true;
  return type.wireFields.some(
    (field) =>
      field.defaultValue !== undefined ||
      isResourceList(field) ||
      (field.type?.form === 'message' && hasDefaults(field.type, visited)),
  );
}

/** The rules of a type and of the types lifted into it. */
function rulesOf(type: TypeSchema): DefaultRule[] {
  const own = TYPE_RULES[type.name];
  const lifted = type.wireFields.filter((field) => field.inline).flatMap((field) => rulesOf(field.type!));
  return own === undefined ? lifted : [own, ...lifted];
}

interface DefaultedField {
  readonly field: FieldSchema;
  /** What an object gets by it, in JSON. */
  readonly bytes: number;
}

class Defaulter {
  readonly #type: TypeSchema;
  readonly #rules: readonly DefaultRule[];
  readonly #values: readonly DefaultedField[];
  readonly #resourceLists: readonly string[];
  #children: readonly Child[] | undefined;

  constructor(type: TypeSchema) {
    this.#type = type;
    this.#rules = rulesOf(type);
    this.#values = type.fields.flatMap((field) => {
      const { name, defaultValue } = field;
      if (defaultValue === undefined) return [];
      return [{ field, bytes: name.length + AROUND_NAME + JSON.stringify(defaultValue).length }];
    });
    this.#resourceLists = type.fields.filter(isResourceList).map((field) => field.name);
  }

  apply(object: JsonObject, features: Features): void {
    for (const rule of this.#rules) rule(object, this.#type, features);
    for (const { field, bytes } of this.#values) {
      if (!isUnset(object[field.name], field)) continue;
      object[field.name] = copyOf(field.defaultValue);
      left -= bytes;
    }
    for (const name of this.#resourceLists) roundAmounts(object[name]);
    this.#children ??= childrenOf(this.#type);
    for (const child of this.#children) applyToChild(object, child, features);
  }
}

/** Asked for on first use, not in the constructor: types contain themselves. */
function childrenOf(type: TypeSchema): Child[] {
  return type.fields.flatMap((field) => {
    const defaulter = field.type?.form === 'message' ? defaulterOf(field.type) : undefined;
    if (defaulter === undefined) return [];
    const { name, cardinality } = field;
    return [{ name, cardinality, isAlways: cardinality === 'one' && !field.optional, defaulter }];
  });
}

function applyToChild(object: JsonObject, child: Child, features: Features): void {
  const value = object[child.name];
  if (value === undefined || value === null) {
    if (!child.isAlways) return;
    left -= child.name.length + AROUND_NAME + EMPTY_OBJECT;
    const created: JsonObject = {};
    child.defaulter.apply(created, features);
    object[child.name] = created;
    return;
  }
  if (child.cardinality === 'one') child.defaulter.apply(value as JsonObject, features);
  else {
    const items = child.cardinality === 'list' ? value : Object.values(value);
    for (const item of items as readonly JsonObject[]) {
      if (left < 0) return;
      child.defaulter.apply(item, features);
    }
  }
}

function isUnset(value: unknown, field: FieldSchema): boolean {
  if (value === undefined || value === null) return true;
  if (field.cardinality === 'list') return (value as readonly unknown[]).length === 0;
  return !field.optional && (value === '' || value === 0 || value === false);
}

/** Defaults are shared by all objects, so each gets its own copy. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== 'object' || value === null) return value;
  const copy: JsonObject = {};
  for (const name in value) copy[name] = copyOf((value as JsonObject)[name]);
  return copy;
}

/** Amounts of resources are kept to a thousandth. */
function roundAmounts(amounts: unknown): void {
  if (amounts === undefined || amounts === null) return;
  const map = amounts as Record<string, string>;
  for (const name in map) {
    const amount = map[name]!;
    const rounded = roundedToMilli(amount);
    // What many objects share is complete, and frozen.
    if (rounded !== amount) map[name] = rounded;
  }
}
