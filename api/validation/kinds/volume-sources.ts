// Rules of the storage that volumes of pods and persistent volumes name alike: network file systems, disks of clouds,
// storage systems.
import { textProblems } from '../formats.ts';
import type { Rule, RuleTable } from '../rule.ts';

const IQN = /^iqn\.\d{4}-\d{2}\.[-.A-Za-z0-9]+:[^,;*&$|\s]+$/;
const EUI = /^eui\.[A-Za-z0-9]{16}$/;
const NAA = /^naa\.[A-Za-z0-9]{32}$/;

const iscsiName: Rule<string> = (name, at) => {
  if (!IQN.test(name) && !EUI.test(name) && !NAA.test(name)) at.invalid('', name, 'must be of iqn, eui or naa form');
};

interface Iscsi {
  readonly lun?: number;
  readonly chapAuthDiscovery?: boolean;
  readonly chapAuthSession?: boolean;
  readonly secretRef?: object;
}

const iscsi: Rule<Iscsi> = ({ lun = 0, chapAuthDiscovery, chapAuthSession, secretRef }, at) => {
  if (lun < 0 || lun > 255) at.invalid('lun', lun, 'must be between 0 and 255, inclusive');
  if ((chapAuthDiscovery || chapAuthSession) && !secretRef) at.required('secretRef');
};

interface FibreChannel {
  readonly targetWWNs?: readonly string[];
  readonly wwids?: readonly string[];
  readonly lun?: number | null;
}

const fibreChannel: Rule<FibreChannel> = ({ targetWWNs = [], wwids = [], lun }, at) => {
  if (targetWWNs.length === 0 && wwids.length === 0)
    at.required('targetWWNs', 'must specify either targetWWNs or wwids');
  if (targetWWNs.length > 0 && wwids.length > 0) {
    at.invalid('targetWWNs', targetWWNs, 'targetWWNs and wwids can not be specified simultaneously');
  }
  if (targetWWNs.length === 0) return;
  if (lun === undefined || lun === null) at.required('lun', 'lun is required if targetWWNs is specified');
  else if (lun < 0 || lun > 255) at.invalid('lun', lun, 'must be between 0 and 255, inclusive');
};

const flocker: Rule<{ datasetName?: string; datasetUUID?: string }> = ({ datasetName, datasetUUID }, at) => {
  if (!datasetName && !datasetUUID) at.required('', 'one of datasetName and datasetUUID is required');
  if (datasetName && datasetUUID)
    at.invalid('', 'resource', 'datasetName and datasetUUID can not be specified simultaneously');
  if (datasetName?.includes('/')) at.invalid('datasetName', datasetName, "must not contain '/'");
};

const quobyteRegistry: Rule<string> = (registry, at) => {
  const allPorts = registry.split(',').every((one) => /^[^:]+:\d+$/.test(one) || /^\[.+\]:\d+$/.test(one));
  if (!allPorts) at.invalid('', registry, 'must be host:port pairs separated by commas');
};

interface AzureDisk {
  readonly diskURI?: string;
  readonly kind?: string;
}

const azureDisk: Rule<AzureDisk> = ({ diskURI = '', kind }, at) => {
  const isManaged = diskURI.startsWith('/subscriptions/');
  if (kind === 'Managed' && !isManaged) at.notSupported('diskURI', diskURI, ['/subscriptions/…']);
  if (kind !== undefined && kind !== 'Managed' && diskURI !== '' && !diskURI.startsWith('https://')) {
    at.notSupported('diskURI', diskURI, ['https://…']);
  }
};

/** A secret in the namespace of the pod. */
const localSecret: Rule<{ name?: string }> = ({ name }, at) => {
  if (!name) at.required('name');
};

const publishSecret: Rule<{ name?: string }> = (secret, at) => {
  localSecret(secret, at);
  if (secret.name) at.problems('name', secret.name, textProblems('dns1123Subdomain', secret.name));
};

const LOCAL_SECRET = { rules: [localSecret] } as const;

/** A secret that a source outside any namespace refers to. */
const secretReference: Rule<{ name?: string; namespace?: string }> = ({ name, namespace }, at) => {
  if (!name) at.required('name');
  if (!namespace) at.required('namespace');
};

const NAMED_SECRET = { rules: [secretReference] } as const;

const csiPersistent: Rule<Readonly<Record<string, unknown>>> = (source, at) => {
  for (const member of CSI_SECRETS) {
    const secret = source[member];
    if (!secret) continue;
    at.enter(member);
    secretReference(secret as never, at);
    at.leave();
  }
};

const CSI_SECRETS = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeStageSecretRef',
] as const;

const namedIfSet: Rule<string> = (text, at) => {
  if (text === '') at.required('');
};

