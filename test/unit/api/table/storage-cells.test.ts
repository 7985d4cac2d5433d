// What the columns of volumes, claims, classes and drivers show.
import test from 'ava';
import { type CellsCase, META, testCells } from './cells-case.ts';

const PV = 'v1 PersistentVolume';
const PVC = 'v1 PersistentVolumeClaim';
const CLASS = 'storage.orch.io/v1 StorageClass';
const DRIVER = 'storage.orch.io/v1 CSIDriver';

const VOLUMES: readonly CellsCase[] = [
  {
    type: PV,
    title: 'one that is bound',
    object: {
      metadata: META,
      spec: {
        capacity: { storage: '10Gi' },
        accessModes: ['ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOnce', 'ReadOnlyMany'],
        persistentVolumeReclaimPolicy: 'Retain',
        claimRef: { namespace: 'space', name: 'data' },
        storageClassName: 'fast',
        volumeMode: 'Block',
      },
      status: { phase: 'Bound', reason: 'Fine' },
    },
    shows: {
      Name: 'it',
      Capacity: '10Gi',
      'Access Modes': 'RWO,ROX,RWX',
      'Reclaim Policy': 'Retain',
      Status: 'Bound',
      Claim: 'space/data',
      StorageClass: 'fast',
      Reason: 'Fine',
      Age: '30s',
      VolumeMode: 'Block',
    },
  },
  {
    type: PV,
    title: 'one being deleted, without claim, class or mode',
    object: {
      metadata: { ...META, deletionTimestamp: '2021-06-01T12:00:00Z' },
      spec: { capacity: { storage: '1Gi' } },
      status: { phase: 'Available' },
    },
    shows: {
      Status: 'Terminating',
      Claim: '',
      StorageClass: '',
      Reason: '',
      VolumeMode: '<unset>',
      'Access Modes': '',
    },
  },
  {
    type: PV,
    title: 'the annotation for the class goes first, even when empty',
    object: {
      metadata: { ...META, annotations: { 'volume.beta.orch.io/storage-class': '' } },
      spec: { storageClassName: 'fast' },
    },
    shows: { StorageClass: '' },
  },
  {
    type: PVC,
    title: 'one that waits shows nothing of a volume',
    object: {
      metadata: META,
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } }, storageClassName: 'fast' },
      status: { phase: 'Pending', capacity: { storage: '5Gi' }, accessModes: ['ReadWriteOnce'] },
    },
    shows: {
      Name: 'it',
      Status: 'Pending',
      Volume: '',
      Capacity: '',
      'Access Modes': '',
      StorageClass: 'fast',
      Age: '30s',
      VolumeMode: '<unset>',
    },
  },
  {
    type: PVC,
    title: 'one that is bound shows what it got, not what it asked for',
    object: {
      metadata: META,
      spec: {
        volumeName: 'pv-1',
        volumeMode: 'Filesystem',
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '5Gi' } },
      },
      status: { phase: 'Bound', capacity: { storage: '10Gi' }, accessModes: ['ReadOnlyMany', 'ReadWriteOnce'] },
    },
    shows: {
      Status: 'Bound',
      Volume: 'pv-1',
      Capacity: '10Gi',
      'Access Modes': 'RWO,ROX',
      StorageClass: '',
      VolumeMode: 'Filesystem',
    },
  },
  {
    type: PVC,
    title: 'one bound to a volume that has not said its size',
    object: { metadata: META, spec: { volumeName: 'pv-1' }, status: { phase: 'Bound' } },
    shows: { Capacity: '0', 'Access Modes': '' },
  },
  {
    type: PVC,
    title: 'one being deleted, with its class in the annotation',
    object: {
      metadata: {
        ...META,
        deletionTimestamp: '2021-06-01T12:00:00Z',
        annotations: { 'volume.beta.orch.io/storage-class': 'old' },
      },
      spec: { storageClassName: 'fast' },
      status: { phase: 'Bound' },
    },
    shows: { Status: 'Terminating', StorageClass: 'old' },
  },
];

const DRIVERS: readonly CellsCase[] = [
  {
    type: CLASS,
    title: 'what is not set shows as what it stands for',
    object: { metadata: META, provisioner: 'example.com/disk' },
    shows: {
      Name: 'it',
      Provisioner: 'example.com/disk',
      ReclaimPolicy: 'Delete',
      VolumeBindingMode: 'Immediate',
      AllowVolumeExpansion: false,
      Age: '30s',
    },
  },
  {
    type: CLASS,
    title: 'the default one is marked',
    object: {
      metadata: { ...META, annotations: { 'storageclass.orch.io/is-default-class': 'true' } },
      provisioner: 'p',
      reclaimPolicy: 'Retain',
      volumeBindingMode: 'WaitForFirstConsumer',
      allowVolumeExpansion: true,
    },
    shows: {
      Name: 'it (default)',
      ReclaimPolicy: 'Retain',
      VolumeBindingMode: 'WaitForFirstConsumer',
      AllowVolumeExpansion: true,
    },
  },
  {
    type: CLASS,
    title: 'the older mark counts, any value but true does not',
    object: {
      metadata: {
        ...META,
        annotations: {
          'storageclass.orch.io/is-default-class': 'false',
          'storageclass.beta.orch.io/is-default-class': 'true',
        },
      },
    },
    shows: { Name: 'it (default)' },
  },
  {
    type: CLASS,
    title: 'a mark that says false is none',
    object: { metadata: { ...META, annotations: { 'storageclass.orch.io/is-default-class': 'false' } } },
    shows: { Name: 'it' },
  },
  {
    type: 'storage.orch.io/v1 VolumeAttachment',
    title: 'what is attached where',
    object: {
      metadata: META,
      spec: { attacher: 'disk.example.com', nodeName: 'n1', source: { persistentVolumeName: 'pv-1' } },
      status: { attached: true },
    },
    shows: { Name: 'it', Attacher: 'disk.example.com', PV: 'pv-1', Node: 'n1', Attached: true, Age: '30s' },
  },
  {
    type: 'storage.orch.io/v1 VolumeAttachment',
    title: 'an inline volume has no name',
    object: { metadata: META, spec: { attacher: 'a', nodeName: 'n1', source: { inlineVolumeSpec: {} } } },
    shows: { PV: '', Attached: false },
  },
  {
    type: DRIVER,
    title: 'what is not set shows as what it stands for',
    object: { metadata: META, spec: {} },
    shows: {
      AttachRequired: true,
      PodInfoOnMount: false,
      StorageCapacity: false,
      TokenRequests: '<unset>',
      RequiresRepublish: false,
      Modes: '<none>',
      Age: '30s',
    },
  },
  {
    type: DRIVER,
    title: 'everything the other way round',
    object: {
      metadata: META,
      spec: {
        attachRequired: false,
        podInfoOnMount: true,
        storageCapacity: true,
        tokenRequests: [{ audience: 'vault' }, { audience: 'disk' }],
        requiresRepublish: true,
        volumeLifecycleModes: ['Persistent', 'Ephemeral'],
      },
    },
    shows: {
      AttachRequired: false,
      PodInfoOnMount: true,
      StorageCapacity: true,
      TokenRequests: 'vault,disk',
      RequiresRepublish: true,
      Modes: 'Persistent,Ephemeral',
    },
  },
  {
    type: 'storage.orch.io/v1 CSINode',
    title: 'its drivers are counted',
    object: { metadata: META, spec: { drivers: [{ name: 'a' }, { name: 'b' }] } },
    shows: { Name: 'it', Drivers: 2, Age: '30s' },
  },
];

testCells(test, VOLUMES);
testCells(test, DRIVERS);
