import test from 'ava';
import { encodeEnveloped } from '../../../api/codec/protobuf.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { DIALECTS } from '../../../config/dialect.ts';
import { AdmissionWorld } from './admission-world.ts';
import { defineThings, THINGS, thing } from './custom-things.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const SECRETS = '/api/v1/namespaces/default/secrets';
const { protobufMediaType } = DIALECTS.orch;
const configMap = schemaOf(DIALECTS.orch).kind('', 'v1', 'ConfigMap')!;
const OBJECT = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', labels: { x: 'y' } }, data: { k: 'é😀' } };

test('an object is the same in JSON, YAML and Protobuf', async (t) => {
  const yaml = 'kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: a\n  labels: {x: "y"}\ndata:\n  k: é😀\n';
  const bodies: readonly (readonly [contentType: string, body: string | Uint8Array])[] = [
    ['application/json', JSON.stringify(OBJECT)],
    ['', JSON.stringify(OBJECT)],
    ['application/yaml', yaml],
    ['application/yaml', JSON.stringify(OBJECT)],
    [protobufMediaType, encodeEnveloped(OBJECT, configMap)],
    [DIALECTS.kubernetes.protobufMediaType, encodeEnveloped(OBJECT, configMap)],
  ];
  for (const [contentType, body] of bodies) {
    const world = await AdmissionWorld.start();
    const answer = await world.write('create', CONFIG_MAPS, { body, contentType });
    t.is(answer.code, 201, `${contentType}: ${answer.body.message}`);
    t.deepEqual(answer.body.data, OBJECT.data);
    t.deepEqual(answer.body.metadata.labels, OBJECT.metadata.labels);
    const put = await world.write('update', `${CONFIG_MAPS}/a`, { body, contentType });
    t.deepEqual([put.code, put.body], [200, answer.body]);
    await world.stop();
  }
});

test('bodies that are broken are refused, whatever they claim to be', async (t) => {
  const world = await AdmissionWorld.start();
  const whole = encodeEnveloped(OBJECT, configMap);
  const secret = schemaOf(DIALECTS.orch).kind('', 'v1', 'Secret')!;
  const cases: readonly (readonly [what: string, contentType: string, body: string | Uint8Array, code: number])[] = [
    ['no envelope', protobufMediaType, JSON.stringify(OBJECT), 400],
    ['nothing', protobufMediaType, new Uint8Array(), 400],
    ['the prefix alone', protobufMediaType, whole.subarray(0, 4), 400],
    ['half an envelope', protobufMediaType, whole.subarray(0, whole.length / 2), 400],
    ['an unknown kind', protobufMediaType, encodeEnveloped({ ...OBJECT, kind: 'Nothing' }, configMap), 400],
    ['another kind', protobufMediaType, encodeEnveloped({ ...OBJECT, kind: 'Secret' }, secret), 400],
    ['broken YAML', 'application/yaml', 'a: [', 400],
    ['two documents', 'application/yaml', 'metadata: {name: a}\n---\nmetadata: {name: b}\n', 400],
    ['a scalar', 'application/yaml', 'hello', 400],
    ['a media type that is a patch', 'application/merge-patch+json', '{"metadata":{"name":"a"}}', 415],
  ];
  for (const [what, contentType, body, code] of cases) {
    const answer = await world.write('create', CONFIG_MAPS, { body, contentType });
    t.is(answer.code, code, `${what}: ${answer.body.message}`);
    t.is(answer.body.kind, 'Status', what);
  }
  // The last four bytes are empty fields, which may be left out.
  for (let length = 0; length < whole.length - 4; length++) {
    const answer = await world.write('create', CONFIG_MAPS, {
      body: whole.subarray(0, length),
      contentType: protobufMediaType,
    });
    t.true(answer.code === 400 || answer.code === 422, `${length} bytes: ${answer.code}`);
  }
  t.is(await world.stored(`${CONFIG_MAPS}/a`), undefined);
  await world.stop();
});

