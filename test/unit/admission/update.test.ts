import test from 'ava';
import { draftPut } from '../../../actors/admission/commits/draft.ts';
import { EXPECT_ANY } from '../../../actors/store/protocol.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { AdmissionWorld, type Answer, refusal } from './admission-world.ts';

const APPLY = 'apply-patch+yaml';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const A = `${CONFIG_MAPS}/a`;
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const LEASES = '/apis/coordination.orch.io/v1/namespaces/default/leases';
const DEPLOYMENT = {
  metadata: { name: 'web', labels: { a: 'b' } },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};

/** Stores a deployment as a release would have that did not know a field that has a default. Answers how it is with it. */
async function storeOlder(world: AdmissionWorld): Promise<Answer> {
  const created = await world.created(DEPLOYMENTS, DEPLOYMENT);
  const older = structuredClone(created) as unknown as { spec: { template: { spec: { dnsPolicy?: string } } } };
  delete older.spec.template.spec.dnsPolicy;
  await storeAs(world, 'apps/deployments', older as unknown as JsonObject);
  return created;
}

/** Stores an object as it is, so that nothing says which release completed it. */
async function storeAs(world: AdmissionWorld, storageKey: string, object: JsonObject): Promise<void> {
  const { key, put } = draftPut(world.registry.storageType(storageKey)!, object, EXPECT_ANY);
  const { text, bytes: valueLength, ...rest } = put!;
  const transactions = [{ operations: [{ key, expect: EXPECT_ANY, valueOffset: 0, valueLength, ...rest }] }];
  await world.during(
    world.store.ask({ type: 'commit', transactions, payload: Buffer.from(text) }, { deadlineMs: 1000 }),
  );
}

test('what an older release left out of a spec that stays as it is is no change of it', async (t) => {
  const world = await AdmissionWorld.start();
  const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
  const spec = {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    dataSource: { kind: 'PersistentVolumeClaim', name: 'other' },
  };
  const created = await world.created(claims, { metadata: { name: 'it' }, spec });
  const older = structuredClone(created) as unknown as { spec: { dataSource: { apiGroup?: null } } };
  t.is(older.spec.dataSource.apiGroup, null);
  delete older.spec.dataSource.apiGroup;
  await storeAs(world, 'core/persistentvolumeclaims', older as unknown as JsonObject);
  const body = { metadata: { name: 'it', labels: { a: 'b' } }, spec: { ...created.spec, ...spec } };
  const labelled = await world.write('update', `${claims}/it`, { body });
  t.deepEqual([labelled.code, labelled.body.spec], [200, created.spec]);
  await world.stop();
});

const JOB_TEMPLATE = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
/** What cannot be changed and has a default, which is not stored of what was made while a gate was closed. */
const LATER_DEFAULTS = [
  {
    what: 'the policy of a priority class',
    path: '/apis/scheduling.orch.io/v1/priorityclasses',
    key: 'scheduling.orch.io/priorityclasses',
    object: { value: 5 },
    lacks: ['preemptionPolicy'],
  },
  {
    what: 'what a CSI driver can do',
    path: '/apis/storage.orch.io/v1/csidrivers',
    key: 'storage.orch.io/csidrivers',
    object: { spec: {} },
    lacks: ['storageCapacity', 'fsGroupPolicy', 'volumeLifecycleModes', 'requiresRepublish'],
  },
  {
    what: 'the completion mode of a job',
    path: '/apis/batch/v1/namespaces/default/jobs',
    key: 'batch/jobs',
    object: { spec: { template: JOB_TEMPLATE } },
    lacks: ['completionMode'],
  },
];
for (const { what, path, key, object, lacks } of LATER_DEFAULTS) {
  test(`${what} is a default that was not stored while its gate was closed: an update that says it now changes nothing fixed`, async (t) => {
    const world = await AdmissionWorld.start({ featureGates: 'IndexedJob=true' });
    const created = (await world.created(path, { metadata: { name: 'a' }, ...object })) as unknown as JsonObject;
    const older = structuredClone(created) as Record<string, Record<string, unknown>>;
    for (const member of lacks) {
      const parent = member in older ? older : older.spec!;
      t.true(member in parent, member);
      delete parent[member];
    }
    await storeAs(world, key, older);
    const labelled = await world.write('patch', `${path}/a`, { body: { metadata: { labels: { a: 'b' } } } });
    t.is(labelled.code, 200, JSON.stringify(labelled.body));
    t.like(labelled.body, JSON.parse(JSON.stringify({ ...created, metadata: { labels: { a: 'b' } } })) as object);
    await storeAs(world, key, older);
    const said = { ...created, metadata: { name: 'a', labels: { c: 'd' } } };
    const resourceVersion = String(await world.revision());
    const body = { ...said, metadata: { ...said.metadata, resourceVersion } };
    const replaced = await world.write('update', `${path}/a`, { body });
    t.is(replaced.code, 200, JSON.stringify(replaced.body));
    t.like(await world.stored(`${path}/a`), JSON.parse(JSON.stringify(said)) as object);
    await world.stop();
  });
}

