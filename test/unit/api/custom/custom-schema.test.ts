// Schemas of custom kinds at work: what they take away, what they give, and what they find wrong.
import test from 'ava';
import { jsonPathOf } from '../../../../api/custom/definitions/json-path.ts';
import { CustomSchema } from '../../../../api/custom/forms/custom-schema.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { schemaOf } from '../../../../api/schema/schema.ts';
import { customTable } from '../../../../api/table/custom-table.ts';
import { byPriority } from '../../../../api/version-order.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { writeExactIntegers } from '../../../../runtime/exact-integers.ts';

writeExactIntegers();

const METADATA = schemaOf(DIALECTS.orch).type('meta/v1.ObjectMeta');

const compiled = (properties: object, more: object = {}, keepsUnknown = false): CustomSchema =>
  new CustomSchema({
    schema: { type: 'object', properties, ...more } as JsonObject,
    keepsUnknown,
    prefix: 'x-orch-',
    metadata: METADATA,
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

const WHOLE = { type: 'object', 'x-orch-embedded-resource': true, 'x-orch-preserve-unknown-fields': true };

test('a schema keeps all members, but not what is in those of which it says that they may be anything', (t) => {
  const keeps = { 'x-orch-preserve-unknown-fields': true };
  const spec = { any: { k: { deep: { x: 1 } } }, only: { k: { x: 1 } } };
  const { object, unknownFields } = compiled({
    spec: {
      type: 'object',
      properties: {
        any: { type: 'object', additionalProperties: true, ...keeps },
        only: { type: 'object', additionalProperties: true },
      },
    },
  }).shape({ apiVersion: 'g/v1', kind: 'K', spec });
  t.deepEqual(object.spec, { any: { k: {} }, only: { k: {} } });
  t.deepEqual(unknownFields, ['spec.any.k.deep', 'spec.only.k.x']);
});

test('the metadata of a whole object inside another is brought into its form as it comes, and what is stored stays', (t) => {
  const schema = compiled({
    one: WHOLE,
    list: { type: 'array', items: { type: 'object', properties: { of: WHOLE } } },
    map: { type: 'object', additionalProperties: WHOLE },
  });
  const given = (): object => ({ kind: 'K', apiVersion: 'v1', free: 1, metadata: { name: 'n', odd: 1, labels: null } });
  const kept = { kind: 'K', apiVersion: 'v1', free: 1, metadata: { name: 'n' } };
  const body = (): JsonObject => ({ one: given(), list: [{}, { of: given() }], map: { k: given(), l: {} } });
  const { object, unknownFields } = schema.read(body());
  t.deepEqual(object, { one: kept, list: [{}, { of: kept }], map: { k: kept, l: {} } });
  t.deepEqual(unknownFields, ['one.metadata.odd', 'list[1].of.metadata.odd', 'map.k.metadata.odd']);
  t.deepEqual(schema.shape(body()).object, body());
  t.deepEqual(schema.read({ one: { metadata: { creationTimestamp: null } } }).object, { one: { metadata: {} } });
});

for (const [wrong, message] of [
  [{ kind: 1 }, 'list[1].kind: cannot unmarshal number into a value of type string'],
  [{ apiVersion: null }, 'list[1].apiVersion: cannot unmarshal null into a value of type string'],
  [{ metadata: 'x' }, /^list\[1\]\.metadata: cannot unmarshal string into/],
  [{ metadata: { labels: { a: 1 } } }, /^list\[1\]\.metadata\.labels\[?\.?a\]?: cannot unmarshal number into/],
] as const) {
  test(`a whole object inside another is not read with ${JSON.stringify(wrong)}`, (t) => {
    const schema = compiled({ list: { type: 'array', items: WHOLE } });
    t.throws(() => schema.read({ list: [{}, wrong] }), { name: 'DecodeError', message });
  });
}

test('where nothing is to be pruned, unknown fields stay', (t) => {
  const spec = { x: { y: 1 } };
  t.deepEqual(compiled({ spec: { type: 'object' } }, {}, true).shape({ spec }).object.spec, { x: { y: 1 } });
});

test('a null that the schema refuses is taken out where unknown members are, and refused where those are kept', (t) => {
  const properties = {
    text: TEXT,
    maybe: { ...TEXT, nullable: true },
    list: { type: 'array', items: { properties: { text: TEXT } } },
  };
  const said = (): JsonObject => ({ text: null, maybe: null, list: [{ text: null }] });
  const taken = said();
  t.true(compiled(properties).complete(taken));
  t.deepEqual(taken as unknown, { maybe: null, list: [{}] });
  const keeping = compiled(properties, {}, true);
  const kept = said();
  t.true(keeping.complete(kept));
  t.deepEqual(kept, said());
  const errors = keeping.errorsIn(kept);
  t.deepEqual(
    errors.map(({ message }) => message),
    ['text', 'list.text'].map((path) => `Invalid value: "null": ${path} in body must be of type string: "null"`),
  );
});

test('what was converted into a version loses what that does not know, and nulls that it refuses, and is given nothing', (t) => {
  const text = { type: 'string' };
  const schema = compiled({
    plain: text,
    given: { ...text, default: 'x' },
    absent: { ...text, default: 'y' },
    nullable: { ...text, nullable: true },
    map: { type: 'object', additionalProperties: text },
    list: { type: 'array', items: { type: 'object', properties: { plain: text } } },
  });
  const object = {
    ...{ plain: null, given: null, nullable: null, unknown: 1 },
    ...{ map: { a: null, b: 'c' }, list: [{ plain: null }, { plain: 'd' }] },
  };
  const converted = { given: null, nullable: null, map: { b: 'c' }, list: [{}, { plain: 'd' }] };
  t.deepEqual(schema.converted(object) as unknown, converted);
  t.deepEqual(schema.converted({ plain: null }) as unknown, {});
});

test('what is given is a copy', (t) => {
  const schema = compiled({ o: { type: 'object', default: {}, properties: { p: { type: 'integer', default: 1 } } } });
  const other: { o?: { p: number } } = {};
  schema.complete(other);
  other.o!.p = 9;
  const third: { o?: { p: number } } = {};
  schema.complete(third);
  t.is(third.o!.p, 1);
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
  t.is(found('.a["b.c"]'), undefined, 'keys stand between single quotes');
  t.deepEqual(found('.a.list[0,1].s'), ['no', 'yes']);
  t.deepEqual(found(".a.list[1]['s','t']"), ['yes', 'Ready']);
  t.deepEqual(found('.a.list[0:2:2].s'), ['no']);
  t.deepEqual(found('..s'), ['no', 'yes']);
  t.deepEqual(found('.a..s'), ['no', 'yes']);
  for (const wrong of ['.a.list[0,oops]', '.a.list[::0]', '..a..s', '.a[?(@..s)]'])
    t.is(found(wrong), undefined, wrong);
});

test('a path that names the same again and again finds no more than a thousand values', (t) => {
  const many = `[${'0,'.repeat(3000)}0]`;
  const nested = { list: [[['x']]] };
  t.is(jsonPathOf(`.list${many}${many}${many}`)?.(nested).length, 1000);
});

test('a filter of nothing but backslashes or blanks, and thousands of filters within filters, are no paths and hold nobody up', (t) => {
  t.is(jsonPathOf(`.a[?(@${'\\'.repeat(200)}x=)]`), undefined);
  t.is(jsonPathOf(`.a[?(@.b==${' '.repeat(20_000)}y]`), undefined);
  t.is(jsonPathOf(`.a${'[?(@.b'.repeat(20_000)}${')]'.repeat(20_000)}`), undefined);
  const object = { a: [{ b: [{ 'c=d': 1 }, { b: 2 }] }, { b: [] }] };
  t.deepEqual(jsonPathOf('.a[?(@.b[?(@.c\\=d)])].b[0]')?.(object), [{ 'c=d': 1 }]);
});

const column = (name: string, jsonPath: string) => ({
  name,
  jsonPath,
  type: 'string',
  format: '',
  description: '',
  priority: 0,
});

test('all columns together pass over no more than so much of an object, each object anew', (t) => {
  const list = Array.from({ length: 1000 }, () => ({}));
  const object = { metadata: { name: 'a' }, spec: { list }, status: { ready: 'yes' } };
  const last = (columns: readonly ReturnType<typeof column>[]) =>
    [1, 2].map(() => customTable(columns).cells(object, { nowMs: 0 }).at(-1));
  const ready = column('Ready', '.status.ready');
  for (const path of ['..nothing', '.spec.list[?(@.a==1)].b', `.spec[${"'list',".repeat(900)}'list'][*].a`]) {
    const some = Array.from({ length: 3 }, (_, index) => column(`C${index}`, path));
    const many = Array.from({ length: 100 }, (_, index) => column(`C${index}`, path));
    if (!path.includes("','")) t.deepEqual(last([...some, ready]), ['yes', 'yes'], path);
    t.deepEqual(last([...many, ready]), [null, null], path);
  }
});

test('the texts of a row have an end: each column may show all of an object', (t) => {
  const object = { metadata: { name: 'a' }, spec: { text: 'x'.repeat(400_000) } };
  const table = customTable(Array.from({ length: 1000 }, (_, index) => column(`C${index}`, '.spec')));
  for (let row = 0; row < 2; row++) {
    const shown = table.cells(object, { nowMs: 0 }).slice(1);
    t.is(shown.length, 1000);
    t.is(shown.filter((cell) => cell !== null).length, 3);
  }
});

test('columns end before the first whose path cannot be read', (t) => {
  const columns = [column('A', '.spec.a'), column('B', '.spec.b['), column('C', '.spec.c')];
  t.deepEqual(
    customTable(columns).definitions.map(({ name }) => name),
    ['Name', 'A'],
  );
});

test('without columns there is the age, as a date; objects in a column have their keys in order', (t) => {
  t.like(customTable([]).definitions[1], { name: 'Age', type: 'date' });
  const { cells } = customTable([column('A', '.spec')]);
  t.is(
    cells({ metadata: { name: 'a' }, spec: { z: [{ y: 1, x: 2 }], b: null } }, { nowMs: 0 })[1],
    '{"b":null,"z":[{"x":2,"y":1}]}',
  );
});

test('a column of texts shows nulls, numbers and markup as Kubernetes prints them', (t) => {
  const { cells } = customTable([column('A', '.spec.a')]);
  const shown = (a: unknown) => cells({ metadata: { name: 'a' }, spec: { a } }, { nowMs: 0 })[1];
  t.is(shown(null), '<no value>');
  t.is(cells({ metadata: { name: 'a' }, spec: {} }, { nowMs: 0 })[1], null);
  t.is(shown('<a>&'), '<a>&');
  t.is(shown({ a: '<b>&\u2028\u00e9' }), '{"a":"\\u003cb\\u003e\\u0026\\u2028\u00e9"}');
  t.deepEqual([12345678, 9223372036854775807n, -0.5, 123456.5, 0.00012, 1e15].map(shown), [
    '12345678',
    '9223372036854775807',
    '-0.5',
    '123456.5',
    '0.00012',
    '1000000000000000',
  ]);
  t.deepEqual([12345678.9, 1000000.5, 0.00003, 1e-7, 1e20, 123456789012345680000, -(2 ** 63) * 1.5, 1e21].map(shown), [
    '1.23456789e+07',
    '1.0000005e+06',
    '3e-05',
    '1e-07',
    '1e+20',
    '1.2345678901234568e+20',
    '-1.3835058055282164e+19',
    '1e+21',
  ]);
});

test('what the elements of a list have wrong in common is told of the first', (t) => {
  const list = {
    type: 'array',
    items: { type: 'object', required: ['x'], properties: { x: { ...TEXT, enum: ['b'] } } },
  };
  const errors = compiled({ list }).errorsIn({ list: [{}, {}, { x: 'c' }, { x: 'd' }] });
  t.deepEqual(
    errors.map(({ path, message }) => `${path}: ${message}`),
    ['list.x: Required value', 'list.x: Unsupported value: "c": supported values: "b"'],
  );
});

test('a value that is none of those listed is shown as the original shows it, and those with their keys in order', (t) => {
  const v = { type: 'object', enum: [{ z: 1, a: [] }], 'x-orch-preserve-unknown-fields': true };
  t.is(
    compiled({ v }).errorsIn({ v: { b: [null, { d: 1.5 }], a: 'x' } })[0]?.message,
    'Unsupported value: map[string]interface {}{"a":"x", "b":[]interface {}{interface {}(nil), map[string]interface {}{"d":1.5}}}: ' +
      'supported values: "{\\"a\\":[],\\"z\\":1}"',
  );
});

test('a column of dates tells what is no date from what is not there', (t) => {
  const date = { name: 'D', jsonPath: '.d', type: 'date', format: '', description: '', priority: 0 };
  const table = customTable([date]);
  const nowMs = Date.parse('2026-01-01T00:10:00Z');
  const cellOf = (d: unknown) => table.cells({ metadata: { name: 'a' }, d }, { nowMs })[1];
  t.is(cellOf('2026-01-01T00:00:00Z'), '10m');
  t.is(cellOf('2026-01-01'), '<invalid>');
  t.is(cellOf('soon'), '<invalid>');
  t.is(cellOf(''), '<unknown>');
  t.is(cellOf(5), null);
  t.is(cellOf(undefined), null);
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

test('integers that no double holds are integers, and are held to bounds, multiples and lists exactly', (t) => {
  const int = (more: object): CustomSchema => compiled({ n: { type: 'integer', ...more } });
  const errorsOf = (schema: CustomSchema, n: unknown): number => schema.errorsIn({ n }).length;
  t.is(errorsOf(int({ format: 'int64' }), 9007199254740993n), 0);
  t.is(errorsOf(compiled({ n: { type: 'number' } }), 9007199254740993n), 0);
  t.is(errorsOf(compiled({ n: { 'x-orch-int-or-string': true } }), 9007199254740993n), 0);
  t.is(errorsOf(compiled({ n: { type: 'string' } }), 9007199254740993n), 1);
  t.is(errorsOf(int({ maximum: 9007199254740992 }), 9007199254740993n), 1);
  t.is(errorsOf(int({ maximum: 9007199254740992 }), 9007199254740992n), 0);
  t.is(errorsOf(int({ maximum: 9007199254740992, exclusiveMaximum: true }), 9007199254740992n), 1);
  t.is(errorsOf(int({ minimum: -9007199254740992, exclusiveMinimum: true }), -9007199254740992n), 1);
  t.is(errorsOf(int({ minimum: 1 }), 9007199254740993n), 0);
  t.is(errorsOf(int({ multipleOf: 2 }), 9007199254740993n), 1);
  t.is(errorsOf(int({ multipleOf: 3 }), 9007199254740993n), 0);
  t.is(errorsOf(int({ multipleOf: 0.1 }), 9007199254740993n), 0);
  t.is(errorsOf(int({ enum: [9007199254740993n, 1] }), 9007199254740993n), 0);
  t.is(errorsOf(int({ enum: [9007199254740993n, 1] }), 9007199254740995n), 1);
  const [error] = int({ maximum: 10 }).errorsIn({ n: 9007199254740993n });
  t.is(error?.message, 'Invalid value: 9007199254740993: n in body should be less than or equal to 10');
});

test('a schema is prepared a part at a time, and says the same as one that is not', (t) => {
  const nested = { type: 'object', properties: { count: { type: 'integer', minimum: 1, default: 5 }, name: TEXT } };
  const properties = {
    spec: { type: 'object', properties: { nested, list: { type: 'array', 'x-orch-list-type': 'set', items: TEXT } } },
  };
  const prepared = compiled(properties);
  const parts = [...prepared.preparing()].length;
  t.true(parts > 5);
  const plain = compiled(properties);
  const object = (): JsonObject => ({ spec: { nested: { count: 0, other: 1 }, list: ['a', 'a'] } });
  t.deepEqual(prepared.errorsIn(object()), plain.errorsIn(object()));
  t.is(plain.errorsIn(object()).length, 2);
  for (const schema of [prepared, plain]) {
    const { object: made } = schema.shape({ spec: { nested: { other: 1 } } });
    schema.complete(made);
    t.deepEqual(made, { spec: { nested: { count: 5 } } });
  }
  t.is(
    [...new CustomSchema({ schema: undefined, keepsUnknown: true, prefix: 'x-orch-', metadata: METADATA }).preparing()]
      .length,
    2,
  );
});

test('what an object is given counts with the names that it is given under', (t) => {
  const none = { type: 'integer', default: 0 };
  const schema = compiled({
    list: { type: 'array', items: { type: 'object', properties: { ['n'.repeat(1000)]: none } } },
    map: { type: 'object', additionalProperties: none },
    numbers: { type: 'array', items: none },
  });
  for (const object of [
    { list: Array.from({ length: 20_000 }, () => ({})) },
    { map: Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`${index}${'n'.repeat(1000)}`, null])) },
    { numbers: Array.from({ length: 4_500_000 }, () => null) },
  ]) {
    t.false(schema.complete(object), Object.keys(object)[0]);
    t.true(JSON.stringify(object).length < 4 * 8_400_000);
  }
  t.true(schema.complete({ list: [{}, {}], map: { a: null }, numbers: [null] }));
});

test('no more is given to one object than an object may be, and that it was too much is told', (t) => {
  const large = { type: 'string', default: 'x'.repeat(100_000) };
  const schema = compiled({
    list: { type: 'array', items: { type: 'object', properties: { large } } },
    map: { type: 'object', additionalProperties: { type: 'string', nullable: false, default: 'y'.repeat(100_000) } },
    nulls: { type: 'array', items: { type: 'array', items: { type: 'string' }, default: ['z'.repeat(100_000)] } },
  });
  const lengthOf = (object: object): number => JSON.stringify(object).length;
  const items = { list: Array.from({ length: 10_000 }, () => ({})) };
  t.false(schema.complete(items));
  t.true(lengthOf(items) < 9_000_000);
  const members = { map: Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`k${index}`, null])) };
  t.false(schema.complete(members));
  t.true(lengthOf(members) < 9_000_000);
  const nulls = { nulls: Array.from({ length: 1000 }, () => null) };
  t.false(schema.complete(nulls));
  t.true(lengthOf(nulls) < 9_000_000);
  const some = { list: [{}, {}] };
  t.true(schema.complete(some));
  t.true(lengthOf(some) > 200_000);
});
