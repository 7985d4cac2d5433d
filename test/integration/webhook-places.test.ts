// Admission webhooks that are services: where they are called, and who they are shown.

import { mkdirSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { certificateOf } from '../server/credentials.ts';
import { startServer } from '../server/server-process.ts';
import { webhookService } from '../server/webhook-service.ts';
import { configure, created, map, type World, webhookAt } from './hooked-server.ts';
import { accountIn } from './objects.ts';

/** An address of this machine that others could reach: services are called at no other. */
const OUTSIDE = Object.values(networkInterfaces())
  .flat()
  .find((one) => one !== undefined && !one.internal && one.family === 'IPv4')?.address;

const PODS = '/api/v1/namespaces/default/pods';

/** The service `hook`, whose one endpoint is a pod at an address of this machine. */
async function serviceOf({ server: { client } }: World, port: number, clusterIP: string): Promise<void> {
  const made = async (path: string, body: object, verb = 'POST'): Promise<void> => {
    const { status, text } = await client.request(verb, path, { body });
    if (status > 201) throw new Error(text);
  };
  await made('/api/v1/namespaces/default/services', {
    metadata: { name: 'hook' },
    spec: { clusterIP, ports: [{ port }] },
  });
  const spec = { schedulerName: 'nobody', containers: [{ name: 'c', image: 'i' }] };
  await accountIn(client);
  await made(PODS, { metadata: { name: 'hook' }, spec });
  const contentType = 'application/merge-patch+json';
  const body = { status: { podIP: OUTSIDE, podIPs: [{ ip: OUTSIDE }] } };
  await client.request('PATCH', `${PODS}/hook/status`, { body, headers: { 'content-type': contentType } });
  const targetRef = { kind: 'Pod', namespace: 'default', name: 'hook' };
  await made(
    '/api/v1/namespaces/default/endpoints/hook',
    {
      metadata: { name: 'hook' },
      subsets: [{ addresses: [{ ip: OUTSIDE, targetRef }], ports: [{ port }] }],
    },
    'PUT',
  );
}

if (OUTSIDE !== undefined) {
  const host = OUTSIDE;

  test('a webhook that is a service is called at an endpoint of it, and shown who the settings or the proxy certificate say', async (t) => {
    const hooks = await webhookService(
      t,
      { allow: () => ({ allowed: true }), token: () => ({ allowed: true }) },
      { host },
    );
    const { files, port, caBundle } = hooks;
    certificateOf(files, 'ca', 'proxy', '/CN=the-proxy');
    const users = [
      { name: 'hook.default.svc:8443', user: { token: 'for-the-port' } },
      { name: '*.default.svc', user: { token: 'unused-as-nothing-is-on-443-here' } },
    ];
    mkdirSync(join(files, 'users'));
    writeFileSync(join(files, 'users', 'token'), 'for-the-url');
    const write = (name: string, content: object): string => {
      const path = join(files, name);
      writeFileSync(path, JSON.stringify(content));
      return path;
    };
    write('users/users.json', {
      kind: 'Config',
      users: [{ name: `${host}:${port}`, user: { tokenFile: 'token' } }, ...users],
    });
    const settings = {
      apiVersion: 'apiserver.config.orch.io/v1',
      kind: 'WebhookAdmissionConfiguration',
      kubeConfigFile: 'users/users.json',
    };
    const server = await startServer(t, {
      args: [
        '--enable-aggregator-routing',
        `--proxy-client-cert-file=${join(files, 'proxy.crt')}`,
        `--proxy-client-key-file=${join(files, 'proxy.key')}`,
        `--admission-control-config-file=${write('admission.json', {
          apiVersion: 'apiserver.config.orch.io/v1',
          kind: 'AdmissionConfiguration',
          plugins: [{ name: 'ValidatingAdmissionWebhook', configuration: settings }],
        })}`,
      ],
    });
    const at = { server, hooks };
    const service = { namespace: 'default', name: 'hook', path: '/allow', port };
    await configure(at, 'validating', 'v', [
      webhookAt(hooks, 'allow', { clientConfig: { service, caBundle } }),
      webhookAt(hooks, 'token'),
    ]);
    const gone = await created(at, map('one', 'allow'));
    t.is(gone.status, 500);
    t.regex(
      gone.json.message!,
      /Post "https:\/\/hook\.default\.svc:\d+\/allow\?timeout=30s": service "hook" not found$/,
    );
    await serviceOf(at, port, '');
    const first = await created(at, map('one', 'allow'));
    t.is(first.status, 201, first.text);
    t.is(hooks.asked[0]!.shown, 'the-proxy');
    t.is(hooks.asked[0]!.authorization, '');
    t.is((await created(at, map('two', 'token'))).status, 201);
    t.is(hooks.asked[1]!.authorization, 'Bearer for-the-url');
    t.is(hooks.asked[1]!.shown, '');
    await server.client.request('DELETE', '/api/v1/namespaces/default/endpoints/hook');
    const slice = {
      metadata: { name: 'hook-1', labels: { 'orch.io/service-name': 'hook' } },
      addressType: 'IPv4',
      ports: [{ name: '', port }],
      endpoints: [{ addresses: [host], targetRef: { kind: 'Pod', namespace: 'default', name: 'hook' } }],
    };
    const slices = '/apis/discovery.orch.io/v1/namespaces/default/endpointslices';
    t.is((await server.client.request('POST', slices, { body: slice })).status, 201);
    t.is((await created(at, map('sliced', 'allow'))).status, 201);
    await server.client.request('DELETE', `${PODS}/hook?gracePeriodSeconds=0`);
    const lost = await created(at, map('three', 'allow'));
    t.is(lost.status, 500);
    t.regex(lost.json.message!, /no endpoints available for service "hook"$/);
  });

  test('a webhook that is a service is called at the address of the cluster, unless that is of this machine alone', async (t) => {
    const hooks = await webhookService(t, { allow: () => ({ allowed: true }) }, { host });
    const range = `${host.split('.').slice(0, 3).join('.')}.0/24`;
    const server = await startServer(t, { args: [`--service-cluster-ip-range=${range}`] });
    const at = { server, hooks };
    const service = { namespace: 'default', name: 'hook', path: 'allow', port: hooks.port };
    const { caBundle } = hooks;
    await configure(at, 'validating', 'v', [
      webhookAt(hooks, 'allow', { clientConfig: { service: { ...service, path: '/allow' }, caBundle } }),
    ]);
    await serviceOf(at, hooks.port, host);
    const { status, text } = await created(at, map('one', 'allow'));
    t.is(status, 201, text);
    t.is(hooks.asked[0]!.path, 'allow');
  });
}