const UPDATES: readonly (readonly [what: string, verb: 'patch' | 'update', subresource: string, body: object])[] = [
  ['a patch', 'patch', '', { spec: { replicas: 3 } }],
  ['a PUT', 'update', '', { ...DEPLOYMENT, spec: { ...DEPLOYMENT.spec, replicas: 3 } }],
  [
    'a PUT of its scale',
    'update',
    '/scale',
    { metadata: { name: 'web', namespace: 'default' }, spec: { replicas: 3 } },
  ],
];
for (const [what, verb, subresource, body] of UPDATES) {
  test(`what is stored without its defaults has them after ${what}`, async (t) => {
    const world = await AdmissionWorld.start();
    const created = await storeOlder(world);
    t.is((await world.write(verb, `${DEPLOYMENTS}/web${subresource}`, { body })).code, 200);
    t.deepEqual((await world.stored(`${DEPLOYMENTS}/web`))?.spec, { ...created.spec, replicas: 3 });
    await world.stop();
  });
}

test('a patch of metadata alone stores the rest with its defaults as well', async (t) => {
  const world = await AdmissionWorld.start();
  const created = await storeOlder(world);
  const body = { metadata: { labels: { c: 'd' } } };
  t.is((await world.write('patch', `${DEPLOYMENTS}/web`, { body })).code, 200);
  t.deepEqual((await world.stored(`${DEPLOYMENTS}/web`))?.spec, created.spec);
  await world.stop();
});

test('a PUT replaces the object, but for what the server owns', async (t) => {
  const world = await AdmissionWorld.start();
  const created = await world.created(CONFIG_MAPS, { metadata: { name: 'a', labels: { a: 'b' } }, data: { k: '1' } });
  const { uid, creationTimestamp, resourceVersion } = created.metadata;
  const metadata = { name: 'a', creationTimestamp: '1999-01-01T00:00:00Z', generation: 3, selfLink: '/x' };
  const { code, body } = await world.write('update', A, { body: { metadata, data: { k: '2' } } });
  t.is(code, 200);
  const { managedFields: _managedFields, ...kept } = body.metadata;
  t.deepEqual(kept, {
    name: 'a',
    namespace: 'default',
    uid: uid!,
    creationTimestamp: creationTimestamp!,
    resourceVersion: String(await world.revision()),
  });
  t.not(body.metadata.resourceVersion, resourceVersion);
  t.deepEqual(body.data, { k: '2' });
  t.deepEqual(await world.stored(A), body);
  await world.stop();
});

