// Random objects that conform to a schema, for property tests: any member may be missing, lists may be empty, texts and
// numbers are whatever their type can hold.
import fc from 'fast-check';
import { parseExact } from '../../../../api/json/exact-json.ts';
import type { FieldSchema, Form, TypeSchema } from '../../../../api/schema/schema.ts';
import { writeExactIntegers } from '../../../../runtime/exact-integers.ts';

writeExactIntegers();

/** A value as a body says it: an integer that a double would round is none. */
const anyJson = (maxDepth: number) => fc.jsonValue({ maxDepth }).map((value) => parseExact(JSON.stringify(value)));

/** Types nest, and some contain themselves: below this depth only what must be there is. */
const DEPTH_MAX = 7;

const seconds = (max: number): fc.Arbitrary<number> => fc.integer({ min: 0, max });
const time = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true });
const quantity = fc.tuple(fc.integer({ min: 0, max: 9999 }), fc.constantFrom('', 'm', 'k', 'Mi', 'Gi'));
const word = fc.string({ unit: 'grapheme', maxLength: 6 });

const FORMS: Readonly<Partial<Record<Form, fc.Arbitrary<unknown>>>> = {
  quantity: quantity.map(([number, suffix]) => `${number}${suffix}`),
  time: time.map((date) => date.toISOString().replace(/\.\d+/, '')),
  microTime: time.map((date) => date.toISOString().replace('Z', '000Z')),
  duration: seconds(100_000).map((count) => `${count}s`),
  intOrString: fc.oneof(fc.integer({ min: 0, max: 70_000 }), word),
  rawExtension: fc.dictionary(word, anyJson(1), { maxKeys: 2 }),
  fieldsV1: fc.constant({ 'f:x': {} }),
  json: anyJson(2),
  any: fc.integer(),
  stringList: fc.array(word, { maxLength: 2 }),
};

const SCALARS: Readonly<Record<Exclude<FieldSchema['kind'], 'message'>, fc.Arbitrary<unknown>>> = {
  string: fc.oneof(word, fc.constantFrom('Resource', 'cpu', 'Pods', 'Object', 'External', 'Utilization')),
  int32: fc.integer({ min: -5, max: 100 }),
  int64: fc.maxSafeInteger(),
  bool: fc.boolean(),
  bytes: fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  double: fc.double({ noNaN: true, noDefaultInfinity: true }),
};

/** By type and depth: what draws a type is wanted wherever the type stands. */
const drawn = new Map<TypeSchema, fc.Arbitrary<Record<string, unknown>>[]>();

/** Objects of a type, to be decoded. */
export function objectsOf(type: TypeSchema, depth = 0): fc.Arbitrary<Record<string, unknown>> {
  const byDepth = drawn.get(type) ?? [];
  drawn.set(type, byDepth);
  byDepth[depth] ??= drawnAt(type, depth);
  return byDepth[depth];
}

function drawnAt(type: TypeSchema, depth: number): fc.Arbitrary<Record<string, unknown>> {
  const members: Record<string, fc.Arbitrary<unknown>> = {};
  for (const field of type.fields) {
    if (depth >= DEPTH_MAX && field.kind === 'message') continue;
    // What ownership keeps is no one's to make up.
    if (field.name !== 'managedFields') members[field.name] = membersOf(field, depth);
  }
  return fc.record(members, { requiredKeys: [] });
}

function membersOf(field: FieldSchema, depth: number): fc.Arbitrary<unknown> {
  const value = fc.constant(null).chain(() => valuesOf(field, depth));
  if (field.cardinality === 'list') return fc.array(value, { maxLength: 2 });
  return field.cardinality === 'map' ? fc.dictionary(word, value, { maxKeys: 2 }) : value;
}

function valuesOf({ kind, type }: FieldSchema, depth: number): fc.Arbitrary<unknown> {
  if (kind !== 'message') return SCALARS[kind];
  const form = FORMS[type!.form];
  if (form !== undefined) return form;
  if (type!.form === 'message') return objectsOf(type!, depth + 1);
  const schema = objectsOf(type!.wireFields.find(({ name }) => name === 'schema')!.type!, DEPTH_MAX);
  if (type!.form === 'schemaOrBool') return fc.oneof(fc.boolean(), schema);
  return type!.form === 'schemaOrStringArray' ? fc.oneof(fc.array(word, { maxLength: 2 }), schema) : schema;
}
