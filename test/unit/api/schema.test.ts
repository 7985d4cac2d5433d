import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import type { FieldSchema, TypeSchema } from '../../../api/schema/schema.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { compileSchema } from '../../../scripts/schema/compile.ts';
import { parseProto } from '../../../scripts/schema/parse.ts';

interface FieldFacts {
  readonly name: string;
  readonly num: number | null;
  readonly type: string;
  readonly [flag: string]: unknown;
}
interface TypeFacts {
  readonly name: string;
  readonly proto?: string;
  readonly openapi?: string;
  readonly alias?: string;
  readonly mapType?: string;
  readonly typeMeta?: boolean;
  readonly openapiType?: { readonly type: string; readonly format?: string };
  readonly unions?: readonly { discriminator: string; 'fields-to-discriminateBy': Record<string, string> }[];
  readonly fields: readonly FieldFacts[];
}
interface Facts {
  readonly types: readonly TypeFacts[];
  readonly enums: readonly { readonly name: string; readonly values: readonly string[] }[];
}

const facts = JSON.parse(readFileSync('test/fixtures/types.json', 'utf8')) as Facts;
const aliases = new Map(facts.types.flatMap((type) => (type.alias === undefined ? [] : [[type.alias, type.name]])));
const orch = schemaOf(DIALECTS.orch);
const kubernetes = schemaOf(DIALECTS.kubernetes);

const sources = readdirSync('api/schema')
  .filter((name) => name.endsWith('.proto') && name !== 'options.proto')
  .map((name) => ({ path: name, text: readFileSync(`api/schema/${name}`, 'utf8') }));

function withoutUnset(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined && value !== false));
}

function fieldAsFacts(owner: TypeSchema, field: FieldSchema): Record<string, unknown> {
  const isWrapper = field.type?.form === 'stringList';
  return withoutUnset({
    name: field.inline ? '' : field.name,
    num: owner.jsonOnly ? undefined : field.number,
    type: field.type?.name ?? field.kind,
    repeated: field.cardinality === 'list',
    map: field.cardinality === 'map',
    required: field.required,
    ptr: field.optional,
    emitEmpty: field.emitEmpty,
    inline: field.inline,
    wrapper: isWrapper,
    enum: field.enumeration,
    patchStrategy: field.patchStrategy,
    patchMergeKey: field.patchMergeKey,
    listType: field.listType,
    listMapKeys: field.listMapKeys,
    schemaDefault: field.publishedDefault,
  });
}

function factsOfField(field: FieldFacts): Record<string, unknown> {
  const { protoName: _, jsonType: __, note: ___, num, type, ...flags } = field;
  const named = type === 'any' ? 'runtime.Value' : (aliases.get(type) ?? type);
  return withoutUnset({ ...flags, type: named, num: num ?? undefined });
}

/** Types of releases after the reference's. */
const LATER = /SelfSubjectReview/;

test('every type and field of the reference tables is in the schema, flag by flag', (t) => {
  t.deepEqual(
    orch.typeNames.filter((name) => name !== 'runtime.Value' && !LATER.test(name)).toSorted(),
    facts.types.map((type) => type.name).toSorted(),
  );
  for (const expected of facts.types) {
    const type = orch.type(expected.name);
    t.deepEqual(
      type.wireFields.map((field) => fieldAsFacts(type, field)),
      expected.fields.map(factsOfField),
      expected.name,
    );
    t.is(type.hasTypeMeta, expected.typeMeta ?? false, expected.name);
    t.is(type.jsonOnly, expected.proto === undefined, expected.name);
    t.is(type.published, expected.openapi !== undefined, expected.name);
    if (expected.openapi !== undefined) t.is(type.openapiName, expected.openapi);
    t.is(type.mapType, expected.mapType as 'atomic' | undefined);
    t.deepEqual(
      type.openapiType,
      expected.openapiType && { format: undefined, ...expected.openapiType },
      expected.name,
    );
    t.deepEqual(
      type.unions.map(({ discriminator, members }) => ({
        discriminator,
        'fields-to-discriminateBy': Object.fromEntries(members.map(({ field, value }) => [field, value])),
      })),
      [...(expected.unions ?? [])],
    );
  }
});

test('the texts of every enumeration are those of the reference tables', (t) => {
  for (const { name, values } of facts.enums) t.deepEqual(orch.enumeration(name), values, name);
});

test('the compiled tables are those of the schema files', (t) => {
  t.is(readFileSync('api/schema/tables.ts', 'utf8'), compileSchema(sources));
});

