import test from 'ava';
import { AdmissionWorld, type Answered, type Request, refusal } from './admission-world.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

test('a new object gets uid, time and version from the server, whatever it brings along', async (t) => {
  const world = await AdmissionWorld.start();
  const metadata = {
    name: 'a',
    uid: 'mine',
    generation: 7,
    selfLink: '/x',
    creationTimestamp: '2001-01-01T00:00:00Z',
    deletionTimestamp: '2001-01-01T00:00:00Z',
    deletionGracePeriodSeconds: 5,
    labels: { tier: 'front' },
    annotations: { note: 'n' },
  };
  const created = await world.created(CONFIG_MAPS, { metadata, data: { key: 'value' } });
  t.is(created.kind, 'ConfigMap');
  t.is(created.apiVersion, 'v1');
  const { uid, creationTimestamp, resourceVersion, managedFields, ...rest } = created.metadata;
  t.deepEqual(
    managedFields?.map(({ manager, operation }) => [manager, operation]),
    [['test', 'Update']],
  );
  t.regex(uid!, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  t.is(creationTimestamp, new Date(world.simulation.time.nowMs()).toISOString().replace(/\.\d+Z$/, 'Z'));
  t.is(resourceVersion, String(await world.revision()));
  // Nobody counts the generations of a kind like this.
  const kept = { labels: { tier: 'front' }, annotations: { note: 'n' }, generation: 7 };
  t.deepEqual(rest, { name: 'a', namespace: 'default', ...kept });
  t.deepEqual(created.data, { key: 'value' });
  t.deepEqual(await world.stored(`${CONFIG_MAPS}/a`), created);
  await world.stop();
});

test('status and generation begin as the type says', async (t) => {
  const world = await AdmissionWorld.start();
  const deployment = await world.created('/apis/apps/v1/namespaces/default/deployments', {
    metadata: { name: 'web', generation: 9 },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
    status: { replicas: 4 },
  });
  t.is(deployment.metadata.generation, 1);
  t.deepEqual(deployment.status, {});
  t.is(deployment.spec.replicas, 1);
  const pod = await world.created('/api/v1/namespaces/default/pods', {
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
    status: { phase: 'Running' },
  });
  t.is((pod.status as { phase: string }).phase, 'Pending');
  t.is(pod.spec.restartPolicy, 'Always');
  t.is(pod.spec.serviceAccountName, 'default');
  const namespace = await world.created('/api/v1/namespaces', { metadata: { name: 'n' } });
  t.deepEqual(namespace.spec, { finalizers: ['orch'] });
  t.deepEqual(namespace.status, { phase: 'Active' });
  await world.stop();
});

const POD = { metadata: { name: 'a' } };

/** Requests that are refused: what is asked, and what the Status says. */
const REFUSALS: readonly (readonly [
  what: string,
  path: string,
  request: Request,
  code: number,
  reason: string,
  details?: object,
])[] = [
  [
    'a name that exists',
    CONFIG_MAPS,
    { body: { metadata: { name: 'there' } } },
    409,
    'AlreadyExists',
    { name: 'there', kind: 'configmaps' },
  ],
  [
    'a namespace that does not exist',
    '/api/v1/namespaces/none/configmaps',
    { body: POD },
    404,
    'NotFound',
    { name: 'none', kind: 'namespaces' },
  ],
  [
    'another namespace than the path',
    CONFIG_MAPS,
    { body: { metadata: { name: 'a', namespace: 'other' } } },
    400,
    'BadRequest',
  ],
  ['another kind than the path', CONFIG_MAPS, { body: { kind: 'Secret', metadata: { name: 'a' } } }, 400, 'BadRequest'],
  [
    'another version than the path',
    CONFIG_MAPS,
    { body: { apiVersion: 'v2', metadata: { name: 'a' } } },
    400,
    'BadRequest',
  ],
  ['a name that is none', CONFIG_MAPS, { body: { metadata: { name: 'A_b' } } }, 422, 'Invalid'],
  ['no name', CONFIG_MAPS, { body: { metadata: {} } }, 422, 'Invalid'],
  ['a label that is none', CONFIG_MAPS, { body: { metadata: { name: 'a', labels: { 'a b': 'c' } } } }, 422, 'Invalid'],
  ['a resourceVersion', CONFIG_MAPS, { body: { metadata: { name: 'a', resourceVersion: '1' } } }, 400, 'BadRequest'],
  ['a kind that is no text', CONFIG_MAPS, { body: { kind: { toString: 1 }, metadata: {} } }, 400, 'BadRequest'],
  ['an apiVersion that is no text', CONFIG_MAPS, { body: { apiVersion: [{ toString: 1 }] } }, 400, 'BadRequest'],
  ['no object', CONFIG_MAPS, { body: '[1]' }, 400, 'BadRequest'],
  ['an empty body', CONFIG_MAPS, { body: '' }, 400, 'BadRequest'],
  ['broken JSON', CONFIG_MAPS, { body: '{"metadata":' }, 400, 'BadRequest'],
  [
    'a body that is not UTF-8',
    CONFIG_MAPS,
    { body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) },
    400,
    'BadRequest',
  ],
  [
    'a field of the wrong type',
    CONFIG_MAPS,
    { body: { metadata: { name: 'a' }, data: { key: 5 } } },
    400,
    'BadRequest',
  ],
  [
    'a field named __proto__',
    CONFIG_MAPS,
    { body: '{"metadata":{"name":"a"},"data":{"__proto__":"x"}}' },
    400,
    'BadRequest',
  ],
  ['nesting without end', CONFIG_MAPS, { body: `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}` }, 400, 'BadRequest'],
  [
    'a media type that is not served',
    CONFIG_MAPS,
    { body: POD, contentType: 'text/html' },
    415,
    'UnsupportedMediaType',
  ],
  ['an unknown resource', '/api/v1/namespaces/default/nothings', { body: POD }, 404, 'NotFound', {}],
  ['an unknown subresource', `${CONFIG_MAPS}/a/nothing`, { body: POD }, 404, 'NotFound', {}],
  ['a path that names an object', `${CONFIG_MAPS}/a`, { body: POD }, 405, 'MethodNotAllowed', {}],
  ['a path across all namespaces', '/api/v1/configmaps', { body: POD }, 405, 'MethodNotAllowed', {}],
  ['a namespace in the path of a type without', '/api/v1/namespaces/default/nodes', { body: POD }, 404, 'NotFound', {}],
  ['a dry run that is none', CONFIG_MAPS, { body: POD, parameters: { dryRun: ['Some'] } }, 422, 'Invalid'],
  [
    'a field manager that cannot be printed',
    CONFIG_MAPS,
    { body: POD, parameters: { fieldManager: 'a\u0001' } },
    422,
    'Invalid',
  ],
  [
    'an unknown field under Strict',
    CONFIG_MAPS,
    { body: { ...POD, dat: {} }, parameters: { fieldValidation: 'Strict' } },
    400,
    'BadRequest',
  ],
];

