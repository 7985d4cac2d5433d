// What objects count for in quotas, object by object.
import test from 'ava';
import { printed } from '../../../../api/quota/amounts.ts';
import { Tally } from '../../../../api/quota/tally.ts';
import { type CountedType, namesOf, usageOf } from '../../../../api/quota/usage.ts';
import { DIALECTS } from '../../../../config/dialect.ts';

const NOW_MS = Date.parse('2026-01-01T00:00:00Z');
const core = (plural: string): CountedType => ({ group: '', plural });
const container = (requests: object, limits: object = {}) => ({ resources: { requests, limits } });
const pod = (spec: object, status: object = {}, metadata: object = {}) => ({ metadata, spec, status });
const ONE = pod({ containers: [container({ cpu: '1' })] });
const LATE = { deletionTimestamp: '2025-12-31T23:00:00Z', deletionGracePeriodSeconds: 30 };

const CASES: readonly (readonly [what: string, type: CountedType, object: Record<string, unknown>, usage: string])[] = [
  ['a pod that asks for nothing', core('pods'), pod({ containers: [{}] }), 'count/pods=1,pods=1'],
  ['a pod that asks for cpu', core('pods'), ONE, 'count/pods=1,cpu=1,pods=1,requests.cpu=1'],
  [
    'a pod with two containers',
    core('pods'),
    pod({ containers: [container({ cpu: '1', memory: '1Gi' }), container({ cpu: '500m' }, { memory: '2Gi' })] }),
    'count/pods=1,cpu=1500m,limits.memory=2Gi,memory=1Gi,pods=1,requests.cpu=1500m,requests.memory=1Gi',
  ],
  [
    'a pod whose initial container is larger, with overhead',
    core('pods'),
    pod({
      containers: [container({ cpu: '1' })],
      initContainers: [container({ cpu: '3' })],
      overhead: { cpu: '250m' },
    }),
    'count/pods=1,cpu=3250m,limits.cpu=250m,pods=1,requests.cpu=3250m',
  ],
  [
    'a pod that asks for huge pages and devices',
    core('pods'),
    pod({ containers: [container({ 'hugepages-2Mi': '4Mi', 'example.com/gpu': '2' })] }),
    'count/pods=1,hugepages-2Mi=4Mi,pods=1,requests.example.com/gpu=2,requests.hugepages-2Mi=4Mi',
  ],
  [
    'a pod with ephemeral storage',
    core('pods'),
    pod({ containers: [container({ 'ephemeral-storage': '1G' }, { 'ephemeral-storage': '2G' })] }),
    'count/pods=1,ephemeral-storage=1G,limits.ephemeral-storage=2G,pods=1,requests.ephemeral-storage=1G',
  ],
  ['a pod that has failed', core('pods'), { ...ONE, status: { phase: 'Failed' } }, 'count/pods=1'],
  ['a pod that has succeeded', core('pods'), { ...ONE, status: { phase: 'Succeeded' } }, 'count/pods=1'],
  ['a pod that should be gone', core('pods'), { ...ONE, metadata: LATE }, 'count/pods=1'],
  [
    'a cluster service',
    core('services'),
    { spec: { type: 'ClusterIP', ports: [{}] } },
    'count/services=1,services=1,services.loadbalancers=0,services.nodeports=0',
  ],
  [
    'a node port service',
    core('services'),
    { spec: { type: 'NodePort', ports: [{}, {}] } },
    'count/services=1,services=1,services.loadbalancers=0,services.nodeports=2',
  ],
  [
    'a load balancer',
    core('services'),
    { spec: { type: 'LoadBalancer', ports: [{}] } },
    'count/services=1,services=1,services.loadbalancers=1,services.nodeports=1',
  ],
  [
    'a load balancer without node ports but one',
    core('services'),
    { spec: { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [{}, { nodePort: 30000 }] } },
    'count/services=1,services=1,services.loadbalancers=1,services.nodeports=1',
  ],
  [
    'a claim of a class',
    core('persistentvolumeclaims'),
    { spec: { storageClassName: 'gold', resources: { requests: { storage: '5Gi' } } } },
    'count/persistentvolumeclaims=1,gold.storageclass.storage.orch.io/persistentvolumeclaims=1,' +
      'gold.storageclass.storage.orch.io/requests.storage=5Gi,persistentvolumeclaims=1,requests.storage=5Gi',
  ],
  ['a config map', core('configmaps'), {}, 'configmaps=1,count/configmaps=1'],
  ['a service account', core('serviceaccounts'), {}, 'count/serviceaccounts=1'],
  ['a deployment', { group: 'apps', plural: 'deployments' }, {}, 'count/deployments.apps=1'],
  ['a custom object', { group: 'example.com', plural: 'toys' }, {}, 'count/toys.example.com=1'],
];