test('JSON names that carry the brand follow the dialect', (t) => {
  const cases = [
    ['core/v1.NodeSystemInfo', 'orchletVersion', 'kubeletVersion'],
    ['core/v1.NodeSystemInfo', 'orchProxyVersion', 'kubeProxyVersion'],
    ['core/v1.NodeDaemonEndpoints', 'orchletEndpoint', 'kubeletEndpoint'],
    ['core/v1.ConfigMapNodeConfigSource', 'orchletConfigKey', 'kubeletConfigKey'],
    ['apiextensions/v1.JSONSchemaProps', 'x-orch-list-type', 'x-kubernetes-list-type'],
  ] as const;
  for (const [name, ours, theirs] of cases) {
    t.is(orch.type(name).field(ours)?.number, kubernetes.type(name).field(theirs)?.number);
    t.is(orch.type(name).field(theirs), undefined);
    t.is(kubernetes.type(name).field(ours), undefined);
  }
  t.true(kubernetes.enumeration('core/v1.SecretType').includes('kubernetes.io/tls'));
  t.is(kubernetes.type('apiregistration/v1.APIService').openapiName.split('.')[2], 'kube-aggregator');
});

test('a kind is found by the group and version it is served under', (t) => {
  const cases = [
    [orch, '', 'v1', 'Pod', 'core/v1.Pod'],
    [orch, 'rbac.authorization.orch.io', 'v1', 'Role', 'rbac/v1.Role'],
    [kubernetes, 'rbac.authorization.k8s.io', 'v1', 'Role', 'rbac/v1.Role'],
    [kubernetes, 'rbac.authorization.orch.io', 'v1', 'Role', undefined],
    [orch, '', 'v1', 'Status', 'meta/v1.Status'],
    [orch, 'apps', 'v1', 'DeleteOptions', 'meta/v1.DeleteOptions'],
    [orch, 'apps', 'v1', 'Scale', undefined],
    [orch, 'meta.orch.io', 'v1beta1', 'Table', 'meta/v1.Table'],
    [orch, 'example.com', 'v1', 'Widget', undefined],
    [orch, '', 'v1', '__proto__', undefined],
  ] as const;
  for (const [schema, group, version, kind, expected] of cases) {
    t.is(schema.kind(group, version, kind)?.name, expected, `${group}/${version} ${kind}`);
  }
});

test('members of an inline struct are found among those of its parent', (t) => {
  const volume = orch.type('core/v1.Volume');
  t.is(volume.field('emptyDir')?.type?.name, 'core/v1.EmptyDirVolumeSource');
  t.is(volume.field('volumeSource'), undefined);
  t.is(volume.wireFields.length, 2);
  t.is(volume.fields[0]?.name, 'name');
});

test('a name that the schema does not have is refused', (t) => {
  t.throws(() => orch.type('core/v1.Nothing'), { instanceOf: RangeError });
  t.throws(() => orch.enumeration('core/v1.Nothing'), { instanceOf: RangeError });
});

test('a schema file with a mistake is refused with its place', (t) => {
  const head = 'syntax = "proto2";\npackage a.v1;\n';
  const cases = [
    ['syntax = "proto3";', /^x\.proto: the syntax is not proto2$/],
    [`${head}message A {\n  optional string a;\n}`, /^x\.proto: .*'=' expected \(line 4\)$/],
    [`${head}message A { optional string a = 1`, /^x\.proto: .*line 3/],
    [`${head}option a = ?;`, /^x\.proto: .*line 3/],
    [`${head}message A { optional string a = 1; optional string b = 1; }`, /^x\.proto: duplicate id 1/],
    [`${head}enum A {}`, /^x\.proto: A is no message$/],
    [`${head}message A {\n  required string a = 1;\n}`, /^x\.proto: A: a is required/],
    [`${head}message A { map<int32, string> a = 1; }`, /^x\.proto: A: the keys of a are no strings$/],
    [`${head}message A { oneof b { string a = 1; } }`, /^x\.proto: A has more than fields and options$/],
    [`${head}message A { message B {} }`, /^x\.proto: A has more than fields and options$/],
    [`${head}message A { reserved 5; }`, /^x\.proto: A has more than fields and options$/],
  ] as const;
  for (const [text, message] of cases) t.throws(() => parseProto('x.proto', text), { message });
});

test('a schema that does not link is refused', (t) => {
  const compile = (body: string) => () =>
    compileSchema([{ path: 'x.proto', text: `syntax = "proto2";\npackage a.v1;\n${body}` }]);
  const cases = [
    ['message A { optional B b = 1; }', 'x.proto: A: there is no type B'],
    ['message A { optional string a = 1 [(enum) = "E"]; }', 'x.proto: A: there is no enumeration E'],
    ['message A { optional string a = 1 [(colour) = "red"]; }', 'x.proto: A: field a has the unknown option colour'],
    ['message A { option (colour) = "red"; }', 'x.proto: A: unknown option colour'],
    ['message A { option (form) = "cube"; }', 'x.proto: A: unknown form cube'],
  ] as const;
  for (const [body, message] of cases) t.throws(compile(body), { message });
});
