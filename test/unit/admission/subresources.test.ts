// Subresources that write a part of an object, or see it as another kind: approval and status of certificate requests,
// ephemeral containers, and who asks.
import { readFileSync } from 'node:fs';
import test from 'ava';
import { AdmissionWorld, type Answer, type Answered, refusal } from './admission-world.ts';

const REQUESTS = '/apis/certificates.orch.io/v1/certificatesigningrequests';
const PODS = '/api/v1/namespaces/default/pods';

const SPEC = {
  request: readFileSync('test/fixtures/certificate-requests/user.pem').toString('base64'),
  signerName: 'example.test/signer',
  usages: ['client auth'],
};

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly message?: string;
  readonly lastUpdateTime?: string;
  readonly lastTransitionTime?: string;
}

const conditionsOf = (object: Answer | undefined): readonly Condition[] =>
  (object?.status as { conditions?: readonly Condition[] } | undefined)?.conditions ?? [];

test('a certificate request says who asked for it, whatever its body says', async (t) => {
  const world = await AdmissionWorld.start();
  const made = await world.created(REQUESTS, {
    metadata: { name: 'r' },
    spec: { ...SPEC, username: 'somebody', uid: '7', groups: ['system:masters'], extra: { a: ['b'] } },
  });
  t.is(made.spec.username, 'tester');
  t.is(made.spec.uid, undefined);
  t.is(made.spec.groups, undefined);
  t.is(made.spec.extra, undefined);
  await world.stop();
});

test('approval writes the conditions, with their times, and nothing else', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(REQUESTS, { metadata: { name: 'r' }, spec: SPEC });
  const approved = [{ type: 'Approved', status: 'True', reason: 'Known', message: 'fine' }];
  const body = {
    spec: { signerName: 'example.test/other' },
    status: { conditions: approved, certificate: 'bm9uZQ==' },
  };
  const answer = await world.write('patch', `${REQUESTS}/r/approval`, { body });
  t.is(answer.code, 200, answer.body.message);
  const stored = await world.stored(`${REQUESTS}/r`);
  const [condition] = conditionsOf(stored);
  t.is(condition?.message, 'fine');
  t.truthy(condition?.lastUpdateTime);
  t.truthy(condition?.lastTransitionTime);
  t.is((stored?.status as { certificate?: string } | undefined)?.certificate, undefined);
  t.is(stored?.spec.signerName, SPEC.signerName);
  await world.stop();
});

test('a decision stays as it was made, and only approval makes one', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(REQUESTS, { metadata: { name: 'r' }, spec: SPEC });
  const approved = [{ type: 'Approved', status: 'True', message: 'fine' }];
  t.is((await world.write('patch', `${REQUESTS}/r/status`, { body: { status: { conditions: approved } } })).code, 422);
  await world.write('patch', `${REQUESTS}/r/approval`, { body: { status: { conditions: approved } } });
  t.is((await world.write('patch', `${REQUESTS}/r/approval`, { body: { status: { conditions: [] } } })).code, 422);
  const changed = [
    { type: 'Approved', status: 'True', message: 'not so' },
    { type: 'Failed', status: 'True' },
  ];
  t.is((await world.write('patch', `${REQUESTS}/r/status`, { body: { status: { conditions: changed } } })).code, 200);
  t.deepEqual(
    conditionsOf(await world.stored(`${REQUESTS}/r`)).map(({ type, message = '' }) => [type, message]),
    [
      ['Approved', 'fine'],
      ['Failed', ''],
    ],
  );
  await world.stop();
});

test('an update of a certificate request keeps its spec and its status', async (t) => {
  const world = await AdmissionWorld.start();
  const made = await world.created(REQUESTS, { metadata: { name: 'r' }, spec: SPEC });
  const body = { ...made, metadata: { ...made.metadata, labels: { a: 'b' } }, spec: { ...SPEC, usages: ['any'] } };
  t.is((await world.write('update', `${REQUESTS}/r`, { body })).code, 200);
  const stored = await world.stored(`${REQUESTS}/r`);
  t.deepEqual(stored?.spec, made.spec);
  t.deepEqual(stored?.metadata.labels, { a: 'b' });
  await world.stop();
});

const debugger_ = (name: string, more: object = {}) => ({ name, image: 'debug:1', targetContainerName: 'c', ...more });

