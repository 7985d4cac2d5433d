// Writes: names, versions, subresources, finalizers and collections.
import test from 'ava';
import type { ApiObject } from '../server/https-client.ts';
import { sharedServer } from '../server/server-process.ts';
import {
  configMap,
  createConfigMap,
  deployment,
  eventually,
  freshNamespace,
  namesOf,
  namespaceForPods,
  POD_SPEC,
} from './objects.ts';

const server = sharedServer(test, { args: ['--api-dialect', 'kubernetes'], placement: 'default' });
const MERGE = { 'content-type': 'application/merge-patch+json' };
const JSON_PATCH = { 'content-type': 'application/json-patch+json' };
const UID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('a created object gets its uid, time and version from the server', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const given = { name: 'one', uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z', generation: 9 };
  const { metadata } = await createConfigMap(client, namespace, given);
  t.regex(metadata.uid ?? '', UID);
  t.regex(metadata.creationTimestamp ?? '', /^20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  t.not(metadata.creationTimestamp, given.creationTimestamp);
  t.regex(metadata.resourceVersion ?? '', /^[1-9]\d*$/);
  t.is(metadata.namespace, namespace.name);
  t.is(metadata.generation, given.generation, 'config maps count none, so what is said stays');
  t.deepEqual((await client.get(`${namespace.configMaps}/one`)).json.metadata, metadata);
});

test('generateName makes a fresh name for each object', async (t) => {
  const { client } = server();
  const { configMaps } = await freshNamespace(client);
  const body = { metadata: { generateName: 'job-' } };
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.request('POST', configMaps, { body })));
  const names = answers.map(({ json }) => json.metadata.name ?? '');
  for (const name of names) t.regex(name, /^job-[a-z0-9]{5}$/);
  t.is(new Set(names).size, 20);
});

test('fields nobody knows are dropped, and refused where the client is strict', async (t) => {
  const { client } = server();
  const { configMaps } = await freshNamespace(client);
  const body = { metadata: { name: 'one', nonsense: 1 }, data: { a: '1' }, daata: {} };
  const created = await client.request('POST', configMaps, { body });
  t.is(created.status, 201);
  t.false('daata' in created.json);
  t.false('nonsense' in created.json.metadata);
  const warned = await client.request('PUT', `${configMaps}/one?fieldValidation=Warn`, { body });
  t.regex(String(warned.headers.warning), /^299 - "unknown field/);
  const strict = await client.request('PUT', `${configMaps}/one?fieldValidation=Strict`, { body });
  t.is(strict.status, 400);
});

test('an update that changes nothing keeps the version', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const object = await createConfigMap(client, namespace, { name: 'one' }, { a: '1' });
  const path = `${namespace.configMaps}/one`;
  const same = await client.request('PUT', path, { body: object });
  t.is(same.json.metadata.resourceVersion, object.metadata.resourceVersion);
  const patched = await client.request('PATCH', path, { body: { data: { a: '1' } }, headers: MERGE });
  t.is(patched.json.metadata.resourceVersion, object.metadata.resourceVersion);
});

test('a PUT without a version replaces, and creates nothing where there is nothing', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  await createConfigMap(client, namespace, { name: 'one', labels: { a: 'b' } }, { a: '1' });
  const path = `${namespace.configMaps}/one`;
  const replaced = await client.request('PUT', path, { body: configMap({ name: 'one' }, { b: '2' }) });
  t.is(replaced.status, 200);
  t.deepEqual(replaced.json.data, { b: '2' });
  t.is(replaced.json.metadata.labels, undefined);
  t.is((await client.request('PUT', `${namespace.configMaps}/two`, { body: configMap({ name: 'two' }) })).status, 404);
});

test('patches without a version are never lost to each other', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  await createConfigMap(client, namespace, { name: 'one' });
  const path = `${namespace.configMaps}/one`;
  const keys = Array.from({ length: 24 }, (_, i) => `key-${i}`);
  const answers = await Promise.all(
    keys.map((key) => client.request('PATCH', path, { body: { data: { [key]: 'x' } }, headers: MERGE })),
  );
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  t.deepEqual(Object.keys((await client.get(path)).json.data ?? {}).sort(), [...keys].sort());
});

