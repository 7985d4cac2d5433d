// Lists: the envelope, selectors, versions, and chunks of a collection that changes meanwhile.
import test from 'ava';
import type { ApiObject } from '../server/https-client.ts';
import { sharedServer } from '../server/server-process.ts';
import { configMap, createConfigMap, freshNamespace, namesOf, namespaceForPods, POD_SPEC } from './objects.ts';

const server = sharedServer(test, { args: ['--api-dialect', 'kubernetes'], placement: 'default' });

const padded = (index: number): string => String(index).padStart(3, '0');

test('a list names its kind and version, and its items leave theirs out', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const created = await createConfigMap(client, namespace, { name: 'zzz' }, { a: '1' });
  const { json } = await client.get(namespace.configMaps);
  t.like(json, { kind: 'ConfigMapList', apiVersion: 'v1' });
  t.true(BigInt(json.metadata.resourceVersion ?? '0') >= BigInt(created.metadata.resourceVersion ?? '0'));
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = created;
  t.deepEqual(json.items?.at(-1), rest);
  const empty = await client.get(`${namespace.core}/services`);
  t.deepEqual(empty.json.items, []);
  t.is(empty.json.metadata.continue, undefined);
});

test('a read sees every write that was acknowledged before it', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  for (let i = 0; i < 30; i++) {
    const { metadata } = await createConfigMap(client, namespace, { name: `c-${padded(i)}` });
    const [one, list] = await Promise.all([
      client.get(`${namespace.configMaps}/${metadata.name}`),
      client.get(namespace.configMaps),
    ]);
    t.is(one.json.metadata.resourceVersion, metadata.resourceVersion);
    t.true(namesOf(list.json).includes(metadata.name ?? ''));
  }
});

test('chunks of a changing collection are one snapshot: no duplicate, nothing missing, one version', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const names = Array.from({ length: 53 }, (_, i) => `c-${padded(i)}`);
  await Promise.all(names.map((name) => createConfigMap(client, namespace, { name, labels: { mine: 'yes' } })));
  const first = (await client.get(`${namespace.configMaps}?limit=10&labelSelector=mine%3Dyes`)).json;
  const { resourceVersion } = first.metadata;
  t.is(first.items?.length, 10);
  t.is(first.metadata.remainingItemCount, undefined);
  const seen = namesOf(first);
  let token = first.metadata.continue ?? '';
  for (let page = 0; token !== ''; page++) {
    // Ahead of the list, behind it, and in the middle of what is still to come.
    await client.request('DELETE', `${namespace.configMaps}/c-${padded(52 - page)}`);
    await createConfigMap(client, namespace, { name: `c-${padded(page)}-late`, labels: { mine: 'yes' } });
    const path = `${namespace.configMaps}?limit=10&labelSelector=mine%3Dyes&continue=${encodeURIComponent(token)}`;
    const next = (await client.get(path)).json;
    t.is(next.metadata.resourceVersion, resourceVersion);
    seen.push(...namesOf(next));
    token = next.metadata.continue ?? '';
  }
  t.deepEqual(seen, names);
});

test('a chunk counts what remains where no selector narrows it', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => createConfigMap(client, namespace, { name: `z-${name}` })));
  const all = namesOf((await client.get(namespace.configMaps)).json);
  const first = (await client.get(`${namespace.configMaps}?limit=2`)).json;
  t.is(first.metadata.remainingItemCount, all.length - 2);
  const rest = (await client.get(`${namespace.configMaps}?limit=100&continue=${first.metadata.continue}`)).json;
  t.is(rest.metadata.remainingItemCount, undefined);
  t.is(rest.metadata.continue ?? '', '');
  t.deepEqual([...namesOf(first), ...namesOf(rest)], all);
});

