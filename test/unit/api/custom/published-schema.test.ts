import test from 'ava';
import { knownTypesOf } from '../../../../api/catalog/known-types.ts';
import type { CustomType } from '../../../../api/custom/definitions/custom-type.ts';
import { readDefinition } from '../../../../api/custom/definitions/definition.ts';
import { publishedSchema } from '../../../../api/custom/definitions/published-schema.ts';
import { schemaOf } from '../../../../api/schema/schema.ts';
import { DIALECTS } from '../../../../config/dialect.ts';

const WORDS = DIALECTS.orch;
const PREFIX = WORDS.openapiExtensionPrefix;
const TEXT = { type: 'string' };
const MEMBERS = { type: 'object', properties: { b: TEXT } };
const OPEN = { [`${PREFIX}preserve-unknown-fields`]: true };
const EITHER = { [`${PREFIX}int-or-string`]: true };

const KEPT_WHOLE = { [`${PREFIX}embedded-resource`]: true };
const EMBEDDED = { apiVersion: TEXT, kind: TEXT, metadata: { $ref: '#/definitions/meta' } };

/** What is published of a kind with one member of that schema. */
function memberIn(openapi: 2 | 3, member: object): unknown {
  const schema = { openAPIV3Schema: { type: 'object', properties: { a: member } } };
  const names = { plural: 'crontabs', singular: 'crontab', kind: 'CronTab', listKind: 'CronTabList' };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const status = {
    acceptedNames: names,
    conditions: [{ type: 'Established', status: 'True' }],
    storedVersions: ['v1'],
  };
  const spec = { group: 'stable.example.com', scope: 'Namespaced', names, versions };
  const definition = readDefinition({ metadata: { name: 'crontabs.stable.example.com' }, spec, status }, 1);
  const [type] = knownTypesOf(definition, { prefix: PREFIX, metadata: schemaOf(WORDS).type('meta/v1.ObjectMeta') });
  return publishedSchema(type!.custom as CustomType, { prefix: PREFIX, openapi, embedded: EMBEDDED })?.properties?.a;
}

const CASES: readonly (readonly [title: string, member: object, in2: object, in3: object])[] = [
  ['a value that may be null is of any kind in 2.0', { ...TEXT, nullable: true }, {}, { ...TEXT, nullable: true }],
  ['so is an object', { ...MEMBERS, nullable: true }, {}, { ...MEMBERS, nullable: true }],
  ['an object with more members has none in 2.0', { ...MEMBERS, ...OPEN }, OPEN, { ...MEMBERS, ...OPEN }],
  ['a text stays one, whatever it keeps', { ...TEXT, ...OPEN }, { ...TEXT, ...OPEN }, { ...TEXT, ...OPEN }],
  ['a number or text has no kind', EITHER, EITHER, EITHER],
  [
    'a value of any kind keeps its bounds in 2.0',
    { type: 'integer', format: 'int32', minimum: 1, nullable: true },
    { format: 'int32', minimum: 1 },
    { type: 'integer', format: 'int32', minimum: 1, nullable: true },
  ],
  [
    'a member that may be null is not demanded in 2.0',
    { type: 'object', required: ['b', 'c'], properties: { b: TEXT, c: { ...TEXT, nullable: true } } },
    { type: 'object', required: ['b'], properties: { b: TEXT, c: {} } },
    { type: 'object', required: ['b', 'c'], properties: { b: TEXT, c: { ...TEXT, nullable: true } } },
  ],
  [
    'nor is any where members that nobody has named may be null',
    { type: 'object', required: ['b'], additionalProperties: { ...TEXT, nullable: true } },
    { type: 'object', additionalProperties: {} },
    { type: 'object', required: ['b'], additionalProperties: { ...TEXT, nullable: true } },
  ],
  [
    'an object within another has what every object has in 2.0',
    { ...MEMBERS, ...KEPT_WHOLE, required: ['b'] },
    { type: 'object', properties: { b: TEXT, ...EMBEDDED }, required: ['b', 'kind', 'apiVersion'], ...KEPT_WHOLE },
    { ...MEMBERS, ...KEPT_WHOLE, required: ['b'] },
  ],
  ['2.0 has no defaults', { ...TEXT, default: 'x' }, TEXT, { ...TEXT, default: 'x' }],
  [
    'what else there is, is said in both',
    { ...TEXT, pattern: '^x' },
    { ...TEXT, pattern: '^x' },
    { ...TEXT, pattern: '^x' },
  ],
];

for (const [title, member, in2, in3] of CASES) {
  test(`of a custom type's schema OpenAPI has what its version can say: ${title}`, (t) => {
    t.deepEqual(memberIn(2, member), in2);
    t.deepEqual(memberIn(3, member), in3);
  });
}
