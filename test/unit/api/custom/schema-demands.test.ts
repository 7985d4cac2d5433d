// What the schemas of a definition are held to by the version that it is written in, and by what is stored of it.
import test from 'ava';
import type { JsonObject } from '../../../../api/json/json-value.ts';

import { DIALECTS } from '../../../../config/dialect.ts';
import { validationOf } from '../validation/objects.ts';

const DIALECT = DIALECTS.orch;
const validation = validationOf('orch');

const GROUP = `apiextensions.${DIALECT.groupDomain}`;
const typeOf = (version: string): { group: string; version: string; kind: string } => ({
  group: GROUP,
  version,
  kind: 'CustomResourceDefinition',
});

function definition(spec: JsonObject): JsonObject {
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
  return {
    metadata: { name: 'things.example.com' },
    spec: { group: 'example.com', scope: 'Namespaced', names, conversion: { strategy: 'None' }, ...spec },
    status: { storedVersions: ['v1'] },
  };
}

/** As v1beta1 says it. */
const older = (openAPIV3Schema?: object, preserveUnknownFields = true): JsonObject =>
  definition({
    version: 'v1',
    versions: [{ name: 'v1', served: true, storage: true }],
    preserveUnknownFields,
    ...(openAPIV3Schema && { validation: { openAPIV3Schema } }),
  });

const current = (openAPIV3Schema?: object, preserveUnknownFields = true): JsonObject =>
  definition({
    versions: [{ name: 'v1', served: true, storage: true, ...(openAPIV3Schema && { schema: { openAPIV3Schema } }) }],
    preserveUnknownFields,
  });

const labelled = (object: JsonObject): JsonObject => ({
  ...object,
  metadata: { ...(object.metadata as JsonObject), labels: { a: 'b' } },
});

const created = (object: JsonObject, version: string): string[] =>
  validation.create(object, typeOf(version)).map(({ path, message }) => `${path}: ${message}`);
const updated = (next: JsonObject, stored: JsonObject, version: string): string[] =>
  validation.update(next, stored, typeOf(version), '').map(({ path, message }) => `${path}: ${message}`);

const UNTYPED = { properties: { spec: { properties: { a: { type: 'string' } } } } };
const TYPED = { type: 'object', properties: { spec: { type: 'object' } } };
const DEFAULTED = { type: 'object', properties: { a: { type: 'string', default: 'x' } } };
const OLDER_HAS_NONE = `(cannot set default values in ${GROUP}/v1beta1 CRDs, must use ${GROUP}/v1)`;
const IN_V1 = 'spec.versions[0].schema.openAPIV3Schema';

test('whoever changes an old definition as v1 need not mend what v1 would not have let in', (t) => {
  for (const schema of [undefined, UNTYPED, TYPED]) {
    const stored = current(schema);
    t.deepEqual(updated(labelled(stored), stored, 'v1'), [], JSON.stringify(schema));
  }
});

test('a definition that begins to prune is structural, and has a schema', (t) => {
  t.deepEqual(updated(current(undefined, false), current(), 'v1'), [
    `${IN_V1}: Required value: because otherwise all fields are pruned`,
  ]);
  t.deepEqual(updated(current(UNTYPED, false), current(UNTYPED), 'v1'), [
    `${IN_V1}.properties[spec].type: Required value: must not be empty for specified object fields`,
    `${IN_V1}.type: Required value: must not be empty at the root`,
  ]);
  t.deepEqual(updated(current(TYPED, false), current(TYPED), 'v1'), []);
});

test('what v1 let in stays as strict', (t) => {
  const stored = current(TYPED, false);
  t.regex(updated(current(TYPED), stored, 'v1').join(), /^spec\.preserveUnknownFields: Invalid value: true/);
  t.deepEqual(updated(current(undefined, false), stored, 'v1'), [`${IN_V1}: Required value: schemas are required`]);
  t.regex(updated(current(UNTYPED), current(TYPED), 'v1').join(), /must not be empty at the root/);
});

test('a definition written as v1beta1 has no defaults, unless it has them already', (t) => {
  const path = 'spec.validation.openAPIV3Schema.properties[a].default';
  for (const keeps of [true, false]) {
    t.deepEqual(created(older(DEFAULTED, keeps), 'v1beta1'), [`${path}: Forbidden: must not be set ${OLDER_HAS_NONE}`]);
  }
  const stored = older(DEFAULTED, false);
  t.deepEqual(updated(labelled(stored), stored, 'v1beta1'), []);
  t.deepEqual(updated(older(DEFAULTED), stored, 'v1beta1'), [
    'spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults in the schema',
  ]);
});

