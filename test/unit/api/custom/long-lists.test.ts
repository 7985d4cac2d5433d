// Schemas and objects that are as long as bodies can be, in time in proportion to both and not to their product.
import test from 'ava';
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

test('items that have few of the members that their schema knows are given what it gives', (t) => {
  const properties = Object.fromEntries(many((index) => [`p${index}`, { type: 'string' }]));
  const schema = listOf({ type: 'object', properties: { ...properties, p1: { type: 'string', default: 'a' } } });
  const list = many((index) => (index === 0 ? { p2: null, p3: 'b' } : {}), 100_000);
  t.true(schema.complete({ list }));
  t.deepEqual(list[0] as object, { p3: 'b', p1: 'a' });
  t.deepEqual(list.at(-1) as object, { p1: 'a' });
});
