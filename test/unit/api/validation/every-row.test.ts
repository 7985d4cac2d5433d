// Every row of the facts about validation is accepted somewhere and refused somewhere, by cases written from the facts
// and not from the tables under test.
import test from 'ava';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import type { ObjectMeta } from '../../../../api/metadata/object-meta.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../../../api/metadata/object-meta-rules.ts';
import type { FieldError } from '../../../../api/status/field-error.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { sampleType } from '../sample-type.ts';
import { bareChanged, byTitle, type Changes, changed, errorsOf, expectedErrors } from './cases.ts';
import { validationOf, validObjects } from './objects.ts';
import { factRows, formatCases, hasAt, type RowCase, rowCases, serverRows } from './row-cases.ts';

const DIALECT = DIALECTS.orch;
const find = byTitle(validObjects('orch'));
const CASES = rowCases(DIALECT);
const ROWS = factRows();
const UNCHANGED: Changes = { 'metadata.labels': { changed: 'yes' } };

/** What the cases of `metadata` are changes of, in an object of the core group. */
const METADATA: JsonObject = {
  metadata: {
    name: 'a',
    namespace: 'shop',
    uid: 'a',
    resourceVersion: '5',
    generation: 3,
    creationTimestamp: '2021-04-08T12:00:00Z',
    labels: { app: 'a' },
    annotations: { 'example.com/note': 'a' },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'a', uid: 'b', controller: true }],
    finalizers: ['example.com/hold', 'orphan'],
    managedFields: [{ manager: 'me', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }],
  },
};
const CORE = sampleType({ group: '' });

/** The object a case begins with. */
function begin({ of, before }: RowCase): JsonObject {
  return of === 'metadata' ? bareChanged(METADATA, before) : changed(find(of).object, before, DIALECT);
}

function errorsAfter(one: RowCase, changes: Changes): readonly FieldError[] {
  const before = begin(one);
  if (one.of === 'metadata') {
    const metadata = bareChanged(before, changes).metadata as ObjectMeta;
    return one.update === undefined
      ? validateObjectMeta(metadata, CORE, DIALECT)
      : validateObjectMetaUpdate(metadata, before.metadata as ObjectMeta, CORE, DIALECT);
  }
  const { type } = find(one.of);
  const validation = validationOf('orch', one.gates);
  const next = changed(before, changes, DIALECT, one.raw);
  return one.update === undefined ? validation.create(next, type) : validation.update(next, before, type, one.update);
}

for (const one of CASES) {
  const { id, good, bad, causes } = one;
  test(`${id}: ${one.of} is accepted${good === undefined ? '' : ` with ${JSON.stringify(good).slice(0, 90)}`}`, (t) => {
    const isUpdate = one.update !== undefined;
    t.deepEqual(errorsOf(errorsAfter({ ...one, raw: undefined }, good ?? (isUpdate ? UNCHANGED : {}))), []);
    if (good === undefined) {
      const { path } = ROWS.find((row) => row.id === id)!;
      t.true(hasAt(begin(one), path), `it has nothing at ${path}`);
    }
  });

  if (bad === undefined) continue;
  test(`${id}: ${one.of} is refused for ${Object.keys(causes).join(', ')}`, (t) => {
    t.true(Object.keys(causes).length > 0);
    t.deepEqual(errorsOf(errorsAfter(one, bad)), expectedErrors(causes));
  });
}

for (const [name, { of, update, at, good, bad }] of Object.entries(formatCases(DIALECT))) {
  test(`formats.${name}: ${at} of ${of} takes what is of the format and nothing else`, (t) => {
    const { object, type } = find(of);
    const validation = validationOf('orch');
    const errorsWith = (value: unknown): readonly FieldError[] => {
      const next = changed(object, { [at]: value }, DIALECT);
      return update === undefined ? validation.create(next, type) : validation.update(next, object, type, update);
    };
    for (const value of good) t.deepEqual(errorsOf(errorsWith(value)), [], JSON.stringify(value).slice(0, 80));
    const whole = at.replace(/\[0\]$/, '');
    for (const value of bad) {
      const errors = errorsWith(value);
      t.true(errors.length > 0, JSON.stringify(value).slice(0, 80));
      for (const { path } of errors) t.true(path.startsWith(whole), path);
    }
  });
}

test('every row of the facts has a case that is accepted and one that is refused', (t) => {
  const served = serverRows(DIALECT);
  const formats = Object.keys(formatCases(DIALECT)).map((name) => `formats.${name}`);
  const cases = [...CASES.map(({ id }) => id), ...Object.keys(served), ...formats];
  const ids = ROWS.map(({ id }) => id);
  t.deepEqual(
    ids.filter((id) => !cases.includes(id)),
    [],
    'rows without a case',
  );
  t.deepEqual(cases.toSorted(), ids.toSorted(), 'a case a row');
  const never = [
    ...CASES.map(({ id, never: why }) => [id, why]),
    ...Object.entries(served).map(([id, row]) => [id, row.never]),
  ].filter(([, why]) => why !== undefined);
  const silent = CASES.filter(({ bad, never: why }) => bad === undefined && why === undefined);
  t.deepEqual(silent, []);
  t.log(`${ids.length} rows, ${ids.length} accepted and ${ids.length - never.length} refused`);
  t.log(`${CASES.length} by objects, ${formats.length} by formats, ${Object.keys(served).length} by a server`);
  for (const [id, why] of never) t.log(`${id} refuses nothing: ${why}`);
});
