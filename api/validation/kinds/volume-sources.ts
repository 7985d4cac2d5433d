// Rules of the storage that volumes of pods and persistent volumes name alike: network file systems, disks of clouds,
// storage systems.

import { textProblems } from '../../metadata/formats.ts';
import { metadataOf } from '../../metadata/object-meta.ts';
import { CSI_DRIVER_LENGTH_MAX } from '../field-formats.ts';
import type { Rule, RuleTable } from '../rule.ts';

const IQN = /^iqn\.\d{4}-\d{2}\.[-.A-Za-z0-9]+:[^,;*&$|\s]+$/;
const EUI = /^eui\.[A-Za-z0-9]{16}$/;
const NAA = /^naa\.[A-Za-z0-9]{32}$/;

const iscsiName =
  (detail: string, otherDetail: string): Rule<string> =>
  (name, at) => {
    if (IQN.test(name) || EUI.test(name) || NAA.test(name)) return;
    at.invalid('', name, /^(?:iqn|eui|naa)/.test(name) ? detail : otherDetail);
  };

const WRONG_NAME = 'must be valid format';
const podIscsiName = iscsiName(WRONG_NAME, 'must be valid format starting with iqn, eui, or naa');
const volumeIscsiName = iscsiName(WRONG_NAME, WRONG_NAME);

/** What rules read of an iSCSI source. */
export interface Iscsi {
  readonly targetPortal?: string;
  readonly initiatorName?: string | null;
  readonly lun?: number;
  readonly chapAuthDiscovery?: boolean;
  readonly chapAuthSession?: boolean;
  readonly secretRef?: object;
}

const iscsi: Rule<Iscsi> = ({ lun = 0, chapAuthDiscovery, chapAuthSession, secretRef }, at) => {
  if (lun < 0 || lun > 255) at.invalid('lun', lun, 'must be between 0 and 255, inclusive');
  if ((chapAuthDiscovery || chapAuthSession) && !secretRef) at.required('secretRef');
};

const PORTAL_BYTES_MAX = 64;
export const LONG_PORTAL = `volume name, ":" and targetPortal must be under ${PORTAL_BYTES_MAX} characters together where there is an initiatorName`;

/** The name of a volume and its portal are written together where the initiator has a name. */
export function isLongPortal(volumeName: string, source: Iscsi | undefined | null): boolean {
  if ((source?.initiatorName ?? null) === null) return false;
  return Buffer.byteLength(`${volumeName}:${source?.targetPortal ?? ''}`) > PORTAL_BYTES_MAX;
}

const portalOfVolume: Rule<Iscsi> = (source, at) => {
  const { name = '' } = metadataOf(at.root);
  if (isLongPortal(name, source)) at.invalid('targetportal', source.targetPortal ?? '', LONG_PORTAL);
};

interface FibreChannel {
  readonly targetWWNs?: readonly string[];
  readonly wwids?: readonly string[];
  readonly lun?: number | null;
}

