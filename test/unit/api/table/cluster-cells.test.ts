// What the columns of nodes, namespaces, events and small objects show.
import test from 'ava';
import { type CellsCase, META, testCells } from './cells-case.ts';
import { cellsFor } from './fixture.ts';

const NODE = 'v1 Node';
const EVENT = 'v1 Event';
const SECOND_EVENT = 'events.orch.io/v1 Event';

const NODES: readonly CellsCase[] = [
  {
    type: NODE,
    title: 'one that just registered',
    object: { metadata: META },
    shows: {
      Name: 'it',
      Status: 'Unknown',
      Roles: '<none>',
      Age: '30s',
      Version: '',
      'Internal-IP': '<none>',
      'External-IP': '<none>',
      'OS-Image': '<unknown>',
      'Kernel-Version': '<unknown>',
      'Container-Runtime': '<unknown>',
    },
  },
  {
    type: NODE,
    title: 'one that is up, with all it says of itself',
    object: {
      metadata: {
        ...META,
        labels: {
          'node-role.orch.io/worker': '',
          'node-role.orch.io/control-plane': 'true',
          'node-role.orch.io/': 'nobody',
          'orch.io/role': 'worker',
          other: 'x',
        },
      },
      status: {
        conditions: [
          { type: 'MemoryPressure', status: 'False' },
          { type: 'Ready', status: 'True' },
        ],
        addresses: [
          { type: 'Hostname', address: 'n1' },
          { type: 'InternalIP', address: '10.0.0.1' },
          { type: 'InternalIP', address: '10.0.0.2' },
          { type: 'ExternalIP', address: '192.0.2.1' },
        ],
        nodeInfo: {
          orchletVersion: 'v1.21.0',
          osImage: 'Some Linux 5',
          kernelVersion: '5.10',
          containerRuntimeVersion: 'containerd://1.5',
        },
      },
    },
    shows: {
      Status: 'Ready',
      Roles: 'control-plane,worker',
      Version: 'v1.21.0',
      'Internal-IP': '10.0.0.1',
      'External-IP': '192.0.2.1',
      'OS-Image': 'Some Linux 5',
      'Kernel-Version': '5.10',
      'Container-Runtime': 'containerd://1.5',
    },
  },
  {
    type: NODE,
    title: 'one that is down and cordoned, with an older role',
    object: {
      metadata: { ...META, labels: { 'orch.io/role': 'master' } },
      spec: { unschedulable: true },
      status: { conditions: [{ type: 'Ready', status: 'Unknown' }] },
    },
    shows: { Status: 'NotReady,SchedulingDisabled', Roles: 'master' },
  },
  {
    type: NODE,
    title: 'one that is cordoned before it said anything',
    object: { metadata: META, spec: { unschedulable: true } },
    shows: { Status: 'Unknown,SchedulingDisabled' },
  },
];

