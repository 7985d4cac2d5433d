import test from 'ava';
import { FilterRun } from '../../../../actors/scheduler/core/filter-run.ts';
import { Nominations } from '../../../../actors/scheduler/core/nominations.ts';
import type { FilterPlugin } from '../../../../actors/scheduler/framework/framework.ts';
import { DEFAULT_GATES } from '../../../../actors/scheduler/framework/gates.ts';
import { volumeBinding } from '../../../../actors/scheduler/plugins/volume-binding.ts';
import { builtInVolumeLimits, csiVolumeLimits } from '../../../../actors/scheduler/plugins/volume-limits.ts';
import { volumeRestrictions } from '../../../../actors/scheduler/plugins/volume-restrictions.ts';
import { volumeZone } from '../../../../actors/scheduler/plugins/volume-zone.ts';
import { readPod } from '../../../../actors/scheduler/pods/pod-info.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { asObject } from '../../../../api/json/object-fields.ts';
import { boundPod, dialect, node, type PodParts } from '../objects.ts';
import { type ClusterFilterCase, clusterFilterCases, clusterOf, podOf } from './cluster-cases.ts';
import {
  boundClaim,
  CAPACITIES,
  CLAIMS,
  CLASSES,
  CSI_DRIVERS,
  CSI_NODES,
  claim,
  names,
  onlyOn,
  storageClass,
  using,
  VOLUMES,
  volume,
} from './volume-objects.ts';

const nodes = { a: { labels: { zone: 'a' } }, b: { labels: { zone: 'b' } } };
const everywhere = (reason: string) => ({ a: reason, b: reason });

const DISK_IN_USE = 'node(s) had no available disk';
const withVolumes = (...volumes: object[]): PodParts => ({ spec: { volumes } });
const gce = (readOnly: boolean) => withVolumes({ name: 'v', gcePersistentDisk: { pdName: 'd', readOnly } });
const rbd = (monitors: readonly string[], image = 'i', readOnly = false) =>
  withVolumes({ name: 'v', rbd: { monitors, pool: 'p', image, readOnly } });
const iscsi = (iqn: string, readOnly = false) => withVolumes({ name: 'v', iscsi: { iqn, readOnly } });
const ebs = (...ids: string[]) =>
  withVolumes(...ids.map((volumeID) => ({ name: volumeID, awsElasticBlockStore: { volumeID } })));

type Restriction = readonly [title: string, pod: PodParts, placed: PodParts, refused: boolean];
const RESTRICTIONS: readonly Restriction[] = [
  ['a disk that another pod writes', gce(false), gce(false), true],
  ['a disk that another pod reads, for writing', gce(false), gce(true), true],
  ['a disk that both read', gce(true), gce(true), false],
  ['an EBS volume that both only mount', ebs('v1'), ebs('v1'), true],
  ['another EBS volume', ebs('v1'), ebs('v2'), false],
  ['the same image by one of the same monitors', rbd(['m1', 'm2']), rbd(['m2', 'm3']), true],
  ['the same image by other monitors', rbd(['m1']), rbd(['m2']), false],
  ['another image', rbd(['m1']), rbd(['m1'], 'j'), false],
  ['an image that both read', rbd(['m1'], 'i', true), rbd(['m1'], 'i', true), false],
  ['the same iSCSI target', iscsi('q'), iscsi('q', true), true],
  ['an iSCSI target that both read', iscsi('q', true), iscsi('q', true), false],
  ['disks of different kinds with the same name', gce(false), ebs('d'), false],
];
clusterFilterCases(
  volumeRestrictions,
  RESTRICTIONS.map(
    ([title, pod, placed, refused]): ClusterFilterCase => ({
      title: `${title} is ${refused ? 'refused' : 'let in'}`,
      nodes,
      placed: { 'a/other': placed },
      pod,
      refused: refused ? { a: DISK_IN_USE } : {},
    }),
  ),
);

