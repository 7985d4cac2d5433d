// Objects stored under one version and read by a server that stores another, across restarts on one data directory; and
// what a server of a later release no longer serves.
import test from 'ava';
import type { ApiObject, HttpsClient } from '../server/https-client.ts';
import { startServer } from '../server/server-process.ts';

const cronJobs = (version: string) => `/apis/batch/${version}/namespaces/default/cronjobs`;
const ingresses = (version: string) => `/apis/networking.orch.io/${version}/namespaces/default/ingresses`;
const autoscalers = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;

const OTHER_STORAGE = ['--storage-versions', 'batch/v1beta1,networking.orch.io/v1beta1,autoscaling/v2beta2'];

const CRON_JOB = {
  metadata: { name: 'nightly', labels: { app: 'nightly' } },
  spec: {
    schedule: '0 3 * * *',
    jobTemplate: {
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
    },
  },
};
const INGRESS = {
  metadata: { name: 'web' },
  spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
};
const AUTOSCALER = {
  metadata: { name: 'web' },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    maxReplicas: 3,
    metrics: [
      { type: 'Pods', pods: { metric: { name: 'hits' }, target: { type: 'AverageValue', averageValue: '5' } } },
    ],
  },
};

async function create(client: HttpsClient, path: string, body: object): Promise<ApiObject> {
  const answer = await client.request('POST', path, { body });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.json;
}

/** What clients see of everything, in every version. */
async function everything(client: HttpsClient): Promise<readonly (readonly [path: string, objects: ApiObject])[]> {
  const paths = [
    ...['v1', 'v1beta1'].flatMap((version) => [cronJobs(version), ingresses(version)]),
    ...['v1', 'v2beta1', 'v2beta2'].map(autoscalers),
  ];
  return Promise.all(paths.map(async (path) => [path, (await client.get(path)).json] as const));
}

test('objects read the same in every version after the version they are stored in has changed, and changed back', async (t) => {
  const server = await startServer(t);
  const { client } = server;
  const before = await create(client, cronJobs('v1'), CRON_JOB);
  await create(client, ingresses('v1'), INGRESS);
  await create(client, autoscalers('v2beta2'), AUTOSCALER);
  const written = await everything(client);
  for (const args of [OTHER_STORAGE, []]) {
    await server.stop();
    await server.restart(args);
    for (const [index, [path, objects]] of (await everything(client)).entries()) {
      t.deepEqual(objects.items, written[index]![1].items, `${args.join(' ')} ${path}`);
    }
    const selected = await client.get(
      `${cronJobs('v1')}?labelSelector=app%3Dnightly&fieldSelector=metadata.name%3Dnightly`,
    );
    t.is(selected.json.items?.length, 1);
  }
  const hash = async () => {
    const { resources } = (await client.get('/apis/batch/v1')).json as unknown as {
      resources: { name: string; storageVersionHash?: string }[];
    };
    return resources.find(({ name }) => name === 'cronjobs')?.storageVersionHash;
  };
  const preferred = await hash();
  await server.stop();
  await server.restart(OTHER_STORAGE);
  t.not(await hash(), preferred);
  // A write that changes nothing else stores the object in the new version, once.
  const touch = async (name: string) => {
    const headers = { 'content-type': 'application/merge-patch+json' };
    return (await client.request('PATCH', `${ingresses('v1')}/${name}`, { body: {}, headers })).json.metadata
      .resourceVersion;
  };
  const untouched = (await client.get(`${ingresses('v1')}/web`)).json.metadata.resourceVersion;
  const touched = await touch('web');
  t.not(touched, untouched);
  t.is(await touch('web'), touched);
  // The history is read back as well: a watch goes on from before the restarts.
  const query = `watch=1&resourceVersion=${Number(before.metadata.resourceVersion) - 1}`;
  const watch = await client.watch(`${cronJobs('v1')}?${query}`);
  const first = await watch.next();
  t.deepEqual([first?.type, first?.object], ['ADDED', before]);
  const patched = await client.request('PATCH', `${cronJobs('v1')}/nightly`, {
    body: { spec: { suspend: true } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  t.is(patched.status, 200);
  t.like(await watch.next(), { type: 'MODIFIED', object: { apiVersion: 'batch/v1', spec: { suspend: true } } });
  watch.close();
});

test('a later release serves and warns of what is left of the API', async (t) => {
  const server = await startServer(t, { args: ['--emulated-release', '1.22'] });
  const { client } = server;
  await create(client, ingresses('v1'), INGRESS);
  for (const path of [ingresses('v1beta1'), '/apis/extensions/v1beta1/ingresses', '/apis/extensions'])
    t.is((await client.get(path)).status, 404, path);
  const { groups } = (await client.get('/apis')).json as unknown as {
    groups: { name: string; versions: { version: string }[] }[];
  };
  t.deepEqual(
    groups.find(({ name }) => name === 'networking.orch.io')?.versions.map(({ version }) => version),
    ['v1'],
  );
  t.is(
    (await client.get(autoscalers('v2beta1'))).headers.warning,
    '299 - "autoscaling/v2beta1 HorizontalPodAutoscaler is deprecated in v1.22+, unavailable in v1.25+; use autoscaling/v2beta2 HorizontalPodAutoscaler"',
  );
});

test('without the gate WarningHeaders nobody is warned, and the metric counts all the same', async (t) => {
  const server = await startServer(t, { args: ['--feature-gates', 'WarningHeaders=false'] });
  const { client } = server;
  t.is((await client.get(ingresses('v1beta1'))).headers.warning, undefined);
  t.regex((await client.get('/metrics')).text, /^apiserver_requested_deprecated_apis\{.*resource="ingresses".*\} 1$/m);
});
