// Every kind in every version that is served, at a real server: what discovery says of it, its Table for get, list and
// watch, its objects in Protobuf, and the selectors it takes, each against the reference.
import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { decodeEnveloped } from '../../api/codec/protobuf.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import { createRegistry } from '../../api/resources/registry.ts';
import { type KnownType, splitApiVersion } from '../../api/resources/resource-table.ts';
import { schemaOf } from '../../api/schema/schema.ts';
import { DIALECTS } from '../../config/dialect.ts';
import type { Answer } from '../server/https-client.ts';
import { sharedServer } from '../server/server-process.ts';
import { KIND_FACTS } from '../unit/api/table/fixture.ts';
import { documents } from '../unit/api/validation/objects.ts';
import { PERMISSIVE_ARGS } from './permissive-server.ts';

const DIALECT = DIALECTS.orch;
const SCHEMA = schemaOf(DIALECT);
const REGISTRY = createRegistry(DIALECT, { runtimeConfig: ['api/all=true'] });
const TABLE = 'application/json;as=Table;v=v1;g=meta.orch.io';

const server = sharedServer(test, { args: PERMISSIVE_ARGS, placement: 'default' });

interface SubresourceFact {
  readonly name: string;
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
  readonly featureGate?: string;
}

interface ResourceFact {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly subresources: readonly SubresourceFact[];
  readonly persisted: boolean;
  readonly fieldSelectors?: readonly string[];
}

const FACTS = readFileSync('test/fixtures/registry/resources.jsonl', 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as ResourceFact);

const rootOf = ({ group, version }: ResourceFact): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
const nameOf = (fact: ResourceFact): string => `${fact.group}/${fact.version} ${fact.kind}`.replace(/^\//, '');

/** An object of each kind, by where it is stored: its namespace and name. */
const stored = new Map<string, { readonly namespace: string; readonly name: string }>();

const typeOf = ({ group, version, kind }: ResourceFact): KnownType => REGISTRY.byKind(group, version, kind)!;

test.serial.before('an object of each kind', async () => {
  const { client } = server();
  await client.request('POST', '/api/v1/namespaces', { body: { metadata: { name: 'shop' } } });
  for (const file of readdirSync('test/fixtures/valid')) {
    for (const body of documents(readFileSync(`test/fixtures/valid/${file}`, 'utf8'), DIALECT) as JsonObject[]) {
      const { group, version } = splitApiVersion(String(body.apiVersion));
      const type = REGISTRY.byKind(group, version, String(body.kind));
      if (type === undefined || !type.persisted || stored.has(type.storageKey)) continue;
      const { namespace = '', name = '' } = body.metadata as { namespace?: string; name?: string };
      const root = group === '' ? '/api/v1' : `/apis/${type.apiVersion}`;
      const place = namespace === '' ? type.plural : `namespaces/${namespace}/${type.plural}`;
      const { status } = await client.request('POST', `${root}/${place}`, { body });
      // A namespace that was made before is as good.
      if (status === 201 || status === 409) stored.set(type.storageKey, { namespace, name });
    }
  }
});

test('there is an object of every kind that is stored', (t) => {
  const missing = FACTS.filter((fact) => fact.persisted && !stored.has(typeOf(fact).storageKey)).map(nameOf);
  t.deepEqual(missing, []);
  t.log(`${FACTS.length} kinds and versions, ${stored.size} of them stored as one`);
});

interface DiscoveryEntry {
  readonly name: string;
  readonly storageVersionHash?: string;
}

const sorted = (entries: readonly DiscoveryEntry[]) => entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));

function expectedEntries(facts: readonly ResourceFact[]): DiscoveryEntry[] {
  return facts.flatMap(({ plural, namespaced, kind, verbs, shortNames, categories, subresources, group, version }) => [
    {
      name: plural,
      singularName: '',
      namespaced,
      kind,
      verbs: verbs.toSorted(),
      ...(shortNames.length > 0 ? { shortNames } : {}),
      ...(categories.length > 0 ? { categories } : {}),
    },
    ...subresources
      .filter(({ featureGate }) => featureGate === undefined)
      .map((sub) => ({
        name: `${plural}/${sub.name}`,
        singularName: '',
        namespaced,
        kind: sub.kind,
        verbs: sub.verbs.toSorted(),
        ...(sub.group === undefined || (sub.group === group && sub.version === version)
          ? {}
          : { group: sub.group, version: sub.version }),
      })),
  ]);
}

for (const root of new Set(FACTS.map(rootOf))) {
  const facts = FACTS.filter((fact) => rootOf(fact) === root);
  test(`discovery of ${root} is that of the reference`, async (t) => {
    const { resources } = (await server().client.get(root)).json as unknown as { resources: DiscoveryEntry[] };
    const bare = resources.map(({ storageVersionHash: _, ...entry }) => entry);
    t.deepEqual(sorted(bare), sorted(expectedEntries(facts)));
    const hashed = resources.filter(({ storageVersionHash }) => storageVersionHash !== undefined);
    t.deepEqual(
      hashed.map(({ name }) => name).sort(),
      facts
        .filter(({ persisted }) => persisted)
        .map(({ plural }) => plural)
        .sort(),
    );
  });
}

