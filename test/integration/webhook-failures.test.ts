// Admission webhooks that fail, dawdle, or make what cannot be: what becomes of the write, and of others beside it.
import test from 'ava';
import { MetricsText } from '../server/metrics-text.ts';
import { type Behaviour, patchOf, webhookService } from '../server/webhook-service.ts';
import { configure, created, GROUP, MAPS, map, set, webhookAt, world } from './hooked-server.ts';
import { eventually } from './objects.ts';

/** What goes wrong, and what the client is told where the policy is to fail. */
const FAILURES: readonly (readonly [path: string, does: Behaviour, told: RegExp])[] = [
  ['hang', () => undefined, /^Post "https:.*\/hang\?timeout=1s": context deadline exceeded$/],
  ['drip', ({ response }) => void response.write('{'), /context deadline exceeded$/],
  ['close', ({ response }) => void response.destroy(), /^Post ".*": EOF$/],
  [
    'redirect',
    ({ response }) => void response.writeHead(307, { location: 'https://127.0.0.1:1/allow' }).end(),
    /^the server responded with the status code 307 but did not return more information$/,
  ],
  [
    'error',
    ({ response }) => void response.writeHead(500).end('out of "order"\n'),
    /^an error on the server \("out of \\"order\\""\) has prevented the request from succeeding$/,
  ],
  [
    'nothing',
    ({ response }) => void response.writeHead(404).end(),
    /^the server could not find the requested resource$/,
  ],
  ['forbids', ({ response }) => void response.writeHead(403).end('keep out'), /^keep out$/],
  [
    'status',
    ({ response }) =>
      void response.writeHead(503).end('{"kind":"Status","apiVersion":"v1","status":"Failure","message":"at lunch"}'),
    /^at lunch$/,
  ],
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
    /expected webhook response of admission.orch.io\/v1, Kind=AdmissionReview, got \/v1, Kind=Pod$/,
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
    // Each of them was called twice: for the write that fails and for the one that goes on.
    /^rest_client_requests_total\{code="503",host="127.0.0.1:\d+",method="POST"\} 2$/m,
    /^rest_client_requests_total\{code="<error>",host="127.0.0.1:\d+",method="POST"\} [1-9]/m,
  ])
    t.regex(metrics, line);
});

test('a webhook that is busy is asked again when it says so, and one that is busy for longer than it is waited for has failed', async (t) => {
  const begun = new Set<string>();
  const busyOnce: Behaviour = ({ review, response }) => {
    const { uid } = review.request;
    if (begun.has(uid)) return { allowed: true };
    begun.add(uid);
    return void response.writeHead(503, { 'retry-after': '0' }).end();
  };
  const at = await world(t, {
    once: busyOnce,
    long: ({ response }) => void response.writeHead(429, { 'retry-after': '3600' }).end(),
  });
  await configure(at, 'mutating', 'm', [webhookAt(at.hooks, 'once'), webhookAt(at.hooks, 'long')]);
  await configure(at, 'validating', 'v', [webhookAt(at.hooks, 'once')]);
  t.is((await created(at, map('once', 'once'))).status, 201);
  t.is(at.hooks.asked.length, 4, 'both of them, the same question twice');
  const { status, json } = await created(at, map('long', 'long'));
  t.is(status, 500);
  t.regex(json.message!, /failed calling webhook "long.example.org": /);
});

test('a webhook that ends its connection instead of answering is asked again where it says that this does no harm', async (t) => {
  const used = new WeakSet<object>();
  const endsKept: Behaviour = ({ request: { socket }, response }) => {
    if (used.has(socket)) return void response.destroy();
    used.add(socket);
    return { allowed: true };
  };
  const at = await world(t, { none: endsKept, some: endsKept });
  const some = webhookAt(at.hooks, 'some', { sideEffects: 'NoneOnDryRun' });
  await configure(at, 'validating', 'v', [webhookAt(at.hooks, 'none'), some]);
  for (const [path, second] of [
    ['none', 201],
    ['some', 500],
  ] as const) {
    t.is((await created(at, map(`${path}-1`, path))).status, 201);
    t.is((await created(at, map(`${path}-2`, path))).status, second, path);
  }
  const asked = (path: string): number => at.hooks.asked.filter((one) => one.path === path).length;
  t.deepEqual([asked('none'), asked('some')], [3, 2]);
});

