// The order in which the mistakes of an object are found, which clients see as the order of a Status's causes: objects with
// several mistakes each, and every cause in its place.
import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import type { FieldError } from '../../../../api/status/field-error.ts';
import { invalidFrom } from '../../../../api/status/field-error.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { byTitle, type Changes, changed } from './cases.ts';
import { documents, validationOf, validObjects } from './objects.ts';

/** Several mistakes, and field, reason and message of each cause. */
interface Ordered {
  readonly of: string;
  /** The changed object replaces the one it was changed from, by this subresource. Absent: it is created. */
  readonly update?: string;
  readonly set: Changes;
  readonly causes: readonly (readonly [field: string, reason: string, message: string])[];
}

const DIALECT = DIALECTS.kubernetes;
const find = byTitle(validObjects('kubernetes'));
const CASES = readdirSync('test/fixtures/causes').flatMap((file) =>
  documents(readFileSync(`test/fixtures/causes/${file}`, 'utf8'), DIALECT).flatMap((list) => list as Ordered[]),
);

function errorsOf({ of, update, set }: Ordered): readonly FieldError[] {
  const { object, type } = find(of);
  const next = changed(object, set, DIALECT);
  const validation = validationOf('kubernetes');
  return update === undefined ? validation.create(next, type) : validation.update(next, object, type, update);
}

for (const [index, one] of CASES.entries()) {
  const how = one.update === undefined ? 'created' : one.update === '' ? 'updated' : `updated by ${one.update}`;
  test(`${one.of} with ${one.causes.length} causes (${index}) is ${how}: they come in order`, (t) => {
    t.deepEqual(
      errorsOf(one).map(({ path, reason, message }) => [path, reason.replace('FieldValue', ''), message]),
      one.causes.map((cause) => [...cause]),
    );
  });
}

test('there are enough objects, kinds and updates', (t) => {
  const several = CASES.filter(({ causes }) => causes.length >= 3);
  t.true(several.length >= 60);
  t.true(new Set(several.map(({ of }) => find(of).type.kind)).size >= 25);
  t.true(several.filter(({ update }) => update !== undefined).length >= 10);
});

test('a message lists the causes in their order, one alone without brackets', (t) => {
  const errors = errorsOf(CASES[0]!);
  const text = ({ path, message }: FieldError): string => `${path}: ${message}`;
  const [first, second] = errors as [FieldError, FieldError];
  t.is(invalidFrom('Pod', '', 'a', [first]).message, `Pod "a" is invalid: ${text(first)}`);
  t.is(invalidFrom('Pod', '', 'a', [first, second]).message, `Pod "a" is invalid: [${text(first)}, ${text(second)}]`);
  const all = invalidFrom('Pod', '', 'a', [...errors, first]);
  t.is(all.message, `Pod "a" is invalid: [${errors.map(text).join(', ')}]`);
  t.deepEqual(
    all.details?.causes?.map(({ field }) => field),
    [...errors, first].map(({ path }) => path),
  );
});
