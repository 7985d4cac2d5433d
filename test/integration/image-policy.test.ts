// Image policy: a service over HTTPS that a real server asks about the images of pods.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { connectionFile, httpsService, jsonOf, sendJson } from '../server/credentials.ts';
import { MetricsText } from '../server/metrics-text.ts';
import { startServer } from '../server/server-process.ts';
import { accountIn, eventually } from './objects.ts';

interface AuditLine {
  readonly verb: string;
  readonly stage: string;
  readonly objectRef?: { readonly name?: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Review {
  readonly kind: string;
  readonly apiVersion: string;
  readonly status: object;
  readonly spec: {
    readonly containers: readonly { readonly image: string }[];
    readonly annotations?: object;
    readonly namespace: string;
  };
}

/** A server that asks a service, which refuses images called bad and fails about those called broken. */
async function serverWith(t: ExecutionContext, settings: object) {
  const files = mkdtempSync(join(tmpdir(), 'orch-images-'));
  t.teardown(() => rmSync(files, { recursive: true }));
  const asked: Review[] = [];
  const url = await httpsService(t, files, 'images', (request, response) => {
    void jsonOf<Review>(request).then((review) => {
      asked.push(review);
      const images = review.spec.containers.map(({ image }) => image);
      if (images.includes('broken')) response.writeHead(400).end();
      else {
        const reason = images.includes('bad') ? 'bad is bad' : '';
        const status = { allowed: !images.some((image) => ['bad', 'silent'].includes(image)), reason };
        sendJson(response, { ...review, status: { ...status, auditAnnotations: { checked: images.join() } } });
      }
    });
  });
  connectionFile(files, 'images', `${url}/review`, 'a-token');
  const file = join(files, 'admission.json');
  const configuration = { imagePolicy: { kubeConfigFile: 'images.conf', ...settings } };
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: 'apiserver.config.orch.io/v1',
      kind: 'AdmissionConfiguration',
      plugins: [{ name: 'ImagePolicyWebhook', configuration }],
    }),
  );
  const policy = join(files, 'audit.json');
  const log = join(files, 'audit.log');
  writeFileSync(
    policy,
    JSON.stringify({ apiVersion: 'audit.orch.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }),
  );
  /** What the audit log says of the creation of a pod. */
  const lines = (pod: string): readonly AuditLine[] =>
    readFileSync(log, 'utf8')
      .split('\n')
      // The last one may be half there.
      .slice(0, -1)
      .map((line) => JSON.parse(line) as AuditLine)
      .filter(({ verb, objectRef }) => verb === 'create' && objectRef?.name === pod);
  const server = await startServer(t, {
    args: [
      `--audit-policy-file=${policy}`,
      `--audit-log-path=${log}`,
      '--enable-admission-plugins=ImagePolicyWebhook',
      `--admission-control-config-file=${file}`,
      '--feature-gates=EphemeralContainers=true',
    ],
  });
  await accountIn(server.client);
  let pods = 0;
  const create = async (image: string, annotations: object = {}) => {
    const metadata = { name: `p${pods++}`, annotations };
    const body = { metadata, spec: { containers: [{ name: 'c', image }] } };
    const { status, json } = await server.client.request('POST', '/api/v1/namespaces/default/pods', { body });
    return status === 201 ? 201 : `${status} ${String(json.message).replace(/^pods "p\d+" is forbidden: /, '')}`;
  };
  const add = async (pod: string, image: string) => {
    const { status } = await server.client.request(
      'PATCH',
      `/api/v1/namespaces/default/pods/${pod}/ephemeralcontainers`,
      {
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { ephemeralContainers: [{ name: 'd', image }] },
      },
    );
    return status;
  };
  const annotations = async (pod: string) =>
    (await server.client.get(`/api/v1/namespaces/default/pods/${pod}`)).json.metadata.annotations;
  /** How many calls were answered with a code. */
  const calls = async (code: string) =>
    new MetricsText((await server.client.get('/metrics')).text).sum('rest_client_requests_total', {
      code,
      method: 'POST',
      host: new URL(url).host,
    });
  return { asked, create, add, annotations, lines, calls };
}

test('a service is asked about images once, and its answers decide', async (t) => {
  const { asked, create, calls } = await serverWith(t, {});
  t.is(await create('good', { 'mine.image-policy.orch.io/ticket': '5', other: 'x' }), 201);
  t.like(asked[0], {
    kind: 'ImageReview',
    apiVersion: 'imagepolicy.orch.io/v1alpha1',
    spec: {
      containers: [{ image: 'good' }],
      annotations: { 'mine.image-policy.orch.io/ticket': '5' },
      namespace: 'default',
    },
    status: { allowed: false },
  });
  t.is(await create('bad'), '403 image policy webhook backend denied one or more images: bad is bad');
  t.is(await create('silent'), '403 one or more images rejected by webhook backend');
  const before = asked.length;
  t.is(await create('bad'), '403 image policy webhook backend denied one or more images: bad is bad');
  t.is(asked.length, before);
  t.regex(String(await create('broken')), /^403 the server rejected our request for an unknown reason/);
  t.deepEqual([await calls('200'), await calls('400')], [3, 1]);
});

test('a service is asked about the images of containers that are added to a running pod', async (t) => {
  const { asked, create, add } = await serverWith(t, {});
  t.is(await create('good'), 201);
  t.is(await add('p0', 'bad'), 403);
  t.is(await add('p0', 'fine'), 200);
  t.deepEqual(asked.at(-1)?.spec.containers, [{ image: 'fine' }]);
});

test('without an answer pods are allowed where the settings say so', async (t) => {
  const { create, annotations, lines } = await serverWith(t, { defaultAllow: true, denyTTL: -1 });
  t.is(await create('broken'), 201);
  t.deepEqual(await annotations('p0'), { 'alpha.image-policy.orch.io/failed-open': 'true' });
  const annotated = async (pod: string, key: string) => {
    const said = await eventually(
      () => Promise.resolve(lines(pod).find(({ stage }) => stage === 'ResponseComplete')),
      (line) => line !== undefined,
    );
    return said?.annotations?.[`imagepolicywebhook.image-policy.orch.io/${key}`];
  };
  t.is(await annotated('p0', 'failed-open'), 'true');
  t.is(await create('good'), 201);
  t.is(await annotated('p1', 'checked'), 'good');
  t.is(await annotations('p1'), undefined);
  t.is(await create('bad'), '403 image policy webhook backend denied one or more images: bad is bad');
});
