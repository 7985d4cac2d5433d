// Patches by admission: what they change, what they insist on, and which are refused.
import test from 'ava';
import { AdmissionWorld, type Answered, refusal } from './admission-world.ts';
import { defineThings, THINGS, thing } from './custom-things.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const A = `${CONFIG_MAPS}/a`;

test('patches at once are all applied, each to what the others left', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(CONFIG_MAPS, { metadata: { name: 'a' } });
  const patches = Array.from({ length: 12 }, (_, index) =>
    world.soon('patch', A, { body: { data: { [`k${index}`]: String(index) } } }),
  );
  const answers = await world.during(Promise.all(patches));
  t.deepEqual([...new Set(answers.map(({ code }) => code))], [200]);
  t.deepEqual(
    (await world.stored(A))?.data,
    Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`k${index}`, String(index)])),
  );
  await world.stop();
});

test('a patch that names a version insists on it', async (t) => {
  const world = await AdmissionWorld.start();
  const { metadata } = await world.created(CONFIG_MAPS, { metadata: { name: 'a' } });
  const { resourceVersion } = metadata;
  const patch = (version: string | undefined) =>
    world.write('patch', A, { body: { metadata: { resourceVersion: version }, data: { k: version } } });
  t.is((await patch('1')).code, 409);
  t.is((await patch(resourceVersion)).code, 200);
  t.is((await patch(resourceVersion)).code, 409);
  const stored = await world.stored(A);
  t.deepEqual(stored?.data, { k: resourceVersion! });
  await world.stop();
});

test('what a patch may not do is refused', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(CONFIG_MAPS, { metadata: { name: 'a' }, data: { k: 'v' } });
  const before = await world.revision();
  const json = 'application/json-patch+json';
  const merge = 'application/merge-patch+json';
  const cases: readonly (readonly [what: string, path: string, type: string, body: string, code: number])[] = [
    ['missing object', `${CONFIG_MAPS}/none`, merge, '{"data":{"a":"b"}}', 404],
    ['media type', A, 'application/json', '{"data":{"a":"b"}}', 415],
    ['no list of operations', A, json, '{"op":"add"}', 400],
    ['missing path', A, json, '[{"op":"remove","path":"/data/none"}]', 422],
    ['failed test', A, json, '[{"op":"test","path":"/data/k","value":"x"}]', 422],
    ['no object', A, merge, '[1]', 400],
    ['broken JSON', A, merge, '{', 400],
    ['another name', A, merge, '{"metadata":{"name":"b"}}', 400],
    ['another name and more', A, merge, '{"metadata":{"name":"b"},"data":{"a":"b"}}', 400],
    ['another name by its path', A, json, '[{"op":"replace","path":"/metadata/name","value":"b"}]', 400],
    ['another kind', A, merge, '{"kind":"Secret"}', 422],
    ['a field of the wrong type', A, merge, '{"data":{"k":{"x":1}}}', 422],
    ['a name that is none for a label', A, merge, '{"metadata":{"labels":{"a b":"c"}}}', 422],
    ['a new finalizer that is none', A, merge, '{"metadata":{"finalizers":["a b"]}}', 422],
    ['the prototype', A, merge, '{"data":{"__proto__":"x"}}', 400],
    ['a collection', CONFIG_MAPS, merge, '{}', 405],
  ];
  for (const [what, path, contentType, body, code] of cases) {
    const answer = await world.write('patch', path, { body, contentType });
    t.is(answer.code, code, `${what}: ${answer.body.message}`);
    t.is(answer.body.kind, 'Status', what);
  }
  // That is told before what is wrong with the options.
  const options = { force: 'true', dryRun: 'x' };
  const unread = await world.write('patch', A, { body: '{}', contentType: 'text/plain', parameters: options });
  t.is(unread.code, 415);
  t.is(await world.revision(), before);
  await world.stop();
});

const STRATEGIC = 'application/strategic-merge-patch+json';

const unfit: readonly (readonly [what: string, type: string, patch: object, detail: string])[] = [
  ['a text for a map', STRATEGIC, { metadata: { labels: 'x' } }, 'cannot restore map from string at metadata.labels'],
  [
    'a text for a list',
    STRATEGIC,
    { spec: { containers: 'x' } },
    'cannot restore slice from string at spec.containers',
  ],
  [
    'an object for a list',
    STRATEGIC,
    { spec: { tolerations: {} } },
    'cannot restore slice from map at spec.tolerations',
  ],
  ['a number for an object', STRATEGIC, { spec: 7 }, 'cannot restore struct from: int64 at spec'],
  ['a list for an object', STRATEGIC, { spec: { affinity: [] } }, 'cannot restore struct from: slice at spec.affinity'],
  ['a text for a number', STRATEGIC, { spec: { priority: 'x' } }, 'unrecognized type: int32 at spec.priority'],
  ['a number for a text', STRATEGIC, { spec: { nodeName: 7 } }, 'cannot convert int64 to string at spec.nodeName'],
  ['an object for a flag', STRATEGIC, { spec: { hostPID: {} } }, 'unrecognized type: bool at spec.hostPID'],
  ['a flag for a text', STRATEGIC, { spec: { nodeName: true } }, 'unrecognized type: string at spec.nodeName'],
  [
    'a text for a map, merged',
    'application/merge-patch+json',
    { metadata: { labels: 'x' } },
    'cannot restore map from string at metadata.labels',
  ],
];