interface TableAnswer {
  readonly kind: string;
  readonly columnDefinitions: readonly { readonly name: string; readonly description?: string }[];
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: JsonObject }[];
}

for (const fact of FACTS.filter(({ persisted, verbs }) => persisted && verbs.includes('list'))) {
  const name = nameOf(fact);
  const root = rootOf(fact);
  const everywhere = `${root}/${fact.plural}`;
  const objectPath = (): string => {
    const { namespace, name: of } = stored.get(typeOf(fact).storageKey)!;
    return namespace === '' ? `${everywhere}/${of}` : `${root}/namespaces/${namespace}/${fact.plural}/${of}`;
  };
  const asTable = { headers: { accept: TABLE } };

  test(`${name} is a Table of its own columns for get, list and watch`, async (t) => {
    const { client } = server();
    const apiVersion = fact.group === '' ? fact.version : `${fact.group}/${fact.version}`;
    const own = KIND_FACTS.find(
      ({ kind, resources }) => kind === fact.kind && resources.includes(`${apiVersion}/${fact.plural}`),
    );
    const { columns } = own ?? KIND_FACTS.find(({ kind }) => kind === '*default')!;
    const check = (table: TableAnswer): void => {
      t.is(table.kind, 'Table');
      t.deepEqual(table.columnDefinitions.map(({ description: _, ...rest }) => rest) as unknown, columns);
      t.true(table.rows.length > 0);
      for (const { cells, object } of table.rows) {
        t.is(cells.length, columns.length);
        t.is(object.kind, 'PartialObjectMetadata');
      }
    };
    const read = async (path: string): Promise<TableAnswer> => {
      const answer = await client.get(path, asTable);
      t.is(answer.status, 200, `${path}: ${answer.text.slice(0, 200)}`);
      return answer.json as unknown as TableAnswer;
    };
    const one = await read(objectPath());
    check(one);
    t.is(one.rows.length, 1);
    check(await read(everywhere));
    const watch = await client.watch(`${everywhere}?watch=1`, asTable);
    const event = await watch.next();
    watch.close();
    t.is(event?.type, 'ADDED');
    check(event?.object as unknown as TableAnswer);
  });

  test(`${name} says in Protobuf what it says in JSON`, async (t) => {
    const { client } = server();
    const type = SCHEMA.kind(fact.group, fact.version, fact.kind)!;
    const accept = 'application/vnd.orch.protobuf';
    const inJson = await client.get(objectPath());
    const inProtobuf = await client.get(objectPath(), { headers: { accept } });
    t.is(inProtobuf.headers['content-type'], accept);
    const { object } = decodeEnveloped(inProtobuf.bytes, () => type);
    t.deepEqual(object, withoutInnerTypes(inJson.json as unknown as JsonObject));
  });

  test(`${name} is selected by its fields and by labels, and by nothing else`, async (t) => {
    const { client } = server();
    const select = (parameter: string, text: string): Promise<Answer> =>
      client.get(`${everywhere}?limit=1&${parameter}=${encodeURIComponent(text)}`);
    for (const field of fact.fieldSelectors ?? []) {
      for (const operator of ['=', '==', '!=']) {
        const { status, text } = await select('fieldSelector', `${field}${operator}x`);
        t.is(status, 200, `${field}${operator}x: ${text.slice(0, 200)}`);
      }
    }
    for (const field of ['spec.nonsense', 'metadata.uid', 'metadata.labels']) {
      const { status, json } = await select('fieldSelector', `${field}=x`);
      t.is(status, 400, field);
      t.is(json.reason, 'BadRequest');
      t.regex(json.message ?? '', new RegExp(field));
    }
    const { status } = await select('labelSelector', 'a=b,c==d,e!=f,g in (h,i),j notin (k),l,!m');
    t.is(status, 200);
    for (const text of ['a in b', 'a=b c', '-a', '=b']) {
      t.is((await select('labelSelector', text)).status, 400, text);
    }
  });
}

/** Messages say of no inner object what it is: their field does. Claims that a template holds say it in JSON all the same. */
function withoutInnerTypes(object: JsonObject): JsonObject {
  const { spec } = object;
  const { volumeClaimTemplates: templates, ...rest } = (spec ?? {}) as { volumeClaimTemplates?: JsonObject[] };
  if (templates === undefined) return object;
  return {
    ...object,
    spec: { ...rest, volumeClaimTemplates: templates.map(({ apiVersion, kind, ...claim }) => claim) },
  };
}
