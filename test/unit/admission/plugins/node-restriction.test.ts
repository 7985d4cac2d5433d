// NodeRestriction, case by case: what the agent of node `one` may write.
import test from 'ava';
import { nodeRestriction } from '../../../../actors/admission/plugins/node-restriction/node-restriction.ts';
import { AdmissionWorld } from '../admission-world.ts';
import { type PluginCase, PODS, type Present, podOf, testPlugin } from './plugin-cases.ts';

const AGENT = { name: 'system:node:one', groups: ['system:nodes'] };
const NODES = '/api/v1/nodes';
const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';
const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
const LEASES = '/apis/coordination.orch.io/v1/namespaces/orch-node-lease/leases';
const STORAGE_NODES = '/apis/storage.orch.io/v1/csinodes';
const DRY = { parameters: { dryRun: ['All'] } };

const agentCases = (cases: readonly PluginCase[]): readonly PluginCase[] =>
  cases.map((one) => ({ user: AGENT, ...one }));
const ofPod = (detail: string): string => `pods "it" is forbidden: ${detail}`;
const ofNode = (name: string, detail: string): string => `nodes "${name}" is forbidden: ${detail}`;
const node = (name: string, labels: object = {}, spec: object = {}): object => ({ metadata: { name, labels }, spec });
const CONFIGURED = {
  configSource: { configMap: { namespace: 'default', name: 'm', orchletConfigKey: 'orchlet' } },
};
const NODE_ONE: Present = [NODES, node('one', { 'example.com/a': 'b', 'orch.io/os': 'linux' })];
const NODE_TWO: Present = [NODES, node('two')];
const ownPod: Present = [PODS, podOf({ nodeName: 'one' })];
const otherPod: Present = [PODS, podOf({ nodeName: 'two' })];

const MIRROR = { annotations: { 'orch.io/config.mirror': 'hash' } };
const owner = (more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Node',
  name: 'one',
  uid: 'u',
  controller: true,
  ...more,
});
const mirror = (owners: readonly object[], spec: object = {}): object =>
  podOf({ nodeName: 'one', ...spec }, {}, { ...MIRROR, ownerReferences: owners });

