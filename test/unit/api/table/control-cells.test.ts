// What the columns of access, admission, flow control and certificates show.
import test from 'ava';
import { type CellsCase, META, testCells } from './cells-case.ts';

const BINDING = 'rbac.authorization.orch.io/v1 RoleBinding';
const API_SERVICE = 'apiregistration.orch.io/v1 APIService';
const REQUEST = 'certificates.orch.io/v1 CertificateSigningRequest';
const FLOW = 'flowcontrol.apiserver.orch.io/v1beta1 FlowSchema';
const LEVEL = 'flowcontrol.apiserver.orch.io/v1beta1 PriorityLevelConfiguration';
const STORAGE = 'internal.apiserver.orch.io/v1alpha1 StorageVersion';

const conditions = (...types: string[]): object => ({ conditions: types.map((type) => ({ type, status: 'True' })) });

const ACCESS: readonly CellsCase[] = [
  {
    type: BINDING,
    title: 'subjects by their kinds',
    object: {
      metadata: META,
      roleRef: { kind: 'Role', name: 'reader' },
      subjects: [
        { kind: 'User', name: 'ann' },
        { kind: 'Group', name: 'staff' },
        { kind: 'ServiceAccount', namespace: 'space', name: 'robot' },
        { kind: 'User', name: 'bob' },
      ],
    },
    shows: {
      Name: 'it',
      Role: 'Role/reader',
      Age: '30s',
      Users: 'ann, bob',
      Groups: 'staff',
      ServiceAccounts: 'space/robot',
    },
  },
  {
    type: 'rbac.authorization.orch.io/v1 ClusterRoleBinding',
    title: 'nobody is bound',
    object: { metadata: META, roleRef: { kind: 'ClusterRole', name: 'admin' } },
    shows: { Role: 'ClusterRole/admin', Users: '', Groups: '', ServiceAccounts: '' },
  },
  {
    type: 'rbac.authorization.orch.io/v1 ClusterRole',
    title: 'a role shows when it was made',
    object: { metadata: META },
    shows: { Name: 'it', 'Created At': '2021-06-01T11:59:30Z' },
  },
  {
    type: 'policy/v1beta1 PodSecurityPolicy',
    title: 'what it allows',
    object: {
      metadata: META,
      spec: {
        privileged: true,
        allowedCapabilities: ['NET_ADMIN', 'CHOWN'],
        seLinux: { rule: 'RunAsAny' },
        runAsUser: { rule: 'MustRunAsNonRoot' },
        fsGroup: { rule: 'MustRunAs' },
        supplementalGroups: { rule: 'MayRunAs' },
        readOnlyRootFilesystem: true,
        volumes: ['secret', 'emptyDir'],
      },
    },
    shows: {
      Name: 'it',
      Priv: 'true',
      Caps: 'NET_ADMIN,CHOWN',
      SELinux: 'RunAsAny',
      RunAsUser: 'MustRunAsNonRoot',
      FsGroup: 'MustRunAs',
      SupGroup: 'MayRunAs',
      ReadOnlyRootFs: true,
      Volumes: 'secret,emptyDir',
    },
  },
  {
    type: 'policy/v1beta1 PodSecurityPolicy',
    title: 'what it does not say is not allowed',
    object: { metadata: META, spec: {} },
    shows: { Priv: 'false', Caps: '', ReadOnlyRootFs: false, Volumes: '' },
  },
];

const ADMISSION: readonly CellsCase[] = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'].map(
  (kind) => ({
    type: `admissionregistration.orch.io/v1 ${kind}`,
    title: 'its webhooks are counted',
    object: { metadata: META, webhooks: [{ name: 'a' }, { name: 'b' }] },
    shows: { Name: 'it', Webhooks: 2, Age: '30s' },
  }),
);

