// Admission webhooks on a real server: what they are asked, what their answers, their mistakes and their silences come to, and
// where they are found.

import { mkdirSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { certificateOf } from '../server/credentials.ts';
import { type Scope, type ServerProcess, startServer } from '../server/server-process.ts';
import { type Behaviour, patchOf, type WebhookService, webhookService } from '../server/webhook-service.ts';

const GROUP = '/apis/admissionregistration.orch.io';
const MAPS = '/api/v1/namespaces/default/configmaps';
const KINDS = { mutating: 'MutatingWebhookConfiguration', validating: 'ValidatingWebhookConfiguration' } as const;
/** An address of this machine that others could reach: services are called at no other. */
const OUTSIDE = Object.values(networkInterfaces())
  .flat()
  .find((one) => one !== undefined && !one.internal && one.family === 'IPv4')?.address;

type Webhook = Readonly<Record<string, unknown>>;

interface World {
  readonly server: ServerProcess;
  readonly hooks: WebhookService;
}

async function world(
  scope: Scope,
  behaviours: Readonly<Record<string, Behaviour>>,
  args: string[] = [],
): Promise<World> {
  const hooks = await webhookService(scope, behaviours);
  return { server: await startServer(scope, { args }), hooks };
}

/** A webhook that hears of the config maps whose label `case` is its path. */
function webhookAt({ url, caBundle }: WebhookService, path: string, more: Webhook = {}): Webhook {
  return {
    name: `${path}.example.org`,
    clientConfig: { url: `${url}/${path}`, caBundle },
    rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    objectSelector: { matchLabels: { case: path } },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 20,
    ...more,
  };
}

async function configure(
  { server }: World,
  kind: keyof typeof KINDS,
  name: string,
  webhooks: readonly Webhook[],
  version = 'v1',
): Promise<void> {
  const body = {
    apiVersion: `admissionregistration.orch.io/${version}`,
    kind: KINDS[kind],
    metadata: { name },
    webhooks,
  };
  const made = await server.client.request('POST', `${GROUP}/${version}/${kind}webhookconfigurations`, { body });
  if (made.status !== 201) throw new Error(made.text);
}

/** A config map for a case. */
function map(name: string, label: string, data: object = {}): object {
  return { metadata: { name, labels: { case: label } }, data };
}

function created({ server }: World, body: object, query = ''): ReturnType<typeof server.client.get> {
  return server.client.request('POST', `${MAPS}${query}`, { body });
}

const set = (key: string, value: string): object => ({ op: 'add', path: `/data/${key}`, value });

test('a webhook is asked about a write whole, and its denial, its warnings and its changes are the answer', async (t) => {
  const at = await world(t, {
    allow: () => ({ allowed: true, warnings: ['look out', 'look out'] }),
    deny: () => ({
      allowed: false,
      status: { message: 'not today', code: 409, reason: 'Conflict' },
      warnings: ['why'],
    }),
    bare: () => ({ allowed: false }),
    reason: () => ({ allowed: false, status: { reason: 'Because', code: 200 } }),
    mutate: () => patchOf(set('by', 'webhook')),
  });
  const { hooks, server } = at;
  await configure(
    at,
    'validating',
    'v',
    ['allow', 'deny', 'bare', 'reason'].map((path) => webhookAt(hooks, path)),
  );
  await configure(at, 'mutating', 'm', [webhookAt(hooks, 'mutate')]);
  t.is((await created(at, map('other', 'none'))).status, 201);
  t.is(hooks.asked.length, 0, 'who wants to hear of nothing hears nothing');

  const allowed = await created(at, map('allowed', 'allow', { a: 'b' }), '?fieldManager=me');
  t.is(allowed.status, 201);
  t.is(allowed.headers.warning, '299 - "look out"');
  const [{ review } = { review: undefined }] = hooks.asked;
  const { uid, object, userInfo, ...rest } = review!.request;
  t.regex(uid, /^[0-9a-f-]{36}$/);
  t.like(object, { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'allowed', namespace: 'default' } });
  t.like(userInfo, { username: 'orch-admin' });
  t.deepEqual(rest as object, {
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
    requestResource: { group: '', version: 'v1', resource: 'configmaps' },
    name: 'allowed',
    namespace: 'default',
    operation: 'CREATE',
    oldObject: null,
    dryRun: false,
    options: { fieldManager: 'me', kind: 'CreateOptions', apiVersion: 'meta.orch.io/v1' },
  });
  t.is(review!.apiVersion, 'admission.orch.io/v1');

  const denied = await created(at, map('denied', 'deny'));
  t.is(denied.status, 409);
  t.is(denied.json.message, 'admission webhook "deny.example.org" denied the request: not today');
  t.is(denied.json.reason, 'Conflict');
  t.is(denied.headers.warning, '299 - "why"');
  const bare = await created(at, map('denied', 'bare'));
  t.is(bare.status, 400);
  t.is(bare.json.message, 'admission webhook "bare.example.org" denied the request without explanation');
  const reason = await created(at, map('denied', 'reason'));
  t.is(reason.status, 400);
  t.is(reason.json.message, 'admission webhook "reason.example.org" denied the request: Because');

  const mutated = await created(at, map('mutated', 'mutate', { a: 'b' }));
  t.is(mutated.status, 201, mutated.text);
  t.deepEqual(mutated.json.data as unknown, { a: 'b', by: 'webhook' });

  const deleted = await server.client.request('DELETE', `${MAPS}/allowed?gracePeriodSeconds=5`);
  t.is(deleted.status, 200);
  const { request } = hooks.asked.at(-1)!.review;
  t.is(request.operation, 'DELETE');
  t.is(request.object, null);
  t.like(request.oldObject, { metadata: { name: 'allowed' } });
  t.deepEqual(request.options, { gracePeriodSeconds: 5, kind: 'DeleteOptions', apiVersion: 'meta.orch.io/v1' });
  t.is(hooks.connections(), new Set(hooks.asked.map(({ path }) => path)).size, 'connections are kept');
});

