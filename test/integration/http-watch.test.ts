// Watches: where they begin, what they tell, and how they end.
import test from 'ava';
import { sharedServer } from '../server/server-process.ts';
import type { WatchEvent } from '../server/watch-stream.ts';
import { configMap, createConfigMap, freshNamespace, namespaceForPods, POD_SPEC } from './objects.ts';

const server = sharedServer(test, { args: ['--api-dialect', 'kubernetes'], placement: 'default' });
const MERGE = { 'content-type': 'application/merge-patch+json' };

/** `ADDED a, DELETED b`: what tests compare. */
const brief = (events: readonly WatchEvent[]): string[] =>
  events.map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`);

test('a watch after a version tells every change after it, in order, as the object then was', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const { configMaps } = namespace;
  const before = await createConfigMap(client, namespace, { name: 'before' });
  const version = before.metadata.resourceVersion ?? '';
  const early = await client.watch(`${configMaps}?watch=1&resourceVersion=${version}`);
  const one = await createConfigMap(client, namespace, { name: 'one' });
  const two = (await client.request('PUT', `${configMaps}/one`, { body: { ...one, data: { a: '1' } } })).json;
  await client.request('DELETE', `${configMaps}/one`);
  const late = await client.watch(`${configMaps}?watch=1&resourceVersion=${version}`);
  for (const watch of [early, late]) {
    t.is(watch.status, 200);
    t.is(watch.headers['content-type'], 'application/json');
    const own = (event: WatchEvent): boolean => event.object.metadata.name !== 'kube-root-ca.crt';
    const events = (await watch.until(({ type }) => type === 'DELETED')).filter(own);
    t.deepEqual(brief(events), ['ADDED one', 'MODIFIED one', 'DELETED one']);
    t.deepEqual(events[0]?.object, one);
    t.deepEqual(events[1]?.object, two);
    const { resourceVersion: deletedAt, ...rest } = events[2]?.object.metadata ?? {};
    const { resourceVersion: changedAt, ...expected } = two.metadata;
    t.deepEqual(rest, expected);
    t.true(BigInt(deletedAt ?? '0') > BigInt(changedAt ?? '0'));
    watch.close();
  }
});

for (const start of ['', '&resourceVersion=0']) {
  test(`a watch with ${start === '' ? 'no version' : 'version 0'} begins with what is there`, async (t) => {
    const { client } = server();
    const namespace = await freshNamespace(client);
    for (const name of ['a', 'b']) await createConfigMap(client, namespace, { name, labels: { mine: '' } });
    const watch = await client.watch(`${namespace.configMaps}?watch=true&labelSelector=mine${start}`);
    t.deepEqual(brief(await watch.take(2)), ['ADDED a', 'ADDED b']);
    await createConfigMap(client, namespace, { name: 'c', labels: { mine: '' } });
    t.deepEqual(brief(await watch.take(1)), ['ADDED c']);
  });
}

test('an object that leaves a selection is DELETED, with the version of the change; one that enters is ADDED', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const { configMaps } = namespace;
  const { metadata } = await createConfigMap(client, namespace, { name: 'x', labels: { in: 'yes' } }, { a: '1' });
  const path = `${configMaps}?watch=1&labelSelector=in%3Dyes&resourceVersion=${metadata.resourceVersion}`;
  const watch = await client.watch(path);
  const relabel = (value: string) =>
    client.request('PATCH', `${configMaps}/x`, { body: { metadata: { labels: { in: value } } }, headers: MERGE });
  const left = (await relabel('no')).json;
  await client.request('PATCH', `${configMaps}/x`, { body: { data: { a: '2' } }, headers: MERGE });
  const back = (await relabel('yes')).json;
  await client.request('DELETE', `${configMaps}/x`);
  const events = await watch.take(3);
  t.deepEqual(brief(events), ['DELETED x', 'ADDED x', 'DELETED x']);
  t.is(events[0]?.object.metadata.resourceVersion, left.metadata.resourceVersion);
  t.deepEqual(events[0]?.object.metadata.labels, { in: 'yes' }, 'as it last was inside');
  t.deepEqual(events[1]?.object, back);
  const again = await client.watch(path);
  t.deepEqual(brief(await again.take(3)), ['DELETED x', 'ADDED x', 'DELETED x']);
});

test('a watch narrowed by fields follows an object in and out', async (t) => {
  const { client } = server();
  const { core } = await namespaceForPods(client);
  const watch = await client.watch(`${core}/pods?watch=1&fieldSelector=spec.nodeName%3Dhere`);
  const one = await client.watch(`${core}/pods?watch=1&fieldSelector=metadata.name%3Da`);
  for (const name of ['a', 'b']) {
    const body = { metadata: { name }, spec: { ...POD_SPEC, schedulerName: 'nobody' } };
    t.is((await client.request('POST', `${core}/pods`, { body })).status, 201);
  }
  const bind = (name: string, node: string) =>
    client.request('POST', `${core}/pods/${name}/binding`, {
      body: { metadata: { name }, target: { kind: 'Node', name: node } },
    });
  t.is((await bind('b', 'here')).status, 201);
  t.is((await bind('a', 'elsewhere')).status, 201);
  t.deepEqual(brief(await watch.take(1)), ['ADDED b']);
  t.deepEqual(brief(await one.take(2)), ['ADDED a', 'MODIFIED a']);
  await client.request('DELETE', `${core}/pods/b?gracePeriodSeconds=0`);
  t.deepEqual(brief(await watch.until(({ type }) => type === 'DELETED')).slice(-1), ['DELETED b']);
});

test('watches across namespaces and on old paths see the same', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const { metadata } = await createConfigMap(client, namespace, { name: 'start' });
  const since = `resourceVersion=${metadata.resourceVersion}`;
  const watches = await Promise.all(
    [
      `/api/v1/configmaps?watch=1&labelSelector=ns%3D${namespace.name}&${since}`,
      `/api/v1/watch/namespaces/${namespace.name}/configmaps?labelSelector=ns&${since}`,
      `/api/v1/watch/configmaps?labelSelector=ns%3D${namespace.name}&${since}`,
    ].map((path) => client.watch(path)),
  );
  await createConfigMap(client, namespace, { name: 'seen', labels: { ns: namespace.name } });
  for (const watch of watches) t.deepEqual(brief(await watch.take(1)), ['ADDED seen']);
});

test('a watch on the old path of one object sees that object only', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const { metadata } = await createConfigMap(client, namespace, { name: 'start' });
  const since = `resourceVersion=${metadata.resourceVersion}`;
  const old = `/api/v1/watch/namespaces/${namespace.name}/configmaps`;
  const watch = await client.watch(`${old}/seen?${since}`);
  const ownNamespace = await client.watch(`/api/v1/watch/namespaces/${namespace.name}`);
  await createConfigMap(client, namespace, { name: 'other' });
  await createConfigMap(client, namespace, { name: 'seen' });
  await freshNamespace(client);
  await client.request('DELETE', `${namespace.configMaps}/seen`);
  t.deepEqual(brief(await watch.take(2)), ['ADDED seen', 'DELETED seen']);
  const narrower = await client.watch(`${old}/start?fieldSelector=metadata.name%3Dstart`);
  t.deepEqual(brief(await narrower.take(1)), ['ADDED start']);
  const elsewhere = await client.get(`${old}/start?fieldSelector=metadata.name%3Dother`);
  t.deepEqual(
    [elsewhere.status, elsewhere.json.message],
    [400, "fieldSelector metadata.name doesn't match requested name"],
  );
  t.is((await client.get('/api/v1/watch/configmaps/start')).status, 404);
  await client.request('DELETE', `/api/v1/namespaces/${namespace.name}`);
  const seen = await ownNamespace.until(({ type }) => type === 'DELETED');
  t.deepEqual([...new Set(seen.map(({ object }) => object.metadata.name))], [namespace.name]);
});

test('a watch ends cleanly when its time is over, with a bookmark when asked for', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const { metadata } = await createConfigMap(client, namespace, { name: 'a' });
  const path = `${namespace.configMaps}?watch=1&timeoutSeconds=1&resourceVersion=${metadata.resourceVersion}`;
  const [plain, marked] = await Promise.all([client.watch(path), client.watch(`${path}&allowWatchBookmarks=true`)]);
  const events: WatchEvent[] = [];
  for await (const event of plain) if (event.object.metadata.name !== 'kube-root-ca.crt') events.push(event);
  t.deepEqual(events, []);
  t.is(await plain.ended, 'clean');
  const [bookmark] = await marked.until(({ type }) => type === 'BOOKMARK').then((seen) => seen.slice(-1));
  t.like(bookmark?.object, { kind: 'ConfigMap', apiVersion: 'v1' });
  t.deepEqual(Object.keys(bookmark?.object.metadata ?? {}).sort(), ['creationTimestamp', 'resourceVersion']);
  const at = BigInt(bookmark?.object.metadata.resourceVersion ?? '0');
  t.true(at >= BigInt(metadata.resourceVersion ?? '0'));
  t.is(await marked.next(), undefined);
  t.is(await marked.ended, 'clean');
  const resumed = await client.watch(`${namespace.configMaps}?watch=1&resourceVersion=${at}`);
  await createConfigMap(client, namespace, { name: 'b' });
  t.deepEqual(brief(await resumed.take(1)), ['ADDED b']);
});

test('initial events end with a bookmark that says so, when they were asked for', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  await createConfigMap(client, namespace, { name: 'a', labels: { mine: '' } });
  const query =
    'watch=1&labelSelector=mine&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
  const watch = await client.watch(`${namespace.configMaps}?${query}`);
  const events = await watch.take(2);
  t.deepEqual(brief(events), ['ADDED a', 'BOOKMARK ']);
  t.deepEqual(events[1]?.object.metadata.annotations, { 'k8s.io/initial-events-end': 'true' });
});

test('many watches see the same changes in the same order, whoever opens and closes beside them', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const { metadata } = await createConfigMap(client, namespace, { name: 'start' });
  const path = `${namespace.configMaps}?watch=1&resourceVersion=${metadata.resourceVersion}`;
  const watches = await Promise.all(Array.from({ length: 20 }, () => client.watch(path)));
  const names = Array.from({ length: 40 }, (_, i) => `c-${i}`);
  for (const [i, name] of names.entries()) {
    if (i % 4 === 0) watches[i / 2]?.close();
    await createConfigMap(client, namespace, { name });
  }
  const late = await client.watch(path);
  const own = ({ object }: WatchEvent): boolean => object.metadata.name !== 'kube-root-ca.crt';
  for (const watch of [...watches.filter((_, i) => i % 2 === 1), late]) {
    const events = await watch.until(({ object }) => object.metadata.name === 'c-39');
    t.deepEqual(
      brief(events.filter(own)),
      names.map((name) => `ADDED ${name}`),
    );
  }
});

test('a watch of a version not reached yet waits for it', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const { metadata } = await createConfigMap(client, namespace, { name: 'now' });
  const future = Number(metadata.resourceVersion) + 30;
  const watch = await client.watch(`${namespace.configMaps}?watch=1&resourceVersion=${future}`);
  let revision = 0;
  let last = '';
  for (let i = 0; revision <= future; i++) {
    last = `c-${i}`;
    revision = Number((await createConfigMap(client, namespace, { name: last })).metadata.resourceVersion);
  }
  const events = await watch.until(({ object }) => object.metadata.name === last);
  t.true(events.every(({ object }) => Number(object.metadata.resourceVersion) > future));
});

test('a client that reads slowly gets every event once it reads', async (t) => {
  const { client } = server();
  const namespace = await freshNamespace(client);
  const { metadata } = await createConfigMap(client, namespace, { name: 'start' });
  const path = `${namespace.configMaps}?watch=1&resourceVersion=${metadata.resourceVersion}`;
  const watch = await client.watch(path);
  watch.pause();
  const text = 'x'.repeat(200_000);
  const names = Array.from({ length: 30 }, (_, i) => `big-${i}`);
  for (const name of names) await client.request('POST', namespace.configMaps, { body: configMap({ name }, { text }) });
  watch.resume();
  const events = await watch.until(({ object }) => object.metadata.name === names.at(-1));
  const big = events.filter(({ object }) => object.metadata.name?.startsWith('big-'));
  t.deepEqual(
    brief(big),
    names.map((name) => `ADDED ${name}`),
  );
});

test('a pod that is on no node is told to end, with no time left, before it is gone', async (t) => {
  const { client } = server();
  const pods = `${(await namespaceForPods(client)).core}/pods`;
  const watch = await client.watch(`${pods}?watch=1`);
  await client.request('POST', pods, {
    body: { metadata: { name: 'p' }, spec: { ...POD_SPEC, schedulerName: 'none' } },
  });
  const { json } = await client.request('DELETE', `${pods}/p`);
  t.truthy(json.metadata.deletionTimestamp);
  const events = await watch.until(({ type }) => type === 'DELETED');
  t.deepEqual(brief(events), ['ADDED p', 'MODIFIED p', 'DELETED p']);
  for (const { object } of events.slice(1)) {
    t.is(object.metadata.deletionTimestamp, json.metadata.deletionTimestamp);
    t.is(object.metadata.deletionGracePeriodSeconds, 0);
  }
  watch.close();
});