for (const [what, contentType, patch, detail] of unfit) {
  test(`a patch that gives ${what} is refused at the patch`, async (t) => {
    const world = await AdmissionWorld.start();
    const pods = '/api/v1/namespaces/default/pods';
    await world.created(pods, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    const answer = await world.write('patch', `${pods}/p`, { body: patch, contentType });
    const message = `Invalid value: ${JSON.stringify(JSON.stringify(patch))}: ${detail}`;
    t.deepEqual(refusal(answer), {
      kind: 'Status',
      code: 422,
      reason: 'Invalid',
      details: { causes: [{ reason: 'FieldValueInvalid', message, field: 'patch' }] },
    });
    t.is(answer.body.message, ` "" is invalid: patch: ${message}`);
    await world.stop();
  });
}

test('a strategic merge patch may name any kind and version, as a scale’s names its owner', async (t) => {
  const world = await AdmissionWorld.start();
  const deployments = '/apis/apps/v1/namespaces/default/deployments';
  const spec = {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  };
  await world.created(deployments, { metadata: { name: 'd' }, spec });
  const strategic = (path: string, body: object) =>
    world.write('patch', `${deployments}/${path}`, { body, contentType: STRATEGIC });
  const scaled = await strategic('d/scale', { kind: 'Deployment', metadata: { name: 'd' }, spec: { replicas: 3 } });
  t.deepEqual([scaled.code, scaled.body.kind, scaled.body.spec], [200, 'Scale', { replicas: 3 }]);
  const labelled = await strategic('d', {
    apiVersion: 'extensions/v1beta1',
    kind: 'Old',
    metadata: { labels: { x: 'y' } },
  });
  t.deepEqual([labelled.code, labelled.body.apiVersion, labelled.body.kind], [200, 'apps/v1', 'Deployment']);
  t.is((await world.stored(`${deployments}/d`))?.metadata.labels?.x, 'y');
  t.is((await strategic('d', { kind: 5 })).code, 422);
  await world.stop();
});

test('a patch that names another uid is invalid: so the controllers of workloads know a pod that was made anew', async (t) => {
  const world = await AdmissionWorld.start();
  const { metadata } = await world.created(CONFIG_MAPS, { metadata: { name: 'a' } });
  const ownerReferences = [{ $patch: 'delete', uid: 'owner' }];
  const released = (uid: string): Promise<Answered> =>
    world.write('patch', A, {
      contentType: 'application/strategic-merge-patch+json',
      body: { metadata: { uid, ownerReferences } },
    });
  const answer = await released('other');
  t.is(answer.code, 422);
  t.is(answer.body.message, 'ConfigMap "a" is invalid: metadata.uid: Invalid value: "other": field is immutable');
  t.is((await released(metadata.uid!)).code, 200);
  const apply = { contentType: 'application/apply-patch+yaml', parameters: { fieldManager: 'm' } };
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', uid: 'other' } };
  t.is((await world.write('patch', A, { ...apply, body })).code, 422);
  await world.stop();
});

test('an apply names the version of its path', async (t) => {
  const world = await AdmissionWorld.start();
  const apply = { contentType: 'application/apply-patch+yaml', parameters: { fieldManager: 'm' } };
  for (const given of [{ apiVersion: 'apps/v1' }, {}]) {
    const body = { ...given, kind: 'ConfigMap', metadata: { name: 'a' } };
    const answer = await world.write('patch', A, { ...apply, body });
    t.is(answer.code, 400);
    const versions = `Specified patch version: ${given.apiVersion ?? ''}, expected: v1`;
    t.is(answer.body.message, `Incorrect version specified in apply patch. ${versions}`);
  }
  await world.stop();
});

test('what is applied is an object, and says of which kind', async (t) => {
  const world = await AdmissionWorld.start();
  const apply = { contentType: 'application/apply-patch+yaml', parameters: { fieldManager: 'm' } };
  const metadata = { name: 'a' };
  for (const [body, message] of [
    [[], 'the body must be an object of kind ConfigMap'],
    [{ apiVersion: 'v1', metadata }, 'an applied object must have its kind, here ConfigMap'],
    [
      { apiVersion: 'v1', kind: 'Secret', metadata },
      'the kind in the data (Secret) does not match the expected kind (ConfigMap)',
    ],
  ] as const) {
    const answer = await world.write('patch', A, { ...apply, body: Buffer.from(JSON.stringify(body)) });
    t.deepEqual([answer.code, answer.body.message], [400, message]);
  }
  t.is(await world.stored(A), undefined);
  await world.stop();
});

test('what a patch makes an object of another kind is refused at the patch', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(CONFIG_MAPS, { metadata: { name: 'a' } });
  const json = 'application/json-patch+json';
  const merge = 'application/merge-patch+json';
  const cases: readonly (readonly [contentType: string, body: unknown, detail: string])[] = [
    [merge, { kind: 'Secret' }, 'converting (v1.Secret) to (core.ConfigMap): unknown conversion'],
    [json, [{ op: 'replace', path: '/kind', value: 'Foo' }], 'no kind "Foo" is registered for version "v1"'],
    [merge, { apiVersion: 'apps/v7' }, 'no kind "ConfigMap" is registered for version "apps/v7"'],
  ];
  for (const [contentType, body, detail] of cases) {
    const text = JSON.stringify(body);
    const answer = await world.write('patch', A, { contentType, body: text });
    t.is(answer.code, 422);
    t.is(answer.body.message, ` "" is invalid: patch: Invalid value: ${JSON.stringify(text)}: ${detail}`);
  }
  await world.stop();
});

