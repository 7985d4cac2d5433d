// Texts of the core group: the storage systems that volumes can be in.
import type { Descriptions } from './texts.ts';

const PARTITION = 'The partition to mount. 0: the disk itself.';
const NAMESPACE = 'The namespace of what is named beside it, where that is not the one of the claim.';

/** Two kinds for one system: for volumes of pods, and for persistent volumes, whose secrets have namespaces. */
function both(prefix: string, texts: Descriptions): Descriptions {
  const all: Record<string, string> = {};
  for (const kind of [`${prefix}VolumeSource`, `${prefix}PersistentVolumeSource`]) {
    for (const [field, text] of Object.entries(texts)) all[field === '' ? kind : `${kind}.${field}`] = text;
  }
  return all;
}

export const VOLUME_SOURCES: Descriptions = {
  AWSElasticBlockStoreVolumeSource: 'A disk of Amazon, which must exist.',
  'AWSElasticBlockStoreVolumeSource.partition': PARTITION,
  'AWSElasticBlockStoreVolumeSource.volumeID': 'The id of the disk.',
  AzureDiskVolumeSource: 'A disk of Azure.',
  'AzureDiskVolumeSource.cachingMode': 'How the host caches it.',
  'AzureDiskVolumeSource.diskName': 'The name of the disk.',
  'AzureDiskVolumeSource.diskURI': 'Where the disk is.',
  'AzureDiskVolumeSource.kind': 'Whether it has a storage account of its own, shares one, or is managed.',
  ...both('AzureFile', {
    '': 'A file share of Azure.',
    secretName: 'The secret with the account and its key.',
    shareName: 'The name of the share.',
  }),
  'AzureFilePersistentVolumeSource.secretNamespace': NAMESPACE,
  ...both('CSI', {
    '': 'A volume of a storage driver.',
    driver: 'The name of the driver.',
    nodePublishSecretRef: 'The secret for mounting it into a pod.',
    volumeAttributes: "The volume's properties, as the driver knows them.",
  }),
  'CSIPersistentVolumeSource.controllerExpandSecretRef': 'The secret for making it larger.',
  'CSIPersistentVolumeSource.controllerPublishSecretRef': 'The secret for attaching it to a node.',
  'CSIPersistentVolumeSource.nodeStageSecretRef': 'The secret for preparing it on a node.',
  'CSIPersistentVolumeSource.volumeHandle': 'What the driver calls the volume. It cannot be changed.',
  ...both('CephFS', {
    '': 'A CephFS file system.',
    monitors: 'Addresses of the monitors.',
    path: 'The folder to mount. The root when left out.',
    secretFile: 'A file on the node with the key of the user.',
    user: 'The user to mount it as.',
  }),
  ...both('Cinder', { '': 'A volume of OpenStack, which must exist.', volumeID: 'The id of the volume.' }),
  FCVolumeSource: 'A Fibre Channel disk.',
  'FCVolumeSource.lun': 'The number of the unit.',
  'FCVolumeSource.targetWWNs': 'The names of the targets. Goes with lun.',
  'FCVolumeSource.wwids': 'The identifiers of the disk, in place of targets and lun.',
  ...both('Flex', {
    driver: 'The name of the plug-in.',
    options: 'Options for it.',
  }),
  FlexPersistentVolumeSource: 'A volume of a plug-in on the node.',
  FlexVolumeSource: 'A volume of a plug-in on the node.',
  FlockerVolumeSource: 'A Flocker dataset, by its name or its id.',
  'FlockerVolumeSource.datasetName': 'Its name, as metadata of the dataset has it.',
  'FlockerVolumeSource.datasetUUID': 'Its id.',
  GCEPersistentDiskVolumeSource: 'A disk of Google, which must exist.',
  'GCEPersistentDiskVolumeSource.partition': PARTITION,
  'GCEPersistentDiskVolumeSource.pdName': 'The name of the disk.',
  ...both('Glusterfs', {
    '': 'A Gluster volume.',
    endpoints: 'The endpoints with the addresses of the servers.',
    path: 'The name of the volume.',
  }),
  'GlusterfsPersistentVolumeSource.endpointsNamespace': NAMESPACE,
  ...both('ISCSI', {
    '': 'An iSCSI disk.',
    chapAuthDiscovery: 'True to authenticate with CHAP while looking for targets.',
    chapAuthSession: 'True to authenticate with CHAP for the session.',
    initiatorName: 'The name of the initiator. It makes an interface of its own.',
    iqn: 'The name of the target.',
    iscsiInterface: 'The interface. "default" when left out.',
    lun: 'The number of the unit.',
    portals: 'Further addresses of the target.',
    targetPortal: 'The address of the target, with its port where that is not 3260.',
  }),
  PhotonPersistentDiskVolumeSource: 'A disk of Photon.',
  'PhotonPersistentDiskVolumeSource.pdID': 'The id of the disk.',
  PortworxVolumeSource: 'A Portworx volume.',
  'PortworxVolumeSource.volumeID': 'The id of the volume.',
  QuobyteVolumeSource: 'A Quobyte volume.',
  'QuobyteVolumeSource.group': 'The group to map access to.',
  'QuobyteVolumeSource.registry': 'Addresses of the registries, separated by commas.',
  'QuobyteVolumeSource.tenant': 'The tenant that owns it.',
  'QuobyteVolumeSource.user': 'The user to map access to.',
  'QuobyteVolumeSource.volume': 'The name of the volume.',
  ...both('RBD', {
    '': 'A Ceph block device.',
    image: 'The name of the image.',
    keyring: 'A file on the node with the key of the user.',
    monitors: 'Addresses of the monitors.',
    pool: 'The pool. "rbd" when left out.',
    user: 'The user. "admin" when left out.',
  }),
  ...both('ScaleIO', {
    '': 'A ScaleIO volume.',
    gateway: 'Where its gateway is.',
    protectionDomain: 'The protection domain it is in.',
    sslEnabled: 'True to talk with the gateway over TLS.',
    storageMode: 'Whether the storage is thick or thin.',
    storagePool: 'The storage pool it is in.',
    system: 'The storage system.',
  }),
  ...both('StorageOS', {
    '': 'A StorageOS volume.',
    volumeNamespace: 'The namespace of the volume in the storage system.',
  }),
  VsphereVirtualDiskVolumeSource: 'A disk of vSphere.',
  'VsphereVirtualDiskVolumeSource.storagePolicyID': 'The id of its storage policy.',
  'VsphereVirtualDiskVolumeSource.storagePolicyName': 'The name of its storage policy.',
  'VsphereVirtualDiskVolumeSource.volumePath': 'The path of the disk.',
};