const NAMELESS: readonly (readonly [
  what: string,
  verb: 'patch' | 'update',
  path: string,
  body: object,
  type?: string,
])[] = [
  ['a PUT without metadata', 'update', A, { data: { k: '2' } }],
  ['a PUT with a blank name', 'update', A, { metadata: { name: '' }, data: { k: '2' } }],
  ['a PUT that would create', 'update', `${LEASES}/a`, { spec: { holderIdentity: 'me' } }],
  ['a PUT of a scale', 'update', `${DEPLOYMENTS}/web/scale`, { spec: { replicas: 3 } }],
  ['a PUT of a status', 'update', `${DEPLOYMENTS}/web/status`, { status: { replicas: 3 } }],
  ['a patch that takes the name', 'patch', A, { metadata: { name: null } }],
  ['a patch that takes the metadata', 'patch', A, { metadata: null, data: { k: '2' } }],
  ['an apply with a blank name', 'patch', A, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '' } }, APPLY],
  ['a JSON patch that takes the name', 'patch', A, [{ op: 'remove', path: '/metadata/name' }], 'json-patch+json'],
];
for (const [what, verb, path, body, type] of NAMELESS) {
  test(`${what} is refused: an update says what it is of`, async (t) => {
    const world = await AdmissionWorld.start();
    await world.created(CONFIG_MAPS, { metadata: { name: 'a' }, data: { k: '1' } });
    await world.created(DEPLOYMENTS, DEPLOYMENT);
    const before = await world.revision();
    const contentType = type === undefined ? undefined : { contentType: `application/${type}` };
    const parameters = type === APPLY ? { fieldManager: 'm' } : {};
    const answer = await world.write(verb, path, { body, ...contentType, parameters });
    t.is(answer.code, 400);
    t.regex(
      answer.body.message ?? '',
      /^the name of the object \(.+ based on URL\) was undeterminable: name must be provided$/,
    );
    t.is(await world.revision(), before);
    await world.stop();
  });
}

test('an update that changes nothing is not stored, and answers with the version there is', async (t) => {
  const world = await AdmissionWorld.start();
  const created = await world.created(DEPLOYMENTS, DEPLOYMENT);
  const before = await world.revision();
  for (const body of [created, DEPLOYMENT, { ...DEPLOYMENT, status: { replicas: 9 } }]) {
    const answer = await world.write('update', `${DEPLOYMENTS}/web`, { body });
    t.is(answer.code, 200);
    t.deepEqual(answer.body, created);
  }
  const patch = await world.write('patch', `${DEPLOYMENTS}/web`, { body: { metadata: { labels: { a: 'b' } } } });
  t.deepEqual(patch.body, created);
  t.is(await world.revision(), before);
  await world.stop();
});

test('the generation grows with the desired state and with nothing else', async (t) => {
  const world = await AdmissionWorld.start();
  const path = `${DEPLOYMENTS}/web`;
  const generations: (number | undefined)[] = [(await world.created(DEPLOYMENTS, DEPLOYMENT)).metadata.generation];
  const patches: readonly (readonly [path: string, body: object])[] = [
    [path, { metadata: { labels: { x: 'y' } } }],
    [path, { spec: { replicas: 3 } }],
    [`${path}/status`, { status: { replicas: 3 } }],
    [path, { status: { replicas: 7 } }],
    [`${path}/scale`, { spec: { replicas: 5 } }],
  ];
  for (const [at, body] of patches) {
    t.is((await world.write('patch', at, { body })).code, 200);
    generations.push((await world.stored(path))?.metadata.generation);
  }
  t.deepEqual(generations, [1, 1, 2, 2, 2, 3]);
  await world.stop();
});

test('the status is changed through its subresource and nowhere else, and there nothing else is changed', async (t) => {
  const world = await AdmissionWorld.start();
  const path = `${DEPLOYMENTS}/web`;
  await world.created(DEPLOYMENTS, DEPLOYMENT);
  const body = { ...DEPLOYMENT, spec: { ...DEPLOYMENT.spec, replicas: 9 }, status: { replicas: 4 } };
  const status = await world.write('update', `${path}/status`, { body });
  t.is(status.code, 200);
  t.deepEqual([status.body.status, status.body.spec.replicas], [{ replicas: 4 }, 2]);
  const whole = await world.write('update', path, { body: { ...body, status: { replicas: 5 } } });
  t.deepEqual([whole.body.status, whole.body.spec.replicas], [{ replicas: 4 }, 9]);
  const patched = await world.write('patch', `${path}/status`, {
    body: { spec: { replicas: 1 }, status: { readyReplicas: 4 } },
  });
  t.deepEqual([patched.body.status, patched.body.spec.replicas], [{ replicas: 4, readyReplicas: 4 }, 9]);
  await world.stop();
});

