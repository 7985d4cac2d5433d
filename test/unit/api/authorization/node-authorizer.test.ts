// What node agents may read and write, as their pods come and go.
import test, { type ExecutionContext } from 'ava';
import type { AccessAttributes } from '../../../../api/authorization/attributes.ts';
import { NodeAuthorizer } from '../../../../api/authorization/node-authorizer.ts';
import { NodeGraph } from '../../../../api/authorization/node-graph.ts';
import { access, user } from './access.ts';

const MIRROR = 'orch.io/config.mirror';
const AGENT = user('system:node:n1', 'system:nodes');
const OTHER = user('system:node:n2', 'system:nodes');

function world(): { graph: NodeGraph; nodes: NodeAuthorizer } {
  const graph = new NodeGraph(MIRROR);
  const nodes = new NodeAuthorizer({
    graph,
    rules: [{ verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods'] }],
    leaseNamespace: 'orch-node-lease',
    storageGroup: 'storage.orch.io',
    coordinationGroup: 'coordination.orch.io',
  });
  return { graph, nodes };
}

/** Of volumes, each with a member `secretRef`. */
const SOURCES = ['cephfs', 'cinder', 'flexVolume', 'iscsi', 'rbd', 'scaleIO', 'storageos'];

const POD = {
  spec: {
    nodeName: 'n1',
    serviceAccountName: 'runner',
    imagePullSecrets: [{ name: 'pull' }],
    initContainers: [{ env: [{ valueFrom: { secretKeyRef: { name: 'init-env' } } }] }],
    containers: [
      {
        env: [{ valueFrom: { secretKeyRef: { name: 'env' } } }, { valueFrom: { configMapKeyRef: { name: 'env' } } }],
        envFrom: [{ secretRef: { name: 'env-from' } }, { configMapRef: { name: 'env-from' } }],
      },
    ],
    ephemeralContainers: [{ envFrom: [{ secretRef: { name: 'debug' } }] }],
    volumes: [
      { name: 'a', secret: { secretName: 'mounted' } },
      { name: 'b', configMap: { name: 'mounted' } },
      { name: 'c', projected: { sources: [{ secret: { name: 'projected' } }, { configMap: { name: 'projected' } }] } },
      { name: 'd', persistentVolumeClaim: { claimName: 'data' } },
      { name: 'e', ephemeral: {} },
      { name: 'f', csi: { nodePublishSecretRef: { name: 'publish' } } },
      { name: 'g', azureFile: { secretName: 'azure' } },
      ...SOURCES.map((source) => ({
        name: `of-${source}`.toLowerCase(),
        [source]: { secretRef: { name: source } },
      })),
    ],
  },
};

const REACHED: readonly (readonly [resource: string, name: string])[] = [
  ...['pull', 'init-env', 'env', 'env-from', 'debug', 'mounted', 'projected', 'publish', 'azure'].map(
    (name) => ['secrets', name] as const,
  ),
  ...SOURCES.map((name) => ['secrets', name] as const),
  ...['env', 'env-from', 'mounted', 'projected'].map((name) => ['configmaps', name] as const),
  ['persistentvolumeclaims', 'data'],
  ['persistentvolumeclaims', 'web-e'],
];

for (const [resource, name] of REACHED) {
  test(`a pod leads its node, and no other, to ${resource} ${name} while it is there`, (t) => {
    const { graph, nodes } = world();
    const question = access({ resource, name });
    t.false(nodes.decide(AGENT, question).allowed);
    graph.setPod('shop', 'web', POD);
    t.true(nodes.decide(AGENT, question).allowed);
    t.is(nodes.decide(OTHER, question).reason, "no relationship found between node 'n2' and this object");
    t.false(nodes.decide(AGENT, access({ resource, name, namespace: 'other' })).allowed);
    graph.setPod('shop', 'twin', { spec: { ...POD.spec } });
    graph.deletePod('shop', 'web');
    const isOfItsPodAlone = name.startsWith('web-');
    t.is(nodes.decide(AGENT, question).allowed, !isOfItsPodAlone);
    graph.deletePod('shop', 'twin');
    t.false(nodes.decide(AGENT, question).allowed);
  });
}

test('a pod without a node, and one that a node made for itself, lead nowhere', (t) => {
  const { graph, nodes } = world();
  graph.setPod('shop', 'web', { spec: { ...POD.spec, nodeName: '' } });
  t.false(nodes.decide(AGENT, access({ resource: 'secrets', name: 'env' })).allowed);
  graph.setPod('shop', 'web', { ...POD, metadata: { annotations: { [MIRROR]: 'x' } } });
  t.false(nodes.decide(AGENT, access({ resource: 'secrets', name: 'env' })).allowed);
  graph.setPod('shop', 'web', POD);
  t.true(nodes.decide(AGENT, access({ resource: 'secrets', name: 'env' })).allowed);
});

test('a volume leads through its claim to the nodes of the pods that use it', (t) => {
  const { graph, nodes } = world();
  const volume = access({ resource: 'persistentvolumes', namespace: '', name: 'disk' });
  const secret = access({ resource: 'secrets', name: 'stage' });
  graph.setVolume('disk', {
    spec: { claimRef: { namespace: 'shop', name: 'data' }, csi: { nodeStageSecretRef: { name: 'stage' } } },
  });
  t.false(nodes.decide(AGENT, volume).allowed);
  graph.setPod('shop', 'web', POD);
  t.true(nodes.decide(AGENT, volume).allowed);
  t.true(nodes.decide(AGENT, secret).allowed);
  t.false(nodes.decide(OTHER, volume).allowed);
  graph.setVolume('disk', { spec: {} });
  t.false(nodes.decide(AGENT, volume).allowed);
  graph.setVolume('disk', { spec: { claimRef: { namespace: 'shop', name: 'data' } } });
  t.true(nodes.decide(AGENT, volume).allowed);
  t.false(nodes.decide(AGENT, secret).allowed);
  graph.deleteVolume('disk');
  t.false(nodes.decide(AGENT, volume).allowed);
});

test('a volume leads to the secrets of the namespace that it names, else of its claim', (t) => {
  const { graph, nodes } = world();
  const secret = (namespace: string, name: string) => access({ resource: 'secrets', namespace, name });
  const csi = { nodeStageSecretRef: { name: 'stage', namespace: 'vault' }, nodePublishSecretRef: { name: 'publish' } };
  graph.setPod('shop', 'web', {
    spec: { nodeName: 'n1', volumes: [{ persistentVolumeClaim: { claimName: 'data' } }] },
  });
  graph.setVolume('disk', { spec: { claimRef: { namespace: 'shop', name: 'data' }, csi } });
  for (const [namespace, name, isAllowed] of [
    ['vault', 'stage', true],
    ['shop', 'stage', false],
    ['shop', 'publish', true],
    ['vault', 'publish', false],
  ] as const)
    t.is(nodes.decide(AGENT, secret(namespace, name)).allowed, isAllowed, `${namespace}/${name}`);
});

/** Where a volume names a secret, and whether agents have to do with it. */
const VOLUME_SECRETS: readonly (readonly [source: object, isOfAgents: boolean])[] = [
  ...SOURCES.map((source) => [{ [source]: { secretRef: { name: 's', namespace: 'vault' } } }, true] as const),
  [{ azureFile: { secretName: 's', secretNamespace: 'vault' } }, true],
  [{ csi: { nodePublishSecretRef: { name: 's', namespace: 'vault' } } }, true],
  [{ csi: { nodeStageSecretRef: { name: 's', namespace: 'vault' } } }, true],
  [{ csi: { controllerPublishSecretRef: { name: 's', namespace: 'vault' } } }, false],
  [{ csi: { controllerExpandSecretRef: { name: 's', namespace: 'vault' } } }, false],
];

test('a volume leads to the secrets that its agents mount it with, and to none of its controller', (t) => {
  for (const [source, isOfAgents] of VOLUME_SECRETS) {
    const { graph, nodes } = world();
    graph.setPod('shop', 'web', POD);
    graph.setVolume('disk', { spec: { claimRef: { namespace: 'shop', name: 'data' }, ...source } });
    const { allowed } = nodes.decide(AGENT, access({ resource: 'secrets', namespace: 'vault', name: 's' }));
    t.is(allowed, isOfAgents, JSON.stringify(source));
  }
});

interface Row {
  readonly what: string;
  readonly access: Partial<AccessAttributes>;
  /** Undefined: allowed. */
  readonly reason?: string;
}

const LEASE = { group: 'coordination.orch.io', resource: 'leases', namespace: 'orch-node-lease', name: 'n1' };
const CSI_NODE = { group: 'storage.orch.io', resource: 'csinodes', namespace: '', name: 'n1' };
const ATTACHMENT = { group: 'storage.orch.io', resource: 'volumeattachments', namespace: '', name: 'va' };

const ROWS: readonly Row[] = [
  { what: 'what the role of nodes allows', access: {} },
  { what: 'what it does not', access: { verb: 'delete' }, reason: '' },
  { what: 'the list of one secret', access: { resource: 'secrets', verb: 'list', name: 'env' } },
  {
    what: 'a list of all secrets',
    access: { resource: 'secrets', verb: 'list', name: '' },
    reason: 'No Object name found',
  },
  {
    what: 'a write of a secret',
    access: { resource: 'secrets', verb: 'update', name: 'env' },
    reason: 'can only read resources of this type',
  },
  {
    what: 'the secrets of all namespaces',
    access: { resource: 'secrets', verb: 'list', namespace: '', name: '' },
    reason: 'can only read namespaced object of this type',
  },
  {
    what: 'a list of claims',
    access: { resource: 'persistentvolumeclaims', verb: 'list', name: 'data' },
    reason: 'can only get individual resources of this type',
  },
  {
    what: 'the status of a claim',
    access: { resource: 'persistentvolumeclaims', subresource: 'status', verb: 'patch', name: 'data' },
  },
  {
    what: 'the status of claims, read',
    access: { resource: 'persistentvolumeclaims', subresource: 'status', verb: 'get', name: 'data' },
    reason: 'can only get/update/patch this type',
  },
  { what: 'an attachment to the node', access: ATTACHMENT },
  {
    what: 'an attachment to another',
    access: { ...ATTACHMENT, name: 'vb' },
    reason: "no relationship found between node 'n1' and this object",
  },
  {
    what: 'a token for an account in use',
    access: { resource: 'serviceaccounts', subresource: 'token', verb: 'create', name: 'runner' },
  },
  {
    what: 'a token for another account',
    access: { resource: 'serviceaccounts', subresource: 'token', verb: 'create', name: 'admin' },
    reason: "no relationship found between node 'n1' and this object",
  },
  {
    what: 'the account itself',
    access: { resource: 'serviceaccounts', verb: 'get', name: 'runner' },
    reason: 'can only create tokens for individual service accounts',
  },
  {
    what: 'a part of an account that is none',
    access: { resource: 'serviceaccounts', subresource: 'status', verb: 'create', name: 'runner' },
    reason: 'can only create token subresource of serviceaccount',
  },
  {
    what: 'a part of a secret',
    access: { resource: 'secrets', verb: 'get', name: 'env', subresource: 'status' },
    reason: 'cannot read subresource',
  },
  { what: 'its lease', access: { ...LEASE, verb: 'update' } },
  {
    what: "another's lease",
    access: { ...LEASE, verb: 'update', name: 'n2' },
    reason: 'can only access node lease with the same name as the requesting node',
  },
  {
    what: "another's lease, to delete it",
    access: { ...LEASE, verb: 'delete', name: 'n2' },
    reason: 'can only access node lease with the same name as the requesting node',
  },
  {
    what: 'a lease elsewhere',
    access: { ...LEASE, namespace: 'shop' },
    reason: 'can only access leases in the "orch-node-lease" system namespace',
  },
  {
    what: 'a list of leases',
    access: { ...LEASE, verb: 'list' },
    reason: 'can only get, create, update, patch, or delete a node lease',
  },
  {
    what: 'a part of a volume',
    access: { resource: 'persistentvolumes', namespace: '', name: 'disk', subresource: 'status' },
    reason: 'cannot get subresource',
  },
  { what: 'its storage node', access: { ...CSI_NODE, verb: 'create', name: '' } },
  {
    what: 'a list of storage nodes',
    access: { ...CSI_NODE, verb: 'list' },
    reason: 'can only get, create, update, patch, or delete a CSINode',
  },
  {
    what: 'a part of its storage node',
    access: { ...CSI_NODE, verb: 'patch', subresource: 'status' },
    reason: 'cannot authorize CSINode subresources',
  },
  {
    what: "another's storage node",
    access: { ...CSI_NODE, name: 'n2' },
    reason: 'can only access CSINode with the same name as the requesting node',
  },
];

function rowWorld(): NodeAuthorizer {
  const { graph, nodes } = world();
  graph.setPod('shop', 'web', POD);
  graph.setAttachment('va', { spec: { nodeName: 'n1' } });
  graph.setAttachment('vb', { spec: { nodeName: 'n2' } });
  return nodes;
}

for (const { what, access: changes, reason } of ROWS) {
  test(`a node agent ${reason === undefined ? 'has' : 'is refused'} ${what}`, (t: ExecutionContext) => {
    const expected = reason === undefined ? { allowed: true, reason: '' } : { allowed: false, reason };
    t.deepEqual(rowWorld().decide(AGENT, access(changes)), expected);
  });
}

test('users outside the group, or with another prefix, are no node agents', (t) => {
  const nodes = rowWorld();
  for (const nobody of [user('system:node:n1'), user('n1', 'system:nodes'), user('ann', 'system:nodes')])
    t.deepEqual(nodes.decide(nobody, access({})), { allowed: false, reason: '' });
  t.is(nodes.decide(user('system:node:', 'system:nodes'), access({})).reason, 'unknown node for user "system:node:"');
});
