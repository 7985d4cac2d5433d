// Members of custom objects are owned by their names, whatever those mean elsewhere.
import test from 'ava';
import { compareObjects } from '../../../../api/apply/compare.ts';
import { ruleOfCustom } from '../../../../api/apply/custom-rule.ts';
import { entriesOfUpdate } from '../../../../api/apply/ownership.ts';
import { DEDUCED_RULE } from '../../../../api/apply/ownership-rule.ts';
import type { CustomType } from '../../../../api/custom/definitions/custom-type.ts';
import { CustomSchema } from '../../../../api/custom/forms/custom-schema.ts';
import { schemaOf } from '../../../../api/schema/schema.ts';
import { DIALECTS } from '../../../../config/dialect.ts';

const inner = { type: 'object', properties: { a: { type: 'string' } } };
const schema = new CustomSchema({
  schema: {
    type: 'object',
    properties: { spec: { type: 'object', properties: { constructor: inner, toString: inner, other: inner } } },
  },
  keepsUnknown: false,
  prefix: 'x-orch-',
  metadata: schemaOf(DIALECTS.orch).type('meta/v1.ObjectMeta'),
});
const type = { rule: ruleOfCustom({ schema } as CustomType), schema: undefined, empty: {} };
const writer = { manager: 'b', apiVersion: 'example.com/v1', nowIso: '2026-01-01T00:00:00Z' };

test('a member that is called as one of every object in JavaScript is owned like any other', (t) => {
  const fieldsV1 = { 'f:spec': {} };
  const before = { manager: 'a', operation: 'Update', apiVersion: 'example.com/v1', fieldsType: 'FieldsV1', fieldsV1 };
  const metadata = { name: 'x', managedFields: [before] };
  const spec = { constructor: { a: '1' }, toString: { a: '1' }, other: { a: '1' } };
  const added = { '.': {}, 'f:a': {} };
  const owned = { 'f:constructor': added, 'f:other': added, 'f:toString': added };
  const entries = entriesOfUpdate({ metadata, spec }, { metadata, spec: {} }, type, writer, true);
  t.deepEqual(entries?.find(({ manager }) => manager === 'b')?.fieldsV1, { 'f:spec': owned });
});

test('where a value of no schema becomes an object, or is one no more, it changes as a whole and its members come or go', (t) => {
  const whole = { 'f:spec': {} };
  for (const other of ['x', [1]]) {
    t.deepEqual(compareObjects({ spec: other }, { spec: { a: { b: 1 } } }, DEDUCED_RULE), {
      added: { 'f:spec': { 'f:a': { '.': {}, 'f:b': {} } } },
      modified: whole,
      removed: {},
    });
    t.deepEqual(compareObjects({ spec: { a: 1 } }, { spec: other }, DEDUCED_RULE), {
      added: {},
      modified: whole,
      removed: { 'f:spec': { 'f:a': {} } },
    });
    t.deepEqual(compareObjects({ spec: other }, { spec: {} }, DEDUCED_RULE), {
      added: {},
      modified: whole,
      removed: {},
    });
  }
});
