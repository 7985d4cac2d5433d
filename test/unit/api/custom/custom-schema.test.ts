// Schemas of custom kinds at work: what they take away, what they give, and what they find wrong.
import test from 'ava';
import { CustomSchema } from '../../../../api/custom/custom-schema.ts';
import { jsonPathOf } from '../../../../api/custom/json-path.ts';
import { loadPatterns } from '../../../../api/custom/patterns.ts';
import { byPriority } from '../../../../api/custom/version-order.ts';
import type { JsonObject } from '../../../../api/json-value.ts';
import { schemaOf } from '../../../../api/schema/schema.ts';
import { DIALECTS } from '../../../../config/dialect.ts';

const METADATA = schemaOf(DIALECTS.orch).type('meta/v1.ObjectMeta');

const compiled = (properties: object, more: object = {}, keepsUnknown = false): CustomSchema =>
  new CustomSchema({
    schema: { type: 'object', properties, ...more } as JsonObject,
    keepsUnknown,
    prefix: 'x-orch-',
    metadata: METADATA,
  });

test.before(async () => {
  await loadPatterns();
});

/** A schema of one member `v`, its value, and what the errors say; none: it is valid. */
type Case = readonly [schema: object, value: unknown, ...errors: readonly string[]];

const CASES: readonly Case[] = [
  [{ type: 'string' }, 'x'],
  [{ type: 'string' }, 1, 'v: Invalid value: "integer": v in body must be of type string: "integer"'],
  [{ type: 'integer' }, 1.5, 'v: Invalid value: "number": v in body must be of type integer: "number"'],
  [{ type: 'number' }, 1],
  [{ type: 'boolean' }, 'true', 'v: Invalid value: "string": v in body must be of type boolean: "string"'],
  [{ type: 'object' }, [], 'v: Invalid value: "array": v in body must be of type object: "array"'],
  [{ type: 'string', nullable: true }, null],
  [{ type: 'string' }, null, 'v: Invalid value: "null": v in body must be of type string: "null"'],
  [{ 'x-orch-int-or-string': true }, 80],
  [{ 'x-orch-int-or-string': true }, '80%'],
  [
    { 'x-orch-int-or-string': true },
    true,
    'v: Invalid value: "boolean": v in body must be of type integer,string: "boolean"',
  ],
  [{ type: 'integer', maximum: 3 }, 4, 'v: Invalid value: 4: v in body should be less than or equal to 3'],
  [{ type: 'integer', maximum: 3, exclusiveMaximum: true }, 3, 'v: Invalid value: 3: v in body should be less than 3'],
  [{ type: 'integer', minimum: 3 }, 2, 'v: Invalid value: 2: v in body should be greater than or equal to 3'],
  [
    { type: 'number', minimum: 3, exclusiveMinimum: true },
    3,
    'v: Invalid value: 3: v in body should be greater than 3',
  ],
  [{ type: 'number', multipleOf: 0.1 }, 0.3],
  [{ type: 'number', multipleOf: 0.1 }, 0.35, 'v: Invalid value: 0.35: v in body should be a multiple of 0.1'],
  [{ type: 'string', maxLength: 1 }, '😀'],
  [{ type: 'string', maxLength: 1 }, 'ab', 'v: Invalid value: "ab": v in body should be at most 1 chars long'],
  [{ type: 'string', minLength: 2 }, '😀', 'v: Invalid value: "😀": v in body should be at least 2 chars long'],
  [{ type: 'string', pattern: '^(a+)+$' }, 'aaaa'],
  [{ type: 'string', pattern: 'a' }, 'b', 'v: Invalid value: "b": v in body should match \'a\''],
  [
    { type: 'string', pattern: 'a(?=b)' },
    'ab',
    'v: Invalid value: "ab": v in body should match \'a(?=b)\', but pattern is invalid',
  ],
  [{ type: 'string', enum: ['a', 'b'] }, 'c', 'v: Unsupported value: "c": supported values: "a", "b"'],
  [{ type: 'integer', enum: [1, 2] }, 3, 'v: Unsupported value: 3: supported values: "1", "2"'],
  [{ type: 'string', format: 'date-time' }, '2026-01-01T00:00:00Z'],
  [
    { type: 'string', format: 'date-time' },
    'today',
    'v: Invalid value: "today": v in body must be of type date-time: "today"',
  ],
  [{ type: 'string', format: 'ipv4' }, '10.0.0.1'],
  [{ type: 'string', format: 'ipv4' }, '::1', 'v: Invalid value: "::1": v in body must be of type ipv4: "::1"'],
  [{ type: 'string', format: 'cidr' }, '10.0.0.0/8'],
  [{ type: 'string', format: 'of-mine' }, 'anything'],
  [
    { type: 'array', minItems: 1, items: { type: 'string' } },
    [],
    'v: Invalid value: 0: v in body should have at least 1 items',
  ],
  [
    { type: 'array', items: { type: 'string' } },
    ['a', 1],
    'v[1]: Invalid value: "integer": v[1] in body must be of type string: "integer"',
  ],
  [{ type: 'array', 'x-orch-list-type': 'set', items: { type: 'string' } }, ['a', 'a'], 'v[1]: Duplicate value: "a"'],
  [
    {
      type: 'array',
      'x-orch-list-type': 'map',
      'x-orch-list-map-keys': ['n'],
      items: { type: 'object', required: ['n'], properties: { n: { type: 'string' } } },
    },
    [{ n: 'a' }, { n: 'b' }, { n: 'a' }],
    'v[2]: Duplicate value: map[string]string{"n":"a"}',
  ],
  [{ type: 'object', required: ['a'], properties: { a: { type: 'string' } } }, {}, 'v.a: Required value'],
  [
    { type: 'object', additionalProperties: { type: 'integer' } },
    { a: 1, b: 'x' },
    'v.b: Invalid value: "string": v.b in body must be of type integer: "string"',
  ],
  [
    { type: 'object', maxProperties: 1, additionalProperties: { type: 'integer' } },
    { a: 1, b: 2 },
    'v: Invalid value: 2: v in body should have at most 1 properties',
  ],
  [{ type: 'integer', oneOf: [{ minimum: 5 }, { maximum: 3 }] }, 6],
  [
    { type: 'integer', oneOf: [{ minimum: 2 }, { maximum: 3 }] },
    3,
    '<nil>: Invalid value: "": "v" must validate one and only one schema (oneOf). Found 2 valid alternatives',
  ],
  [
    { type: 'integer', anyOf: [{ minimum: 5 }, { maximum: 1 }] },
    3,
    '<nil>: Invalid value: "": "v" must validate at least one schema (anyOf)',
    'v: Invalid value: 3: v in body should be greater than or equal to 5',
  ],
  [
    { type: 'integer', allOf: [{ minimum: 5 }] },
    3,
    'v: Invalid value: 3: v in body should be greater than or equal to 5',
    '<nil>: Invalid value: "": "v" must validate all the schemas (allOf). None validated',
  ],
  [{ type: 'integer', not: { minimum: 5 } }, 6, '<nil>: Invalid value: "": "v" must not validate the schema (not)'],
  [
    { type: 'object', 'x-orch-embedded-resource': true, 'x-orch-preserve-unknown-fields': true },
    { kind: 'A' },
    'v.apiVersion: Required value',
  ],
];