/** What goes wrong, and what the client is told where the policy is to fail. */
const FAILURES: readonly (readonly [path: string, does: Behaviour, told: RegExp])[] = [
  ['hang', () => undefined, /^Post "https:.*\/hang\?timeout=1s": the service did not answer in time$/],
  ['drip', ({ response }) => void response.write('{'), /the service did not answer in time$/],
  ['close', ({ response }) => void response.destroy(), /^Post ".*": the service could not be reached \(ECONNRESET\)$/],
  [
    'redirect',
    ({ response }) => void response.writeHead(307, { location: '/allow' }).end(),
    /the service answered 307$/,
  ],
  ['error', ({ response }) => void response.writeHead(500).end(), /the service answered 500$/],
  ['huge', ({ response }) => void response.end(Buffer.alloc(4 * 1024 * 1024, ' ')), /answered more than it may$/],
  ['text', ({ response }) => void response.end('yes'), /what is no JSON$/],
  ['list', ({ response }) => void response.end('[]'), /received invalid webhook response: the answer is no object$/],
  [
    'silent',
    ({ response }) => void response.end('{}'),
    /received invalid webhook response: webhook response was absent$/,
  ],
  [
    'uid',
    () => ({ allowed: true, uid: 'x' }),
    /invalid webhook response: expected response.uid="[0-9a-f-]{36}", got "x"$/,
  ],
  [
    'kind',
    ({ review, response }) => {
      const { uid } = review.request;
      response.end(JSON.stringify({ apiVersion: 'v1', kind: 'Pod', response: { uid, allowed: true } }));
      return undefined;
    },
    /expected webhook response of admission.orch.io\/v1, Kind=AdmissionReview, got v1, Kind=Pod$/,
  ],
  ['type', () => ({ allowed: 'true' }), /received invalid webhook response: the answer cannot be read: /],
  ['patch', () => ({ allowed: true, patch: 'W10=' }), /webhook returned response.patch but not response.patchType$/],
];

test('a webhook that does not answer as it must refuses the write or lets it pass, as its policy says', async (t) => {
  const at = await world(t, Object.fromEntries(FAILURES.map(([path, does]) => [path, does])));
  const webhooks = FAILURES.flatMap(([path]) => {
    const webhook = webhookAt(at.hooks, path, { timeoutSeconds: path === 'hang' || path === 'drip' ? 1 : 30 });
    const objectSelector = { matchLabels: { case: path, policy: 'ignore' } };
    return [
      { ...webhook, objectSelector: { ...objectSelector, matchLabels: { case: path, policy: 'fail' } } },
      { ...webhook, name: `open-${path}.example.org`, failurePolicy: 'Ignore', objectSelector },
    ];
  });
  await configure(at, 'mutating', 'failing', webhooks);
  await Promise.all(
    FAILURES.map(async ([path, , told]) => {
      const write = (policy: string): ReturnType<typeof created> =>
        created(at, { metadata: { name: `${path}-${policy}`, labels: { case: path, policy } } });
      const refused = await write('fail');
      t.is(refused.status, 500, path);
      t.is(refused.json.reason, 'InternalError');
      const prefix = `Internal error occurred: failed calling webhook "${path}.example.org": `;
      t.true(refused.json.message?.startsWith(prefix), refused.json.message);
      t.regex(refused.json.message!.slice(prefix.length), told);
      t.is((await write('ignore')).status, 201, path);
    }),
  );
  const { text: metrics } = await at.server.client.get('/metrics');
  for (const line of [
    /^apiserver_admission_webhook_rejection_count\{.*name="uid.example.org".*error_type="calling_webhook_error".*\} 1$/m,
    /^apiserver_admission_webhook_fail_open_count\{.*name="open-uid.example.org".*\} 1$/m,
    /^apiserver_admission_webhook_admission_duration_seconds_count\{.*name="uid.example.org".*rejected="true".*\} 1$/m,
  ])
    t.regex(metrics, line);
});