test('a continue token is good for its own list alone, and not after a change', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const other = await freshNamespace(client);
  for (const name of ['a', 'b', 'c']) await createConfigMap(client, namespace, { name });
  const token = (await client.get(`${namespace.configMaps}?limit=1`)).json.metadata.continue ?? '';
  t.not(token, '');
  const status = async (path: string): Promise<number> => (await client.get(path)).status;
  t.is(await status(`${namespace.configMaps}?limit=1&continue=${token}`), 200);
  t.is(await status(`${other.configMaps}?limit=1&continue=${token}`), 400);
  t.is(await status(`${namespace.core}/secrets?limit=1&continue=${token}`), 400);
  t.is(await status(`${namespace.configMaps}?limit=1&labelSelector=a&continue=${token}`), 400);
  t.is(await status(`${namespace.configMaps}?limit=1&resourceVersion=5&continue=${token}`), 400);
  t.is(await status(`${namespace.configMaps}?limit=1&resourceVersion=0&continue=${token}`), 200);
  for (let at = 0; at < token.length; at += 3) {
    const altered = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
    t.is(await status(`${namespace.configMaps}?limit=1&continue=${altered}`), 400, `at ${at}`);
  }
});

test('an exact version shows the collection as it was', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  await createConfigMap(client, namespace, { name: 'a' });
  const before = (await client.get(`${namespace.core}/configmaps?labelSelector=x!%3Dy`)).json;
  await client.request('DELETE', `${namespace.configMaps}/a`);
  await createConfigMap(client, namespace, { name: 'b' });
  const version = before.metadata.resourceVersion ?? '';
  const at = async (query: string): Promise<ApiObject> => (await client.get(`${namespace.configMaps}?${query}`)).json;
  for (const query of [
    `resourceVersion=${version}&resourceVersionMatch=Exact`,
    `resourceVersion=${version}&limit=100`,
  ]) {
    const exact = await at(query);
    t.is(exact.metadata.resourceVersion, version, query);
    t.deepEqual(namesOf(exact), namesOf(before), query);
  }
  for (const query of [
    '',
    'resourceVersion=0',
    `resourceVersion=${version}`,
    `resourceVersion=${version}&resourceVersionMatch=NotOlderThan`,
  ]) {
    t.true(namesOf(await at(query)).includes('b'), query);
  }
});

test('labels and fields select', async (t) => {
  const { client } = server();
  const { core } = await namespaceForPods(client);
  const pods: readonly (readonly [string, Record<string, string>, string])[] = [
    ['a', { tier: 'front', version: '1' }, 'alpha'],
    ['b', { tier: 'back' }, 'beta'],
    ['c', {}, 'beta'],
  ];
  for (const [name, labels, schedulerName] of pods) {
    const body = { metadata: { name, labels }, spec: { ...POD_SPEC, schedulerName, restartPolicy: 'Never' } };
    t.is((await client.request('POST', `${core}/pods`, { body })).status, 201);
  }
  const selected = async (query: Record<string, string>): Promise<string> =>
    namesOf((await client.get(`${core}/pods?${new URLSearchParams(query)}`)).json).join('');
  const cases: readonly (readonly [Record<string, string>, string])[] = [
    [{ labelSelector: 'tier=front' }, 'a'],
    [{ labelSelector: 'tier!=front' }, 'bc'],
    [{ labelSelector: 'tier in (front,back)' }, 'ab'],
    [{ labelSelector: 'tier notin (front)' }, 'bc'],
    [{ labelSelector: '!tier' }, 'c'],
    [{ labelSelector: 'version>0' }, 'a'],
    [{ fieldSelector: 'spec.schedulerName=beta' }, 'bc'],
    [{ fieldSelector: 'spec.schedulerName!=beta,metadata.name=a' }, 'a'],
    [{ fieldSelector: 'spec.nodeName=' }, 'abc'],
    [{ fieldSelector: 'status.phase=Pending,spec.restartPolicy=Never' }, 'abc'],
    [{ labelSelector: 'tier', fieldSelector: 'spec.schedulerName=beta' }, 'b'],
  ];
  for (const [query, names] of cases) t.is(await selected(query), names, JSON.stringify(query));
});

