// Schemas and objects that are as long as bodies can be, in time in proportion to both and not to their product.
import test from 'ava';
import { loadPatterns } from '../../../../api/custom/checks/patterns.ts';
import { CustomSchema } from '../../../../api/custom/forms/custom-schema.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { schemaOf } from '../../../../api/schema/schema.ts';
import { DIALECTS } from '../../../../config/dialect.ts';

const METADATA = schemaOf(DIALECTS.orch).type('meta/v1.ObjectMeta');
const COUNT = 20_000;

const many = <T>(make: (index: number) => T, length = COUNT): T[] => Array.from({ length }, (_, index) => make(index));

/** The schema of objects with a list. */
const listOf = (items: object): CustomSchema =>
  new CustomSchema({
    schema: { type: 'object', properties: { list: { type: 'array', items } } } as JsonObject,
    keepsUnknown: false,
    prefix: 'x-orch-',
    metadata: METADATA,
  });

test.before(async () => {
  await loadPatterns();
});

test('items that have few of the members that their schema knows are given what it gives', (t) => {
  const properties = Object.fromEntries(many((index) => [`p${index}`, { type: 'string' }]));
  const schema = listOf({ type: 'object', properties: { ...properties, p1: { type: 'string', default: 'a' } } });
  const list = many((index) => (index === 0 ? { p2: null, p3: 'b' } : {}), 100_000);
  t.true(schema.complete({ list }));
  t.deepEqual(list[0] as object, { p3: 'b', p1: 'a' });
  t.deepEqual(list.at(-1) as object, { p1: 'a' });
});

test('objects that are none of those that a schema lists are told once', (t) => {
  const schema = listOf({ type: 'object', 'x-orch-preserve-unknown-fields': true, enum: many((a) => ({ a, b: 1 })) });
  t.deepEqual(schema.errorsIn({ list: many((a) => ({ b: 1, a })) }), []);
  const [error, ...others] = schema.errorsIn({ list: many(() => ({ a: -1 })) });
  t.deepEqual(others, []);
  t.regex(error!.message, /^Unsupported value: map\[string\]interface \{\}\{"a":-1\}: supported values: "\{\\"a\\":0,/);
  t.true(error!.message.length < 20_000);
});

test('texts that are none of those that a schema lists are told once for each place, in messages of some length', (t) => {
  const schema = listOf({
    type: 'object',
    additionalProperties: { type: 'string', enum: many((index) => `value-${index}`) },
  });
  const errors = schema.errorsIn({ list: [Object.fromEntries(many((index) => [`k${index}`, 'x']))] });
  t.is(errors.length, 1000);
  t.true(errors.every(({ message }) => message.length < 20_000));
  const few = listOf({ type: 'string', enum: ['a', 'b'] }).errorsIn({ list: ['c', 'd'] });
  t.deepEqual(
    few.map(({ message }) => message),
    ['Unsupported value: "c": supported values: "a", "b"'],
  );
});