const ZONE = dialect.spell('topology.@label/zone');
const OLD_REGION = dialect.spell('failure-domain.beta.@label/region');
const zoned = { east: { labels: { [ZONE]: 'east' } }, west: { labels: { [ZONE]: 'west' } }, bare: {} };
const OTHER_ZONE = 'node(s) had no available volume zone';
const zonedCase = (title: string, labels: object, refused: Readonly<Record<string, string>>): ClusterFilterCase => ({
  title,
  nodes: zoned,
  objects: { [VOLUMES]: [volume('v', {}, { labels })], [CLAIMS]: [boundClaim('c', 'v')] },
  pod: using('c'),
  refused,
});
clusterFilterCases(volumeZone(dialect), [
  { title: 'a pod without claims goes anywhere', nodes: zoned, refused: {} },
  zonedCase('a volume without a zone goes anywhere', {}, {}),
  zonedCase(
    'a volume of a zone stays there; nodes without a zone are not looked at',
    { [ZONE]: 'east' },
    {
      west: OTHER_ZONE,
    },
  ),
  zonedCase('a volume whose label of a zone is empty goes anywhere', { [ZONE]: '' }, {}),
  zonedCase('and so does one whose label is no list of zones', { [ZONE]: 'north____south' }, {}),
  zonedCase('a volume of several zones goes to any of them', { [ZONE]: 'east__west' }, {}),
  zonedCase(
    'a volume of an old region needs a node with that label',
    { [OLD_REGION]: 'r' },
    {
      east: OTHER_ZONE,
      west: OTHER_ZONE,
    },
  ),
  {
    title: 'a claim that waits for its first consumer has no zone yet',
    nodes: zoned,
    objects: { [CLAIMS]: [claim('c')], [CLASSES]: [storageClass('slow', 'WaitForFirstConsumer')] },
    pod: using('c'),
    refused: {},
  },
  {
    title: 'a claim that is to be bound at once is waited for',
    nodes: zoned,
    objects: { [CLAIMS]: [claim('c')], [CLASSES]: [storageClass('slow', 'Immediate')] },
    pod: using('c'),
    refused: { east: 'PersistentVolume had no name', west: 'PersistentVolume had no name' },
  },
  {
    title: 'a claim without volume and class is waited for',
    nodes: zoned,
    objects: { [CLAIMS]: [claim('c', { storageClassName: '' })] },
    pod: using('c'),
    refused: {
      east: 'PersistentVolumeClaim had no pv name and storageClass name',
      west: 'PersistentVolumeClaim had no pv name and storageClass name',
    },
  },
]);

const TOO_MANY = 'node(s) exceed max volume count';
const provisionerPrefix = dialect.spell('@label/');
const machineTypeLabels = ['beta', 'node'].map((part) => dialect.spell(`${part}.@label/instance-type`));
const plugins = new Map(
  builtInVolumeLimits({ provisionerPrefix, migrated: [], machineTypeLabels }).map((plugin) => [plugin.name, plugin]),
);
const limit = (name: string, count: string) => ({ allocatable: { [`attachable-volumes-${name}`]: count } });
const many = (count: number, from = 0) => ebs(...Array.from({ length: count }, (_, at) => `v${from + at}`));
clusterFilterCases(plugins.get('EBSLimits') as FilterPlugin, [
  { title: 'a pod without such disks goes anywhere', nodes, placed: { 'a/o': many(39) }, refused: {} },
  { title: '39 disks fit', nodes: { a: {} }, placed: { 'a/o': many(38) }, pod: ebs('x'), refused: {} },
  { title: '40 do not', nodes: { a: {} }, placed: { 'a/o': many(39) }, pod: ebs('x'), refused: { a: TOO_MANY } },
  {
    title: 'a disk that is there already counts once',
    nodes: { a: {} },
    placed: { 'a/o': many(39) },
    pod: ebs('v3'),
    refused: {},
  },
  {
    title: 'machines of newer types attach 25',
    nodes: { a: { labels: { [dialect.spell('node.@label/instance-type')]: 'm5.large' } } },
    placed: { 'a/o': many(25) },
    pod: ebs('x'),
    refused: { a: TOO_MANY },
  },
  {
    title: 'of what type a machine is the old label says too, and those of others do not',
    nodes: {
      a: { labels: { [dialect.spell('beta.@label/instance-type')]: 'm5.large' } },
      b: { labels: { 'example.com/instance-type': 'm5.large' } },
    },
    placed: { 'a/o': many(25), 'b/o': many(25) },
    pod: ebs('x'),
    refused: { a: TOO_MANY },
  },
  {
    title: "the node's own limit counts",
    nodes: { a: limit('aws-ebs', '2') },
    placed: { 'a/o': many(2) },
    pod: ebs('x'),
    refused: { a: TOO_MANY },
  },
  {
    title: 'disks behind claims count, found or still to be made',
    nodes: { a: limit('aws-ebs', '2') },
    objects: {
      [VOLUMES]: [volume('v', { awsElasticBlockStore: { volumeID: 'e' } })],
      [CLAIMS]: [boundClaim('c', 'v'), claim('d', { storageClassName: 'ebs' })],
      [CLASSES]: [storageClass('ebs', 'Immediate', { provisioner: dialect.spell('@label/aws-ebs') })],
    },
    placed: { 'a/o': ebs('x') },
    pod: using('c', 'd'),
    refused: { a: TOO_MANY },
  },
]);
for (const migrated of [[], ['aws-ebs']]) {
  clusterFilterCases(
    builtInVolumeLimits({ provisionerPrefix, migrated, machineTypeLabels }).find(
      ({ name }) => name === 'EBSLimits',
    ) as FilterPlugin,
    [
      {
        title: `of a node that leaves its disks to a CSI driver, ${migrated.length === 0 ? 'which it may not, its own' : "the driver's"} limit counts`,
        nodes: { a: limit('aws-ebs', '1') },
        objects: {
          [CSI_NODES]: [
            {
              metadata: { name: 'a', annotations: { [names.migratedPlugins]: dialect.spell('@label/aws-ebs') } },
              spec: {},
            },
          ],
        },
        placed: { 'a/o': many(1) },
        pod: ebs('x'),
        refused: migrated.length === 0 ? { a: TOO_MANY } : {},
      },
    ],
  );
}
clusterFilterCases(
  builtInVolumeLimits({ provisionerPrefix, migrated: [], machineTypeLabels, most: 2 }).find(
    ({ name }) => name === 'EBSLimits',
  ) as FilterPlugin,
  [
    {
      title: 'where the operator says what nodes attach, that counts unless the node says it itself',
      nodes: { a: {}, b: limit('aws-ebs', '3') },
      placed: { 'a/o': many(2), 'b/o': many(2) },
      pod: ebs('x'),
      refused: { a: TOO_MANY },
    },
  ],
);
for (const [plugin, source, id, limitName] of [
  ['GCEPDLimits', 'gcePersistentDisk', 'pdName', 'gce-pd'],
  ['AzureDiskLimits', 'azureDisk', 'diskName', 'azure-disk'],
  ['CinderLimits', 'cinder', 'volumeID', 'cinder'],
] as const) {
  clusterFilterCases(plugins.get(plugin) as FilterPlugin, [
    {
      title: 'counts its own disks and no others',
      nodes: { a: limit(limitName, '1'), b: limit(limitName, '1') },
      placed: { 'a/o': withVolumes({ name: 'v', [source]: { [id]: 'other' } }), 'b/o': ebs('e') },
      pod: withVolumes({ name: 'v', [source]: { [id]: 'mine' } }),
      refused: { a: TOO_MANY },
    },
  ]);
}

