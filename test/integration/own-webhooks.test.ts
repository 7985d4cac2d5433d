// Webhooks that are paths of the API server itself, as those of extension servers are.
import ava from 'ava';
import { jsonOf } from '../server/credentials.ts';
import { OUTSIDE } from '../server/extension-server.ts';
import { fakeExtension } from '../server/fake-extension.ts';
import { startServer } from '../server/server-process.ts';
import type { Review } from '../server/webhook-service.ts';
import { GROUP, MAPS } from './hooked-server.ts';

const test = OUTSIDE === undefined ? ava.skip : ava;

test('a webhook that names the service of the API server is answered by the extension server behind it, which is asked by the server itself', async (t) => {
  const front = await startServer(t, { args: ['--enable-aggregator-routing'] });
  const users: unknown[] = [];
  const extension = await fakeExtension(t, front, 'reviews', {
    handler: async (request, response) => {
      const { headers, method, url = '' } = request;
      if (method !== 'POST') return void response.writeHead(404).end();
      users.push(headers['x-remote-user']);
      const { apiVersion, kind, request: asked } = await jsonOf<Review>(request);
      const status = { message: `asked at ${new URL(url, 'https://any').pathname}` };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ apiVersion, kind, response: { uid: asked.uid, allowed: false, status } }));
    },
  });
  const path = `/apis/${extension.group}/v1/mapreviews`;
  const webhook = {
    name: 'own.example.org',
    clientConfig: { service: { namespace: 'default', name: 'orch', path } },
    rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    ...{ sideEffects: 'None', admissionReviewVersions: ['v1'], timeoutSeconds: 20 },
  };
  const body = { metadata: { name: 'own' }, webhooks: [webhook] };
  const made = await front.client.request('POST', `${GROUP}/v1/validatingwebhookconfigurations`, { body });
  t.is(made.status, 201, made.text);
  const refused = await front.client.request('POST', MAPS, { body: { metadata: { name: 'm' } } });
  t.like(refused.json, {
    code: 400,
    message: `admission webhook "own.example.org" denied the request: asked at ${path}`,
  });
  t.deepEqual(users, ['system:apiserver']);
});