const EVENTS: readonly CellsCase[] = [
  {
    type: EVENT,
    title: 'one that was seen several times',
    object: {
      metadata: META,
      type: 'Warning',
      reason: 'BackOff',
      message: '  it fell over\n',
      involvedObject: { kind: 'Pod', name: 'web', fieldPath: 'spec.containers{web}' },
      source: { component: 'agent', host: 'n1' },
      firstTimestamp: '2021-06-01T11:50:00Z',
      lastTimestamp: '2021-06-01T11:59:55Z',
      count: 4,
    },
    shows: {
      'Last Seen': '5s',
      Type: 'Warning',
      Reason: 'BackOff',
      Object: 'pod/web',
      Subobject: 'spec.containers{web}',
      Source: 'agent, n1',
      Message: 'it fell over',
      'First Seen': '10m',
      Count: 4,
      Name: 'it',
    },
  },
  {
    type: EVENT,
    title: 'one of the newer sort, seen once',
    object: {
      metadata: META,
      involvedObject: { kind: 'Node' },
      eventTime: '2021-06-01T11:59:00.000000Z',
      firstTimestamp: null,
      lastTimestamp: null,
      reportingComponent: 'scheduler',
      reportingInstance: 'scheduler-1',
      source: {},
    },
    shows: {
      'Last Seen': '60s',
      'First Seen': '60s',
      Count: 1,
      Object: 'node',
      Subobject: '',
      Source: 'scheduler, scheduler-1',
      Message: '',
    },
  },
  {
    type: EVENT,
    title: 'a series counts on from the first sighting',
    object: {
      metadata: META,
      involvedObject: { kind: 'Pod', name: 'web' },
      eventTime: '2021-06-01T11:00:00.000000Z',
      lastTimestamp: '2021-06-01T11:30:00Z',
      series: { count: 6, lastObservedTime: '2021-06-01T11:59:58.000000Z' },
      source: { component: 'agent' },
      count: 2,
    },
    shows: { 'Last Seen': '2s', 'First Seen': '60m', Count: 7, Source: 'agent' },
  },
  {
    type: EVENT,
    title: 'one without any time',
    object: { metadata: META, involvedObject: { kind: 'Pod', name: 'web' } },
    shows: { 'Last Seen': '<unknown>', 'First Seen': '<unknown>', Count: 1, Source: '' },
  },
  {
    type: SECOND_EVENT,
    title: 'the names of the second group',
    object: {
      metadata: META,
      type: 'Normal',
      reason: 'Scheduled',
      note: 'found a place',
      regarding: { kind: 'Pod', name: 'web', fieldPath: 'spec' },
      deprecatedSource: { component: 'old' },
      deprecatedFirstTimestamp: '2021-06-01T11:00:00Z',
      deprecatedLastTimestamp: '2021-06-01T11:59:00Z',
      deprecatedCount: 3,
      reportingController: 'new',
    },
    shows: {
      'Last Seen': '60s',
      'First Seen': '60m',
      Object: 'pod/web',
      Subobject: 'spec',
      Source: 'old',
      Message: 'found a place',
      Count: 3,
    },
  },
  {
    type: SECOND_EVENT,
    title: 'its reporter where no source is given',
    object: { metadata: META, deprecatedSource: {}, reportingController: 'new', reportingInstance: 'new-1' },
    shows: { Source: 'new, new-1' },
  },
];

const HEALTH = 'v1 ComponentStatus';