const monitor: Rule<readonly string[]> = (monitors, at) => {
  for (const [index, one] of monitors.entries()) if (one === '') at.required(`[${index}]`);
};

const localPath: Rule<string> = (path, at) => {
  if (path.split('/').includes('..')) at.invalid('', path, "must not contain '..'");
};

const required = { required: true } as const;
const partition = { min: 0, max: 255 } as const;
const monitors = { required: true, rules: [monitor] } as const;
const iscsiFields = {
  targetPortal: required,
  iqn: { required: true, rules: [iscsiName] },
  initiatorName: { rules: [iscsiName], reportedAt: 'initiatorname' },
} as const;
const storageOsFields = {
  volumeName: { required: true, format: 'dns1123Label' },
  volumeNamespace: { format: 'dns1123Label' },
} as const;
const scaleIoFields = { gateway: required, system: required, volumeName: required } as const;

export const volumeSourceTypes: RuleTable = {
  'core/v1.HostPathVolumeSource': {
    fields: { path: { required: true, format: 'noClimbing' }, type: { enum: 'listed' } },
  },
  'core/v1.NFSVolumeSource': {
    fields: { server: required, path: { required: true, format: 'absolutePath', emptyToo: true } },
  },
  'core/v1.GCEPersistentDiskVolumeSource': { fields: { pdName: required, partition } },
  'core/v1.AWSElasticBlockStoreVolumeSource': { fields: { volumeID: required, partition } },
  'core/v1.ISCSIVolumeSource': { fields: iscsiFields, rules: [iscsi] },
  'core/v1.ISCSIPersistentVolumeSource': {
    fields: { ...iscsiFields, secretRef: NAMED_SECRET },
    rules: [iscsi, 'secretRef'],
  },
  'core/v1.GlusterfsVolumeSource': { fields: { endpoints: required, path: required } },
  'core/v1.GlusterfsPersistentVolumeSource': {
    fields: { endpoints: required, path: required, endpointsNamespace: { format: 'dns1123Label' } },
  },
  'core/v1.RBDVolumeSource': { fields: { monitors, image: required } },
  'core/v1.RBDPersistentVolumeSource': { fields: { monitors, image: required } },
  'core/v1.CinderVolumeSource': { fields: { volumeID: required, secretRef: LOCAL_SECRET } },
  'core/v1.CinderPersistentVolumeSource': { fields: { volumeID: required, secretRef: NAMED_SECRET } },
  'core/v1.CephFSVolumeSource': { fields: { monitors } },
  'core/v1.CephFSPersistentVolumeSource': { fields: { monitors } },
  'core/v1.FCVolumeSource': { rules: [fibreChannel] },
  'core/v1.FlockerVolumeSource': { rules: [flocker] },
  'core/v1.AzureFileVolumeSource': { fields: { secretName: required, shareName: required } },
  'core/v1.AzureFilePersistentVolumeSource': {
    fields: { secretName: required, shareName: required, secretNamespace: { rules: [namedIfSet] } },
  },
  'core/v1.VsphereVirtualDiskVolumeSource': { fields: { volumePath: required } },
  'core/v1.QuobyteVolumeSource': {
    fields: {
      registry: { required: true, rules: [quobyteRegistry] },
      volume: required,
      tenant: { bytesMax: 64 },
    },
  },
  'core/v1.AzureDiskVolumeSource': {
    fields: { diskName: required, diskURI: required, cachingMode: { enum: true }, kind: { enum: true } },
    rules: [azureDisk],
  },
  'core/v1.PhotonPersistentDiskVolumeSource': { fields: { pdID: required } },
  'core/v1.PortworxVolumeSource': { fields: { volumeID: required } },
  'core/v1.ScaleIOVolumeSource': { fields: scaleIoFields },
  'core/v1.ScaleIOPersistentVolumeSource': { fields: scaleIoFields },
  'core/v1.StorageOSVolumeSource': { fields: { ...storageOsFields, secretRef: LOCAL_SECRET } },
  'core/v1.StorageOSPersistentVolumeSource': { fields: { ...storageOsFields, secretRef: NAMED_SECRET } },
  'core/v1.LocalVolumeSource': { fields: { path: { required: true, rules: [localPath] } } },
  'core/v1.CSIVolumeSource': {
    fields: {
      driver: { required: true, format: 'csiDriverName', emptyToo: true },
      nodePublishSecretRef: { rules: [publishSecret] },
    },
  },
  'core/v1.CSIPersistentVolumeSource': {
    fields: { driver: { required: true, format: 'csiDriverName', emptyToo: true }, volumeHandle: required },
    rules: [csiPersistent],
  },
};
