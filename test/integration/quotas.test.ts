// Quotas on a real server: they hold whoever comes at once, and what is used is what is there once it is quiet.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ava from 'ava';
import type { HttpsClient } from '../server/https-client.ts';
import { startServer } from '../server/server-process.ts';
import { eventually, freshNamespace, type Namespace, namespaceForPods, POD_SPEC } from './objects.ts';

// One after the other: each keeps a server and its clients busy.
const test = ava.serial;
const CLIENTS = 64;
const MOST = 20;

type Texts = Readonly<Record<string, string>>;

const usedOf = async (client: HttpsClient, { core }: Namespace): Promise<Texts> =>
  ((await client.get(`${core}/resourcequotas/q`)).json.status as { used?: Texts } | undefined)?.used ?? {};

async function makeQuota(client: HttpsClient, namespace: Namespace, spec: { hard: Texts }): Promise<void> {
  await client.request('POST', `${namespace.core}/resourcequotas`, { body: { metadata: { name: 'q' }, spec } });
  const size = Object.keys(spec.hard).length;
  await eventually(
    () => usedOf(client, namespace),
    (used) => Object.keys(used).length === size,
  );
}

const createPod = (client: HttpsClient, { core }: Namespace, name: string) =>
  client.request('POST', `${core}/pods`, { body: { metadata: { name }, spec: POD_SPEC } });

const podsOf = async (client: HttpsClient, { core }: Namespace): Promise<readonly string[]> =>
  ((await client.get(`${core}/pods`)).json.items ?? []).map(({ metadata }) => metadata.name ?? '');

test('64 clients at once never exceed a quota, and none hears of a conflict', async (t) => {
  const { client } = await startServer(t, { args: ['--placement', 'default'] });
  const namespace = await namespaceForPods(client);
  await makeQuota(client, namespace, { hard: { pods: String(MOST) } });
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all(
      Array.from({ length: CLIENTS }, (_, i) => createPod(client, namespace, `r${round}-${i}`)),
    );
    const codes = answers.map(({ status }) => status).filter((code) => code !== 429);
    t.true(
      codes.every((code) => code === 201 || code === 403),
      codes.join(' '),
    );
    t.is(codes.filter((code) => code === 201).length, MOST);
    t.is((await podsOf(client, namespace)).length, MOST);
    t.deepEqual(await usedOf(client, namespace), { pods: String(MOST) });
    const grace = { body: { gracePeriodSeconds: 0 } };
    await client.request('DELETE', `${namespace.core}/pods`, grace);
    await eventually(
      () => usedOf(client, namespace),
      ({ pods }) => pods === '0',
    );
  }
});

test('a quota holds across a death in the middle', async (t) => {
  const server = await startServer(t, { args: ['--placement', 'default'] });
  const { client } = server;
  const namespace = await namespaceForPods(client);
  await makeQuota(client, namespace, { hard: { pods: String(MOST) } });
  const first = Array.from({ length: CLIENTS }, (_, i) => createPod(client, namespace, `a${i}`));
  await Promise.race(first);
  await server.kill9();
  await Promise.allSettled(first);
  await server.restart();
  const again = server.client;
  await Promise.all(Array.from({ length: CLIENTS }, (_, i) => createPod(again, namespace, `b${i}`)));
  t.is((await podsOf(again, namespace)).length, MOST);
  t.deepEqual(await usedOf(again, namespace), { pods: String(MOST) });
});

test('claims, objects of other kinds and limited resources are counted on a server', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'quota-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'admission.json');
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: 'apiserver.config.orch.io/v1',
      kind: 'AdmissionConfiguration',
      plugins: [
        {
          name: 'ResourceQuota',
          configuration: {
            apiVersion: 'apiserver.config.orch.io/v1',
            kind: 'ResourceQuotaConfiguration',
            limitedResources: [{ resource: 'persistentvolumeclaims', matchContains: ['silver.storageclass'] }],
          },
        },
      ],
    }),
  );
  const { client } = await startServer(t, { args: ['--admission-control-config-file', file] });
  const namespace = await freshNamespace(client);
  const gold = 'gold.storageclass.storage.orch.io/requests.storage';
  const leases = 'count/leases.coordination.orch.io';
  await makeQuota(client, namespace, { hard: { [gold]: '5Gi', [leases]: '1' } });
  const claim = async (name: string, storageClassName: string, storage: string) => {
    const spec = { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } };
    const body = { metadata: { name }, spec };
    return (await client.request('POST', `${namespace.core}/persistentvolumeclaims`, { body })).status;
  };
  const lease = async (name: string) =>
    (
      await client.request('POST', `/apis/coordination.orch.io/v1/namespaces/${namespace.name}/leases`, {
        body: { metadata: { name } },
      })
    ).status;
  t.deepEqual([await claim('a', 'gold', '3Gi'), await claim('b', 'gold', '3Gi')], [201, 403]);
  t.is(await claim('c', 'silver', '1Gi'), 403);
  t.deepEqual([await lease('a'), await lease('b')], [201, 403]);
  t.deepEqual(await usedOf(client, namespace), { [gold]: '3Gi', [leases]: '1' });
});

test('an object that two groups serve is counted under the names of both', async (t) => {
  const { client } = await startServer(t);
  const namespace = await freshNamespace(client);
  const names = ['count/ingresses.extensions', 'count/ingresses.networking.orch.io'] as const;
  await makeQuota(client, namespace, { hard: { [names[0]]: '1', [names[1]]: '2' } });
  const spec = { defaultBackend: { service: { name: 'a', port: { number: 80 } } } };
  const path = `/apis/networking.orch.io/v1/namespaces/${namespace.name}/ingresses`;
  t.is((await client.request('POST', path, { body: { metadata: { name: 'a' }, spec } })).status, 201);
  await eventually(
    () => usedOf(client, namespace),
    (used) => names.every((name) => used[name] === '1'),
  );
  const older = { metadata: { name: 'b' }, spec: { backend: { serviceName: 'a', servicePort: 80 } } };
  const olderPath = `/apis/extensions/v1beta1/namespaces/${namespace.name}/ingresses`;
  t.is((await client.request('POST', olderPath, { body: older })).status, 403);
});