const OTHERS: readonly CellsCase[] = [
  {
    type: HEALTH,
    title: 'a healthy one',
    object: { metadata: META, conditions: [{ type: 'Healthy', status: 'True', message: 'ok' }] },
    shows: { Name: 'it', Status: 'Healthy', Message: 'ok', Error: '' },
  },
  {
    type: HEALTH,
    title: 'an unhealthy one',
    object: { metadata: META, conditions: [{ type: 'Healthy', status: 'Unknown', error: 'refused' }] },
    shows: { Status: 'Unhealthy', Message: '', Error: 'refused' },
  },
  { type: HEALTH, title: 'one nobody knows of', object: { metadata: META }, shows: { Status: 'Unknown', Error: '' } },
  {
    type: 'v1 ConfigMap',
    title: 'text and binary entries count alike',
    object: { metadata: META, data: { a: '1', b: '2' }, binaryData: { c: 'AA==' } },
    shows: { Name: 'it', Data: 3, Age: '30s' },
  },
  { type: 'v1 ConfigMap', title: 'an empty one', object: { metadata: META }, shows: { Data: 0 } },
  {
    type: 'v1 Namespace',
    title: 'its phase',
    object: { metadata: META, status: { phase: 'Terminating' } },
    shows: { Name: 'it', Status: 'Terminating', Age: '30s' },
  },
  {
    type: 'v1 ResourceQuota',
    title: 'requests and limits apart, each sorted',
    object: {
      metadata: META,
      status: {
        hard: { pods: '10', 'limits.cpu': '4', 'requests.cpu': '2', 'limits.memory': '8Gi', limits: '1' },
        used: { pods: '3', 'limits.cpu': '500m', 'requests.cpu': '250m' },
      },
    },
    shows: {
      Name: 'it',
      Age: '30s',
      Request: 'limits: 0/1, pods: 3/10, requests.cpu: 250m/2',
      Limit: 'limits.cpu: 500m/4, limits.memory: 0/8Gi',
    },
  },
  { type: 'v1 ResourceQuota', title: 'a fresh one', object: { metadata: META }, shows: { Request: '', Limit: '' } },
  {
    type: 'v1 Secret',
    title: 'its type and number of entries',
    object: { metadata: META, type: 'Opaque', data: { a: 'AA==' } },
    shows: { Name: 'it', Type: 'Opaque', Data: 1, Age: '30s' },
  },
  {
    type: 'v1 ServiceAccount',
    title: 'its secrets',
    object: { metadata: META, secrets: [{ name: 'a' }, { name: 'b' }] },
    shows: { Name: 'it', Secrets: 2, Age: '30s' },
  },
  {
    type: 'v1 LimitRange',
    title: 'a kind without columns of its own',
    object: { metadata: META },
    shows: { Name: 'it', 'Created At': '2021-06-01T11:59:30Z' },
  },
  {
    type: 'v1 LimitRange',
    title: 'no time of creation',
    object: { metadata: {} },
    shows: { Name: '', 'Created At': '' },
  },
  {
    type: 'coordination.orch.io/v1 Lease',
    title: 'its holder',
    object: { metadata: META, spec: { holderIdentity: 'n1' } },
    shows: { Name: 'it', Holder: 'n1', Age: '30s' },
  },
  { type: 'coordination.orch.io/v1 Lease', title: 'a free one', object: { metadata: META }, shows: { Holder: '' } },
  {
    type: 'node.orch.io/v1 RuntimeClass',
    title: 'its handler',
    object: { metadata: META, handler: 'gvisor' },
    shows: { Name: 'it', Handler: 'gvisor', Age: '30s' },
  },
  {
    type: 'node.orch.io/v1alpha1 RuntimeClass',
    title: 'its handler where the first version has it',
    object: { metadata: META, spec: { runtimeHandler: 'gvisor' } },
    shows: { Handler: 'gvisor' },
  },
  {
    type: 'scheduling.orch.io/v1 PriorityClass',
    title: 'its value',
    object: { metadata: META, value: -5, globalDefault: true },
    shows: { Name: 'it', Value: -5, 'Global-Default': true, Age: '30s' },
  },
  {
    type: 'scheduling.orch.io/v1 PriorityClass',
    title: 'not the default when it does not say',
    object: { metadata: META, value: 5 },
    shows: { 'Global-Default': false },
  },
];

testCells(test, NODES);
testCells(test, EVENTS);
testCells(test, OTHERS);

test('labels, annotations and members with the brand follow the dialect', (t) => {
  const node = {
    metadata: { labels: { 'node-role.kubernetes.io/master': '', 'node-role.orch.io/worker': '' } },
    status: { nodeInfo: { kubeletVersion: 'v1.21.2', orchletVersion: 'v0' } },
  };
  const { Roles, Version } = cellsFor('v1 Node', node, 'kubernetes');
  t.deepEqual([Roles, Version], ['master', 'v1.21.2']);
  const storageClass = {
    metadata: { name: 'it', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  };
  t.is(cellsFor('storage.k8s.io/v1 StorageClass', storageClass, 'kubernetes').Name, 'it (default)');
  t.is(cellsFor('storage.orch.io/v1 StorageClass', storageClass, 'orch').Name, 'it');
  const claim = { metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'old' } } };
  t.is(cellsFor('v1 PersistentVolumeClaim', claim, 'kubernetes').StorageClass, 'old');
});