for (const [what, type, object, usage] of CASES)
  test(`${what} counts ${usage}`, (t) => {
    t.is(printed(usageOf(type, object, DIALECTS.orch, NOW_MS)), usage);
  });

test('of what a quota limits, types count for their own names', (t) => {
  const names = [
    'pods',
    'requests.cpu',
    'requests.example.com/gpu',
    'requests.storage',
    'services',
    'count/jobs.batch',
  ];
  t.deepEqual(namesOf(core('pods'), names, DIALECTS.orch), ['pods', 'requests.cpu', 'requests.example.com/gpu']);
  t.deepEqual(namesOf(core('services'), names, DIALECTS.orch), ['services']);
  t.deepEqual(namesOf(core('persistentvolumeclaims'), names, DIALECTS.orch), ['requests.storage']);
  t.deepEqual(namesOf({ group: 'batch', plural: 'jobs' }, names, DIALECTS.orch), ['count/jobs.batch']);
});

test('a tally counts what comes, changes and goes', (t) => {
  const tally = new Tally(core('pods'), DIALECTS.orch);
  const usage = (): string => printed(tally.usage(NOW_MS, () => true));
  t.true(tally.put('a', ONE));
  t.true(tally.put('b', ONE));
  t.false(tally.put('b', ONE));
  t.is(usage(), 'count/pods=2,cpu=2,pods=2,requests.cpu=2');
  t.true(tally.put('b', { ...ONE, status: { phase: 'Failed' } }));
  t.is(usage(), 'count/pods=2,cpu=1,pods=1,requests.cpu=1');
  t.true(tally.remove('b'));
  t.false(tally.remove('b'));
  t.is(usage(), 'count/pods=1,cpu=1,pods=1,requests.cpu=1');
  t.true(tally.has('a'));
  t.false(tally.has('b'));
});

test('what a tally has not read it knows by name, and leaves out of the usage', (t) => {
  const tally = new Tally(core('pods'), DIALECTS.orch);
  tally.arrived('a');
  tally.arrived('b');
  t.is(tally.unreadCount, 2);
  t.is(printed(tally.usage(NOW_MS, () => true)), '');
  t.true(tally.put('a', ONE));
  t.true(tally.remove('b'));
  t.is(tally.unreadCount, 0);
  t.is(printed(tally.usage(NOW_MS, () => true)), 'count/pods=1,cpu=1,pods=1,requests.cpu=1');
});

test('a quota may name six types of the core group by themselves, and every type but events as a count', (t) => {
  const plain = [
    'configmaps',
    'resourcequotas',
    'replicationcontrollers',
    'secrets',
    'services',
    'persistentvolumeclaims',
  ];
  for (const name of plain) {
    t.deepEqual(namesOf(core(name), [name, `count/${name}`, 'count/x'], DIALECTS.orch), [name, `count/${name}`]);
    const used = printed(usageOf(core(name), {}, DIALECTS.orch, NOW_MS)).split(',');
    for (const one of [name, `count/${name}`]) t.true(used.includes(`${one}=1`), one);
    t.deepEqual(namesOf({ group: 'apps', plural: name }, [name, `count/${name}.apps`], DIALECTS.orch), [
      `count/${name}.apps`,
    ]);
  }
  t.deepEqual(namesOf(core('endpoints'), ['endpoints', 'count/endpoints'], DIALECTS.orch), ['count/endpoints']);
});

test('a pod of thousands of resources is counted in time in proportion to them', (t) => {
  const each = (kind: string) =>
    Array.from({ length: 20_000 }, (_, index) => container({ [`example.com/${kind}${index}`]: '2', cpu: '1m' }));
  const usage = usageOf(core('pods'), pod({ containers: each('a'), initContainers: each('b') }), DIALECTS.orch, NOW_MS);
  t.is(Object.keys(usage).length, 2 * 20_000 + ['count/pods', 'pods', 'cpu', 'requests.cpu'].length);
  t.is(printed({ cpu: usage.cpu! }), 'cpu=20');
});