test('an update is refused when it names another object, version or place', async (t) => {
  const world = await AdmissionWorld.start();
  const { metadata } = await world.created(CONFIG_MAPS, { metadata: { name: 'a' } });
  await world.created(LEASES, { metadata: { name: 'l' } });
  const before = await world.revision();
  const about = { name: 'a', kind: 'configmaps' };
  const cases: readonly (readonly [
    what: string,
    path: string,
    body: object,
    code: number,
    reason: string,
    details?: object,
  ])[] = [
    [
      'missing',
      `${CONFIG_MAPS}/none`,
      { metadata: { name: 'none' } },
      404,
      'NotFound',
      { name: 'none', kind: 'configmaps' },
    ],
    ['old version', A, { metadata: { name: 'a', resourceVersion: '1' } }, 409, 'Conflict', about],
    ['version that is none', A, { metadata: { name: 'a', resourceVersion: 'x' } }, 409, 'Conflict', about],
    ['other uid', A, { metadata: { name: 'a', uid: 'x' } }, 409, 'Conflict', about],
    ['other name', A, { metadata: { name: 'b' } }, 400, 'BadRequest'],
    ['other namespace', A, { metadata: { name: 'a', namespace: 'b' } }, 400, 'BadRequest'],
    ['other kind', A, { kind: 'Secret', metadata: { name: 'a' } }, 400, 'BadRequest'],
    ['bad label', A, { metadata: { name: 'a', labels: { 'a b': '' } } }, 422, 'Invalid'],
    ['collection', CONFIG_MAPS, { metadata: { name: 'a' } }, 405, 'MethodNotAllowed', {}],
    ['no version where one is needed', `${LEASES}/l`, { metadata: { name: 'l' } }, 422, 'Invalid'],
    ['unknown subresource', `${A}/status`, { metadata: { name: 'a' } }, 404, 'NotFound', {}],
  ];
  for (const [what, path, body, code, reason, details] of cases) {
    const { details: given, ...rest } = refusal(await world.write('update', path, { body }));
    t.deepEqual(rest, { kind: 'Status', code, reason } as never, what);
    if (details !== undefined) t.deepEqual(given, details, what);
  }
  t.is(await world.revision(), before);
  t.is((await world.stored(A))?.metadata.resourceVersion, metadata.resourceVersion);
  await world.stop();
});