const SERVICES: readonly CellsCase[] = [
  {
    type: API_SERVICE,
    title: 'one that is served here',
    object: { metadata: META, spec: {}, status: conditions('Available') },
    shows: { Name: 'it', Service: 'Local', Available: 'True', Age: '30s' },
  },
  {
    type: API_SERVICE,
    title: 'one that cannot be reached says why',
    object: {
      metadata: META,
      spec: { service: { namespace: 'space', name: 'metrics' } },
      status: { conditions: [{ type: 'Available', status: 'False', reason: 'MissingEndpoints' }] },
    },
    shows: { Service: 'space/metrics', Available: 'False (MissingEndpoints)' },
  },
  {
    type: API_SERVICE,
    title: 'one that is up keeps its reason to itself',
    object: { metadata: META, status: { conditions: [{ type: 'Available', status: 'True', reason: 'Passed' }] } },
    shows: { Available: 'True' },
  },
  { type: API_SERVICE, title: 'one not looked at yet', object: { metadata: META }, shows: { Available: 'Unknown' } },
];

const CERTIFICATES: readonly CellsCase[] = (
  [
    ['nobody has decided', {}, 'Pending'],
    ['approved', conditions('Approved'), 'Approved'],
    ['denied outweighs approved', conditions('Approved', 'Denied'), 'Denied'],
    ['issued', { ...conditions('Approved'), certificate: 'LS0t' }, 'Approved,Issued'],
    ['failed', conditions('Approved', 'Failed'), 'Approved,Failed'],
    ['failed and issued', { ...conditions('Failed'), certificate: 'LS0t' }, 'Pending,Failed,Issued'],
  ] as const
).map(([title, status, condition]) => ({
  type: REQUEST,
  title,
  object: { metadata: META, spec: { signerName: 'example.com/x', username: 'ann' }, status },
  shows: { Age: '30s', SignerName: 'example.com/x', Requestor: 'ann', Condition: condition },
}));

const FLOWS: readonly CellsCase[] = [
  {
    type: FLOW,
    title: 'one that is in order',
    object: {
      metadata: META,
      spec: {
        priorityLevelConfiguration: { name: 'low' },
        matchingPrecedence: 500,
        distinguisherMethod: { type: 'ByUser' },
      },
      status: { conditions: [{ type: 'Dangling', status: 'False' }] },
    },
    shows: {
      Name: 'it',
      PriorityLevel: 'low',
      MatchingPrecedence: 500,
      DistinguisherMethod: 'ByUser',
      Age: '30s',
      MissingPL: 'False',
    },
  },
  {
    type: FLOW,
    title: 'one nobody has looked at',
    object: { metadata: META, spec: { matchingPrecedence: 1 } },
    shows: { DistinguisherMethod: '<none>', MissingPL: '?' },
  },
  {
    type: LEVEL,
    title: 'one that queues',
    object: {
      metadata: META,
      spec: {
        type: 'Limited',
        limited: {
          assuredConcurrencyShares: 20,
          limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 6, queueLengthLimit: 50 } },
        },
      },
    },
    shows: {
      Name: 'it',
      Type: 'Limited',
      AssuredConcurrencyShares: 20,
      Queues: 64,
      HandSize: 6,
      QueueLengthLimit: 50,
      Age: '30s',
    },
  },
  {
    type: LEVEL,
    title: 'one that is never limited',
    object: { metadata: META, spec: { type: 'Exempt' } },
    shows: { AssuredConcurrencyShares: '<none>', Queues: '<none>', HandSize: '<none>', QueueLengthLimit: '<none>' },
  },
  {
    type: STORAGE,
    title: 'servers that differ',
    object: {
      metadata: META,
      status: {
        storageVersions: ['a', 'b', 'c', 'd'].map((apiServerID) => ({ apiServerID, encodingVersion: 'v1' })),
      },
    },
    shows: { CommonEncodingVersion: '<unset>', StorageVersions: 'a=v1,b=v1,c=v1 + 1 more...', Age: '30s' },
  },
  {
    type: STORAGE,
    title: 'no servers, one version',
    object: { metadata: META, status: { commonEncodingVersion: 'apps/v1' } },
    shows: { CommonEncodingVersion: 'apps/v1', StorageVersions: '<unset>' },
  },
  {
    type: 'v1 Status',
    title: 'an outcome',
    object: { status: 'Failure', reason: 'NotFound', message: 'no such thing' },
    shows: { Status: 'Failure', Reason: 'NotFound', Message: 'no such thing' },
  },
];

testCells(test, ACCESS);
testCells(test, ADMISSION);
testCells(test, SERVICES);
testCells(test, CERTIFICATES);
testCells(test, FLOWS);
