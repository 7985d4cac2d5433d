// What an APIService is told that local ones may not have.
import test from 'ava';
import { schemaOf } from '../../../../api/schema/schema.ts';
import { objectValidation } from '../../../../api/validation/object-validation.ts';
import { DIALECTS } from '../../../../config/dialect.ts';

const DIALECT = DIALECTS.kubernetes;

test('a bundle of a local APIService is told by its length, and not by that of its text', (t) => {
  const validation = objectValidation(schemaOf(DIALECT), { allowPrivileged: true, gate: () => false });
  const spec = { group: 'example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, caBundle: 'YQ==' };
  const type = { group: DIALECT.spell('apiregistration.@group'), version: 'v1', kind: 'APIService' };
  const errors = validation.create({ metadata: { name: 'v1.example.com' }, spec }, type);
  t.deepEqual(
    errors.map(({ path, message }) => `${path}: ${message}`),
    ['spec.caBundle: Invalid value: "1 bytes": local APIServices may not have a caBundle'],
  );
});
