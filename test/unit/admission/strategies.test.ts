// What single kinds do on their way into the store: the strategies at work, through admission.
import test from 'ava';
import { AdmissionWorld, type Answer } from './admission-world.ts';

const DAEMON_SETS = '/apis/apps/v1/namespaces/default/daemonsets';
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';
const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const spec = { selector: { matchLabels: { app: 'a' } }, template };

const counted = ({ metadata }: Answer) => [metadata.annotations?.[TEMPLATE_GENERATION], metadata.generation];

test('a daemon set counts the changes of its template in an annotation', async (t) => {
  const world = await AdmissionWorld.start();
  const made = await world.created(DAEMON_SETS, { metadata: { name: 'it' }, spec }, { fieldManager: 'creator' });
  t.deepEqual(counted(made), ['1', 1]);
  const owned = made.metadata.managedFields?.[0]?.fieldsV1 as { 'f:metadata': object };
  t.deepEqual(owned['f:metadata'], { 'f:annotations': { '.': {}, [`f:${TEMPLATE_GENERATION}`]: {} } });
  const it = `${DAEMON_SETS}/it`;
  const patched = async (body: object, path = it) => counted((await world.write('patch', path, { body })).body);
  t.deepEqual(await patched({ spec: { minReadySeconds: 5 } }), ['1', 2]);
  t.deepEqual(await patched({ spec: { template: { metadata: { labels: { b: 'c' } } } } }), ['2', 3]);
  t.deepEqual(await patched({ metadata: { annotations: null } }), ['2', 3]);
  t.deepEqual(await patched({ metadata: { annotations: { [TEMPLATE_GENERATION]: '9', x: 'y' } } }), ['2', 3]);
  t.deepEqual(
    await patched({ metadata: { annotations: null }, status: { desiredNumberScheduled: 1 } }, `${it}/status`),
    ['2', 3],
  );
  const put = await world.write('update', it, { body: { metadata: { name: 'it' }, spec } });
  t.deepEqual(counted(put.body), ['3', 4]);
  await world.stop();
});

test('a new daemon set keeps a count that it brings, and a count that is no number is refused', async (t) => {
  const world = await AdmissionWorld.start();
  const create = (count: string) =>
    world.write('create', DAEMON_SETS, {
      body: { metadata: { name: `it${count.length}`, annotations: { [TEMPLATE_GENERATION]: count } }, spec },
    });
  t.deepEqual(counted((await create('7')).body), ['7', 1]);
  t.is((await create('many')).code, 400);
  await world.stop();
});

test('the claims inside a stateful set say what they are', async (t) => {
  const world = await AdmissionWorld.start();
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  const path = '/apis/apps/v1/namespaces/default/statefulsets';
  const body = { metadata: { name: 'it' }, spec: { ...spec, serviceName: 's', volumeClaimTemplates: [claim] } };
  const made = await world.created(path, body);
  const [first] = made.spec.volumeClaimTemplates as readonly Answer[];
  t.deepEqual([first?.kind, first?.apiVersion], ['PersistentVolumeClaim', 'v1']);
  t.is(
    (await world.write('update', `${path}/it`, { body })).body.metadata.resourceVersion,
    made.metadata.resourceVersion,
  );
  await world.stop();
});

test('a new pod has its quality of service, and seccomp in step', async (t) => {
  const world = await AdmissionWorld.start();
  const made = await world.created('/api/v1/namespaces/default/pods', {
    metadata: { name: 'p' },
    spec: {
      containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '1', memory: '1Gi' } } }],
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
    },
  });
  t.deepEqual(made.status, { phase: 'Pending', qosClass: 'Guaranteed' });
  t.deepEqual(made.metadata.annotations, { 'seccomp.security.alpha.orch.io/pod': 'runtime/default' });
  t.false(JSON.stringify(made.metadata.managedFields).includes('f:annotations'));
  await world.stop();
});

