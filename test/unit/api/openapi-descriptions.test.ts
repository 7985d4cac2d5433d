// The OpenAPI document in words: everything has some, none are left over, and they read like ours.
import test from 'ava';
import { OTHER_TEXTS, TEXTS_BY_GROUP } from '../../../api/openapi/descriptions/groups.ts';
import { plainName } from '../../../api/openapi/descriptions/texts.ts';
import { buildDocument } from '../../../api/openapi/document.ts';
import type { SwaggerDocument, SwaggerOperation, SwaggerParameter } from '../../../api/openapi/swagger.ts';
import { createRegistry } from '../../../api/resources/registry.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { DIALECTS } from '../../../config/dialect.ts';

const SCHEMA = schemaOf(DIALECTS.kubernetes);
const LENGTH_MAX = 200;
const KNOWN_VALUES = / Known values: [^.]*(?:\.[^.]+)*\.$/;

function everything(): SwaggerDocument {
  const types = createRegistry(DIALECTS.kubernetes, { runtimeConfig: ['api/all=true'] }).all();
  return buildDocument(types, SCHEMA, { isOn: () => true });
}

/** Every description of a document, by where it stands. */
function described({ definitions, paths }: SwaggerDocument): [where: string, text: string | undefined][] {
  const texts: [string, string | undefined][] = [];
  for (const [name, { description, properties = {} }] of Object.entries(definitions)) {
    texts.push([name, description]);
    for (const [field, property] of Object.entries(properties)) texts.push([`${name}.${field}`, property.description]);
  }
  for (const [path, { parameters, ...operations }] of Object.entries(paths)) {
    const inPath = (where: string, some: readonly SwaggerParameter[] = []): void => {
      for (const one of some) if (one.in !== 'body') texts.push([`${where} ${one.name}`, one.description]);
    };
    inPath(path, parameters);
    for (const [method, operation] of Object.entries(operations) as [string, SwaggerOperation][]) {
      texts.push([`${method} ${path}`, operation.description]);
      inPath(`${method} ${path}`, operation.parameters);
    }
  }
  return texts;
}

test('every type, field, operation and parameter is described', (t) => {
  const missing = described(everything()).filter(([, text]) => text === undefined);
  t.deepEqual(
    missing.map(([where]) => where),
    [],
  );
});

test('descriptions are whole sentences of some length', (t) => {
  const odd = described(everything()).filter(
    ([, text = '']) => !/^["A-Z0-9].*\.$/s.test(text) || text.replace(KNOWN_VALUES, '').length > LENGTH_MAX,
  );
  t.deepEqual(odd, []);
});

test('no text is of a type or a field that is not there', (t) => {
  const known = new Map<string, Set<string>>();
  for (const name of SCHEMA.typeNames) {
    const type = SCHEMA.type(name);
    const group = /^[a-z]+/.exec(name)![0];
    const names = [type.kind, ...type.fields.map(({ name: field }) => `${type.kind}.${plainName(type, field)}`)];
    if (type.hasTypeMeta) names.push(`${type.kind}.apiVersion`, `${type.kind}.kind`);
    known.set(group, new Set([...(known.get(group) ?? []), ...names]));
  }
  const others = [...known].filter(([group]) => !Object.hasOwn(TEXTS_BY_GROUP, group)).map(([group]) => group);
  const tables = new Map<object, string[]>([[OTHER_TEXTS, others]]);
  for (const [group, texts] of Object.entries(TEXTS_BY_GROUP)) tables.set(texts, [...(tables.get(texts) ?? []), group]);
  const dead = [...tables].flatMap(([texts, groups]) =>
    Object.keys(texts).filter((key) => !groups.some((group) => known.get(group)?.has(key) === true)),
  );
  t.deepEqual(dead, []);
});

test('the known texts of a field are told', (t) => {
  const spec = everything().definitions['io.k8s.api.core.v1.PodSpec']!;
  t.regex(spec.properties!.restartPolicy!.description!, /Known values: "Always", "OnFailure", "Never"\.$/);
});

test('what kubectl explain says of metadata begins as conformance tests expect', (t) => {
  const { definitions } = everything();
  const { apiVersion, metadata } = definitions['io.k8s.api.core.v1.Pod']!.properties!;
  const { creationTimestamp } = definitions['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta']!.properties!;
  t.regex(apiVersion!.description!, /^APIVersion defines /);
  t.regex(metadata!.description!, /^Standard object's metadata/);
  t.regex(creationTimestamp!.description!, /^CreationTimestamp is a timestamp/);
});

test('the same texts are told in the other dialect', (t) => {
  const { dialect } = schemaOf(DIALECTS.orch);
  const types = createRegistry(dialect).all();
  const texts = described(buildDocument(types, schemaOf(dialect)));
  t.true(texts.every(([, text]) => text !== undefined && !/kubernetes|k8s/i.test(text)));
});
