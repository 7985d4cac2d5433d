// ResourceQuota, case by case. Nobody but the test counts here: it says what is used.
import test from 'ava';
import { readLimitedResources } from '../../../../actors/admission/plugins/resource-quota/configuration.ts';
import { resourceQuota } from '../../../../actors/admission/plugins/resource-quota/resource-quota.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { AdmissionWorld, type Answered } from '../admission-world.ts';
import { NO_FILES } from './no-files.ts';
import { PODS, podOf } from './plugin-cases.ts';

const CORE = '/api/v1/namespaces/default';
const QUOTAS = `${CORE}/resourcequotas`;

type Texts = Readonly<Record<string, string>>;
interface Given {
  readonly hard: Texts;
  readonly used?: Texts;
  readonly spec?: object;
}
interface Case {
  readonly what: string;
  readonly quota?: Given;
  readonly limited?: readonly object[];
  readonly path?: string;
  readonly body: object;
  readonly dryRun?: boolean;
  /** Changed to this after it was made. */
  readonly changes?: object;
  readonly refused?: string;
  readonly code?: number;
  readonly usedAfter?: Texts;
}

const asking = (requests: object, spec: object = {}) => podOf(spec, { resources: { requests } });
const service = (type: string) => ({ metadata: { name: 'it' }, spec: { type, ports: [{ port: 80 }] } });
const claim = (storage: string, storageClassName = 'gold') => ({
  metadata: { name: 'it' },
  spec: { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
});
const scoped = (...scopes: string[]) => ({ hard: { pods: '0' }, used: { pods: '0' }, spec: { scopes } });
const ofClass = (operator: string, values: string[] = []) => ({
  hard: { pods: '0' },
  used: { pods: '0' },
  spec: { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator, values }] } },
});
const NO_POD = 'pods "it" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0';
const CLASS = 'gold.storageclass.storage.orch.io/requests.storage';
const affinity = {
  affinity: {
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'zone', namespaces: ['other'], labelSelector: { matchLabels: { a: 'b' } } },
      ],
    },
  },
};

