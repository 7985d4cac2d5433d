// The columns of every kind against their reference, in both dialects.
import test from 'ava';
import { columnsOf } from '../../../../api/table/table.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { KIND_FACTS, nameOf, typesOf } from './fixture.ts';

const DEFAULT_COLUMNS = columnsOf({ group: 'example.com', version: 'v1', kind: 'Anything' }, DIALECTS.orch);

for (const fact of KIND_FACTS) {
  for (const type of typesOf(fact)) {
    test(`${nameOf(type)} has the columns of its reference, in order`, (t) => {
      const columns = columnsOf(type, DIALECTS.orch);
      t.deepEqual(
        columns.map(({ description: _, ...rest }) => rest),
        [...fact.columns],
      );
      for (const { name, description } of columns) t.regex(description, /^[A-Z].*\.$/, name);
    });
  }
}

test('the same kinds have the same columns in the other dialect', (t) => {
  for (const fact of KIND_FACTS) {
    for (const type of typesOf(fact)) {
      const group = type.group.replace(/orch\.io$/, 'k8s.io');
      t.deepEqual(columnsOf({ ...type, group }, DIALECTS.kubernetes), columnsOf(type, DIALECTS.orch), nameOf(type));
    }
  }
});

test('a kind of the same name in a foreign group is shown by name and time of creation', (t) => {
  t.deepEqual(columnsOf({ group: 'example.com', version: 'v1', kind: 'Pod' }, DIALECTS.orch), DEFAULT_COLUMNS);
  t.deepEqual(
    DEFAULT_COLUMNS.map(({ name }) => name),
    ['Name', 'Created At'],
  );
});

test('a kind of one dialect is a stranger to the other', (t) => {
  const type = { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'RoleBinding' };
  t.deepEqual(columnsOf(type, DIALECTS.orch), DEFAULT_COLUMNS);
});