const pods: readonly PluginCase[] = [
  { what: 'a pod of somebody else', user: {}, path: PODS, body: podOf() },
  {
    what: 'a plain pod',
    path: PODS,
    body: podOf({ nodeName: 'one' }),
    refused: ofPod('pod does not have "orch.io/config.mirror" annotation, node "one" can only create mirror pods'),
  },
  {
    what: 'a mirror pod of another node',
    path: PODS,
    body: podOf({ nodeName: 'two' }, {}, MIRROR),
    refused: ofPod('node "one" can only create pods with spec.nodeName set to itself'),
  },
  {
    what: 'a mirror pod without an owner',
    path: PODS,
    body: mirror([]),
    refused: ofPod('node "one" can only create pods with an owner reference set to itself'),
  },
  {
    what: 'a mirror pod with two owners',
    path: PODS,
    body: mirror([owner(), owner({ uid: 'v', controller: false })]),
    refused: ofPod('node "one" can only create pods with a single owner reference set to itself'),
  },
  {
    what: 'a mirror pod of another owner',
    path: PODS,
    body: mirror([owner({ name: 'two' })]),
    refused: ofPod('node "one" can only create pods with an owner reference set to itself'),
  },
  {
    what: 'a mirror pod that its owner does not control',
    path: PODS,
    body: mirror([owner({ controller: false })]),
    refused: ofPod('node "one" can only create pods with a controller owner reference set to itself'),
  },
  {
    what: 'a mirror pod that holds its node back',
    path: PODS,
    body: mirror([owner({ blockOwnerDeletion: true })]),
    refused: ofPod('node "one" must not set blockOwnerDeletion on an owner reference'),
  },
  {
    what: 'a mirror pod of a node that is not there',
    path: PODS,
    body: mirror([owner()]),
    code: 404,
    refused: 'nodes "one" not found',
  },
  {
    what: 'a mirror pod with another uid of its node',
    present: [NODE_ONE],
    path: PODS,
    body: mirror([owner()]),
    refused: /^pods "it" is forbidden: node one UID mismatch: expected u got [0-9a-f-]{36}$/,
  },
  {
    what: 'a change of a pod',
    present: [ownPod],
    verb: 'patch',
    path: `${PODS}/it`,
    body: { metadata: { labels: { a: 'b' } } },
    refused: ofPod('unexpected operation "UPDATE", node "one" can only create and delete mirror pods'),
  },
  { what: 'the deletion of a pod of its own', present: [ownPod], verb: 'delete', path: `${PODS}/it` },
  {
    what: 'the deletion of a pod of another node',
    present: [otherPod],
    verb: 'delete',
    path: `${PODS}/it`,
    refused: ofPod('node "one" can only delete pods with spec.nodeName set to itself'),
  },
  {
    what: 'the status of a pod of its own',
    present: [ownPod],
    verb: 'patch',
    path: `${PODS}/it/status`,
    body: { status: { phase: 'Running' } },
  },
  {
    what: 'the status of a pod of another node',
    present: [otherPod],
    verb: 'patch',
    path: `${PODS}/it/status`,
    body: { status: { phase: 'Running' } },
    refused: ofPod('node "one" can only update pod status for pods with spec.nodeName set to itself'),
  },
  {
    what: 'the status of a pod that is not bound',
    present: [[PODS, podOf()]],
    verb: 'patch',
    path: `${PODS}/it/status`,
    request: DRY,
    body: { status: { phase: 'Running' } },
    refused: ofPod('node "one" can only update pod status for pods with spec.nodeName set to itself'),
  },
  {
    what: 'labels beside a status',
    present: [ownPod],
    verb: 'patch',
    path: `${PODS}/it/status`,
    body: { metadata: { labels: { a: 'b' } } },
    refused: ofPod('node "one" cannot update labels through pod status'),
  },
  {
    what: 'the eviction of a pod of its own',
    present: [ownPod],
    path: `${PODS}/it/eviction`,
    body: { metadata: { name: 'it' } },
  },
  {
    what: 'the eviction of a pod of another node',
    present: [otherPod],
    path: `${PODS}/it/eviction`,
    body: { metadata: { name: 'it' } },
    refused: ofPod('node one can only evict pods with spec.nodeName set to itself'),
  },
  {
    what: 'an eviction that names a pod of its own, of one of another node',
    present: [otherPod],
    path: `${PODS}/it/eviction`,
    body: { metadata: { name: 'other' } },
    refused: ofPod('node one can only evict pods with spec.nodeName set to itself'),
  },
  {
    what: 'an eviction that names another pod than its own',
    present: [ownPod],
    path: `${PODS}/it/eviction`,
    body: { metadata: { name: 'other' } },
    code: 400,
    refused: 'name in URL does not match name in Eviction object',
  },
  {
    what: 'the eviction of a pod that is not there',
    path: `${PODS}/it/eviction`,
    body: { metadata: { name: 'it' } },
    code: 404,
    refused: 'pods "it" not found',
  },
  {
    what: 'a binding',
    present: [[PODS, podOf()]],
    path: `${PODS}/it/binding`,
    body: { metadata: { name: 'it' }, target: { kind: 'Node', name: 'one' } },
    refused: ofPod(`unexpected pod subresource "binding", only 'status' and 'eviction' are allowed`),
  },
  {
    what: 'an agent that does not say of which node',
    user: { ...AGENT, name: 'system:node:' },
    path: PODS,
    body: podOf(),
    refused: ofPod('could not determine node from user "system:node:"'),
  },
  { what: 'a user called as an agent', user: { name: 'system:node:one', groups: [] }, path: PODS, body: podOf() },
];