test('a patch that cannot be, or makes an object that cannot be, refuses the write whatever the policy', async (t) => {
  const behaviours: Readonly<Record<string, Behaviour>> = {
    nonsense: () => ({ allowed: true, patchType: 'JSONPatch', patch: Buffer.from('{').toString('base64') }),
    unfit: () => patchOf({ op: 'remove', path: '/nothing' }),
    other: () => patchOf({ op: 'replace', path: '/kind', value: 'Secret' }),
    wrong: () => patchOf({ op: 'replace', path: '/data', value: { a: 1 } }),
    invalid: () => patchOf(set('no~1good', 'x')),
    moved: () => patchOf({ op: 'replace', path: '/metadata/namespace', value: 'elsewhere' }),
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
    const { status, json: said } = await created(at, map(path, path, { k: 'v' }));
    if (path === 'unfit') t.regex(said.message ?? '', /doc is missing path: "\/nothing": missing value$/);
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

test('a patch of a type that is not known is no answer, unless it is one of old, which did not have to say it', async (t) => {
  const xml = { ...patchOf(set('a', 'b')), patchType: 'XML' };
  const at = await world(t, { fail: () => xml, ignore: () => xml, old: () => xml });
  await configure(at, 'mutating', 'm', [
    webhookAt(at.hooks, 'fail'),
    webhookAt(at.hooks, 'ignore', { failurePolicy: 'Ignore' }),
    webhookAt(at.hooks, 'old', { admissionReviewVersions: ['v1beta1'] }),
  ]);
  const refused = await created(at, map('fail', 'fail'));
  t.is(refused.status, 500);
  t.is(
    refused.json.message,
    'Internal error occurred: failed calling webhook "fail.example.org": unsupported patch type "XML"',
  );
  const ignored = await created(at, map('ignore', 'ignore', { k: 'v' }));
  t.deepEqual([ignored.status, ignored.json.data], [201, { k: 'v' }]);
  const old = await created(at, map('old', 'old', { k: 'v' }));
  t.deepEqual([old.status, old.json.data], [201, { a: 'b', k: 'v' }]);
});

test('a certificate of another authority, or of another time, is not believed', async (t) => {
  const at = await world(t, { allow: () => ({ allowed: true }) });
  const stranger = await webhookService(t, {});
  const expired = await webhookService(t, { allow: () => ({ allowed: true }) }, { until: '20200201000000Z' });
  const { url, caBundle } = at.hooks;
  const cases: Readonly<Record<string, readonly [clientConfig: object, words: RegExp]>> = {
    stranger: [
      { url: `${url}/allow`, caBundle: stranger.caBundle },
      /: x509: certificate signed by unknown authority$/,
    ],
    expired: [
      { url: `${expired.url}/allow`, caBundle: expired.caBundle },
      /: x509: certificate has expired or is not yet valid$/,
    ],
    another: [{ url: `https://localhost:${at.hooks.port}/allow`, caBundle }, /: x509: certificate is .* localhost$/],
    public: [{ url: `${url}/allow` }, /: x509: certificate signed by unknown authority$/],
  };
  const webhooks = Object.entries(cases).map(([name, [clientConfig]]) => webhookAt(at.hooks, name, { clientConfig }));
  await configure(at, 'validating', 'v', webhooks);
  for (const [name, [, words]] of Object.entries(cases)) {
    const { status, json } = await created(at, map(name, name));
    t.is(status, 500, name);
    t.regex(json.message!, words);
  }
  const open = webhooks.map((webhook) => ({ ...webhook, failurePolicy: 'Ignore' }));
  await configure(at, 'mutating', 'open', open);
  t.is((await at.server.client.request('DELETE', `${GROUP}/v1/validatingwebhookconfigurations/v`)).status, 200);
  for (const name of Object.keys(cases)) t.is((await created(at, map(name, name))).status, 201, name);
  t.is(at.hooks.asked.length + expired.asked.length, 0);
  const { text: metrics } = await at.server.client.get('/metrics');
  for (const name of Object.keys(cases))
    t.regex(
      metrics,
      new RegExp(`^apiserver_admission_webhook_fail_open_count\\{.*name="${name}.example.org".*\\} 1$`, 'm'),
    );
});

test('a webhook that takes its time, but not more than it has, decides about the write', async (t) => {
  let answer = (_allowed: boolean): void => {};
  const slow = (): Promise<object> =>
    new Promise((resolve) => {
      answer = (allowed) => resolve({ allowed });
    });
  const at = await world(t, { slow, open: slow });
  const webhooks = [webhookAt(at.hooks, 'slow'), webhookAt(at.hooks, 'open', { failurePolicy: 'Ignore' })];
  await configure(at, 'validating', 'v', webhooks);
  for (const [label, allowed, status] of [
    ['slow', true, 201],
    ['slow', false, 400],
    ['open', true, 201],
    ['open', false, 400],
  ] as const) {
    const before = at.hooks.asked.length;
    const writing = created(at, map(`${label}-${allowed}`, label));
    await eventually(
      async () => at.hooks.asked.length,
      (count) => count > before,
    );
    t.is((await created(at, map(`beside-${label}-${allowed}`, 'none'))).status, 201);
    answer(allowed);
    t.is((await writing).status, status, `${label} ${allowed}`);
  }
});

test('a webhook may write to the server meanwhile, and others are not held up by it', async (t) => {
  let write: () => Promise<number> = () => Promise.resolve(0);
  const at = await world(t, { back: async () => ({ allowed: (await write()) === 201 }) });
  write = async () => (await created(at, map('made-by-webhook', 'none'))).status;
  await configure(at, 'validating', 'v', [webhookAt(at.hooks, 'back')]);
  t.is((await created(at, map('back', 'back'))).status, 201);
  t.is((await at.server.client.get(`${MAPS}/made-by-webhook`)).status, 200);
});

test('nothing comes of a write that its client has no more time for, and it is counted as given up', async (t) => {
  // Answers after all, but not before its call has been given up.
  let answer = (): void => {};
  const slow = (): Promise<object> =>
    new Promise((resolve) => {
      answer = () => resolve({ allowed: true });
    });
  const at = await world(t, { fail: slow, ignore: slow });
  const metrics = async (): Promise<MetricsText> => new MetricsText((await at.server.client.get('/metrics')).text);
  const late = (of: MetricsText): number =>
    of.sum('apiserver_request_post_timeout_total', { source: 'rest-handler', status: 'error' });
  const given = { verb: 'POST', resource: 'configmaps', code: '504' };
  const givenUp: string[] = [];
  /** What else may be: the clock of the call strikes before that of the request, a moment before its time is over. */
  const fromCall: Readonly<Record<string, number>> = { Fail: 500, Ignore: 201 };
  let requests = 0;
  for (const [failurePolicy, otherwise] of Object.entries(fromCall)) {
    const path = failurePolicy.toLowerCase();
    await configure(at, 'validating', path, [webhookAt(at.hooks, path, { failurePolicy })]);
    const lateBefore = late(await metrics());
    let now: MetricsText;
    do {
      // On a machine that is busy the second may be over before anything is begun, and nothing is late then.
      const name = `${path}-${++requests}`;
      const { status } = await created(at, map(name, path), '?timeout=1s');
      if (status === 504) givenUp.push(name);
      else t.is(status, otherwise);
      now = await metrics();
    } while (late(now) === lateBefore);
    const terminated = now.sum('apiserver_request_terminations_total', given);
    const counted = `${late(now)} late, ${terminated} of ${givenUp.length} terminated`;
    t.true(late(now) <= terminated && terminated <= givenUp.length, counted);
    answer();
  }
  for (const name of givenUp) t.is((await at.server.client.get(`${MAPS}/${name}`)).status, 404, name);
});