test('null and an empty YAML document are an object that says nothing', async (t) => {
  const world = await AdmissionWorld.start();
  for (const [contentType, body] of [
    ['application/json', 'null'],
    ['application/yaml', 'null'],
    ['application/yaml', '---\n'],
    ['application/yaml', '# nothing\n'],
  ] as const) {
    const answer = await world.write('create', CONFIG_MAPS, { body, contentType });
    t.is(answer.code, 422, body);
    t.regex(answer.body.message, /^ConfigMap "" is invalid: metadata.name: Required value/);
  }
  await world.stop();
});

test('an object in Protobuf that does not say its kind is of the one in the path', async (t) => {
  const world = await AdmissionWorld.start();
  for (const named of [{}, { kind: 'ConfigMap' }, { apiVersion: 'v1' }]) {
    const { kind: _kind, apiVersion: _apiVersion, ...object } = OBJECT;
    const body = encodeEnveloped({ ...named, ...object }, configMap);
    const parameters = { dryRun: ['All'] };
    const answer = await world.write('create', CONFIG_MAPS, { body, contentType: protobufMediaType, parameters });
    t.deepEqual([answer.code, answer.body.kind, answer.body.data], [201, 'ConfigMap', OBJECT.data]);
  }
  await world.created(CONFIG_MAPS, OBJECT);
  const type = schemaOf(DIALECTS.orch).kind('', 'v1', 'DeleteOptions')!;
  const body = encodeEnveloped({ preconditions: { uid: 'x' } }, type);
  t.is((await world.write('delete', `${CONFIG_MAPS}/a`, { body, contentType: protobufMediaType })).code, 409);
  await world.stop();
});

const OTHER_KINDS: readonly (readonly [body: object, message: string])[] = [
  [
    { apiVersion: 'v1', kind: 'Pod' },
    'Pod in version "v1" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): unknown conversion',
  ],
  [
    { apiVersion: 'apps/v1', kind: 'Deployment' },
    'Deployment in version "v1" cannot be handled as a ConfigMap: converting (v1.Deployment) to (core.ConfigMap): unknown conversion',
  ],
  [
    { kind: 'Nope' },
    'Nope in version "v1" cannot be handled as a ConfigMap: no kind "Nope" is registered for version "v1"',
  ],
  [
    { apiVersion: 'apps/v2', kind: 'ConfigMap' },
    'ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "apps/v2"',
  ],
  [
    { metadata: { name: 5 } },
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: metadata.name: cannot unmarshal number into a value of type string',
  ],
];

test('a body of another kind, or that is none of its kind, is refused as clients know it', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(CONFIG_MAPS, OBJECT);
  for (const [body, message] of OTHER_KINDS) {
    for (const [verb, path] of [
      ['create', CONFIG_MAPS],
      ['update', `${CONFIG_MAPS}/a`],
    ] as const) {
      const answer = await world.write(verb, path, { body: { metadata: { name: 'a' }, ...body } });
      t.deepEqual([answer.code, answer.body.message], [400, message], verb);
    }
  }
  const applied = await world.write('patch', `${CONFIG_MAPS}/a`, {
    body: Buffer.from('{"apiVersion":"apps/v1","kind":"ConfigMap"}'),
    contentType: 'application/apply-patch+yaml',
    parameters: { fieldManager: 'me' },
  });
  const text = 'Incorrect version specified in apply patch. Specified patch version: apps/v1, expected: v1';
  t.deepEqual([applied.code, applied.body.message], [400, text]);
  await world.stop();
});

test('a version with an empty group before it is one of the core group', async (t) => {
  const world = await AdmissionWorld.start();
  const body = (data: object) => ({ apiVersion: '/v1', kind: 'ConfigMap', metadata: { name: 'a' }, data });
  const created = await world.write('create', CONFIG_MAPS, { body: body({ a: 'b' }) });
  t.deepEqual([created.code, created.body.apiVersion], [201, 'v1']);
  const updated = await world.write('update', `${CONFIG_MAPS}/a`, { body: body({ a: 'c' }) });
  t.deepEqual([updated.code, updated.body.apiVersion, updated.body.data], [200, 'v1', { a: 'c' }]);
  const patched = await world.write('patch', `${CONFIG_MAPS}/a`, { body: { apiVersion: '/v1', data: { a: 'd' } } });
  t.deepEqual([patched.code, patched.body.apiVersion, patched.body.data], [200, 'v1', { a: 'd' }]);
  const applied = await world.write('patch', `${CONFIG_MAPS}/a`, {
    body: Buffer.from(JSON.stringify(body({ b: 'c' }))),
    contentType: 'application/apply-patch+yaml',
    parameters: { fieldManager: 'me' },
  });
  t.deepEqual([applied.code, applied.body.apiVersion, applied.body.data], [200, 'v1', { a: 'd', b: 'c' }]);
  const other = await world.write('create', CONFIG_MAPS, { body: { ...body({}), apiVersion: '/apps/v1' } });
  t.is(other.code, 400);
  await world.stop();
});