const csiNode = (name: string, count: number | undefined) => ({
  metadata: { name },
  spec: { drivers: [{ name: 'csi.example.com', ...(count === undefined ? {} : { allocatable: { count } }) }] },
});
const csiVolume = (name: string) => volume(name, { csi: { driver: 'csi.example.com', volumeHandle: `h-${name}` } });
const csiObjects = (count: number | undefined) => ({
  [CSI_NODES]: [csiNode('a', count)],
  [VOLUMES]: ['v1', 'v2', 'v3'].map(csiVolume),
  [CLAIMS]: [
    boundClaim('c1', 'v1'),
    boundClaim('c2', 'v2'),
    boundClaim('c3', 'v3'),
    claim('d', { storageClassName: 'csi' }),
  ],
  [CLASSES]: [storageClass('csi', 'Immediate', { provisioner: 'csi.example.com' })],
});
const migratedNode = (name: string, count: number) => ({
  metadata: { name, annotations: { [names.migratedPlugins]: dialect.spell('@label/cinder') } },
  spec: { drivers: [{ name: 'cinder.csi.openstack.org', allocatable: { count } }] },
});
const cinderVolume = (name: string) => volume(name, { cinder: { volumeID: name } });
/** Its limit's name would have more than 62 characters. */
const LONG_DRIVER = 'csi-long.storage.driver.example.company.com';
clusterFilterCases(csiVolumeLimits({ provisionerPrefix, migrated: [] }), [
  {
    title: 'the limit that a node says of a driver with a long name, by the beginning of that and a digest, counts',
    nodes: { a: limit('csi-csi-long.storage.driver275c57ff9172541b', '1') },
    objects: {
      [VOLUMES]: ['v1', 'v2'].map((name) => volume(name, { csi: { driver: LONG_DRIVER, volumeHandle: name } })),
      [CLAIMS]: [boundClaim('c1', 'v1'), boundClaim('c2', 'v2')],
    },
    placed: { 'a/o': using('c1') },
    pod: using('c2'),
    refused: { a: TOO_MANY },
  },
  {
    title: 'what a node says of disks that it may not leave to a driver counts for nothing',
    nodes: { a: {} },
    objects: {
      [CSI_NODES]: [migratedNode('a', 1)],
      [VOLUMES]: ['v1', 'v2'].map(cinderVolume),
      [CLAIMS]: [boundClaim('c1', 'v1'), boundClaim('c2', 'v2')],
    },
    placed: { 'a/o': using('c1') },
    pod: using('c2'),
    refused: {},
  },
]);
clusterFilterCases(csiVolumeLimits({ provisionerPrefix, migrated: ['cinder'] }), [
  {
    title: 'a pod whose volumes are there already fits where more than the limit are',
    nodes: { a: {} },
    objects: csiObjects(1),
    placed: { 'a/o': using('c1', 'c2') },
    pod: using('c2'),
    refused: {},
  },
  {
    title: 'built-in disks count for the driver that a node has migrated them to, found or still to be made',
    nodes: { a: {}, b: {}, c: {} },
    objects: {
      [CSI_NODES]: [migratedNode('a', 1), migratedNode('b', 2)],
      [VOLUMES]: ['v1', 'v2'].map(cinderVolume),
      [CLAIMS]: [boundClaim('c1', 'v1'), boundClaim('c2', 'v2'), claim('d', { storageClassName: 'old' })],
      [CLASSES]: [storageClass('old', 'Immediate', { provisioner: dialect.spell('@label/cinder') })],
    },
    placed: { 'a/o': using('c1'), 'b/o': using('d') },
    pod: using('c2'),
    refused: { a: TOO_MANY },
  },

  {
    title: 'as many as the driver says fit',
    nodes: { a: {} },
    objects: csiObjects(2),
    placed: { 'a/o': using('c1') },
    pod: using('c2'),
    refused: {},
  },
  {
    title: 'one more does not',
    nodes: { a: {}, b: {} },
    objects: csiObjects(1),
    placed: { 'a/o': using('c1') },
    pod: using('c2'),
    refused: { a: TOO_MANY },
  },
  {
    title: 'a volume that is there already counts once',
    nodes: { a: {} },
    objects: csiObjects(1),
    placed: { 'a/o': using('c1') },
    pod: using('c1'),
    refused: {},
  },
  {
    title: 'a driver without a limit takes any number',
    nodes: { a: {} },
    objects: csiObjects(undefined),
    placed: { 'a/o': using('c1', 'c2') },
    pod: using('c3'),
    refused: {},
  },
  {
    title: 'a claim whose volume is still to be made counts',
    nodes: { a: {} },
    objects: csiObjects(1),
    placed: { 'a/o': using('c1') },
    pod: using('d'),
    refused: { a: TOO_MANY },
  },
]);