test('what cannot be created is refused with a Status that says why, and nothing is stored', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(CONFIG_MAPS, { metadata: { name: 'there' } });
  const before = await world.revision();
  for (const [what, path, request, code, reason, details] of REFUSALS) {
    const answer = await world.write('create', path, request);
    const { details: given, ...rest } = refusal(answer);
    t.deepEqual(rest, { kind: 'Status', code, ...(reason === '' ? {} : { reason }) } as never, what);
    t.is(answer.code, code, what);
    t.true(answer.body.message.length > 0, what);
    if (details !== undefined) t.deepEqual(given, details, what);
  }
  t.is(await world.revision(), before);
  await world.stop();
});

test('the causes of an invalid object name its fields', async (t) => {
  const world = await AdmissionWorld.start();
  const answer = await world.write('create', CONFIG_MAPS, { body: { metadata: { name: 'A', labels: { '/': '' } } } });
  t.is(answer.body.details?.kind, 'ConfigMap');
  t.is(answer.body.details?.name, 'A');
  const fields = new Set(answer.body.details?.causes?.map(({ field }) => field));
  t.deepEqual(fields, new Set(['metadata.name', 'metadata.labels']));
  t.true(answer.body.message.startsWith('ConfigMap "A" is invalid: ['));
  await world.stop();
});

