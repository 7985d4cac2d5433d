// Lists as long as a body can hold them, where they are held against others of the same object: in time in proportion to their length.
import test from 'ava';
import { readDefinition } from '../../../api/custom/definitions/definition.ts';
import { definitionStatus, takenNames } from '../../../api/custom/definitions/definition-status.ts';
import { partAt } from '../../../api/json/object-fields.ts';
import { DIALECTS } from '../../../config/dialect.ts';

const NOW = '2026-01-01T00:00:00Z';

const many = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index));

test('short names that a definition has already are its own, however many', (t) => {
  const names = { plural: 'things', kind: 'Thing', shortNames: many(200_000, (index) => `t${index}`) };
  const object = { spec: { group: 'example.com', names, versions: [] }, status: { acceptedNames: names } };
  const taken = takenNames([readDefinition(object, 1).names]);
  const status = definitionStatus(object, readDefinition(object, 1), taken, '', NOW, DIALECTS.orch);
  t.deepEqual(partAt(status, 'acceptedNames').shortNames, names.shortNames);
});
