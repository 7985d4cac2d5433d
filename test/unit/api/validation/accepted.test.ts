// Valid objects of every kind pass, when they are created and when they replace themselves.
import test from 'ava';
import { createRegistry } from '../../../../api/resources/registry.ts';
import { NO_FIELD_ERRORS } from '../../../../api/status/field-error.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { validationOf, validObjects } from './objects.ts';

for (const dialect of ['orch', 'kubernetes'] as const) {
  const validation = validationOf(dialect);
  for (const { title, type, object } of validObjects(dialect)) {
    test(`${title} is accepted in the ${dialect} dialect, and allocates no list of errors`, (t) => {
      t.deepEqual(validation.create(object, type), []);
      t.is(validation.create(object, type), NO_FIELD_ERRORS);
      t.deepEqual(validation.update(object, object, type, ''), []);
      t.deepEqual(validation.update(object, object, type, 'status'), []);
    });
  }
}

test('every stored kind has a valid object among the fixtures', (t) => {
  const dialect = DIALECTS.kubernetes;
  const seen = new Set(validObjects('kubernetes').map(({ type }) => `${type.group} ${type.kind}`));
  const missing = createRegistry(dialect, {})
    .all()
    .filter(({ persisted, group, kind }) => persisted && !seen.has(`${group} ${kind}`));
  t.deepEqual(
    missing.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`),
    [],
  );
});