test('a PUT of a missing object creates it where the type says so, whatever version it names', async (t) => {
  const world = await AdmissionWorld.start();
  for (const [name, resourceVersion] of [
    ['a', undefined],
    ['b', '17'],
  ] as const) {
    const metadata = { name, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    const answer = await world.write('update', `${LEASES}/${name}`, {
      body: { metadata, spec: { holderIdentity: 'me' } },
    });
    t.is(answer.code, 201);
    t.truthy(answer.body.metadata.uid);
    t.deepEqual(await world.stored(`${LEASES}/${name}`), answer.body);
  }
  const dry = await world.write('update', `${LEASES}/c`, {
    body: { metadata: { name: 'c' } },
    parameters: { dryRun: ['All'] },
  });
  t.is(dry.code, 201);
  t.is(await world.stored(`${LEASES}/c`), undefined);
  await world.stop();
});

test('a PUT of an object that was there and is gone is a conflict by its uid: nothing is made anew', async (t) => {
  const world = await AdmissionWorld.start();
  for (const collection of [LEASES, CONFIG_MAPS]) {
    const path = `${collection}/a`;
    const { metadata } = await world.created(collection, { metadata: { name: 'a' } });
    t.is((await world.write('delete', path)).code, 200);
    for (const parameters of [{}, { dryRun: ['All'] }]) {
      const answer = await world.write('update', path, { body: { metadata }, parameters });
      t.is(answer.code, 409);
      t.true(
        (answer.body.message as string).endsWith(
          `: Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: `,
        ),
      );
    }
    t.is(await world.stored(path), undefined);
  }
  await world.stop();
});

test('of two PUTs with the same version the second is a conflict, also when it comes between read and commit', async (t) => {
  const world = await AdmissionWorld.start();
  const created = await world.created(CONFIG_MAPS, { metadata: { name: 'a' } });
  const put = (k: string, metadata: object) => ({ body: { metadata, data: { k } } });
  world.gate.beforeCommit = () => world.soon('update', A, put('first', created.metadata));
  const second = await world.write('update', A, put('second', created.metadata));
  t.is(second.code, 409);
  t.deepEqual((await world.stored(A))?.data, { k: 'first' });
  await world.stop();
});

for (const resourceVersion of [undefined, '', '0']) {
  test(`a PUT with ${JSON.stringify(resourceVersion)} for a version insists on none: it is made again when it loses a race`, async (t) => {
    const world = await AdmissionWorld.start();
    await world.created(CONFIG_MAPS, { metadata: { name: 'a' } });
    const metadata = { name: 'a', ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    world.gate.beforeCommit = () => world.soon('update', A, { body: { metadata, data: { k: 'first' } } });
    const second = await world.write('update', A, { body: { metadata, data: { k: 'second' } } });
    t.is(second.code, 200);
    t.deepEqual((await world.stored(A))?.data, { k: 'second' });
    await world.stop();
  });
}

test('a dry run of an update or patch answers with what it would make, and stores nothing', async (t) => {
  const world = await AdmissionWorld.start();
  const created = await world.created(CONFIG_MAPS, { metadata: { name: 'a' }, data: { k: '1' } });
  const before = await world.revision();
  const parameters = { dryRun: ['All'] };
  const put = await world.write('update', A, { body: { metadata: { name: 'a' }, data: { k: '2' } }, parameters });
  const patch = await world.write('patch', A, { body: { data: { k: '3' } }, parameters });
  t.deepEqual([put.code, put.body.data, patch.code, patch.body.data], [200, { k: '2' }, 200, { k: '3' }]);
  t.is(put.body.metadata.resourceVersion, created.metadata.resourceVersion);
  const ofAnother = await world.write('update', A, { body: { metadata: { name: 'a', uid: 'x' } }, parameters });
  t.is(ofAnother.code, 409);
  t.regex(
    ofAnother.body.message as string,
    /: Precondition failed: UID in precondition: x, UID in object meta: [-0-9a-f]+$/,
  );
  t.is(await world.revision(), before);
  t.deepEqual(await world.stored(A), created);
  await world.stop();
});

test('finalizers may be removed in any order, and the last one removed removes the object', async (t) => {
  for (const order of [
    ['x.io/a', 'x.io/b'],
    ['x.io/b', 'x.io/a'],
  ]) {
    const world = await AdmissionWorld.start();
    await world.created(CONFIG_MAPS, { metadata: { name: 'a', finalizers: ['x.io/a', 'x.io/b'] } });
    t.is((await world.write('delete', A)).code, 200);
    const added = await world.write('patch', A, { body: { metadata: { finalizers: ['x.io/a', 'x.io/b', 'x.io/c'] } } });
    t.is(added.code, 422);
    const rest = ['x.io/a', 'x.io/b'].filter((finalizer) => finalizer !== order[0]);
    const first = await world.write('patch', A, { body: { metadata: { finalizers: rest } } });
    t.deepEqual([first.code, first.body.metadata.finalizers], [200, rest]);
    t.truthy(await world.stored(A));
    const last = await world.write('patch', A, { body: { metadata: { finalizers: null } } });
    t.is(last.code, 200);
    t.is(last.body.kind, 'ConfigMap');
    t.is(await world.stored(A), undefined);
    t.is((await world.write('patch', A, { body: {} })).code, 404);
    await world.stop();
  }
});

test('the deletionTimestamp cannot be taken back', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(CONFIG_MAPS, { metadata: { name: 'a', finalizers: ['x.io/a'] } });
  await world.write('delete', A);
  const patched = await world.write('patch', A, {
    body: { metadata: { deletionTimestamp: null, labels: { a: 'b' } } },
  });
  t.is(patched.code, 200);
  t.truthy(patched.body.metadata.deletionTimestamp);
  t.deepEqual(patched.body.metadata.labels, { a: 'b' });
  await world.stop();
});

test('a scale is read from and written to the replicas', async (t) => {
  const world = await AdmissionWorld.start();
  const { metadata } = await world.created(DEPLOYMENTS, DEPLOYMENT);
  const path = `${DEPLOYMENTS}/web/scale`;
  const patched = await world.write('patch', path, { body: { spec: { replicas: 5 } } });
  t.is(patched.code, 200);
  const stored = await world.stored(`${DEPLOYMENTS}/web`);
  t.deepEqual(patched.body, {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      name: 'web',
      namespace: 'default',
      uid: metadata.uid!,
      resourceVersion: stored!.metadata.resourceVersion!,
      creationTimestamp: metadata.creationTimestamp!,
    },
    spec: { replicas: 5 },
    status: { replicas: 0, selector: 'app=web' },
  } as unknown as Answer);
  t.is(stored?.spec.replicas, 5);
  t.is((await world.write('update', path, { body: { ...patched.body, spec: { replicas: 6 } } })).code, 200);
  const stale = await world.write('update', path, { body: { ...patched.body, spec: { replicas: 7 } } });
  t.is(stale.code, 409);
  t.is((await world.write('patch', path, { body: { spec: { replicas: -1 } } })).code, 422);
  t.is((await world.write('update', path, { body: { kind: 'Deployment', ...DEPLOYMENT } })).code, 400);
  t.is((await world.write('patch', `${DEPLOYMENTS}/none/scale`, { body: {} })).code, 404);
  const same = await world.write('patch', path, { body: { spec: { replicas: 6 } } });
  t.deepEqual([same.code, same.body.kind], [200, 'Scale']);
  const dry = await world.write('patch', path, { body: { spec: { replicas: 9 } }, parameters: { dryRun: ['All'] } });
  t.deepEqual([dry.code, dry.body.spec.replicas], [200, 9]);
  t.is((await world.stored(`${DEPLOYMENTS}/web`))?.spec.replicas, 6);
  await world.stop();
});

