// Schemas of custom types, keyword by keyword, against tables: which values they admit and what is told of others, what is
// taken from objects and given to them, and what a definition's schema may not say.
import test from 'ava';
import { loadPatterns } from '../../../../api/custom/checks/patterns.ts';
import { CustomSchema } from '../../../../api/custom/forms/custom-schema.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { schemaOf } from '../../../../api/schema/schema.ts';
import type { FieldError } from '../../../../api/status/field-error.ts';
import { Report } from '../../../../api/validation/report.ts';
import { checkCustomSchema } from '../../../../api/validation/structural-schema.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { DEFINITION_CASES, type DefinitionCase, STATUS_CASES } from './cases/definition-cases.ts';
import { DEFAULT_CASES, PRUNE_CASES } from './cases/shape-cases.ts';
import { VALUE_CASES } from './cases/value-cases.ts';

const DIALECT = DIALECTS.orch;
const METADATA = schemaOf(DIALECT).type('meta/v1.ObjectMeta');

/** What the suite must at least have. */
const CASES_MIN = 300;

test.before(async () => {
  await loadPatterns();
});

function compiled(v: object): CustomSchema {
  const schema = { type: 'object', properties: { v } } as JsonObject;
  return new CustomSchema({ schema, keepsUnknown: false, prefix: 'x-orch-', metadata: METADATA });
}

const textsOf = (errors: readonly FieldError[]): string[] => errors.map(({ path, message }) => `${path}: ${message}`);

for (const [keyword, cases] of Object.entries(VALUE_CASES)) {
  test(`values are held to ${keyword}, in the words of 1.21`, (t) => {
    for (const [schema, value, ...errors] of cases) {
      const found = textsOf(compiled(schema).errorsIn({ v: value }));
      t.deepEqual(found, errors, JSON.stringify([schema, value]));
    }
  });
}

test('in every case what the schema does not know is taken out, and told', (t) => {
  for (const [schema, before, after, ...taken] of PRUNE_CASES) {
    const { object, unknownFields } = compiled(schema).shape({ v: structuredClone(before) });
    t.deepEqual(object.v, after, JSON.stringify([schema, before]));
    t.deepEqual([...unknownFields].sort(), [...taken].sort(), JSON.stringify([schema, before]));
  }
});

test('in every case what is left out is given, and given once', (t) => {
  for (const [schema, before, after] of DEFAULT_CASES) {
    const object = before === undefined ? {} : { v: structuredClone(before) };
    const kind = compiled(schema);
    kind.complete(object);
    const expected = after === undefined ? {} : { v: after };
    t.deepEqual(object, expected, JSON.stringify([schema, before]));
    kind.complete(object);
    t.deepEqual(object, expected, `again: ${JSON.stringify([schema, before])}`);
  }
});

function errorsOfDefinition(schema: object, hasStatus = false): string[] {
  const text = JSON.stringify(schema).replaceAll('"P-', '"x-orch-');
  const object = JSON.parse(text) as JsonObject;
  const report = new Report(DIALECT, { allowPrivileged: false, gate: () => false });
  report.begin(object);
  report.enter('s');
  checkCustomSchema(object, { structural: true, mayDefault: true, anyType: false, hasStatus }, report);
  report.leave();
  return textsOf(report.end());
}

const spelled = (errors: readonly string[]): string[] =>
  errors.map((error) => error.replaceAll(/\bP-(?=[a-z])/g, 'x-orch-')).sort();

for (const [subject, cases] of Object.entries(DEFINITION_CASES)) {
  test(`a definition is held to the rules of ${subject}`, (t) => {
    for (const [schema, ...errors] of cases as readonly DefinitionCase[]) {
      t.deepEqual(errorsOfDefinition(schema).sort(), spelled(errors), JSON.stringify(schema));
    }
  });
}

test('where the status has an endpoint, little may stand at the root', (t) => {
  for (const [schema, ...errors] of STATUS_CASES) {
    const found = errorsOfDefinition(schema, true).map((error) =>
      error.replace(/value: \{.*"anyOf".*?\}: /, 'value: …: '),
    );
    t.deepEqual(found, errors, JSON.stringify(schema));
  }
});

test(`there are at least ${CASES_MIN} cases`, (t) => {
  const tables = [
    ...Object.values(VALUE_CASES),
    ...Object.values(DEFINITION_CASES),
    PRUNE_CASES,
    DEFAULT_CASES,
    STATUS_CASES,
  ];
  const count = tables.reduce((sum, table) => sum + table.length, 0);
  t.log(`${count} cases`);
  t.true(count >= CASES_MIN, String(count));
});
