// Definitions read from their JSON: schemas stay text, and nothing else is lost or taken for one.
import test from 'ava';
import { knownTypesOf } from '../../../../api/catalog/known-types.ts';
import { readDefinition } from '../../../../api/custom/definitions/definition.ts';
import { parseDefinition, withParsedSchemas } from '../../../../api/custom/definitions/definition-text.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { compileFieldSelector } from '../../../../api/selectors/field-selector.ts';
import { SCHEMA } from '../conversion/kinds.ts';

const WORDS = { prefix: 'x-orch-', metadata: SCHEMA.type('meta/v1.ObjectMeta') };

const schemaOf = (description: string): JsonObject => ({
  type: 'object',
  description,
  properties: { openAPIV3Schema: { type: 'object', properties: { '}{"\\': { type: 'string', default: '}\\"{' } } } },
});

const definition = (schemas: readonly (JsonObject | undefined)[], generation = 1): JsonObject => ({
  apiVersion: 'apiextensions/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com', generation, annotations: { said: '{"openAPIV3Schema":{"type":"object"}}' } },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    versions: schemas.map((openAPIV3Schema, index) => ({
      name: `v${index + 1}`,
      served: true,
      storage: index === 0,
      ...(openAPIV3Schema && { schema: { openAPIV3Schema } }),
    })),
  },
  status: { conditions: [{ type: 'Established', status: 'True' }] },
});

test('schemas stay the JSON that they are, whatever is written in them and around them', (t) => {
  const schemas = [schemaOf('a "quoted" }{ ’ \\'), undefined, schemaOf('"openAPIV3Schema":{')];
  const whole = definition(schemas);
  const object = parseDefinition(JSON.stringify(whole));
  const { versions } = readDefinition(object, 1);
  t.deepEqual(
    versions.map(({ schemaText }) => schemaText),
    schemas.map((schema) => schema && JSON.stringify(schema)),
  );
  t.deepEqual(withParsedSchemas(object), whole);
});

test('a schema at the top of an older definition is read like one of a version', (t) => {
  const { versions: _versions, ...spec } = definition([]).spec as JsonObject;
  const whole = {
    ...definition([]),
    spec: { ...spec, validation: { openAPIV3Schema: schemaOf('old') }, version: 'v1' },
  };
  const object = parseDefinition(JSON.stringify(whole)) as { spec: { validation: JsonObject } };
  t.is(object.spec.validation.openAPIV3Schema, JSON.stringify(schemaOf('old')));
  t.deepEqual(withParsedSchemas(object as unknown as JsonObject), whole as JsonObject);
});

test('what has a schema where none belongs is read as it is', (t) => {
  const whole = { ...definition([schemaOf('a')]), more: { openAPIV3Schema: { type: 'object' } } };
  t.deepEqual(parseDefinition(JSON.stringify(whole)), whole);
});

test('versions of the same words share a compiled schema, and it outlives changes of everything else', (t) => {
  const known = knownTypesOf(readDefinition(definition([schemaOf('a'), schemaOf('a'), schemaOf('b')]), 1), WORDS);
  const schemaIn = (types: typeof known, name: string) => types.find(({ version }) => version === name)!.custom!.schema;
  const [first, second, third] = ['v1', 'v2', 'v3'].map((name) => schemaIn(known, name));
  t.is(first, second);
  t.not(first, third);
  const changed = readDefinition(definition([schemaOf('a'), schemaOf('c'), schemaOf('b')], 2), 2);
  const next = knownTypesOf(changed, WORDS, known[0]!.custom);
  t.is(schemaIn(next, 'v1'), first!);
  t.not(schemaIn(next, 'v2'), second!);
});

test('custom types are selected by name, and by namespace where they have one, and know no other field', (t) => {
  const definitionIn = (scope: string) => {
    const { spec, ...rest } = definition([schemaOf('a')]);
    return { ...rest, spec: { ...(spec as object), scope } } as unknown as JsonObject;
  };
  const fieldsOf = (scope: string) => knownTypesOf(readDefinition(definitionIn(scope), 1), WORDS)[0]!.selectableFields;
  t.deepEqual(fieldsOf('Namespaced'), ['metadata.name', 'metadata.namespace']);
  t.deepEqual(fieldsOf('Cluster'), ['metadata.name']);
  const error = t.throws(() => compileFieldSelector('spec.a=1', fieldsOf('Namespaced')));
  t.is(error?.message, 'field label not supported: spec.a');
});

test('the forms of all versions share what they say of the schemas: of thousands each had a list of all', (t) => {
  const known = knownTypesOf(readDefinition(definition([schemaOf('a'), schemaOf('b'), undefined]), 1), WORDS);
  const texts = known.map(({ custom }) => custom!.form.schemaTexts).filter((one) => one !== undefined);
  t.true(texts.length > 1);
  t.is(new Set(texts).size, 1);
  t.deepEqual(Object.keys(texts[0]!), ['example.com/v1', 'example.com/v2', 'example.com/v3']);
});

test('a type is called what its definition has been given, and not what it asks for and another has', (t) => {
  const { status, ...rest } = definition([schemaOf('a')]);
  const spec = rest.spec as JsonObject;
  const asked = { ...(spec.names as object), singular: 'gadget', shortNames: ['g', 'w'], categories: ['all'] };
  const given = { ...(spec.names as object), singular: 'thing', shortNames: ['t'], categories: ['all'] };
  const called = (acceptedNames?: object) => {
    const object = { ...rest, spec: { ...spec, names: asked }, status: { ...(status as object), acceptedNames } };
    const [type] = knownTypesOf(readDefinition(object as unknown as JsonObject, 1), WORDS);
    return [type?.plural, type?.singular, type?.kind, type?.listKind, type?.shortNames, type?.categories];
  };
  t.deepEqual(called(given), ['things', 'thing', 'Thing', 'ThingList', ['t'], ['all']]);
  t.deepEqual(called(), ['things', 'gadget', 'Thing', 'ThingList', ['g', 'w'], ['all']]);
});

test('thousands of versions, each of another schema, are read in time in proportion to their number', (t) => {
  const schemas = Array.from({ length: 50_000 }, (_, index) => ({ type: 'object', title: String(1_000_000 + index) }));
  const { versions } = readDefinition(parseDefinition(JSON.stringify(definition(schemas))), 1);
  t.is(versions.at(-1)!.schemaText, JSON.stringify(schemas.at(-1)));
});