/** Node affinity of a volume with a field, and a label where one is given. */
function onlyNamed(name: string, key?: string, ...values: string[]): JsonObject {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [name] }];
  const labels = key === undefined ? {} : { matchExpressions: [{ key, operator: 'In', values }] };
  return { nodeAffinity: { required: { nodeSelectorTerms: [{ matchFields, ...labels }] } } };
}
const binding = volumeBinding({ bindTimeoutMs: 10_000 });
const waits = storageClass('slow', 'WaitForFirstConsumer', { provisioner: names.noProvisioner });
const makes = storageClass('slow', 'WaitForFirstConsumer');
const NONE = "node(s) didn't find available persistent volumes to bind";
const OUT_OF_REACH = 'node(s) had volume node affinity conflict';
const ROOM_TOLD = {
  [CLAIMS]: [claim('c')],
  [CLASSES]: [makes],
  [CSI_DRIVERS]: [{ metadata: { name: 'example.com/disks' }, spec: { storageCapacity: true } }],
};
clusterFilterCases(volumeBinding({ bindTimeoutMs: 10_000 }, { ...DEFAULT_GATES, heedsStorageCapacity: false }), [
  {
    title: 'where its gate is shut, what a driver says of its room counts for nothing',
    nodes: { a: {} },
    objects: ROOM_TOLD,
    pod: using('c'),
    refused: {},
  },
]);
const BINDING: readonly (readonly [
  title: string,
  objects: Readonly<Record<string, readonly object[]>>,
  pod: PodParts,
  refused: Readonly<Record<string, string>>,
])[] = [
  ['a pod without claims goes anywhere', {}, {}, {}],
  ['a claim that does not exist', {}, using('c'), everywhere('persistentvolumeclaim "c" not found')],
  [
    'a claim that is being deleted',
    { [CLAIMS]: [boundClaim('c', 'v', { deletionTimestamp: '2026-01-01T00:00:00Z' })] },
    using('c'),
    everywhere('persistentvolumeclaim "c" is being deleted'),
  ],
  [
    'a claim whose volume is lost',
    { [CLAIMS]: [claim('c', { volumeName: 'v' }, {}, 'Lost')] },
    using('c'),
    everywhere('persistentvolumeclaim "c" bound to non-existent persistentvolume "v"'),
  ],
  [
    'a claim that is to be bound at once and is not',
    { [CLAIMS]: [claim('c')], [CLASSES]: [storageClass('slow', 'Immediate')] },
    using('c'),
    everywhere('pod has unbound immediate PersistentVolumeClaims'),
  ],
  [
    'a claim that waits beside one that does not exist: what is wrong is told',
    { [CLAIMS]: [claim('c')], [CLASSES]: [storageClass('slow', 'Immediate')] },
    using('c', 'd'),
    everywhere('persistentvolumeclaim "d" not found'),
  ],
  [
    'a claim that is bound to half',
    { [CLAIMS]: [claim('c', { volumeName: 'v' })], [VOLUMES]: [volume('v')], [CLASSES]: [waits] },
    using('c'),
    everywhere('pod has unbound immediate PersistentVolumeClaims'),
  ],
  [
    'a bound volume goes where it can be reached',
    { [CLAIMS]: [boundClaim('c', 'v')], [VOLUMES]: [volume('v', onlyOn('zone', 'a'))] },
    using('c'),
    { b: OUT_OF_REACH },
  ],
  [
    'fields of nodes say nothing of where a volume can be reached',
    { [CLAIMS]: [boundClaim('c', 'v')], [VOLUMES]: [volume('v', onlyNamed('b', 'zone', 'a'))] },
    using('c'),
    { b: OUT_OF_REACH },
  ],
  [
    'a volume whose terms are of fields alone is reached from everywhere',
    { [CLAIMS]: [boundClaim('c', 'v')], [VOLUMES]: [volume('v', onlyNamed('b'))] },
    using('c'),
    {},
  ],
  [
    'a bound volume that is not there',
    { [CLAIMS]: [boundClaim('c', 'v')] },
    using('c'),
    everywhere('node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)'),
  ],
  [
    'a claim that waits gets a volume where there is one',
    { [CLAIMS]: [claim('c')], [VOLUMES]: [volume('v', onlyOn('zone', 'b'))], [CLASSES]: [waits] },
    using('c'),
    { a: NONE },
  ],
  [
    'two claims need two volumes',
    {
      [CLAIMS]: [claim('c'), claim('d')],
      [VOLUMES]: [volume('v'), volume('w', onlyOn('zone', 'b'))],
      [CLASSES]: [waits],
    },
    using('c', 'd'),
    { a: NONE },
  ],
  [
    'a volume that is too small, of another class, taken, leaving, without the mode or not selected will not do',
    {
      [CLAIMS]: [claim('c', { selector: { matchLabels: { tier: 'x' } } })],
      [VOLUMES]: [
        volume('small', { capacity: { storage: '1Gi' } }, { labels: { tier: 'x' } }),
        volume('class', { storageClassName: 'fast' }, { labels: { tier: 'x' } }),
        volume('taken', { claimRef: { namespace: 'default', name: 'other', uid: 'u' } }, { labels: { tier: 'x' } }),
        volume('leaving', {}, { labels: { tier: 'x' }, deletionTimestamp: '2026-01-01T00:00:00Z' }),
        volume('mode', { accessModes: ['ReadOnlyMany'] }, { labels: { tier: 'x' } }),
        volume('block', { volumeMode: 'Block' }, { labels: { tier: 'x' } }),
        volume('phase', {}, { labels: { tier: 'x' } }, 'Released'),
        volume('label'),
      ],
      [CLASSES]: [waits],
    },
    using('c'),
    everywhere(NONE),
  ],
  [
    'a volume that is kept for the claim is the one, also where it cannot be reached',
    {
      [CLAIMS]: [claim('c')],
      [VOLUMES]: [
        volume('free'),
        volume('kept', { claimRef: { namespace: 'default', name: 'c' }, ...onlyOn('zone', 'b') }),
      ],
      [CLASSES]: [waits],
    },
    using('c'),
    { a: NONE },
  ],
  ['a volume can be made anywhere', { [CLAIMS]: [claim('c')], [CLASSES]: [makes] }, using('c'), {}],
  [
    'a volume can be made in the topologies of its class',
    {
      [CLAIMS]: [claim('c')],
      [CLASSES]: [{ ...makes, allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['b'] }] }] }],
    },
    using('c'),
    { a: NONE },
  ],
  [
    'a volume that is being made for a node binds the pod to it',
    { [CLAIMS]: [claim('c', {}, { annotations: { [names.selectedNode]: 'b' } })], [CLASSES]: [makes] },
    using('c'),
    { a: NONE },
  ],
  [
    'a driver that says how much room it has is believed',
    {
      [CLAIMS]: [claim('c')],
      [CLASSES]: [makes],
      [CSI_DRIVERS]: [{ metadata: { name: 'example.com/disks' }, spec: { storageCapacity: true } }],
      [CAPACITIES]: [
        {
          metadata: { namespace: 'default', name: 'x' },
          storageClassName: 'slow',
          nodeTopology: { matchLabels: { zone: 'b' } },
          capacity: '100Gi',
        },
        {
          metadata: { namespace: 'default', name: 'y' },
          storageClassName: 'slow',
          nodeTopology: { matchLabels: { zone: 'a' } },
          capacity: '1Gi',
        },
      ],
    },
    using('c'),
    { a: 'node(s) did not have enough free storage' },
  ],
  [
    'that a volume is being made for another node is told before what another claim lacks',
    {
      [CLAIMS]: [claim('c'), claim('d', {}, { annotations: { [names.selectedNode]: 'b' } })],
      [CLASSES]: [makes],
      [CSI_DRIVERS]: [{ metadata: { name: 'example.com/disks' }, spec: { storageCapacity: true } }],
    },
    using('c', 'd'),
    { a: NONE, b: 'node(s) did not have enough free storage' },
  ],
  [
    'a claim made for the pod itself must be its own',
    { [CLAIMS]: [boundClaim('p-v', 'v')], [VOLUMES]: [volume('v')] },
    { spec: { volumes: [{ name: 'v', ephemeral: {} }] } },
    everywhere('persistentvolumeclaim "p-v" was not created for the pod'),
  ],
  [
    'a claim made for the pod itself is used',
    {
      [CLAIMS]: [
        boundClaim('p-v', 'v', {
          annotations: { [names.bindCompleted]: '' },
          ownerReferences: [{ kind: 'Pod', uid: 'uid-p', controller: true }],
        }),
      ],
      [VOLUMES]: [volume('v')],
    },
    { spec: { volumes: [{ name: 'v', ephemeral: {} }] } },
    {},
  ],
];
clusterFilterCases(
  binding,
  BINDING.map(([title, objects, pod, refused]) => ({ title, nodes, objects: objects as never, pod, refused })),
);