/** A pod `p`, and what may be asked of its ephemeral containers. */
async function worldWithPod(): Promise<AdmissionWorld> {
  const world = await AdmissionWorld.start({ featureGates: 'EphemeralContainers=true' });
  await world.created(PODS, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
  return world;
}

const namesOf = (object: Answer | undefined): unknown =>
  (object?.spec.ephemeralContainers as readonly { name: string }[] | undefined)?.map(({ name }) => name);

test('ephemeral containers are added through their subresource, with their defaults', async (t) => {
  const world = await worldWithPod();
  const path = `${PODS}/p/ephemeralcontainers`;
  const answer = await world.write('patch', path, { body: { ephemeralContainers: [debugger_('one')] } });
  t.is(answer.code, 200, answer.body.message);
  t.is(answer.body.kind, 'EphemeralContainers');
  t.is(answer.body.metadata.name, 'p');
  const [one] = answer.body.ephemeralContainers as readonly Record<string, unknown>[];
  t.is(one?.terminationMessagePolicy, 'File');
  const more = await world.write('patch', path, {
    body: { ephemeralContainers: [debugger_('two')] },
    contentType: 'application/strategic-merge-patch+json',
  });
  t.is(more.code, 200, more.body.message);
  t.deepEqual([...(namesOf(await world.stored(`${PODS}/p`)) as string[])].sort(), ['one', 'two']);
  const put = await world.write('update', path, {
    body: { ...more.body, ephemeralContainers: [...(more.body.ephemeralContainers as object[]), debugger_('three')] },
  });
  t.is(put.code, 200, put.body.message);
  await world.stop();
});

test('ephemeral containers that are there are neither changed nor removed, by any way', async (t) => {
  const world = await worldWithPod();
  const path = `${PODS}/p/ephemeralcontainers`;
  await world.write('patch', path, { body: { ephemeralContainers: [debugger_('one')] } });
  const cases: readonly (readonly [what: string, path: string, body: object, field: RegExp])[] = [
    ['removed', path, { ephemeralContainers: [] }, /^spec\.ephemeralContainers$/],
    ['changed', path, { ephemeralContainers: [debugger_('one', { image: 'x' })] }, /^spec\.ephemeralContainers$/],
    [
      'with probes',
      path,
      {
        ephemeralContainers: [
          debugger_('one'),
          debugger_('two', { lifecycle: { preStop: { exec: { command: ['x'] } } } }),
        ],
      },
      /^spec\.ephemeralContainers\[1\]\.lifecycle/,
    ],
    [
      'under a taken name',
      path,
      { ephemeralContainers: [debugger_('one'), debugger_('c')] },
      /^spec\.ephemeralContainers\[1\]\.name$/,
    ],
    ['through the pod', `${PODS}/p`, { spec: { ephemeralContainers: [debugger_('one'), debugger_('two')] } }, /^spec$/],
  ];
  for (const [what, at, body, field] of cases) {
    const answer = await world.write('patch', at, { body });
    t.is(answer.code, 422, `${what}: ${JSON.stringify(answer.body)}`);
    const fields = (answer.body.details?.causes ?? []).map((cause) => cause.field ?? '');
    t.true(
      fields.some((one) => field.test(one)),
      `${what}: ${fields}`,
    );
  }
  t.deepEqual(namesOf(await world.stored(`${PODS}/p`)), ['one']);
  await world.stop();
});

test('ephemeral containers of another version of the pod, or of another pod, are refused', async (t) => {
  const world = await worldWithPod();
  const path = `${PODS}/p/ephemeralcontainers`;
  const list = { ephemeralContainers: [debugger_('one')] };
  const stale = await world.write('update', path, { body: { metadata: { name: 'p', resourceVersion: '1' }, ...list } });
  t.is(stale.code, 409);
  const other = await world.write('update', path, { body: { metadata: { name: 'p', uid: 'x' }, ...list } });
  t.is(other.code, 409);
  t.is((await world.write('update', path, { body: { metadata: { name: 'q' }, ...list } })).code, 400);
  const nobody = { metadata: { name: 'none' }, ...list };
  t.is((await world.write('update', `${PODS}/none/ephemeralcontainers`, { body: nobody })).code, 404);
  await world.stop();
});

const JOBS = '/apis/batch/v1/namespaces/default/jobs';
const JOB = {
  metadata: { name: 'j' },
  spec: { suspend: true, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
};

test('the field of a closed gate is not stored, and nobody owns it', async (t) => {
  const world = await AdmissionWorld.start();
  const made = await world.created(JOBS, JOB);
  t.is(made.spec.suspend, undefined);
  t.false(JSON.stringify(made.metadata.managedFields).includes('f:suspend'));
  const patched = await world.write('patch', `${JOBS}/j`, { body: { spec: { suspend: true } } });
  t.is(patched.code, 200);
  t.is(patched.body.spec.suspend, undefined);
  await world.stop();
});

test('a job without labels has those of its pods, which nobody owns', async (t) => {
  const world = await AdmissionWorld.start();
  const { metadata } = await world.created(JOBS, JOB);
  const labels = { 'controller-uid': metadata.uid, 'job-name': 'j' };
  t.deepEqual(metadata.labels, labels as object);
  t.false(JSON.stringify(metadata.managedFields).includes('f:labels'));
  const named = await world.created(JOBS, { ...JOB, metadata: { name: 'k', labels: { a: 'b' } } });
  t.deepEqual(named.metadata.labels, { a: 'b' });
  await world.stop();
});

test('a job without labels has its uid and its name besides the labels of its template, and one that says the same labels has those alone', async (t) => {
  const world = await AdmissionWorld.start();
  const labels = { app: 'a' };
  const spec = { ...JOB.spec, template: { ...JOB.spec.template, metadata: { labels } } };
  const { metadata } = await world.created(JOBS, { ...JOB, spec });
  const all = { ...labels, 'controller-uid': metadata.uid, 'job-name': 'j' };
  t.deepEqual(metadata.labels, all as object);
  const own = await world.created(JOBS, { metadata: { name: 'k', labels }, spec });
  t.deepEqual(own.metadata.labels, labels);
  await world.stop();
});

test('the field of an open gate is stored, with the defaults that come with it', async (t) => {
  const world = await AdmissionWorld.start({ featureGates: 'SuspendJob=true,IndexedJob=true' });
  const made = await world.created(JOBS, JOB);
  t.is(made.spec.suspend, true);
  t.is(made.spec.completionMode, 'NonIndexed');
  await world.stop();
});

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const DEPLOYMENT = {
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};

/** Applies a Scale. */
function applyScale(world: AdmissionWorld, fieldManager: string, scale: object, force = false): Promise<Answered> {
  return world.write('patch', `${DEPLOYMENTS}/web/scale`, {
    contentType: 'application/apply-patch+yaml',
    parameters: { fieldManager, ...(force ? { force: 'true' } : {}) },
    body: { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'web' }, ...scale },
  });
}

test('a Scale says in which namespace it is', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(DEPLOYMENTS, DEPLOYMENT);
  const scale = `${DEPLOYMENTS}/web/scale`;
  const metadata = { name: 'web', namespace: 'default' };
  t.is((await world.write('update', scale, { body: { metadata, spec: { replicas: 3 } } })).code, 200);
  const { code, body } = await world.write('update', scale, { body: { metadata: { name: 'web' } } });
  t.deepEqual([code, body.message], [422, 'Scale.autoscaling "web" is invalid: metadata.namespace: Required value']);
  t.is((await world.stored(`${DEPLOYMENTS}/web`))?.spec.replicas, 3);
  await world.stop();
});

