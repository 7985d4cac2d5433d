// Admission webhooks on a real server: what they are asked, and what their answers and changes come to.
import test from 'ava';
import { type Behaviour, patchOf } from '../server/webhook-service.ts';
import { configure, created, GROUP, MAPS, map, set, type Webhook, webhookAt, world } from './hooked-server.ts';

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
  const dryRun = await server.client.request('DELETE', `${MAPS}/allowed?dryRun=All`);
  t.deepEqual([dryRun.status, dryRun.headers.warning], [200, '299 - "look out"']);
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

test("webhooks see who owns the fields of a new object, and what they set is nobody's", async (t) => {
  const entry = { manager: 'hook', operation: 'Update', apiVersion: 'v1', time: '2026-01-01T00:00:00Z' };
  const owners = (value: unknown) => patchOf(set('by', 'w'), { op: 'replace', path: '/metadata/managedFields', value });
  const at = await world(t, {
    sets: () => patchOf(set('by', 'webhook')),
    garbles: () => owners([{ ...entry, fieldsType: 'FieldsV2' }]),
    takes: () => owners([{ ...entry, fieldsType: 'FieldsV1', fieldsV1: { 'f:data': { 'f:by': {} } } }]),
    clears: () => patchOf({ op: 'remove', path: '/metadata/managedFields' }),
    looks: () => ({ allowed: true }),
  });
  const paths = ['sets', 'garbles', 'takes', 'clears'];
  await configure(
    at,
    'mutating',
    'm',
    paths.map((path) => webhookAt(at.hooks, path)),
  );
  await configure(at, 'validating', 'v', [webhookAt(at.hooks, 'looks')]);
  const own = { 'f:data': { '.': {}, 'f:a': {} }, 'f:metadata': { 'f:labels': { '.': {}, 'f:case': {} } } };
  const ownersOf = (object: unknown) =>
    (object as { metadata: { managedFields?: { manager: string; fieldsV1: object }[] } }).metadata.managedFields;
  const fieldsOf = (object: unknown) => ownersOf(object)?.map(({ manager, fieldsV1 }) => ({ manager, fieldsV1 }));
  const made = async (path: string) => {
    const answer = await created(at, map(path, path, { a: 'b' }), '?fieldManager=me');
    t.is(answer.status, 201, answer.text);
    const stored = await at.server.client.get(`${MAPS}/${path}`);
    t.deepEqual(ownersOf(stored.json), ownersOf(answer.json));
    const told = at.hooks.asked.filter((asked) => asked.path === path)[0]!.review.request.object;
    t.deepEqual(fieldsOf(told), [{ manager: 'me', fieldsV1: own }], path);
    return answer;
  };
  t.deepEqual(fieldsOf((await made('sets')).json), [{ manager: 'me', fieldsV1: own }]);
  t.deepEqual(fieldsOf((await made('looks')).json), [{ manager: 'me', fieldsV1: own }]);
  t.deepEqual(fieldsOf((await made('takes')).json), [{ manager: 'hook', fieldsV1: { 'f:data': { 'f:by': {} } } }]);
  t.is(fieldsOf((await made('clears')).json), undefined);
  const garbled = await made('garbles');
  t.deepEqual(fieldsOf(garbled.json), [{ manager: 'me', fieldsV1: own }]);
  t.regex(
    String(garbled.headers.warning),
    /^299 - "\.metadata\.managedFields was in an invalid state after admission; /,
  );
  t.regex(
    String(garbled.headers.warning),
    /please fix your requests: invalid fieldsType .*FieldsV2.* in managed fields entry 0"$/,
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

test('what a webhook brings in has the defaults of its type, also for those that are asked after it', async (t) => {
  const sidecar = { name: 'sidecar', image: 'example/sidecar:1', ports: [{ containerPort: 80 }] };
  const at = await world(t, {
    injects: () => patchOf({ op: 'add', path: '/template/spec/containers/-', value: sidecar }),
    after: () => ({ allowed: true }),
  });
  const rules = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['podtemplates'] }];
  const webhooks = ['injects', 'after'].map((path) => webhookAt(at.hooks, path, { rules, objectSelector: {} }));
  await configure(at, 'mutating', 'm', webhooks);
  const path = '/api/v1/namespaces/default/podtemplates';
  const withOne = (image: string) => ({
    metadata: { name: 'one' },
    template: { spec: { containers: [{ name: 'main', image }] } },
  });
  const whole = {
    ...sidecar,
    ports: [{ containerPort: 80, protocol: 'TCP' }],
    imagePullPolicy: 'IfNotPresent',
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    resources: {},
  };
  const sidecarOf = (object: unknown): unknown =>
    (object as { template: { spec: { containers: unknown[] } } }).template.spec.containers[1];
  for (const [method, url, image] of [
    ['POST', path, 'example/main:1'],
    ['PUT', `${path}/one`, 'example/main:2'],
  ] as const) {
    const answer = await at.server.client.request(method, url, { body: withOne(image) });
    t.true(answer.status < 300, answer.text);
    t.deepEqual(sidecarOf(answer.json), whole, method);
    const told = at.hooks.asked.filter((asked) => asked.path === 'after').at(-1)!.review.request.object;
    t.deepEqual(sidecarOf(told), whole, `${method}, as told`);
  }
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

test('a webhook cannot keep its own configuration from being changed', async (t) => {
  const at = await world(t, { deny: () => ({ allowed: false }) });
  const everything = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }];
  await configure(at, 'validating', 'all', [webhookAt(at.hooks, 'deny', { rules: everything, objectSelector: {} })]);
  t.is((await created(at, map('x', 'x'))).status, 400);
  const path = `${GROUP}/v1/validatingwebhookconfigurations/all`;
  t.is((await at.server.client.request('DELETE', path)).status, 200);
  t.is((await created(at, map('x', 'x'))).status, 201);
});

test('what webhooks warn of is told to whoever opens a connection, whatever comes of it', async (t) => {
  const at = await world(t, {
    allow: () => ({ allowed: true, warnings: ['look out'] }),
    deny: () => ({ allowed: false, warnings: ['why'] }),
  });
  const hears = (subresource: string): Webhook => ({
    rules: [{ operations: ['CONNECT'], apiGroups: [''], apiVersions: ['v1'], resources: [`pods/${subresource}`] }],
    objectSelector: {},
  });
  await configure(at, 'validating', 'v', [
    webhookAt(at.hooks, 'allow', hears('exec')),
    webhookAt(at.hooks, 'deny', hears('attach')),
  ]);
  const opened = (subresource: string) =>
    at.server.client.request('POST', `/api/v1/namespaces/default/pods/none/${subresource}`);
  const missing = await opened('exec');
  t.deepEqual([missing.status, missing.headers.warning], [404, '299 - "look out"']);
  const denied = await opened('attach');
  t.deepEqual([denied.status, denied.headers.warning], [400, '299 - "why"']);
});