const fibreChannel: Rule<FibreChannel> = ({ targetWWNs = [], wwids = [], lun }, at) => {
  if (targetWWNs.length === 0 && wwids.length === 0)
    at.required('targetWWNs', 'must specify either targetWWNs or wwids, but not both');
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

const HOST_PORTS = 'must be a host:port pair or multiple pairs separated by commas';
const TENANT_BYTES_MAX = 64;

const quobyte: Rule<{ registry?: string; tenant?: string }> = ({ registry = '', tenant = '' }, at) => {
  if (registry === '') at.required('registry', HOST_PORTS);
  else if (Buffer.byteLength(tenant) > TENANT_BYTES_MAX) {
    at.required('tenant', `must be a UUID and may not exceed a length of ${TENANT_BYTES_MAX} characters`);
  } else {
    for (const one of registry.split(',')) {
      if (!/^[^:[\]]*:[^:[\]]*$/.test(one) && !/^\[[^[\]]*\]:[^:[\]]*$/.test(one))
        at.invalid('registry', registry, HOST_PORTS);
    }
  }
};

interface AzureDisk {
  readonly diskURI?: string;
  readonly kind?: string;
}

const MANAGED_DISK = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const BLOB_DISK = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

const azureDisk: Rule<AzureDisk> = ({ diskURI = '', kind }, at) => {
  if (kind === undefined || kind === null) return;
  const [start, form] = kind === 'Managed' ? ['/subscriptions/', MANAGED_DISK] : ['https://', BLOB_DISK];
  if (!diskURI.startsWith(start)) at.notSupported('diskURI', diskURI, [form]);
};

/** A secret in the namespace of the pod. */
const localSecret: Rule<{ name?: string }> = ({ name }, at) => {
  if (!name) at.required('name');
};

/** What is wrong with the name is reported beside the secret. */
const publishSecret: Rule<{ nodePublishSecretRef?: { name?: string } }> = ({ nodePublishSecretRef: secret }, at) => {
  if (!secret) return;
  if (!secret.name) at.required(`${PUBLISH_SECRET}.name`);
  else at.problems('name', secret.name, textProblems('dns1123Subdomain', secret.name));
};

/** Clients know it by this name, blank and all. */
const PUBLISH_SECRET = 'nodePublishSecretRef ';

const LOCAL_SECRET = { rules: [localSecret] } as const;

/** A secret that a source outside any namespace refers to. */
const secretReference: Rule<{ name?: string; namespace?: string }> = ({ name, namespace }, at) => {
  if (!name) at.required('name');
  if (!namespace) at.required('namespace');
};

const NAMED_SECRET = { rules: [secretReference] } as const;

const csiPersistent: Rule<Readonly<Record<string, unknown>>> = (source, at) => {
  for (const [member, shown] of CSI_SECRETS) {
    const secret = source[member] as { name?: string; namespace?: string } | undefined;
    if (!secret) continue;
    for (const part of ['name', 'namespace'] as const) {
      const text = secret[part] ?? '';
      if (text === '') at.required(`${shown}.${part}`);
      else at.problems(part, text, textProblems('dns1123Label', text));
    }
  }
};

/** Those that are looked at, and how they are called when they lack something. */
const CSI_SECRETS = [
  ['controllerPublishSecretRef', 'controllerPublishSecretRef'],
  ['controllerExpandSecretRef', 'controllerExpandSecretRef'],
  ['nodePublishSecretRef', PUBLISH_SECRET],
] as const;

const namedIfSet: Rule<string> = (text, at) => {
  if (text === '') at.required('');
};

const localPath: Rule<string> = (path, at) => {
  if (path.split('/').includes('..')) at.invalid('', path, "must not contain '..'");
};

const required = { required: true } as const;
const partition = { min: 0, max: 255, outside: 'must be between 1 and 255, inclusive' } as const;
const iscsiFields = (name: Rule<string>) =>
  ({
    targetPortal: required,
    iqn: { required: true, rules: [name] },
    initiatorName: { rules: [name], reportedAt: 'initiatorname' },
  }) as const;
/** The name of a CSI driver, where there has to be one. */
const csiDriver = { required: true, bytesMax: CSI_DRIVER_LENGTH_MAX, format: 'csiDriverName' } as const;
/** It is told to be missing, and to be no name as well. */
export const csiSource = { ...csiDriver, emptyToo: true } as const;

/** Where clients look for what is wrong with a disk. */
export const DISK_PLACE = { reportedAt: 'persistentDisk' } as const;

const storageOsFields = {
  volumeName: { required: true, format: 'dns1123Label' },
  volumeNamespace: { format: 'dns1123Label' },
} as const;
const scaleIoFields = { gateway: required, system: required, volumeName: required } as const;

export const volumeSourceTypes: RuleTable = {
  'core/v1.HostPathVolumeSource': {
    fields: { path: { required: true, format: 'noClimbing' }, type: { enum: true } },
  },
  'core/v1.NFSVolumeSource': {
    fields: { server: required, path: { required: true, format: 'absolutePath', emptyToo: true } },
  },
  'core/v1.GCEPersistentDiskVolumeSource': { fields: { pdName: required, partition } },
  'core/v1.AWSElasticBlockStoreVolumeSource': { fields: { volumeID: required, partition } },
  'core/v1.ISCSIVolumeSource': {
    fields: iscsiFields(podIscsiName),
    rules: ['targetPortal', 'iqn', iscsi, 'initiatorName'],
  },
  'core/v1.ISCSIPersistentVolumeSource': {
    fields: { ...iscsiFields(volumeIscsiName), secretRef: LOCAL_SECRET },
    rules: ['targetPortal', portalOfVolume, 'iqn', iscsi, 'secretRef', 'initiatorName'],
  },
  'core/v1.GlusterfsVolumeSource': { fields: { endpoints: required, path: required } },
  'core/v1.GlusterfsPersistentVolumeSource': {
    fields: { endpoints: required, path: required, endpointsNamespace: { format: 'dns1123Label' } },
  },
  'core/v1.RBDVolumeSource': { fields: { monitors: required, image: required } },
  'core/v1.RBDPersistentVolumeSource': { fields: { monitors: required, image: required } },
  'core/v1.CinderVolumeSource': { fields: { volumeID: required, secretRef: LOCAL_SECRET } },
  'core/v1.CinderPersistentVolumeSource': { fields: { volumeID: required, secretRef: NAMED_SECRET } },
  'core/v1.CephFSVolumeSource': { fields: { monitors: required } },
  'core/v1.CephFSPersistentVolumeSource': { fields: { monitors: required } },
  'core/v1.FCVolumeSource': { rules: [fibreChannel] },
  'core/v1.FlockerVolumeSource': { rules: [flocker] },
  'core/v1.AzureFileVolumeSource': { fields: { secretName: required, shareName: required } },
  'core/v1.AzureFilePersistentVolumeSource': {
    fields: { secretName: required, shareName: required, secretNamespace: { rules: [namedIfSet] } },
  },
  'core/v1.VsphereVirtualDiskVolumeSource': { fields: { volumePath: required } },
  'core/v1.QuobyteVolumeSource': {
    fields: { volume: required },
    rules: [quobyte, 'volume'],
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
    fields: { driver: csiSource },
    rules: ['driver', publishSecret],
  },
  'core/v1.CSIPersistentVolumeSource': {
    fields: { driver: csiSource, volumeHandle: required },
    rules: [csiPersistent],
  },
};