const CASES: readonly Case[] = [
  {
    what: 'a pod where there is room',
    quota: { hard: { pods: '2' }, used: { pods: '1' } },
    body: podOf(),
    usedAfter: { pods: '2' },
  },
  {
    what: 'a pod too many',
    quota: { hard: { pods: '2' }, used: { pods: '2' } },
    body: podOf(),
    refused: 'pods "it" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2',
    usedAfter: { pods: '2' },
  },
  {
    what: 'a pod that is tried only',
    quota: { hard: { pods: '2' }, used: { pods: '1' } },
    body: podOf(),
    dryRun: true,
    usedAfter: { pods: '1' },
  },
  {
    what: 'a pod too many that is tried only',
    quota: { hard: { pods: '0' }, used: { pods: '0' } },
    body: podOf(),
    dryRun: true,
    refused: NO_POD,
  },
  {
    what: 'a pod that asks for too much of two',
    quota: { hard: { 'requests.cpu': '1', memory: '1Gi' }, used: { 'requests.cpu': '500m', memory: '512Mi' } },
    body: asking({ cpu: '600m', memory: '1Gi' }),
    refused:
      'pods "it" is forbidden: exceeded quota: q, requested: memory=1Gi,requests.cpu=600m, used: memory=512Mi,requests.cpu=500m, limited: memory=1Gi,requests.cpu=1',
  },
  {
    what: 'a pod that does not say what it needs',
    quota: { hard: { cpu: '1', memory: '1Gi' }, used: { cpu: '0', memory: '0' } },
    body: podOf(),
    refused: 'pods "it" is forbidden: failed quota: q: must specify cpu,memory',
  },
  {
    what: 'a pod of which nobody knows what is used',
    quota: { hard: { pods: '1' }, used: {} },
    body: podOf(),
    refused: 'pods "it" is forbidden: status unknown for quota: q, resources: pods',
  },
  {
    what: 'a pod beside a quota of something else',
    quota: { hard: { services: '0' }, used: { services: '0' } },
    body: podOf(),
    usedAfter: { services: '0' },
  },
  { what: 'a pod of best effort', quota: scoped('BestEffort'), body: podOf(), refused: NO_POD },
  { what: 'a pod of more than best effort', quota: scoped('BestEffort'), body: asking({ cpu: '1' }) },
  {
    what: 'a pod that is not of best effort',
    quota: scoped('NotBestEffort'),
    body: asking({ cpu: '1' }),
    refused: NO_POD,
  },
  { what: 'a pod that ends', quota: scoped('Terminating'), body: podOf({ activeDeadlineSeconds: 9 }), refused: NO_POD },
  { what: 'a pod that does not end', quota: scoped('Terminating'), body: podOf() },
  { what: 'a pod without an end', quota: scoped('NotTerminating'), body: podOf(), refused: NO_POD },
  {
    what: 'a pod of a class',
    quota: ofClass('In', ['high']),
    body: podOf({ priorityClassName: 'high' }),
    refused: NO_POD,
  },
  { what: 'a pod of another class', quota: ofClass('In', ['high']), body: podOf({ priorityClassName: 'low' }) },
  { what: 'a pod of no class', quota: ofClass('DoesNotExist'), body: podOf(), refused: NO_POD },
  { what: 'a pod of some class', quota: ofClass('Exists'), body: podOf({ priorityClassName: 'low' }), refused: NO_POD },
  { what: 'a pod of none of the classes', quota: ofClass('NotIn', ['high']), body: podOf(), refused: NO_POD },
  {
    what: 'a pod that looks into other namespaces',
    quota: scoped('CrossNamespacePodAffinity'),
    body: podOf(affinity),
    refused: NO_POD,
  },
  {
    what: 'a load balancer too many',
    quota: { hard: { 'services.loadbalancers': '0' }, used: { 'services.loadbalancers': '0' } },
    path: `${CORE}/services`,
    body: service('LoadBalancer'),
    refused:
      'services "it" is forbidden: exceeded quota: q, requested: services.loadbalancers=1, used: services.loadbalancers=0, limited: services.loadbalancers=0',
  },
  {
    what: 'a service that gets a node port',
    quota: { hard: { services: '1', 'services.nodeports': '1' }, used: { services: '0', 'services.nodeports': '0' } },
    path: `${CORE}/services`,
    body: service('ClusterIP'),
    changes: { spec: { type: 'NodePort' } },
    usedAfter: { services: '1', 'services.nodeports': '1' },
  },
  {
    what: 'a service that gets a node port too many',
    quota: { hard: { 'services.nodeports': '0' }, used: { 'services.nodeports': '0' } },
    path: `${CORE}/services`,
    body: service('ClusterIP'),
    changes: { spec: { type: 'NodePort' } },
    refused:
      'services "it" is forbidden: exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=0, limited: services.nodeports=0',
  },
  {
    what: 'a claim of a class',
    quota: { hard: { [CLASS]: '5Gi' }, used: { [CLASS]: '1Gi' } },
    path: `${CORE}/persistentvolumeclaims`,
    body: claim('4Gi'),
    usedAfter: { [CLASS]: '5Gi' },
  },
  {
    what: 'a claim that is too large for its class',
    quota: { hard: { [CLASS]: '5Gi' }, used: { [CLASS]: '1Gi' } },
    path: `${CORE}/persistentvolumeclaims`,
    body: claim('5Gi'),
    refused: `persistentvolumeclaims "it" is forbidden: exceeded quota: q, requested: ${CLASS}=5Gi, used: ${CLASS}=1Gi, limited: ${CLASS}=5Gi`,
  },
  {
    what: 'a claim of another class',
    quota: { hard: { [CLASS]: '0' }, used: { [CLASS]: '0' } },
    path: `${CORE}/persistentvolumeclaims`,
    body: claim('5Gi', 'silver'),
  },
  {
    what: 'a config map under its old name and its new',
    quota: { hard: { configmaps: '3', 'count/configmaps': '3' }, used: { configmaps: '1', 'count/configmaps': '1' } },
    path: `${CORE}/configmaps`,
    body: { metadata: { name: 'it' } },
    usedAfter: { configmaps: '2', 'count/configmaps': '2' },
  },
  {
    what: 'a lease too many',
    quota: { hard: { 'count/leases.coordination.orch.io': '0' }, used: { 'count/leases.coordination.orch.io': '0' } },
    path: '/apis/coordination.orch.io/v1/namespaces/default/leases',
    body: { metadata: { name: 'it' } },
    refused:
      'leases.coordination.orch.io "it" is forbidden: exceeded quota: q, requested: count/leases.coordination.orch.io=1, used: count/leases.coordination.orch.io=0, limited: count/leases.coordination.orch.io=0',
  },
  {
    what: 'a pod that nobody has limited although they must',
    limited: [{ resource: 'pods', matchContains: ['cpu'] }],
    body: asking({ cpu: '1' }),
    refused: 'pods "it" is forbidden: insufficient quota to consume: cpu,requests.cpu',
  },
  {
    what: 'a pod whose limited resource is in a quota',
    limited: [{ resource: 'pods', matchContains: ['requests.cpu'] }],
    quota: { hard: { 'requests.cpu': '2' }, used: { 'requests.cpu': '0' } },
    body: asking({ cpu: '1' }),
    usedAfter: { 'requests.cpu': '1' },
  },
  {
    what: 'a service that changes to what is limited and in no quota',
    limited: [{ resource: 'services', matchContains: ['services.'] }],
    quota: {
      hard: { services: '1', 'services.nodeports': '1' },
      used: { services: '0', 'services.nodeports': '0' },
    },
    path: `${CORE}/services`,
    body: service('ClusterIP'),
    changes: { spec: { type: 'LoadBalancer' } },
    refused: 'services "it" is forbidden: insufficient quota to consume: services.loadbalancers',
  },
  {
    what: 'a pod of a limited class without a quota for it',
    limited: [{ resource: 'pods', matchScopes: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] }],
    body: podOf({ priorityClassName: 'high' }),
    refused: 'insufficient quota to match these scopes: [{PriorityClass In [high]}]',
    code: 500,
  },
  {
    what: 'a pod of a limited class with a quota for it',
    limited: [{ resource: 'pods', matchScopes: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] }],
    quota: { ...ofClass('In', ['high']), hard: { pods: '1' } },
    body: podOf({ priorityClassName: 'high' }),
    usedAfter: { pods: '1' },
  },
];