test('VolumeBinding: what one pod has reserved is not there for the next, until it is given back', (t) => {
  const objects = { [CLAIMS]: [claim('c'), claim('d')], [VOLUMES]: [volume('v')], [CLASSES]: [waits] };
  const cluster = clusterOf({ nodes, objects });
  const [first, second] = [podOf({ nodes, pod: using('c') }), podOf({ nodes, pod: { uid: 'q', ...using('d') } })];
  const a = cluster.node('a')!;
  t.is(binding.reserve(first, a, cluster), null);
  t.deepEqual(binding.reserve(second, a, cluster)?.reasons, [NONE]);
  binding.unreserve(first, a);
  t.is(binding.reserve(second, a, cluster), null);
  binding.unreserve(second, a);
});

/** A pod with a claim that is to be made and one that gets a volume, reserved on node `a`. */
function reserved(claims: readonly string[], objects: Readonly<Record<string, readonly object[]>>) {
  const cluster = clusterOf({ nodes, objects: objects as never });
  const pod = podOf({ nodes, pod: using(...claims) });
  const a = cluster.node('a')!;
  return { cluster, pod, a, status: binding.reserve(pod, a, cluster) };
}

test('VolumeBinding: before the pod is bound its volumes are, and the volume controller is waited for', (t) => {
  const made = storageClass('made', 'WaitForFirstConsumer');
  const { cluster, pod, a, status } = reserved(['c', 'd'], {
    [CLAIMS]: [claim('c'), claim('d', { storageClassName: 'made' })],
    [VOLUMES]: [volume('v')],
    [CLASSES]: [waits, made],
  });
  t.is(status, null);
  const work = binding.preBind(pod, a)!;
  t.is(work.timeoutMs, 10_000);
  t.like(work.writes[0], {
    resource: 'persistentvolumes',
    name: 'v',
    patch: { spec: { claimRef: { namespace: 'default', name: 'c', uid: 'uid-c' } } },
  });
  t.like(work.writes[1], {
    resource: 'persistentvolumeclaims',
    name: 'd',
    patch: { metadata: { annotations: { [names.selectedNode]: 'a' } } },
  });
  t.is(work.progress(), 'waiting');
  cluster.objects.set(CLAIMS, 'default', 'c', boundClaim('c', 'v'));
  t.is(work.progress(), 'waiting');
  cluster.objects.set(CLAIMS, 'default', 'd', boundClaim('d', 'made'));
  t.is(work.progress(), 'waiting', 'the volume has not been seen yet');
  cluster.objects.set(VOLUMES, '', 'made', volume('made'));
  t.is(work.progress(), 'done');
  binding.settled?.(pod);
  t.is(binding.preBind(pod, a), null, 'nothing is left to be done');
});

