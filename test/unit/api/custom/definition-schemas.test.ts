// What a definition is told that is not structural, as the condition NonStructuralSchema says it.
import test from 'ava';
import { readDefinition } from '../../../../api/custom/definitions/definition.ts';
import { schemaProblemsOf } from '../../../../api/validation/definition-schemas.ts';
import { DIALECTS } from '../../../../config/dialect.ts';

const KEEPS = 'spec.preserveUnknownFields: Invalid value: true: must be false';
const AT = 'spec.versions[0].schema.openAPIV3Schema';
const STRUCTURAL = { type: 'object', properties: { a: { type: 'string' } } };
const OTHER = { type: 'object', properties: { a: {} } };

const problems = (preserveUnknownFields: boolean, openAPIV3Schema?: object): string => {
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } };
  const spec = { group: 'example.com', preserveUnknownFields, versions: [version] };
  return schemaProblemsOf(readDefinition({ spec }, 1), DIALECTS.orch);
};

test('a definition that keeps unknown fields is not structural, and that is said first', (t) => {
  const untyped = `${AT}.properties[a].type: Required value: must not be empty for specified object fields`;
  t.is(problems(true, OTHER), `[${KEEPS}, ${untyped}]`);
  t.is(problems(true, STRUCTURAL), KEEPS);
  t.is(problems(true), KEEPS);
  t.is(problems(false, STRUCTURAL), '');
});

test('any number of alternatives may stand beside each other', (t) => {
  const anyOf = new Array(200_000).fill({});
  t.is(problems(false, { type: 'object', properties: { a: { type: 'string', anyOf } } }), '');
});