test('a large list arrives whole', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const names = Array.from({ length: 40 }, (_, i) => `big-${padded(i)}`);
  const data = { text: 'ä'.repeat(10_000) };
  await Promise.all(names.map((name) => createConfigMap(client, namespace, { name }, data)));
  const answer = await client.get(namespace.configMaps);
  t.is(answer.status, 200);
  const big = (answer.json.items ?? []).filter(({ metadata }) => metadata.name?.startsWith('big-'));
  t.deepEqual(
    big.map(({ metadata }) => metadata.name),
    names,
  );
  t.true(big.every((item) => item.data?.text === data.text));
});

test('answers are indented for people, and compact for programs', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  await createConfigMap(client, namespace, { name: 'one' }, { a: '1' });
  const path = `${namespace.configMaps}/one`;
  const compact = await client.get(path);
  t.regex(compact.text, /^\{"kind":"ConfigMap","apiVersion":"v1",.*\}\n$/);
  for (const [where, headers] of [
    [path, { 'user-agent': 'curl/8.0' }],
    [`${path}?pretty=true`, {}],
  ] as const) {
    const { text, json } = await client.get(where, { headers });
    t.true(text.startsWith('{\n  "kind": "ConfigMap",\n  "apiVersion": "v1",\n'), where);
    t.false(text.endsWith('\n'));
    t.deepEqual(json, compact.json);
  }
  t.is((await client.get(`${path}?pretty=false`, { headers: { 'user-agent': 'curl/8.0' } })).text, compact.text);
  const refused = await client.get(`${namespace.configMaps}/none`, { headers: { 'user-agent': 'curl/8.0' } });
  t.true(refused.text.startsWith('{\n  "kind": "Status",'));
});

test('the first type of an Accept list that can be served is', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  await createConfigMap(client, namespace, { name: 'one' });
  const typeFor = async (accept: string): Promise<string | undefined> =>
    (await client.get(`${namespace.configMaps}/one`, { headers: { accept } })).headers['content-type'];
  const cases: readonly (readonly [accept: string, type: string])[] = [
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['application/yaml', 'application/yaml'],
    ['text/html, application/yaml;q=0.5, application/json;q=0.9', 'application/json'],
    ['application/nonsense, */*', 'application/json'],
  ];
  for (const [accept, type] of cases) t.is(await typeFor(accept), type, accept);
  const { text } = await client.get(`${namespace.configMaps}/one`, { headers: { accept: 'application/yaml' } });
  t.regex(text, /^kind: ConfigMap$/m);
});

test('a body in YAML is taken', async (t) => {
  const { client } = server();
  const { configMaps } = await freshNamespace(client);
  const body = 'metadata:\n  name: one\ndata:\n  a: "1"\n';
  const created = await client.request('POST', configMaps, { body, headers: { 'content-type': 'application/yaml' } });
  t.is(created.status, 201, created.text);
  t.like(created.json, { ...configMap({}, { a: '1' }), metadata: { name: 'one' } });
});

test('what was deleted of a collection is answered as the list would be: as a Table or as metadata', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  await createConfigMap(client, namespace, { name: 'a', labels: { mine: 'yes' } }, { x: '1' });
  const deleted = (kind: string, query: string) =>
    client.request('DELETE', `${namespace.configMaps}?labelSelector=mine%3Dyes${query}`, {
      headers: { accept: `application/json;as=${kind};v=v1;g=meta.k8s.io` },
    });
  const refused = await deleted('Table', '&resourceVersion=none');
  t.deepEqual([refused.status, refused.json.kind], [400, 'Status'] as never);
  const metadata = (await deleted('PartialObjectMetadataList', '&dryRun=All')).json;
  t.is(metadata.kind, 'PartialObjectMetadataList');
  t.deepEqual(namesOf(metadata), ['a']);
  const table = await deleted('Table', '');
  t.is(table.status, 200);
  t.like(table.json, { kind: 'Table', rows: [{ cells: { 0: 'a', 1: 1 } }] });
});