test('a patch that cannot be, or makes an object that cannot be, refuses the write whatever the policy', async (t) => {
  const behaviours: Readonly<Record<string, Behaviour>> = {
    nonsense: () => ({ allowed: true, patchType: 'JSONPatch', patch: Buffer.from('{').toString('base64') }),
    unfit: () => patchOf({ op: 'remove', path: '/nothing' }),
    other: () => patchOf({ op: 'replace', path: '/kind', value: 'Secret' }),
    wrong: () => patchOf({ op: 'replace', path: '/data', value: { a: 1 } }),
    invalid: () => patchOf(set('no~1good', 'x')),
    moved: () => patchOf({ op: 'replace', path: '/metadata/namespace', value: 'elsewhere' }),
    xml: () => ({ ...patchOf(set('a', 'b')), patchType: 'XML' }),
  };
  const at = await world(t, behaviours);
  const ignore = { failurePolicy: 'Ignore' };
  await configure(
    at,
    'mutating',
    'm',
    Object.keys(behaviours).map((path) => webhookAt(at.hooks, path, ignore)),
  );
  for (const path of Object.keys(behaviours)) {
    const { status } = await created(at, map(path, path, { k: 'v' }));
    t.is(status, path === 'invalid' ? 422 : path === 'moved' ? 400 : 500, path);
  }
  await configure(at, 'mutating', 'n', [
    webhookAt(at.hooks, 'unfit', {
      name: 'del.example.org',
      rules: [{ operations: ['DELETE'], apiGroups: ['*'], apiVersions: ['*'], resources: ['secrets'] }],
    }),
  ]);
  const secrets = '/api/v1/namespaces/default/secrets';
  await at.server.client.request('POST', secrets, { body: map('s', 'unfit') });
  const { json } = await at.server.client.request('DELETE', `${secrets}/s`);
  t.is(
    json.message,
    'Internal error occurred: admission webhook "del.example.org" attempted to modify the object, which is not supported for this operation',
  );
});

test('webhooks change objects in the order of their configurations, and are asked again once where they want it', async (t) => {
  const append =
    (word: string): Behaviour =>
    ({ review }) => {
      const { data } = review.request.object as unknown as { data: { words: string } };
      return patchOf(set('words', `${data.words}${word}`));
    };
  const at = await world(t, {
    one: append('1'),
    two: append('2'),
    on: () => patchOf(set('light', 'on')),
    off: () => patchOf(set('light', 'off')),
  });
  const hears = (label: string, more: Webhook = {}): Webhook => ({
    objectSelector: { matchLabels: { case: label } },
    ...more,
  });
  const again = { reinvocationPolicy: 'IfNeeded' };
  await configure(at, 'mutating', 'b', [webhookAt(at.hooks, 'two', hears('words'))]);
  await configure(at, 'mutating', 'a', [webhookAt(at.hooks, 'one', hears('words', again))]);
  await configure(at, 'mutating', 'c', [
    webhookAt(at.hooks, 'on', hears('light', again)),
    webhookAt(at.hooks, 'off', hears('light', again)),
  ]);
  t.deepEqual((await created(at, map('words', 'words', { words: '' }))).json.data as unknown, { words: '121' });
  t.deepEqual((await created(at, map('light', 'light', { light: '' }))).json.data as unknown, { light: 'off' });
  t.is(at.hooks.asked.filter(({ path }) => path === 'on').length, 2);
  t.is(at.hooks.asked.filter(({ path }) => path === 'off').length, 2);
});

test("a dry run is no webhook's that may have side effects, and is told to the others", async (t) => {
  const at = await world(t, { safe: () => ({ allowed: true }), unsafe: () => ({ allowed: true }) });
  await configure(
    at,
    'validating',
    'v',
    [
      webhookAt(at.hooks, 'safe', { sideEffects: 'NoneOnDryRun', admissionReviewVersions: ['v2', 'v1beta1', 'v1'] }),
      webhookAt(at.hooks, 'unsafe', { sideEffects: 'Some', failurePolicy: 'Ignore' }),
    ],
    'v1beta1',
  );
  const refused = await created(at, map('dry', 'unsafe'), '?dryRun=All');
  t.is(refused.status, 400);
  t.is(refused.json.message, 'admission webhook "unsafe.example.org" does not support dry run');
  t.is(at.hooks.asked.length, 0);
  t.is((await created(at, map('wet', 'unsafe'))).status, 201);
  t.is((await created(at, map('dry', 'safe'), '?dryRun=All')).status, 201);
  const { review } = at.hooks.asked.at(-1)!;
  t.is(review.request.dryRun, true);
  t.is(review.apiVersion, 'admission.orch.io/v1beta1');
});