test('VolumeBinding: a timeout of 0 is none', (t) => {
  const cluster = clusterOf({
    nodes,
    objects: { [CLAIMS]: [claim('c')], [VOLUMES]: [volume('v')], [CLASSES]: [waits] },
  });
  const patient = volumeBinding({ bindTimeoutMs: 0 });
  const pod = podOf({ nodes, pod: using('c') });
  const a = cluster.node('a')!;
  t.is(patient.reserve(pod, a, cluster), null);
  t.is(patient.preBind(pod, a)?.timeoutMs, Number.POSITIVE_INFINITY);
});

test('VolumeBinding: two pods of one claim get one volume, and the second goes where that can be reached', (t) => {
  const objects = {
    [CLAIMS]: [claim('c'), claim('d')],
    [VOLUMES]: [
      volume('v', { ...onlyOn('zone', 'a'), capacity: { storage: '7Gi' } }),
      volume('w', onlyOn('zone', 'b')),
    ],
    [CLASSES]: [waits],
  };
  const cluster = clusterOf({ nodes, objects });
  const pods = ['p', 'q'].map((name) => podOf({ nodes, pod: { uid: name, ...using('c') } }));
  const [a, b] = [cluster.node('a')!, cluster.node('b')!];
  t.is(binding.reserve(pods[0]!, a, cluster), null);
  t.deepEqual(binding.reserve(pods[1]!, b, cluster)?.reasons, [NONE]);
  t.is(binding.reserve(pods[1]!, a, cluster), null);
  binding.unreserve(pods[0]!, a);
  t.deepEqual(binding.reserve(pods[0]!, b, cluster)?.reasons, [NONE], 'the other pod still has it');
  binding.unreserve(pods[1]!, a);
  t.is(binding.reserve(pods[0]!, b, cluster), null);
  binding.unreserve(pods[0]!, b);
});