const nodes: readonly PluginCase[] = [
  {
    what: 'its own node',
    path: NODES,
    body: node('one', { 'orch.io/hostname': 'one', 'example.com/a': 'b', 'node.orch.io/x': 'y', plain: 'z' }),
  },
  {
    what: 'another node',
    path: NODES,
    body: node('two'),
    refused: ofNode('two', 'node "one" is not allowed to modify node "two"'),
  },
  {
    what: 'another node with a restricted label',
    path: NODES,
    body: node('two', { 'node-restriction.orch.io/fips': 'true' }),
    refused: ofNode('two', 'node "one" is not allowed to modify node "two"'),
  },
  {
    what: 'its own node with a restricted label',
    path: NODES,
    body: node('one', { 'node-restriction.orch.io/fips': 'true' }),
    refused: ofNode('one', 'node "one" is not allowed to set the following labels: node-restriction.orch.io/fips'),
  },
  {
    what: 'its own node with labels of the system',
    path: NODES,
    body: node('one', { 'other.orch.io/b': 'x', 'orch.io/a': 'x' }),
    refused: ofNode('one', 'node "one" is not allowed to set the following labels: orch.io/a, other.orch.io/b'),
  },
  {
    what: 'a label of its own node',
    present: [NODE_ONE],
    verb: 'patch',
    path: `${NODES}/one`,
    body: { metadata: { labels: { 'example.com/a': 'c' } } },
  },
  {
    what: 'a label of the system of its own node',
    present: [NODE_ONE],
    verb: 'patch',
    path: `${NODES}/one`,
    body: { metadata: { labels: { 'node-role.orch.io/master': '' } } },
    refused: ofNode('one', 'is not allowed to modify labels: node-role.orch.io/master'),
  },
  {
    what: 'its own taints',
    present: [NODE_ONE],
    verb: 'patch',
    path: `${NODES}/one`,
    body: { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } },
    refused: ofNode('one', 'node "one" is not allowed to modify taints'),
  },
  {
    what: 'its own taints, by its status',
    present: [NODE_ONE],
    verb: 'patch',
    path: `${NODES}/one/status`,
    body: { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] }, status: { phase: 'Running' } },
    refused: ofNode('one', 'node "one" is not allowed to modify taints'),
  },
  {
    what: 'a configuration of its own node, by its status',
    present: [NODE_ONE],
    verb: 'patch',
    path: `${NODES}/one/status`,
    body: { spec: CONFIGURED },
    refused: ofNode('one', 'node "one" is not allowed to update configSource to a new non-nil configSource'),
  },
  {
    what: 'its own status, its spec as it is',
    present: [NODE_ONE],
    verb: 'patch',
    path: `${NODES}/one/status`,
    body: { spec: { podCIDR: '' }, status: { phase: 'Running' } },
  },
  {
    what: 'its own node with a configuration',
    path: NODES,
    body: node('one', {}, CONFIGURED),
    refused: ofNode('one', 'node "one" is not allowed to create pods with a non-nil configSource'),
  },
  {
    what: 'a configuration of its own node',
    present: [NODE_ONE],
    verb: 'patch',
    path: `${NODES}/one`,
    body: { spec: CONFIGURED },
    refused: ofNode('one', 'node "one" is not allowed to update configSource to a new non-nil configSource'),
  },
  {
    what: 'its own node with the configuration that it was given',
    present: [[NODES, node('one', {}, CONFIGURED)]],
    verb: 'patch',
    path: `${NODES}/one`,
    body: { metadata: { labels: { 'example.com/a': 'c' } } },
  },
  {
    what: 'its own node without the configuration that it was given',
    present: [[NODES, node('one', {}, CONFIGURED)]],
    verb: 'patch',
    path: `${NODES}/one`,
    body: { spec: { configSource: null } },
  },
  {
    what: 'its own status',
    present: [NODE_ONE],
    verb: 'patch',
    path: `${NODES}/one/status`,
    body: { status: { capacity: { cpu: '2' } } },
  },
  {
    what: 'the status of another node',
    present: [NODE_TWO],
    verb: 'patch',
    path: `${NODES}/two/status`,
    body: { status: { capacity: { cpu: '2' } } },
    refused: ofNode('two', 'node "one" is not allowed to modify node "two"'),
  },
  { what: 'the deletion of its own node', present: [NODE_ONE], verb: 'delete', path: `${NODES}/one` },
  {
    what: 'the deletion of another node',
    present: [NODE_TWO],
    verb: 'delete',
    path: `${NODES}/two`,
    refused: ofNode('two', 'node "one" is not allowed to modify node "two"'),
  },
];