test('a merge patch that makes a custom object one of another kind or version breaks the rules of its type', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  await world.created(THINGS, thing('it', { size: 1 }));
  const patched = async (body: object): Promise<Answered> =>
    world.write('patch', `${THINGS}/it`, { contentType: 'application/merge-patch+json', body: JSON.stringify(body) });
  const { code, body } = await patched({ kind: 'Other', apiVersion: 'example.com/v2' });
  t.is(code, 422);
  const causes = [
    'kind: Invalid value: "Other": must be Thing',
    'apiVersion: Invalid value: "example.com/v2": must be example.com/v1',
  ];
  t.is(body.message, `Other.example.com "it" is invalid: [${causes.join(', ')}]`);
  t.is((await patched({ kind: 'Thing', spec: { size: 2 } })).code, 200);
  await world.stop();
});

test('a merge patch may name another version of the object', async (t) => {
  const world = await AdmissionWorld.start();
  const at = (version: string): string => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
  await world.created(at('v1'), { metadata: { name: 'h' }, spec: { maxReplicas: 3, scaleTargetRef } });
  const resource = { name: 'memory', target: { type: 'Utilization', averageUtilization: 70 } };
  const spec = { maxReplicas: 5, metrics: [{ type: 'Resource', resource }] };
  const answer = await world.write('patch', `${at('v1')}/h`, {
    contentType: 'application/merge-patch+json',
    body: JSON.stringify({ apiVersion: 'autoscaling/v2beta2', spec }),
  });
  t.is(answer.code, 200);
  t.is(answer.body.apiVersion, 'autoscaling/v1');
  t.is((answer.body.spec as { maxReplicas: number }).maxReplicas, 5);
  t.regex(answer.body.metadata.annotations?.['autoscaling.alpha.orch.io/metrics'] ?? '', /memory/);
  await world.stop();
});

test('a JSON patch and a merge patch change and remove members', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(CONFIG_MAPS, { metadata: { name: 'a', labels: { x: 'y' } }, data: { one: '1', two: '2' } });
  const body = [
    { op: 'test', path: '/data/one', value: '1' },
    { op: 'replace', path: '/data/one', value: 'eins' },
    { op: 'add', path: '/data/three', value: '3' },
    { op: 'remove', path: '/metadata/labels' },
  ];
  const json = await world.write('patch', A, { body, contentType: 'application/json-patch+json' });
  t.deepEqual(
    [json.code, json.body.data, json.body.metadata.labels],
    [200, { one: 'eins', two: '2', three: '3' }, undefined],
  );
  const merge = await world.write('patch', A, { body: { data: { two: null, four: '4' } } });
  t.deepEqual(merge.body.data, { one: 'eins', three: '3', four: '4' });
  await world.stop();
});

const POD_TEMPLATES = '/api/v1/namespaces/default/podtemplates';

test('patches do not make an object grow without end, and what is too large can be made smaller', async (t) => {
  const world = await AdmissionWorld.start();
  const withArguments = (...args: readonly string[]) => ({
    metadata: { name: 'a' },
    template: { metadata: {}, spec: { containers: [{ name: 'c', image: 'i', args }] } },
  });
  const large = 'x'.repeat(2_500_000);
  t.is(
    refusal(await world.write('create', POD_TEMPLATES, { body: withArguments(large, large, large, large) })).code,
    413,
  );
  await world.created(POD_TEMPLATES, withArguments(large, large, large));
  const [contentType, args] = ['application/json-patch+json', '/template/spec/containers/0/args'];
  const grown = await world.write('patch', `${POD_TEMPLATES}/a`, {
    body: [{ op: 'copy', from: `${args}/0`, path: `${args}/-` }],
    contentType,
  });
  t.is(refusal(grown).code, 413);
  t.regex(grown.body.message, /^Request entity too large: the object would be stored as \d+ bytes, limit is 8388608$/);
  const shrunk = { body: [{ op: 'remove', path: `${args}/0` }], contentType };
  t.is((await world.write('patch', `${POD_TEMPLATES}/a`, shrunk)).code, 200);
  const finalizers = Array.from({ length: 400_000 }, (_, index) => `example.com/finalizer-${index}`);
  const held = await world.write('patch', `${POD_TEMPLATES}/a`, { body: { metadata: { finalizers } } });
  t.is(refusal(held).code, 413, 'by its metadata alone');
  await world.stop();
});