test('a schema of v1beta1 with words of our own is structural', (t) => {
  const prefix = DIALECT.openapiExtensionPrefix;
  const problem =
    'spec.validation.openAPIV3Schema.properties[b].type: Required value: must not be empty for specified object fields';
  for (const word of ['int-or-string', 'preserve-unknown-fields']) {
    const schema = { type: 'object', properties: { a: { [prefix + word]: true }, b: {} } };
    t.deepEqual(created(older(schema), 'v1beta1'), [problem], word);
  }
  t.deepEqual(created(older(UNTYPED), 'v1beta1'), []);
  t.deepEqual(created(older({ properties: { a: { [`${prefix}list-type`]: 'set', type: 'array' } } }), 'v1beta1'), []);
});

test('v1beta1 takes types of any name, which no value is of, and what it let in may be changed as v1', (t) => {
  const odd = { type: 'object', properties: { a: { type: 'bool' } } };
  t.deepEqual(created(older(odd), 'v1beta1'), []);
  t.regex(created(current(odd, false), 'v1').join(), /properties\[a\]\.type: Unsupported value: "bool"/);
  t.deepEqual(updated(labelled(current(odd)), current(odd), 'v1'), []);
});

test('a schema with a word that nobody reads is told of by that', (t) => {
  t.deepEqual(created(current({ ...TYPED, $schema: 'x' }, false), 'v1'), [
    `${IN_V1}: Invalid value: "": OpenAPIV3Schema 'schema' is not supported`,
  ]);
});

test('a scale may be of members of any name below its part, and a group that is no domain is told that alone', (t) => {
  const allowed = { specReplicasPath: '.spec.1a', statusReplicasPath: '.status.ä b', labelSelectorPath: '.spec.a/b' };
  const errorsOf = (scale: object, more: object = {}): readonly string[] => {
    const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: TYPED } };
    return created(definition({ versions: [{ ...version, subresources: { scale } }], ...more }), 'v1');
  };
  t.deepEqual(errorsOf(allowed), []);
  t.deepEqual(errorsOf({ ...allowed, specReplicasPath: '.spec.a[0]' }), [
    `spec.versions[0].subresources.scale.specReplicasPath: Invalid value: ".spec.a[0]": should be a simple json path without arrays`,
  ]);
  const ofGroup = errorsOf(allowed, { group: '*' }).filter((text) => text.startsWith('spec.group'));
  t.is(ofGroup.length, 1);
  t.notRegex(ofGroup[0]!, /should be a domain/);
});

test('what a scale and a conversion webhook are made of is refused in the words of 1.21', (t) => {
  const scale = { scale: { specReplicasPath: 'spec.r', statusReplicasPath: '.spec.r', labelSelectorPath: '.a' } };
  const service = { name: 'a', namespace: 'b', path: 'x//y', port: 70000 };
  const wrong = (webhook: object): readonly string[] => {
    const version = {
      name: 'v1',
      served: true,
      storage: true,
      schema: { openAPIV3Schema: TYPED },
      subresources: scale,
    };
    const conversion = { strategy: 'Webhook', webhook: { clientConfig: webhook, conversionReviewVersions: ['v1'] } };
    return created(definition({ versions: [version], conversion }), 'v1').map((text) => text.replace(/^spec\./, ''));
  };
  const ofScale = [
    'versions[0].subresources.scale.specReplicasPath: Invalid value: "spec.r": must be a simple json path starting with .',
    'versions[0].subresources.scale.statusReplicasPath: Invalid value: ".spec.r": should be a json path under .status',
    'versions[0].subresources.scale.labelSelectorPath: Invalid value: ".a": should be a json path under either .spec or .status',
  ];
  const at = 'conversion.webhook.clientConfig';
  t.deepEqual(wrong({ service }), [
    ...ofScale,
    `${at}.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive`,
    `${at}.service.path: Invalid value: "x//y": must start with a '/'`,
    `${at}.service.path: Invalid value: "x//y": segment[0] may not be empty`,
    `${at}.service.path: Invalid value: "x//y": segment[1] may not be empty`,
  ]);
  t.deepEqual(wrong({ url: 'http://ann@/x?y#z' }), [
    ...ofScale,
    `${at}.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
    `${at}.url: Invalid value: "": host must be provided; desired format: https://host[/path]`,
    `${at}.url: Invalid value: "ann": user information is not permitted in the URL`,
    `${at}.url: Invalid value: "z": fragments are not permitted in the URL`,
    `${at}.url: Invalid value: "y": query parameters are not permitted in the URL`,
  ]);
});