const claim: Present = [
  CLAIMS,
  { metadata: { name: 'it' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
];
const lease = (name: string): object => ({ metadata: { name }, spec: { holderIdentity: name } });
const LEASE_NAMESPACE: Present = ['/api/v1/namespaces', { metadata: { name: 'orch-node-lease' } }];
const token = (boundObjectRef?: object): object => ({ spec: { audiences: ['a'], boundObjectRef } });

const others: readonly PluginCase[] = [
  {
    what: 'a claim',
    path: CLAIMS,
    body: claim[1],
    refused: 'persistentvolumeclaims "it" is forbidden: may only update PVC status',
  },
  {
    what: 'what a claim has',
    present: [claim],
    verb: 'patch',
    path: `${CLAIMS}/it/status`,
    body: { status: { capacity: { storage: '2Gi' } } },
  },
  {
    what: 'the phase of a claim',
    present: [claim],
    verb: 'patch',
    path: `${CLAIMS}/it/status`,
    body: { status: { phase: 'Lost' } },
    refused:
      'persistentvolumeclaims "it" is forbidden: node "one" is not allowed to update fields other than status.capacity and status.conditions: status',
  },
  {
    what: 'the spec of a claim, by its status',
    present: [claim],
    verb: 'patch',
    path: `${CLAIMS}/it/status`,
    body: { spec: { volumeName: 'v' } },
    refused:
      'persistentvolumeclaims "it" is forbidden: node "one" is not allowed to update fields other than status.capacity and status.conditions: spec',
  },
  { what: 'its own lease', present: [LEASE_NAMESPACE], path: LEASES, body: lease('one') },
  {
    what: 'the lease of another node',
    present: [LEASE_NAMESPACE],
    path: LEASES,
    body: lease('two'),
    refused:
      'leases.coordination.orch.io "two" is forbidden: can only access node lease with the same name as the requesting node',
  },
  {
    what: 'the renewal of the lease of another node',
    present: [LEASE_NAMESPACE, [LEASES, lease('two')]],
    verb: 'patch',
    path: `${LEASES}/two`,
    body: { spec: { leaseTransitions: 1 } },
    refused:
      'leases.coordination.orch.io "two" is forbidden: can only access node lease with the same name as the requesting node',
  },
  {
    what: 'a lease elsewhere',
    path: '/apis/coordination.orch.io/v1/namespaces/default/leases',
    body: lease('one'),
    refused:
      'leases.coordination.orch.io "one" is forbidden: can only access leases in the "orch-node-lease" system namespace',
  },
  { what: 'its own CSINode', path: STORAGE_NODES, body: { metadata: { name: 'one' }, spec: { drivers: [] } } },
  {
    what: 'the CSINode of another node',
    path: STORAGE_NODES,
    body: { metadata: { name: 'two' }, spec: { drivers: [] } },
    refused:
      'csinodes.storage.orch.io "two" is forbidden: can only access CSINode with the same name as the requesting node',
  },
  {
    what: 'a token for no pod',
    path: `${ACCOUNTS}/it/token`,
    body: token(),
    refused: 'serviceaccounts "it" is forbidden: node requested token not bound to a pod',
  },
  {
    what: 'a token for a pod without its uid',
    path: `${ACCOUNTS}/it/token`,
    body: token({ apiVersion: 'v1', kind: 'Pod', name: 'it' }),
    refused: 'serviceaccounts "it" is forbidden: node requested token with a pod binding without a uid',
  },
  {
    what: 'a token for a pod that is not there',
    path: `${ACCOUNTS}/it/token`,
    body: token({ apiVersion: 'v1', kind: 'Pod', name: 'it', uid: 'u' }),
    code: 404,
    refused: 'pods "it" not found',
  },
  {
    what: 'a token for a pod that was made again',
    present: [ownPod],
    path: `${ACCOUNTS}/it/token`,
    body: token({ apiVersion: 'v1', kind: 'Pod', name: 'it', uid: 'u' }),
    refused:
      /^serviceaccounts "it" is forbidden: the UID in the bound object reference \(u\) does not match the UID in record \([0-9a-f-]{36}\)\. The object might have been deleted and then recreated$/,
  },
  { what: 'something else', path: '/api/v1/namespaces/default/configmaps', body: { metadata: { name: 'it' } } },
];

testPlugin('NodeRestriction', { plugins: [nodeRestriction] }, agentCases([...pods, ...nodes, ...others]));

testPlugin('NodeRestriction', { plugins: [nodeRestriction], featureGates: 'ExpandPersistentVolumes=false' }, [
  {
    what: 'what a claim has where claims do not grow',
    user: AGENT,
    present: [claim],
    verb: 'patch',
    path: `${CLAIMS}/it/status`,
    body: { status: { capacity: { storage: '2Gi' } } },
    refused: 'persistentvolumeclaims "it" is forbidden: node "one" may not update persistentvolumeclaim metadata',
  },
]);

const MACHINE_LABELS = [
  ...['orch.io/hostname', 'orch.io/os', 'orch.io/arch', 'beta.orch.io/os', 'beta.orch.io/arch'],
  ...['beta.orch.io/instance-type', 'node.orch.io/instance-type', 'topology.orch.io/zone', 'topology.orch.io/region'],
  ...['failure-domain.beta.orch.io/zone', 'failure-domain.beta.orch.io/region'],
  ...['node.orch.io/any', 'x.node.orch.io/any', 'orchlet.orch.io/any', 'x.orchlet.orch.io/any', 'myorch.io/any'],
];
const SYSTEM_LABELS = [
  ...['a.node-restriction.orch.io/any', 'node-restriction.orch.io/any', 'node-role.orch.io/any', 'orch.io/any'],
  ...['topology.orch.io/rack', 'xnode.orch.io/any'],
];

test('NodeRestriction: the labels of a machine are its agent’s to set, and no others of the system', async (t) => {
  const world = await AdmissionWorld.start({ plugins: [nodeRestriction] });
  const labels = Object.fromEntries([...MACHINE_LABELS, ...SYSTEM_LABELS].map((label) => [label, 'x']));
  const { code, body } = await world.write('create', NODES, { body: node('one', labels), user: AGENT });
  t.is(code, 403);
  t.is(
    body.message,
    ofNode('one', `node "one" is not allowed to set the following labels: ${SYSTEM_LABELS.join(', ')}`),
  );
  await world.stop();
});

test('NodeRestriction: a mirror pod is owned by its node, and names nothing else', async (t) => {
  const world = await AdmissionWorld.start({ plugins: [nodeRestriction] });
  const { uid = '' } = (await world.created(NODES, node('one'))).metadata;
  const made = (spec: object, request: object = {}) =>
    world.write('create', PODS, { body: mirror([owner({ uid })], spec), user: AGENT, ...request });
  const refusals: readonly (readonly [spec: object, what: string])[] = [
    [{ serviceAccountName: 'default' }, 'a service account'],
    [{ volumes: [{ name: 'v', secret: { secretName: 's' } }] }, 'secrets'],
    [{ containers: [{ name: 'c', image: 'i', envFrom: [{ configMapRef: { name: 'm' } }] }] }, 'configmaps'],
    [{ volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }, 'persistentvolumeclaims'],
  ];
  for (const [spec, what] of refusals) {
    const { code, body } = await made(spec);
    t.is(code, 403);
    t.is(body.message, ofPod(`node "one" can not create pods that reference ${what}`));
  }
  t.is((await made({}, DRY)).code, 201);
  t.is((await made({})).code, 201);
  await world.stop();
});

test('NodeRestriction: a token is for a pod that is bound to the node', async (t) => {
  const world = await AdmissionWorld.start({ plugins: [nodeRestriction] });
  const { uid = '' } = (await world.created(PODS, podOf({ nodeName: 'two' }))).metadata;
  const asked = token({ apiVersion: 'v1', kind: 'Pod', name: 'it', uid });
  const { code, body } = await world.write('create', `${ACCOUNTS}/it/token`, { body: asked, user: AGENT });
  t.is(code, 403);
  t.is(
    body.message,
    'serviceaccounts "it" is forbidden: node requested token bound to a pod scheduled on a different node',
  );
  await world.stop();
});