test('a patch that names an old version is a conflict', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const { metadata } = await createConfigMap(client, namespace, { name: 'one' });
  const path = `${namespace.configMaps}/one`;
  const { resourceVersion } = metadata;
  const body = { metadata: { resourceVersion }, data: { a: '1' } };
  t.is((await client.request('PATCH', path, { body, headers: MERGE })).status, 200);
  t.is((await client.request('PATCH', path, { body: { ...body, data: { a: '2' } }, headers: MERGE })).status, 409);
});

test('dryRun answers as if, and stores nothing', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  await createConfigMap(client, namespace, { name: 'kept' }, { a: '1' });
  const { configMaps } = namespace;
  const create = await client.request('POST', `${configMaps}?dryRun=All`, { body: configMap({ name: 'dry' }) });
  t.is(create.status, 201);
  t.is(create.json.metadata.name, 'dry');
  t.is(create.json.metadata.resourceVersion, undefined);
  const update = { body: configMap({ name: 'kept' }, { a: '2' }) };
  t.is((await client.request('PUT', `${configMaps}/kept?dryRun=All`, update)).json.data?.a, '2');
  t.is((await client.request('DELETE', `${configMaps}/kept?dryRun=All`)).status, 200);
  t.is((await client.request('DELETE', `${configMaps}?dryRun=All`)).status, 200);
  t.deepEqual((await client.get(`${configMaps}/kept`)).json.data, { a: '1' });
  t.is((await client.get(`${configMaps}/dry`)).status, 404);
});

test('finalizers hold a deleted object until the last of them is gone', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const path = `${namespace.configMaps}/held`;
  await createConfigMap(client, namespace, { name: 'held', finalizers: ['example.com/a', 'example.com/b'] });
  const deleted = await client.request('DELETE', path);
  t.is(deleted.status, 200);
  t.truthy(deleted.json.metadata.deletionTimestamp);
  const again = await client.request('DELETE', path);
  t.is(again.status, 200);
  t.is(again.json.metadata.deletionTimestamp, deleted.json.metadata.deletionTimestamp);
  const remove = (finalizers: string[]) =>
    client.request('PATCH', path, { body: { metadata: { finalizers } }, headers: MERGE });
  t.deepEqual((await remove(['example.com/b'])).json.metadata.finalizers, ['example.com/b']);
  const more = await remove(['example.com/b', 'example.com/c']);
  t.is(more.status, 422, 'none may be added to an object under deletion');
  t.is((await remove([])).status, 200);
  t.is((await client.get(path)).status, 404);
});

test('a deletion answers with the object or with a Status, as the type has it', async (t) => {
  const { client } = server();
  const namespace = await namespaceForPods(client);
  const { metadata } = await createConfigMap(client, namespace, { name: 'one' });
  const { json } = await client.request('DELETE', `${namespace.configMaps}/one`);
  t.like(json, { kind: 'Status', status: 'Success' });
  t.deepEqual(json.details, { name: 'one', kind: 'configmaps', uid: metadata.uid });
  const pod = { metadata: { name: 'p' }, spec: POD_SPEC };
  await client.request('POST', `${namespace.core}/pods`, { body: pod });
  const gone = await client.request('DELETE', `${namespace.core}/pods/p`);
  t.like(gone.json, { kind: 'Pod', metadata: { name: 'p' } });
});

test('deleting a collection takes what is selected, in this namespace', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const other = await freshNamespace(client);
  for (const name of ['a', 'b', 'c']) {
    const labels = name === 'c' ? {} : { gone: 'yes' };
    await createConfigMap(client, namespace, { name, labels });
    await createConfigMap(client, other, { name, labels });
  }
  const { status, json } = await client.request('DELETE', `${namespace.configMaps}?labelSelector=gone%3Dyes`);
  t.is(status, 200);
  t.is(json.kind, 'ConfigMapList');
  t.deepEqual(namesOf(json), ['a', 'b']);
  const left = namesOf((await client.get(namespace.configMaps)).json);
  t.true(left.includes('c'));
  t.false(left.includes('a') || left.includes('b'));
  const elsewhere = namesOf((await client.get(`${other.configMaps}?labelSelector=gone`)).json);
  t.deepEqual(elsewhere, ['a', 'b']);
});