test('an object is told in the version that a rule names, and its changes come back; a selector is asked about what it was, too', async (t) => {
  const at = await world(t, {
    ingress: () => patchOf({ op: 'add', path: '/metadata/annotations', value: { by: 'v1' } }),
  });
  const rules = [
    {
      operations: ['*'],
      apiGroups: ['networking.orch.io'],
      apiVersions: ['v1'],
      resources: ['ingresses'],
      scope: 'Namespaced',
    },
  ];
  await configure(at, 'mutating', 'm', [webhookAt(at.hooks, 'ingress', { rules })]);
  await configure(at, 'mutating', 'exact', [
    webhookAt(at.hooks, 'exact', { rules, matchPolicy: 'Exact', objectSelector: {} }),
  ]);
  const path = '/apis/networking.orch.io/v1beta1/namespaces/default/ingresses';
  const metadata = { name: 'i', labels: { case: 'ingress' } };
  const spec = { backend: { serviceName: 's', servicePort: 80 } };
  const { json, status, text } = await at.server.client.request('POST', path, { body: { metadata, spec } });
  t.is(status, 201, text);
  t.like(json, { apiVersion: 'networking.orch.io/v1beta1', spec, metadata: { annotations: { by: 'v1' } } });
  const { request } = at.hooks.asked[0]!.review;
  t.like(request, {
    kind: { version: 'v1', kind: 'Ingress' },
    requestKind: { version: 'v1beta1' },
    resource: { version: 'v1' },
    requestResource: { version: 'v1beta1' },
    object: { apiVersion: 'networking.orch.io/v1', spec: { defaultBackend: { service: { name: 's' } } } },
  });
  const body = { metadata: { labels: { case: null } } };
  const contentType = 'application/merge-patch+json';
  t.is(
    (await at.server.client.request('PATCH', `${path}/i`, { body, headers: { 'content-type': contentType } })).status,
    200,
  );
  t.is(at.hooks.asked.length, 2);
});

test('a certificate of another authority, or of another time, is not believed', async (t) => {
  const at = await world(t, { allow: () => ({ allowed: true }) });
  const stranger = await webhookService(t, {});
  const expired = await webhookService(t, { allow: () => ({ allowed: true }) }, { until: '20200201000000Z' });
  const { url, caBundle } = at.hooks;
  const cases: Readonly<Record<string, object>> = {
    stranger: { url: `${url}/allow`, caBundle: stranger.caBundle },
    expired: { url: `${expired.url}/allow`, caBundle: expired.caBundle },
    another: { url: `https://localhost:${at.hooks.port}/allow`, caBundle },
    public: { url: `${url}/allow` },
  };
  const webhooks = Object.entries(cases).map(([name, clientConfig]) => webhookAt(at.hooks, name, { clientConfig }));
  await configure(at, 'validating', 'v', webhooks);
  for (const name of Object.keys(cases)) {
    const { status, json } = await created(at, map(name, name));
    t.is(status, 500, name);
    t.regex(json.message!, /the service could not be reached \([A-Z_]+\)$/);
  }
  t.is(at.hooks.asked.length + expired.asked.length, 0);
});

test('a webhook may write to the server meanwhile, and others are not held up by it', async (t) => {
  let write: () => Promise<number> = () => Promise.resolve(0);
  const at = await world(t, { back: async () => ({ allowed: (await write()) === 201 }) });
  write = async () => (await created(at, map('made-by-webhook', 'none'))).status;
  await configure(at, 'validating', 'v', [webhookAt(at.hooks, 'back')]);
  t.is((await created(at, map('back', 'back'))).status, 201);
  t.is((await at.server.client.get(`${MAPS}/made-by-webhook`)).status, 200);
});

test('a webhook cannot keep its own configuration from being changed', async (t) => {
  const at = await world(t, { deny: () => ({ allowed: false }) });
  const everything = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }];
  await configure(at, 'validating', 'all', [webhookAt(at.hooks, 'deny', { rules: everything, objectSelector: {} })]);
  t.is((await created(at, map('x', 'x'))).status, 400);
  const path = `${GROUP}/v1/validatingwebhookconfigurations/all`;
  t.is((await at.server.client.request('DELETE', path)).status, 200);
  t.is((await created(at, map('x', 'x'))).status, 201);
});

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
      /Post "https:\/\/hook\.default\.svc:\d+\/allow\?timeout=20s": service "hook" not found$/,
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