test('a refusal names a kind by the group that it was in first', async (t) => {
  const world = await AdmissionWorld.start();
  const bad = { metadata: { name: 'A' } };
  const names: readonly (readonly [path: string, subject: string, group?: string])[] = [
    ['/apis/networking.orch.io/v1/namespaces/default/ingresses', 'Ingress.extensions "A"', 'extensions'],
    ['/apis/networking.orch.io/v1/namespaces/default/networkpolicies', 'NetworkPolicy.extensions "A"', 'extensions'],
    ['/apis/networking.orch.io/v1/ingressclasses', 'IngressClass.networking.orch.io "A"', 'networking.orch.io'],
    ['/apis/policy/v1beta1/podsecuritypolicies', 'PodSecurityPolicy.extensions "A"', 'extensions'],
    ['/apis/events.orch.io/v1/namespaces/default/events', 'Event "A"'],
    ['/apis/apps/v1/namespaces/default/deployments', 'Deployment.apps "A"', 'apps'],
  ];
  for (const [path, subject, group] of names) {
    const { body } = await world.write('create', path, { body: bad });
    t.true(body.message.startsWith(`${subject} is invalid: `), body.message);
    t.is(body.details?.group, group);
  }
  await world.stop();
});

test('a missing namespace is told before what is wrong with the object', async (t) => {
  const world = await AdmissionWorld.start();
  const answer = await world.write('create', '/api/v1/namespaces/none/configmaps', {
    body: { metadata: { name: 'A_' } },
  });
  t.is(answer.code, 404);
  t.is(answer.body.message, 'namespaces "none" not found');
  await world.stop();
});

test('a generated name is the prefix and five characters, and another is tried where it is taken', async (t) => {
  const world = await AdmissionWorld.start();
  const { random } = world.simulation;
  const create = () => world.created(CONFIG_MAPS, { metadata: { generateName: 'gen-' } });
  // Every draw is the same until the name has been refused twice.
  let draws = 0;
  const original = random.next.bind(random);
  random.next = () => (draws++ < 3 * 5 ? 0 : original());
  const first = await create();
  t.is(first.metadata.name, 'gen-bbbbb');
  t.is(first.metadata.generateName, 'gen-');
  const second = await create();
  t.not(second.metadata.name, 'gen-bbbbb');
  t.regex(second.metadata.name!, /^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  random.next = () => 0;
  const answer = await world.write('create', CONFIG_MAPS, { body: { metadata: { generateName: 'gen-' } } });
  t.deepEqual(refusal(answer), {
    kind: 'Status',
    code: 500,
    reason: 'ServerTimeout',
    details: { name: 'POST', kind: 'configmaps' },
  });
  await world.stop();
});

test('a name that is given is not generated', async (t) => {
  const world = await AdmissionWorld.start();
  const { metadata } = await world.created(CONFIG_MAPS, { metadata: { name: 'a', generateName: 'gen-' } });
  t.is(metadata.name, 'a');
  const again = await world.write('create', CONFIG_MAPS, { body: { metadata: { name: 'a', generateName: 'gen-' } } });
  t.is(again.code, 409);
  await world.stop();
});

test('nothing is created in a namespace that is being deleted', async (t) => {
  const world = await AdmissionWorld.start({ namespaces: ['going'] });
  const path = '/api/v1/namespaces/going/configmaps';
  await world.created(path, { metadata: { name: 'before' } });
  t.is((await world.write('delete', '/api/v1/namespaces/going')).code, 200);
  const answer = await world.write('create', path, { body: { metadata: { name: 'after' } } });
  t.is(answer.code, 403);
  t.is(answer.body.reason, 'Forbidden');
  t.deepEqual(answer.body.details, {
    name: 'after',
    kind: 'configmaps',
    causes: [
      {
        reason: 'NamespaceTerminating',
        message: 'namespace going is being terminated',
        field: 'metadata.namespace',
      },
    ],
  });
  const unnamed = await world.write('create', path, { body: { metadata: { generateName: 'gen-' } } });
  t.is(
    unnamed.body.message,
    'configmaps "gen-" is forbidden: unable to create new content in namespace going because it is being terminated',
  );
  // What is there can still be changed.
  const update = await world.write('update', `${path}/before`, {
    body: { metadata: { name: 'before' }, data: { a: 'b' } },
  });
  t.is(update.code, 200);
  await world.stop();
});

test('a namespace that goes between the look at it and the commit takes nothing along', async (t) => {
  const outcomes: Record<string, number> = {};
  for (const fate of ['deleted', 'terminating', 'changed', 'deleted and made again'] as const) {
    const world = await AdmissionWorld.start({ namespaces: ['ns'] });
    const path = '/api/v1/namespaces/ns/configmaps';
    await world.created(path, { metadata: { name: 'first' } });
    world.gate.beforeCommit = async () => {
      if (fate === 'changed') {
        await world.soon('patch', '/api/v1/namespaces/ns', { body: { metadata: { labels: { a: 'b' } } } });
        return;
      }
      await world.soon('delete', '/api/v1/namespaces/ns');
      if (fate === 'terminating') return;
      await world.soon('update', '/api/v1/namespaces/ns/finalize', { body: { metadata: { name: 'ns' }, spec: {} } });
      if (fate === 'deleted') return;
      await world.soon('create', '/api/v1/namespaces', { body: { metadata: { name: 'ns' } } });
    };
    outcomes[fate] = (await world.write('create', path, { body: { metadata: { name: 'second' } } })).code;
    t.is((await world.stored(`${path}/second`)) !== undefined, outcomes[fate] === 201);
    await world.stop();
  }
  t.deepEqual(outcomes, { deleted: 404, terminating: 403, changed: 201, 'deleted and made again': 201 });
});

test('a dry run answers as a create would, and stores nothing', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(CONFIG_MAPS, { metadata: { name: 'there' } });
  const before = await world.revision();
  const parameters = { dryRun: ['All'] };
  const dry = (path: string, body: object): Promise<Answered> => world.write('create', path, { body, parameters });
  const answer = await dry(CONFIG_MAPS, { metadata: { name: 'a' }, data: { k: 'v' } });
  t.is(answer.code, 201);
  t.deepEqual(Object.keys(answer.body).slice(0, 2), ['kind', 'apiVersion']);
  t.is(answer.body.kind, 'ConfigMap');
  t.is(answer.body.metadata.resourceVersion, undefined);
  t.truthy(answer.body.metadata.uid);
  t.deepEqual(answer.body.data, { k: 'v' });
  t.is((await dry(CONFIG_MAPS, { metadata: { name: 'there' } })).code, 409);
  t.is((await dry(CONFIG_MAPS, { metadata: { name: 'A_' } })).code, 422);
  t.is((await dry('/api/v1/namespaces/none/configmaps', { metadata: { name: 'a' } })).code, 404);
  t.is(await world.revision(), before);
  t.is(await world.stored(`${CONFIG_MAPS}/a`), undefined);
  await world.stop();
});