test('a custom object of another kind breaks a rule of its type', async (t) => {
  const world = await AdmissionWorld.start();
  await defineThings(world);
  const answer = await world.write('create', THINGS, { body: { ...thing('a', {}), kind: 'Other' } });
  const text = 'Other.example.com "a" is invalid: kind: Invalid value: "Other": must be Thing';
  t.deepEqual([answer.code, answer.body.message], [422, text]);
  const later = await world.write('create', THINGS, { body: { ...thing('a', {}), apiVersion: 'example.com/v2' } });
  const data = 'the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)';
  t.deepEqual([later.code, later.body.message], [400, data]);
  await world.stop();
});

test('DELETE takes its options in Protobuf as well', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(CONFIG_MAPS, OBJECT);
  const options = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'x' } };
  const type = schemaOf(DIALECTS.orch).kind('', 'v1', 'DeleteOptions');
  if (type === undefined) {
    t.fail('the schema has no DeleteOptions');
    return;
  }
  const body = encodeEnveloped(options, type);
  t.is((await world.write('delete', `${CONFIG_MAPS}/a`, { body, contentType: protobufMediaType })).code, 409);
  await world.stop();
});

test('unknown fields are dropped, and named where the client wants to hear of them', async (t) => {
  const world = await AdmissionWorld.start();
  const body = { metadata: { name: 'a', nickname: 'b' }, data: { k: 'v' }, dat: { x: 1 } };
  const ask = (fieldValidation: string | undefined, name: string) =>
    world.write('create', CONFIG_MAPS, {
      body: { ...body, metadata: { ...body.metadata, name } },
      ...(fieldValidation === undefined ? {} : { parameters: { fieldValidation } }),
    });
  const silent = await ask(undefined, 'a');
  t.deepEqual([silent.code, silent.warnings], [201, []]);
  t.false('dat' in silent.body);
  t.false('nickname' in silent.body.metadata);
  t.deepEqual((await ask('Ignore', 'b')).warnings, []);
  const warned = await ask('Warn', 'c');
  t.is(warned.code, 201);
  t.deepEqual([...warned.warnings].sort(), ['unknown field "dat"', 'unknown field "metadata.nickname"']);
  const strict = await ask('Strict', 'd');
  t.is(strict.code, 400);
  t.true(strict.body.message.includes('unknown field "dat"'));
  const put = await world.write('update', `${CONFIG_MAPS}/a`, { body, parameters: { fieldValidation: 'Warn' } });
  t.deepEqual([put.code, put.warnings.length], [200, 2]);
  t.false('dat' in (await world.stored(`${CONFIG_MAPS}/a`))!);
  await world.stop();
});