test('what is wrong with a value is said in the words of 1.21', (t) => {
  for (const [schema, value, ...errors] of CASES) {
    const found = compiled({ v: schema }).errorsIn({ v: value });
    t.deepEqual(
      found.map(({ path, message }) => `${path}: ${message}`),
      errors,
      JSON.stringify([schema, value]),
    );
  }
});

const TEXT = { type: 'string' };

test('what the schema does not know is taken out, and told', (t) => {
  const schema = compiled({
    spec: {
      type: 'object',
      properties: {
        a: TEXT,
        list: { type: 'array', items: { type: 'object', properties: { b: TEXT } } },
        map: { type: 'object', additionalProperties: { type: 'object', properties: { c: TEXT } } },
        free: { type: 'object', 'x-orch-preserve-unknown-fields': true, properties: { d: { type: 'object' } } },
        whole: { type: 'object', 'x-orch-embedded-resource': true, properties: { spec: { type: 'object' } } },
      },
    },
  });
  const spec = {
    a: '1',
    x: 1,
    list: [{ b: '1', y: 2 }],
    map: { k: { c: '1', z: 3 } },
    free: { any: { thing: 1 }, d: { gone: 1 } },
    whole: { kind: 'K', apiVersion: 'v1', metadata: { name: 'n' }, gone: 1, spec: {} },
  };
  const { object, unknownFields } = schema.shape({
    apiVersion: 'g/v1',
    kind: 'K',
    metadata: { name: 'n', odd: 1 },
    spec,
  });
  t.deepEqual(object.spec, {
    a: '1',
    list: [{ b: '1' }],
    map: { k: { c: '1' } },
    free: { any: { thing: 1 }, d: {} },
    whole: { kind: 'K', apiVersion: 'v1', metadata: { name: 'n' }, spec: {} },
  });
  t.deepEqual([...unknownFields].sort(), [
    'metadata.odd',
    'spec.free.d.gone',
    'spec.list[0].y',
    'spec.map.k.z',
    'spec.whole.gone',
    'spec.x',
  ]);
});