test('a namespace keeps its finalizers but through finalize, which changes its labels as well', async (t) => {
  const world = await AdmissionWorld.start({ namespaces: ['ns'] });
  const path = '/api/v1/namespaces/ns';
  const put = await world.write('update', path, { body: { metadata: { name: 'ns', labels: { a: 'b' } }, spec: {} } });
  t.deepEqual([put.code, put.body.spec], [200, { finalizers: ['orch'] }]);
  const body = { metadata: { name: 'ns', labels: { c: 'd' } }, spec: { finalizers: ['orch', 'x.io/y'] } };
  const finalized = await world.write('update', `${path}/finalize`, { body });
  t.deepEqual(
    [finalized.code, finalized.body.spec, finalized.body.metadata.labels?.c, finalized.body.metadata.labels?.a],
    [200, { finalizers: ['orch', 'x.io/y'] }, 'd', undefined],
  );
  await world.stop();
});

test('conflicts are told in the words that clients look for', async (t) => {
  const world = await AdmissionWorld.start();
  const { metadata } = await world.created('/api/v1/namespaces/default/configmaps', { metadata: { name: 'it' } });
  const path = '/api/v1/namespaces/default/configmaps/it';
  const stale = { metadata: { name: 'it', resourceVersion: metadata.resourceVersion }, data: { a: 'b' } };
  await world.write('update', path, { body: stale });
  const { body } = await world.write('update', path, { body: { ...stale, data: { a: 'c' } } });
  t.is(
    body.message,
    'Operation cannot be fulfilled on configmaps "it": the object has been modified; please apply your changes to the latest version and try again',
  );
  await world.stop();
});

test('a PUT for whose address another service has come first is no conflict: the version that it names is still there', async (t) => {
  const world = await AdmissionWorld.start();
  const services = '/api/v1/namespaces/default/services';
  const ports = [{ port: 80 }];
  const { metadata } = await world.created(services, {
    metadata: { name: 'a' },
    spec: { type: 'ExternalName', externalName: 'x.y' },
  });
  const spec = { clusterIP: '10.0.0.77', ports };
  world.gate.beforeCommit = () => world.soon('create', services, { body: { metadata: { name: 'b' }, spec } });
  const put = await world.write('update', `${services}/a`, { body: { metadata, spec } });
  t.is(put.code, 422);
  t.regex(put.body.message as string, /provided IP is already allocated/);
  await world.stop();
});

test('a PUT of a missing object of another type is told so, and creates nothing', async (t) => {
  const world = await AdmissionWorld.start();
  const before = await world.revision();
  const answer = await world.write('update', A, { body: { metadata: { name: 'a' }, data: { k: 'v' } } });
  t.is(refusal(answer).code, 404);
  t.is(await world.revision(), before);
  await world.stop();
});