test('the status is written through its own path, and the spec through the other', async (t) => {
  const { client } = server();
  const { apps } = await freshNamespace(client);
  const path = `${apps}/deployments/web`;
  const created = (
    await client.request('POST', `${apps}/deployments`, { body: { ...deployment('web', 1), status: { replicas: 7 } } })
  ).json;
  t.deepEqual(created.status, {});
  t.is(created.metadata.generation, 1);

  const byStatus = {
    ...created,
    spec: { ...created.spec, replicas: 9 },
    status: { replicas: 1, observedGeneration: 1 },
  };
  const afterStatus = (await client.request('PUT', `${path}/status`, { body: byStatus })).json;
  t.like(afterStatus, { spec: { replicas: 1 }, status: { replicas: 1, observedGeneration: 1 } });
  t.is(afterStatus.metadata.generation, 1);

  const bySpec = { ...afterStatus, spec: { ...afterStatus.spec, replicas: 2 }, status: {} };
  const afterSpec = (await client.request('PUT', path, { body: bySpec })).json;
  t.like(afterSpec, { spec: { replicas: 2 }, status: { replicas: 1 } });
  t.is(afterSpec.metadata.generation, 2);

  const patch = { body: { spec: { replicas: 5 }, status: { readyReplicas: 1 } }, headers: MERGE };
  const patched = (await client.request('PATCH', `${path}/status`, patch)).json;
  t.like(patched, { spec: { replicas: 2 }, status: { replicas: 1, readyReplicas: 1 } });
});

test('a scale shows and changes the replicas alone', async (t) => {
  const { client } = server();
  const { apps, name: namespace } = await freshNamespace(client);
  await client.request('POST', `${apps}/deployments`, { body: deployment('web', 3) });
  const path = `${apps}/deployments/web/scale`;
  const scale = (await client.get(path)).json;
  t.like(scale, {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name: 'web', namespace },
    spec: { replicas: 3 },
  });
  t.like(scale.status, { replicas: 0, selector: 'app=web' });
  const steps = [{ op: 'replace', path: '/spec/replicas', value: 4 }];
  t.is((await client.request('PATCH', path, { body: steps, headers: JSON_PATCH })).json.spec?.replicas, 4);
  const negative = await client.request('PUT', path, {
    body: { ...scale, metadata: { name: 'web' }, spec: { replicas: -1 } },
  });
  t.is(negative.status, 422);
  const stored = (await client.get(`${apps}/deployments/web`)).json;
  t.is(stored.spec?.replicas, 4);
  t.is(stored.metadata.generation, 2);
});

test('a namespace under deletion takes nothing new and is gone when its finalizers are', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const path = namespace.core;
  const own = (await client.get(path)).json;
  const held = { ...own, spec: { finalizers: ['kubernetes', 'example.com/hold'] } };
  const finalized = await client.request('PUT', `${path}/finalize`, { body: held });
  t.deepEqual(finalized.json.spec?.finalizers, ['kubernetes', 'example.com/hold']);
  const ignored = await client.request('PATCH', path, { body: { spec: { finalizers: [] } }, headers: MERGE });
  t.deepEqual(ignored.json.spec?.finalizers, ['kubernetes', 'example.com/hold']);

  await createConfigMap(client, namespace, { name: 'inside' });
  const deleted = await client.request('DELETE', path);
  t.is(deleted.status, 200);
  t.like(deleted.json.status, { phase: 'Terminating' });
  const late = await client.request('POST', namespace.configMaps, { body: configMap({ name: 'late' }) });
  t.is(late.status, 403);
  t.deepEqual(
    late.json.details?.causes?.map(({ reason }) => reason),
    ['NamespaceTerminating'],
  );

  const emptied = await eventually(
    () => client.get(path),
    ({ json }) => JSON.stringify(json.spec?.finalizers) === '["example.com/hold"]',
  );
  t.is((await client.get(`${namespace.configMaps}/inside`)).status, 404);
  const last: ApiObject = { ...emptied.json, spec: { finalizers: [] } };
  const { resourceVersion: _, ...metadata } = last.metadata;
  t.is((await client.request('PUT', `${path}/finalize`, { body: { ...last, metadata } })).status, 200);
  t.is((await client.get(path)).status, 404);
});

test('what must stay is not deleted', async (t) => {
  const { client } = server();
  for (const name of ['default', 'kube-system', 'kube-public']) {
    t.is((await client.request('DELETE', `/api/v1/namespaces/${name}`)).status, 403, name);
    t.is((await client.get(`/api/v1/namespaces/${name}`)).status, 200, name);
  }
});