test('VolumeBinding: where a volume is taken for a claim, none is made for another pod of it', (t) => {
  const objects = { [CLAIMS]: [claim('c')], [VOLUMES]: [volume('v', onlyOn('zone', 'a'))], [CLASSES]: [makes] };
  const cluster = clusterOf({ nodes, objects });
  const pods = ['p', 'q'].map((name) => podOf({ nodes, pod: { uid: name, ...using('c') } }));
  t.is(binding.reserve(pods[0]!, cluster.node('a')!, cluster), null);
  t.deepEqual(binding.reserve(pods[1]!, cluster.node('b')!, cluster)?.reasons, [NONE]);
  binding.unreserve(pods[0]!, cluster.node('a')!);
});

test('VolumeBinding: a volume that is kept for the claim is not marked as bound by anybody else', (t) => {
  const kept = { claimRef: { namespace: 'default', name: 'c' } };
  const { pod, a } = reserved(['c', 'd'], {
    [CLAIMS]: [claim('c'), claim('d')],
    [VOLUMES]: [volume('kept', kept), volume('free')],
    [CLASSES]: [waits],
  });
  const marks = binding.preBind(pod, a)!.writes.map(({ name, patch }) => [name, asObject(patch).metadata]);
  t.like(marks, [
    ['kept', { annotations: {} }],
    ['free', { annotations: { [names.boundByController]: 'yes' } }],
  ]);
  t.deepEqual(asObject(asObject(marks[0]![1]).annotations), {});
  binding.unreserve(pod, a);
});

test('VolumeBinding: a claim that was bound to another volume fails the binding where that cannot be reached', (t) => {
  const { cluster, pod, a } = reserved(['c'], { [CLAIMS]: [claim('c')], [VOLUMES]: [volume('v')], [CLASSES]: [waits] });
  const work = binding.preBind(pod, a)!;
  cluster.objects.set(VOLUMES, '', 'far', volume('far', onlyOn('zone', 'b')));
  cluster.objects.set(CLAIMS, 'default', 'c', boundClaim('c', 'far'));
  const reason = 'pv "far" node affinity doesn\'t match node "a": no matching NodeSelectorTerms';
  t.like(work.progress(), { code: 'error', reasons: [reason] });
  binding.unreserve(pod, a);
});

test('VolumeBinding: what is gone while it is waited for is told as what it was', (t) => {
  const made = storageClass('made', 'WaitForFirstConsumer');
  const { cluster, pod, a } = reserved(['c', 'd'], {
    [CLAIMS]: [claim('c'), claim('d', { storageClassName: 'made' })],
    [VOLUMES]: [volume('v')],
    [CLASSES]: [waits, made],
  });
  const work = binding.preBind(pod, a)!;
  const after = (type: string, namespace: string, name: string, object: object) => {
    cluster.objects.remove(type, namespace, name);
    const state = work.progress();
    cluster.objects.set(type, namespace, name, object as JsonObject);
    return state === 'done' || state === 'waiting' ? state : state.reasons[0];
  };
  const missing = (what: string, name: string) => `failed to check ${what}: could not find v1.${name}`;
  t.is(after(VOLUMES, '', 'v', volume('v')), missing('binding', 'PersistentVolume "v"'));
  t.is(after(CLAIMS, 'default', 'c', claim('c')), missing('binding', 'PersistentVolumeClaim "default/c"'));
  const ofMade = missing('provisioning pvc', 'PersistentVolumeClaim "default/d"');
  t.is(after(CLAIMS, 'default', 'd', claim('d', { storageClassName: 'made' })), ofMade);
  binding.unreserve(pod, a);
});