test('a Scale can be applied: the applier owns the replicas, and nothing else', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(DEPLOYMENTS, DEPLOYMENT, { fieldManager: 'creator' });
  const applied = await applyScale(world, 'scaler', { spec: { replicas: 3 } }, true);
  t.is(applied.code, 200);
  t.is(applied.body.kind, 'Scale');
  t.deepEqual(applied.body.spec, { replicas: 3 });
  const stored = await world.stored(`${DEPLOYMENTS}/web`);
  t.is(stored?.spec.replicas, 3);
  const [entry] = stored?.metadata.managedFields ?? [];
  t.deepEqual(
    [entry?.manager, entry?.operation, entry?.fieldsV1],
    ['scaler', 'Apply', { 'f:spec': { 'f:replicas': {} } }],
  );
  const same = await applyScale(world, 'scaler', { spec: { replicas: 3 } });
  t.is(same.body.metadata.resourceVersion, stored?.metadata.resourceVersion);
  await world.stop();
});

test('a Scale that is applied leaves alone what its manager applied to the object itself, and conflicts with others', async (t) => {
  const world = await AdmissionWorld.start();
  const whole = { apiVersion: 'apps/v1', kind: 'Deployment', ...DEPLOYMENT, spec: { ...DEPLOYMENT.spec, replicas: 2 } };
  const apply = { contentType: 'application/apply-patch+yaml', parameters: { fieldManager: 'one' }, body: whole };
  t.is((await world.write('patch', `${DEPLOYMENTS}/web`, apply)).code, 201);
  t.is((await applyScale(world, 'one', { spec: { replicas: 4 } })).code, 200);
  const stored = await world.stored(`${DEPLOYMENTS}/web`);
  t.is(stored?.spec.replicas, 4);
  t.deepEqual(stored?.spec.selector, DEPLOYMENT.spec.selector);
  const conflict = await applyScale(world, 'two', { spec: { replicas: 5 } });
  t.is(conflict.code, 409);
  t.is(refusal(conflict).details?.causes?.[0]?.field, '.spec.replicas');
  await world.stop();
});

test('what is no Scale cannot be applied to one', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(DEPLOYMENTS, DEPLOYMENT);
  const cases = [
    [{ kind: 'Deployment', apiVersion: 'apps/v1' }, 400],
    [{ spec: { replicas: -1 } }, 422],
    [{ spec: { replicas: 'x' } }, 400],
    [{ metadata: { name: 'web', resourceVersion: '1' }, spec: { replicas: 3 } }, 409],
  ] as const;
  for (const [scale, code] of cases) t.is((await applyScale(world, 'm', scale)).code, code, JSON.stringify(scale));
  await world.stop();
});