const read = (limitedResources: readonly object[], apiVersion = 'apiserver.config.orch.io/v1') =>
  readLimitedResources({
    content: { kind: 'ResourceQuotaConfiguration', apiVersion, limitedResources },
    dialect: DIALECTS.orch,
    ...NO_FILES,
  });

async function given(world: AdmissionWorld, { hard, used = {}, spec }: Given): Promise<void> {
  const quota = await world.created(QUOTAS, { metadata: { name: 'q' }, spec: { hard, ...spec } });
  const answer = await world.write('update', `${QUOTAS}/q/status`, { body: { ...quota, status: { hard, used } } });
  if (answer.code !== 200) throw new Error(answer.body.message);
}

const usedOf = async (world: AdmissionWorld): Promise<unknown> => {
  const { body } = await world.write('patch', `${QUOTAS}/q`, { body: {} });
  return (body.status as { used: unknown }).used;
};

for (const one of CASES)
  test(`ResourceQuota: ${one.what} ${one.refused === undefined ? 'is taken' : 'is refused'}`, async (t) => {
    const { quota, limited = [], path = PODS, body, dryRun, refused, code, usedAfter } = one;
    const configurations = { ResourceQuota: read(limited) };
    const featureGates = 'PodAffinityNamespaceSelector=true';
    const world = await AdmissionWorld.start({ plugins: [resourceQuota], configurations, featureGates });
    if (quota !== undefined) await given(world, quota);
    const parameters: Record<string, readonly string[]> = dryRun ? { dryRun: ['All'] } : {};
    let answer: Answered = await world.write('create', path, { body, parameters });
    if (one.changes !== undefined) {
      t.is(answer.code, 201, answer.body.message);
      answer = await world.write('patch', `${path}/it`, { body: one.changes });
    }
    if (refused === undefined) t.true(answer.code < 300, answer.body.message);
    else {
      t.is(answer.body.message, refused);
      t.is(answer.code, code ?? 403);
    }
    if (usedAfter !== undefined) t.deepEqual(await usedOf(world), usedAfter);
    await world.stop();
  });

test('ResourceQuota: of many pods at once as many are taken as there is room for, and the rest refused', async (t) => {
  const world = await AdmissionWorld.start({ plugins: [resourceQuota] });
  await given(world, { hard: { pods: '20' }, used: { pods: '0' } });
  const answers = await world.during(
    Promise.all(
      Array.from({ length: 64 }, (_, i) => world.soon('create', PODS, { body: podOf({}, {}, { name: `p${i}` }) })),
    ),
  );
  t.is(answers.filter(({ code }) => code === 201).length, 20);
  t.is(answers.filter(({ code }) => code === 403).length, 44);
  t.deepEqual(await usedOf(world), { pods: '20' });
  await world.stop();
});