/** A claim of which this node was chosen, at this version; none where it is empty. */
function chosen(name: string, on: string, resourceVersion: string): JsonObject {
  return claim(name, {}, { resourceVersion, annotations: on === '' ? {} : { [names.selectedNode]: on } });
}

for (const [what, isSeen] of [
  ['after it was seen', true],
  ['before it was seen', false],
] as const) {
  test(`VolumeBinding: a provisioner that takes the choice of the node back ${what} fails the binding`, (t) => {
    const { cluster, pod, a } = reserved(['d'], { [CLAIMS]: [chosen('d', '', '4')], [CLASSES]: [makes] });
    const work = binding.preBind(pod, a)!;
    t.is(work.progress(), 'waiting', 'what was written has not been seen yet');
    if (isSeen) {
      cluster.objects.set(CLAIMS, 'default', 'd', chosen('d', 'a', '5'));
      t.is(work.progress(), 'waiting');
    }
    cluster.objects.set(CLAIMS, 'default', 'd', chosen('d', '', '6'));
    t.like(work.progress(), { code: 'error', reasons: ['provisioning failed for PVC "d"'] });
    binding.unreserve(pod, a);
  });
}

test('VolumeBinding: a choice of the node that was made before, and is taken back, fails the binding', (t) => {
  const { cluster, pod, a } = reserved(['d'], { [CLAIMS]: [chosen('d', 'a', '4')], [CLASSES]: [makes] });
  const work = binding.preBind(pod, a)!;
  t.deepEqual(work.writes, []);
  cluster.objects.set(CLAIMS, 'default', 'd', chosen('d', '', '5'));
  t.like(work.progress(), { code: 'error', reasons: ['provisioning failed for PVC "d"'] });
  binding.unreserve(pod, a);
});

test("VolumeBinding: a volume that is given to another before it was seen as the claim's fails the binding", (t) => {
  const { cluster, pod, a } = reserved(['c'], { [CLAIMS]: [claim('c')], [VOLUMES]: [volume('v')], [CLASSES]: [waits] });
  const work = binding.preBind(pod, a)!;
  t.is(work.progress(), 'waiting');
  cluster.objects.set(VOLUMES, '', 'v', volume('v', {}, { resourceVersion: '9' }));
  t.like(work.progress(), { code: 'error', reasons: ['ClaimRef got reset for pv "v"'] });
  binding.unreserve(pod, a);
});

test('VolumeBinding: a node that goes, or that the volume made cannot be reached from, fails the binding', (t) => {
  const { cluster, pod, a } = reserved(['d'], { [CLAIMS]: [claim('d')], [CLASSES]: [makes] });
  cluster.setBound(readPod(boundPod('other', 'a')));
  const work = binding.preBind(pod, a)!;
  t.is(work.progress(), 'waiting');
  cluster.removeNode('a');
  t.like(work.progress(), { code: 'error', reasons: ['failed to get node "a": node "a" not found'] });
  cluster.setNode('a', node('a', nodes.a));
  cluster.objects.set(VOLUMES, '', 'far', volume('far', onlyOn('zone', 'b')));
  cluster.objects.set(CLAIMS, 'default', 'd', boundClaim('d', 'far'));
  const reason = 'pv "far" node affinity doesn\'t match node "a": no matching NodeSelectorTerms';
  t.like(work.progress(), { code: 'error', reasons: [reason] });
  binding.unreserve(pod, a);
});

test('VolumeBinding: nothing is waited for any longer once the pod is gone', (t) => {
  const { pod, a } = reserved(['d'], { [CLAIMS]: [claim('d')], [CLASSES]: [makes] });
  const work = binding.preBind(pod, a)!;
  binding.unreserve(pod, a);
  t.like(work.progress(), { code: 'error', reasons: ['pod does not exist any more: pod "p" not found'] });
});

test('VolumeBinding: what is against the bound volumes and what against the others are both told', (t) => {
  const cluster = clusterOf({
    nodes,
    objects: {
      [CLAIMS]: [boundClaim('c', 'v'), claim('d')],
      [VOLUMES]: [volume('v', onlyOn('zone', 'b'), {}, 'Bound')],
      [CLASSES]: [waits],
    },
  });
  const run = new FilterRun(podOf({ nodes, pod: using('c', 'd') }), cluster, [binding], new Nominations());
  t.deepEqual(run.check(cluster.node('a')!)?.reasons, [OUT_OF_REACH, NONE]);
  t.deepEqual(run.check(cluster.node('b')!)?.reasons, [NONE]);
});