test('patches and applies name the fields they send in vain as well, and what they say twice', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(CONFIG_MAPS, OBJECT);
  const path = `${CONFIG_MAPS}/a`;
  const config = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: v\n  k: w\n';
  const patches: readonly (readonly [contentType: string, body: string | object, found: readonly string[]])[] = [
    ['application/merge-patch+json', { dat: { x: 1 } }, ['unknown field "dat"']],
    ['application/merge-patch+json', '{"data":{"k":"1","k":"2"}}', ['duplicate field "data.k"']],
    ['application/strategic-merge-patch+json', { metadata: { nick: 'x' } }, ['unknown field "metadata.nick"']],
    ['application/json-patch+json', [{ op: 'add', path: '/dat', value: 1 }], ['unknown field "dat"']],
    ['application/apply-patch+yaml', config, ['duplicate field "k"']],
  ];
  for (const [contentType, body, found] of patches) {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const ask = (fieldValidation: string) =>
      world.write('patch', path, {
        body: Buffer.from(text),
        contentType,
        parameters: { fieldValidation, ...(contentType.includes('apply') ? { fieldManager: 'm', force: 'true' } : {}) },
      });
    const strict = await ask('Strict');
    t.is(strict.code, 400, text);
    for (const one of found) t.true(strict.body.message.includes(one), strict.body.message);
    const warned = await ask('Warn');
    t.deepEqual([warned.code, [...warned.warnings]], [200, [...found]], text);
    t.deepEqual((await ask('Ignore')).warnings, []);
  }
  const unknown = await world.write('create', CONFIG_MAPS, {
    body: { metadata: { name: 'z' } },
    parameters: { fieldValidation: 'Loud' },
  });
  t.is(unknown.code, 422);
  t.true(unknown.body.message.includes('supported values: "Ignore", "Strict", "Warn"'), unknown.body.message);
  await world.stop();
});

test('an owner named twice is kept once, on every way in, and the client hears of it', async (t) => {
  const world = await AdmissionWorld.start();
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u1' };
  const other = { ...owner, name: 'q', uid: 'u2' };
  const body = (name: string) => ({ metadata: { name, ownerReferences: [owner, other, owner] } });
  const created = await world.write('create', CONFIG_MAPS, { body: body('a') });
  const put = await world.write('update', `${CONFIG_MAPS}/a`, { body: body('a') });
  await world.created(CONFIG_MAPS, { metadata: { name: 'b' } });
  const patched = await world.write('patch', `${CONFIG_MAPS}/b`, {
    body: { metadata: { ownerReferences: [owner, other, owner] } },
    contentType: 'application/merge-patch+json',
  });
  for (const [code, answer, when] of [
    [201, created, ''],
    [200, put, ''],
    [200, patched, ' after mutating admission happens'],
  ] as const) {
    t.is(answer.code, code);
    t.deepEqual(answer.body.metadata.ownerReferences, [owner, other]);
    t.deepEqual(answer.warnings, [
      `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may ` +
        'reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u1',
    ]);
  }
  const plain = await world.write('create', CONFIG_MAPS, {
    body: { metadata: { name: 'c', ownerReferences: [owner, other] } },
  });
  t.deepEqual(plain.warnings, []);
  await world.stop();
});

test('the stringData of a secret ends up in its data, on every way in', async (t) => {
  const world = await AdmissionWorld.start();
  const encoded = (text: string): string => Buffer.from(text).toString('base64');
  const created = await world.created(SECRETS, {
    metadata: { name: 's' },
    data: { a: encoded('old'), b: encoded('kept') },
    stringData: { a: 'ünew' },
  });
  t.deepEqual(created.data, { a: encoded('ünew'), b: encoded('kept') });
  t.false('stringData' in created);
  t.is(created.type, 'Opaque');
  const patched = await world.write('patch', `${SECRETS}/s`, { body: { stringData: { c: 'more' } } });
  t.deepEqual(patched.body.data, { a: encoded('ünew'), b: encoded('kept'), c: encoded('more') });
  const put = await world.write('update', `${SECRETS}/s`, { body: { metadata: { name: 's' }, stringData: { d: '' } } });
  t.deepEqual(put.body.data, { d: '' });
  t.false('stringData' in put.body);
  await world.stop();
});

test('names and labels of every script and length are taken or refused, never broken', async (t) => {
  const world = await AdmissionWorld.start();
  const roles = '/apis/rbac.authorization.orch.io/v1/clusterroles';
  const names = [
    'system:a',
    'Ä:ö 😀',
    'x'.repeat(253),
    'x'.repeat(70_000),
    '\ud800',
    'a\u0000b',
    '..',
    'a/b',
    'a%b',
    '',
  ];
  for (const name of names) {
    const { code } = await world.write('create', roles, { body: { metadata: { name }, rules: [] } });
    t.true([201, 400, 422].includes(code), `${JSON.stringify(name.slice(0, 20))}: ${code}`);
  }
  await world.stop();
});
