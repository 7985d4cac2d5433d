// Makes objects with every member of a type filled in, for tests that go through all types.
import type { JsonObject } from '../../../api/codec/decode.ts';
import type { FieldSchema, Form, TypeSchema } from '../../../api/schema/schema.ts';

/** A type inside itself is filled in this often. */
const REPEATS_MAX = 1;

const FORM_SAMPLES: Readonly<Partial<Record<Form, (n: number) => unknown>>> = {
  quantity: (n) => `${n + 1}Mi`,
  time: (n) => new Date(Date.UTC(2021, 3, 8, 12, 0, n)).toISOString().replace('.000', ''),
  microTime: (n) => new Date(Date.UTC(2021, 3, 8, 12, 0, n)).toISOString().replace('.000', '.000123'),
  duration: (n) => `${n + 1}s`,
  intOrString: (n) => (n % 2 === 0 ? n : `port-${n}`),
  rawExtension: (n) => ({ raw: [n, null, { é: 'ü' }] }),
  fieldsV1: (n) => ({ [`f:${n}`]: {} }),
  json: (n) => [n, { any: true }],
  any: (n) => n,
  stringList: (n) => [`a${n}`, ''],
};

/** An object in canonical form; every member differs from its zero value. Objects inside it carry no kind. */
export function sampleOf(type: TypeSchema, path: readonly TypeSchema[] = []): JsonObject {
  const object: JsonObject = {};
  if (type.hasTypeMeta && path.length === 0) {
    object.kind = type.kind;
    object.apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`;
  }
  const inside = [...path, type];
  for (const [i, field] of type.fields.entries()) {
    if (isFilled(field, inside)) object[field.name] = fieldSample(field, i, inside);
  }
  return object;
}

/** Whether a member is filled in, or left out because its type is open too often already. */
function isFilled(field: FieldSchema, path: readonly TypeSchema[]): boolean {
  const schemaOrOther = field.type?.wireFields.find((part) => part.name === 'schema')?.type;
  const inner = field.type?.form.startsWith('schema') ? schemaOrOther : field.type;
  return field.emitEmpty || path.filter((type) => type === inner).length <= REPEATS_MAX;
}

function fieldSample(field: FieldSchema, n: number, path: readonly TypeSchema[]): unknown {
  const first = valueSample(field, n, path);
  if (field.cardinality === 'one') return first;
  const second = valueSample(field, n + 1, path);
  return field.cardinality === 'list' ? [first, second] : { 'a.b/c': first, ключ: second };
}

function valueSample(field: FieldSchema, n: number, path: readonly TypeSchema[]): unknown {
  switch (field.kind) {
    case 'string':
      return `text-${n}-ß`;
    case 'int32':
      return -n - 1;
    case 'int64':
      return 5_000_000_000 + n;
    case 'bool':
      return true;
    case 'double':
      return n + 0.5;
    case 'bytes':
      return Buffer.from([n, 255, 0]).toString('base64');
    case 'message':
      return messageSample(field.type!, n, path);
  }
}

function messageSample(type: TypeSchema, n: number, path: readonly TypeSchema[]): unknown {
  const form = FORM_SAMPLES[type.form];
  if (form !== undefined) return form(n);
  if (type.form === 'message') return sampleOf(type, path);
  const schema = sampleOf(type.wireFields.find((field) => field.name === 'schema')!.type!, path);
  if (n % 2 === 0) return schema;
  if (type.form === 'schemaOrBool') return true;
  return type.form === 'schemaOrStringArray' ? ['x', 'y'] : [schema];
}