test('where nothing is to be pruned, unknown fields stay', (t) => {
  const spec = { x: { y: 1 } };
  t.deepEqual(compiled({ spec: { type: 'object' } }, {}, true).shape({ spec }).object.spec, { x: { y: 1 } });
});

test('what is left out is given, and nulls that cannot be count as left out', (t) => {
  const schema = compiled({
    a: { type: 'string', default: 'x' },
    b: { type: 'string', nullable: true, default: 'x' },
    c: { type: 'string' },
    o: { type: 'object', default: {}, properties: { p: { type: 'integer', default: 1 } } },
    l: { type: 'array', items: { type: 'object', properties: { q: { type: 'boolean', default: true } } } },
    m: { type: 'object', additionalProperties: { type: 'string', default: 'z' } },
  });
  const object = { a: null, b: null, c: null, l: [{}, { q: false }], m: { k: null } };
  schema.complete(object);
  t.deepEqual(object as object, { a: 'x', b: null, l: [{ q: true }, { q: false }], m: { k: 'z' }, o: { p: 1 } });
  const other: { o?: { p: number } } = {};
  schema.complete(other);
  other.o!.p = 9;
  const third: { o?: { p: number } } = {};
  schema.complete(third);
  t.is(third.o!.p, 1, 'defaults are copied');
});

test('paths of columns lead to values', (t) => {
  const object = {
    a: {
      'b.c': 1,
      list: [
        { t: 'x', s: 'no' },
        { t: 'Ready', s: 'yes' },
      ],
    },
  };
  const found = (path: string) => jsonPathOf(path)?.(object);
  t.deepEqual(found('.a.list[1].s'), ['yes']);
  t.deepEqual(found('.a.list[-1].s'), ['yes']);
  t.deepEqual(found('.a.list[*].s'), ['no', 'yes']);
  t.deepEqual(found('.a.list[0:1].s'), ['no']);
  t.deepEqual(found('.a.list[?(@.t=="Ready")].s'), ['yes']);
  t.deepEqual(found('.a.list[?(@.none)].s'), []);
  t.deepEqual(found('.a.b\\.c'), [1]);
  t.deepEqual(found(".a['b.c']"), [1]);
  t.deepEqual(found('.not.there'), []);
  t.is(found('.a[oops'), undefined);
  t.is(found('..a'), undefined);
});

test('versions stand in the order of their stability', (t) => {
  const names = ['v1alpha1', 'foo1', 'v2', 'v10', 'v1', 'v2beta1', 'v11alpha2', 'v11beta2', 'foo10', 'v3beta1'];
  t.deepEqual(names.sort(byPriority), [
    'v10',
    'v2',
    'v1',
    'v11beta2',
    'v3beta1',
    'v2beta1',
    'v11alpha2',
    'v1alpha1',
    'foo1',
    'foo10',
  ]);
});