test('of creates of one name at once exactly one succeeds', async (t) => {
  const world = await AdmissionWorld.start();
  const creates = Array.from({ length: 10 }, () =>
    world.soon('create', CONFIG_MAPS, { body: { metadata: { name: 'a' } } }),
  );
  const codes = (await world.during(Promise.all(creates))).map(({ code }) => code).sort();
  t.deepEqual(codes, [201, ...Array<number>(9).fill(409)]);
  await world.stop();
});

test('a create says when the object in its way is being deleted', async (t) => {
  const world = await AdmissionWorld.start();
  const path = '/api/v1/namespaces/default/configmaps';
  const held = { metadata: { name: 'it', finalizers: ['example.com/hold'] } };
  await world.created(path, held);
  const taken = await world.write('create', path, { body: held });
  t.is(taken.body.message, 'configmaps "it" already exists');
  await world.write('delete', `${path}/it`);
  for (const parameters of [{}, { dryRun: ['All'] }]) {
    const { code, body } = await world.write('create', path, { body: held, parameters });
    t.is(code, 409);
    t.is(body.reason, 'AlreadyExists');
    t.is(body.message, 'object is being deleted: configmaps "it" already exists');
  }
  await world.stop();
});

test('a pod that leaves out its resolver, or says how it preempts, is told so in the words of Kubernetes', async (t) => {
  const world = await AdmissionWorld.start();
  const path = '/api/v1/namespaces/default/pods';
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  const causesOf = ({ body: { details } }: Answered) => (details?.causes ?? []).map(({ message }) => message);
  const body = { metadata: { name: 'web' }, spec: { ...spec, dnsPolicy: 'None' } };
  t.deepEqual(causesOf(await world.write('create', path, { body })), [
    'Required value: must provide `dnsConfig` when `dnsPolicy` is None',
  ]);
  await world.created(path, { metadata: { name: 'web' }, spec });
  const patched = await world.write('patch', `${path}/web`, { body: { spec: { preemptionPolicy: 'Often' } } });
  t.is(causesOf(patched)[0], 'Unsupported value: "Often": supported values: "PreemptLowerPriority", "Never"');
  await world.stop();
});