test('ResourceQuota: a race for the quota that is lost is run again, and the client does not hear of it', async (t) => {
  const world = await AdmissionWorld.start({ plugins: [resourceQuota] });
  await given(world, { hard: { pods: '2' }, used: { pods: '0' } });
  const used = { hard: { pods: '2' }, used: { pods: '1' } };
  world.gate.beforeCommit = () => world.soon('patch', `${QUOTAS}/q/status`, { body: { status: used } });
  t.is((await world.write('create', PODS, { body: podOf() })).code, 201);
  t.deepEqual(await usedOf(world), { pods: '2' });
  await world.stop();
});

test('ResourceQuota: who owns what of a quota owns it still when something is counted for it', async (t) => {
  const world = await AdmissionWorld.start({ plugins: [resourceQuota] });
  const apply = (hard: Texts) =>
    world.write('patch', `${QUOTAS}/q`, {
      contentType: 'application/apply-patch+yaml',
      parameters: { fieldManager: 'me' },
      body: { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard } },
    });
  await apply({ pods: '9', services: '1' });
  const counted = { hard: { pods: '9', services: '1' }, used: { pods: '0', services: '0' } };
  const before = await world.write('patch', `${QUOTAS}/q/status`, { body: { status: counted } });
  for (const name of ['a', 'b']) await world.write('create', PODS, { body: podOf({}, {}, { name }) });
  const { body } = await world.write('patch', `${QUOTAS}/q`, { body: {} });
  t.like(body.status, { used: { pods: '2' } });
  t.deepEqual(body.metadata.managedFields, before.body.metadata.managedFields);
  t.is(body.metadata.managedFields?.length, 2);
  const { body: reduced } = await apply({ pods: '9' });
  t.deepEqual(reduced.spec, { hard: { pods: '9' } });
  await world.stop();
});

test('ResourceQuota: who is counting for a quota hears of what comes before it has been counted for the first time', async (t) => {
  const world = await AdmissionWorld.start({ plugins: [resourceQuota] });
  const quota = await world.created(QUOTAS, { metadata: { name: 'q' }, spec: { hard: { pods: '2' } } });
  await world.created(PODS, podOf());
  const status = { hard: { pods: '2' }, used: { pods: '0' } };
  const counted = await world.write('update', `${QUOTAS}/q/status`, { body: { ...quota, status } });
  t.is(counted.code, 409);
  await world.stop();
});

test('the settings of ResourceQuota say where they are wrong', (t) => {
  t.throws(() => read([{ resource: '' }]), { message: /limitedResources\[0\]\.resource/ });
  t.throws(() => read([{ resource: 'pods', matchScopes: [{ scopeName: 'None', operator: 'In' }] }]), {
    message: /limitedResources\[0\]\.matchScopes\[0\]\.scopeName/,
  });
  t.throws(() => read([{ resource: 'pods', matchScopes: [{ scopeName: 'PriorityClass' }] }]), {
    message: /limitedResources\[0\]\.matchScopes\[0\]\.operator/,
  });
  t.is(read([{ resource: 'pods', matchScopes: [{ scopeName: 'CrossNamespacePodAffinity' }] }]).length, 1);
  t.throws(() => read([{ resource: 'pods', matchContains: [1] }]), { message: /matchContains\[0\]/ });
  t.throws(() => read([], 'v1'), { message: /apiVersion/ });
  t.is(read([{ resource: 'pods' }], 'apiserver.config.orch.io/v1alpha1').length, 1);
});

test('ResourceQuota: a quota that counts quotas counts those that come, and does not race itself', async (t) => {
  const world = await AdmissionWorld.start({ plugins: [resourceQuota] });
  await given(world, { hard: { resourcequotas: '3' }, used: { resourcequotas: '1' } });
  const made = async (name: string) =>
    (await world.write('create', QUOTAS, { body: { metadata: { name }, spec: {} } })).code;
  t.deepEqual([await made('q'), await made('a'), await made('b'), await made('c')], [409, 201, 201, 403]);
  await world.stop();
});

test('ResourceQuota: of writes that are committed together one may fail, and the others hold', async (t) => {
  const world = await AdmissionWorld.start({ plugins: [resourceQuota] });
  await given(world, { hard: { pods: '20' }, used: { pods: '0' } });
  const soon = (name: string) => world.soon('create', PODS, { body: podOf({}, {}, { name }) });
  const answers = await world.during(Promise.all(['a', 'b', 'a', 'c', 'b', 'd'].map(soon)));
  t.deepEqual(
    answers.map(({ code }) => code),
    [201, 201, 409, 201, 409, 201],
  );
  t.deepEqual(await usedOf(world), { pods: '4' }, 'what was charged for those that failed is taken back');
  await world.stop();
});