test('a namespace whose name is generated has the label that says its name', async (t) => {
  const label = 'orch.io/metadata.name';
  const world = await AdmissionWorld.start();
  for (const labels of [{}, { a: 'b' }, { [label]: 'other' }]) {
    const { metadata } = await world.created('/api/v1/namespaces', { metadata: { generateName: 'it-', labels } });
    t.is(metadata.labels?.[label], metadata.name);
    t.is((await world.stored(`/api/v1/namespaces/${metadata.name}`))?.metadata.labels?.[label], metadata.name);
  }
  await world.stop();
  const closed = await AdmissionWorld.start({ featureGates: 'NamespaceDefaultLabelName=false' });
  t.is((await closed.created('/api/v1/namespaces', { metadata: { generateName: 'it-' } })).metadata.labels, undefined);
  await closed.stop();
});

test('finalizing a namespace changes all of it but the status, and only the one that is meant', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created('/api/v1/namespaces', { metadata: { name: 'it', finalizers: ['example.com/held'] } });
  const finalize = (metadata: object) =>
    world.write('update', '/api/v1/namespaces/it/finalize', {
      body: { metadata: { name: 'it', ...metadata }, spec: { finalizers: [] }, status: { phase: 'Odd' } },
    });
  t.is((await finalize({ uid: 'another' })).code, 409);
  const { code, body } = await finalize({ labels: { a: 'b' } });
  t.deepEqual([code, body.metadata.labels?.a, body.metadata.finalizers], [200, 'b', undefined]);
  t.deepEqual([body.spec, body.status], [{}, { phase: 'Active' }]);
  await world.stop();
});

test('a limit range without a name has one of its own', async (t) => {
  const world = await AdmissionWorld.start();
  const path = '/api/v1/namespaces/default/limitranges';
  const made = await world.created(path, { spec: { limits: [] } });
  t.regex(made.metadata.name as string, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  t.deepEqual(await world.stored(`${path}/${made.metadata.name}`), made);
  await world.stop();
});

test('the secrets of a service account are named by their names alone', async (t) => {
  const world = await AdmissionWorld.start();
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  const secrets = [{ kind: 'Secret', namespace: 'other', name: 's', uid: '1' }, { name: 't' }];
  const body = { metadata: { name: 'a' }, secrets, imagePullSecrets: [{ name: 'i' }] };
  const made = await world.created(accounts, body);
  t.deepEqual(made.secrets, [{ name: 's' }, { name: 't' }]);
  t.deepEqual(made.imagePullSecrets, [{ name: 'i' }]);
  const put = await world.write('update', `${accounts}/a`, { body });
  t.is(put.body.metadata.resourceVersion, made.metadata.resourceVersion);
  const change = { secrets: [{ name: 'u', apiVersion: 'v1', fieldPath: 'x' }] };
  const patched = await world.write('patch', `${accounts}/a`, { body: change });
  t.deepEqual(patched.body.secrets, [{ name: 'u' }]);
  t.deepEqual(await world.stored(`${accounts}/a`), patched.body);
  await world.stop();
});

test('a change that only a new object can have is refused in the words by which tools know it', async (t) => {
  const world = await AdmissionWorld.start();
  const rbac = '/apis/rbac.authorization.orch.io/v1';
  const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'a' };
  const cases: readonly (readonly [path: string, body: object, change: object, ending: string])[] = [
    [`${rbac}/clusterrolebindings`, { roleRef }, { roleRef: { name: 'b' } }, 'cannot change roleRef'],
    [`${rbac}/namespaces/default/rolebindings`, { roleRef }, { roleRef: { name: 'b' } }, 'cannot change roleRef'],
    [
      '/apis/storage.orch.io/v1/storageclasses',
      { provisioner: 'a/b', parameters: { a: 'b' } },
      { parameters: { a: 'c' } },
      'parameters: Forbidden: updates to parameters are forbidden.',
    ],
    [
      '/apis/scheduling.orch.io/v1/priorityclasses',
      { value: 1 },
      { value: 2 },
      'Value: Forbidden: may not be changed in an update.',
    ],
  ];
  for (const [path, body, change, ending] of cases) {
    await world.created(path, { metadata: { name: 'it' }, ...body });
    const answer = await world.write('patch', `${path}/it`, { body: change });
    t.is(answer.code, 422);
    t.true((answer.body.message as string).endsWith(`: ${ending}`), answer.body.message as string);
  }
  await world.stop();
});
