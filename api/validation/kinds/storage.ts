// Rules of the storage group: classes, attachments, drivers and what they can do.

import { deepEqual } from '../../json/deep-equal.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { isSet } from '../../json/object-fields.ts';
import { textProblems } from '../../metadata/formats.ts';
import { distinct } from '../repeats.ts';
import type { Report } from '../report.ts';
import { type ChangeRule, type ChangeTable, CREATE_RULES, type Rule, type RuleTable } from '../rule.ts';
import { topologyTermList } from './placement.ts';
import { tokenSeconds } from './token-seconds.ts';
import { csiSource } from './volume-sources.ts';

const PARAMETERS_MAX = 512;
const PARAMETER_BYTES_MAX = 256 * 1024;

const parameters: Rule<Readonly<Record<string, string>>> = (map, at) => {
  const entries = Object.entries(map);
  if (entries.length > PARAMETERS_MAX) {
    at.tooLong('', PARAMETERS_MAX);
    return;
  }
  let bytes = 0;
  for (const [key, value] of entries) {
    if (key === '') at.invalid('', key, 'field can not be empty.');
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > PARAMETER_BYTES_MAX) at.tooLong('', PARAMETER_BYTES_MAX);
};

interface AttachmentSpec {
  readonly source?: { readonly inlineVolumeSpec?: object; readonly persistentVolumeName?: string | null };
}

const attachmentSource: Rule<AttachmentSpec> = ({ source }, at) => {
  const { inlineVolumeSpec, persistentVolumeName } = source ?? {};
  const isNamed = persistentVolumeName !== undefined && persistentVolumeName !== null;
  if (inlineVolumeSpec && isNamed) {
    at.forbidden('source', 'must specify exactly one of inlineVolumeSpec and persistentVolumeName');
  } else if (!inlineVolumeSpec && !isNamed) {
    const may = at.settings.gate('CSIMigration')
      ? 'exactly one of inlineVolumeSpec and persistentVolumeName'
      : 'persistentVolumeName when CSIMigration feature is disabled';
    at.required('source', `must specify ${may}`);
  } else if (isNamed && persistentVolumeName === '')
    at.required('source.persistentVolumeName', 'must specify non empty persistentVolumeName');
};

/** v1beta1 takes any name. */
const namedVolume: Rule<AttachmentSpec> = ({ source }, at) => {
  const name = source?.persistentVolumeName;
  if (name === undefined || name === null || at.isUpdate) return;
  at.problems('source.persistentVolumeName', name, textProblems('dns1123Subdomain', name));
};

/** Of a driver on a node, whose name stands in the path of a socket. */
const DRIVER_NAME_MAX = 63;

/** Looked at once more after all else, and then as the name of a driver. */
const attacherName: Rule<{ readonly attacher?: string }> = ({ attacher = '' }, at) => {
  if (at.isUpdate) return;
  if (attacher === '') at.required('attacher');
  if (attacher.length > DRIVER_NAME_MAX) at.tooLong('attacher', DRIVER_NAME_MAX);
  at.problems('attacher', attacher, textProblems('dns1123Subdomain', attacher.toLowerCase()));
};

const ATTACHMENT_METADATA_BYTES_MAX = 256 * 1024;

const attachmentMetadata: Rule<Readonly<Record<string, string>>> = (map, at) => {
  let bytes = 0;
  for (const key in map) bytes += Buffer.byteLength(key) + Buffer.byteLength(map[key]!);
  if (bytes > ATTACHMENT_METADATA_BYTES_MAX) at.tooLong('', ATTACHMENT_METADATA_BYTES_MAX);
};

interface NodeDriver {
  readonly name?: string;
  readonly nodeID?: string;
}

const NODE_ID_BYTES_MAX = 128;
const STORED_NODE_ID_BYTES_MAX = 192;

/** Identifiers longer than the limit that are stored already may stay a little longer. */
function checkNodeIds(drivers: readonly NodeDriver[], bytesMax: number, at: Report): void {
  for (const [index, { nodeID = '' }] of drivers.entries()) {
    if (Buffer.byteLength(nodeID) > bytesMax) {
      at.invalid(`spec.drivers[${index}].nodeID`, nodeID, `must be ${bytesMax} characters or less`);
    }
  }
}

interface StorageNode {
  readonly spec?: { readonly drivers?: readonly NodeDriver[] };
}

const driverChange: ChangeRule<StorageNode> = (next, stored, at) => {
  const drivers = next.spec?.drivers ?? [];
  const before = stored.spec?.drivers ?? [];
  const hasLong = before.some(({ nodeID = '' }) => Buffer.byteLength(nodeID) > NODE_ID_BYTES_MAX);
  checkNodeIds(drivers, hasLong ? STORED_NODE_ID_BYTES_MAX : NODE_ID_BYTES_MAX, at);
  const known = new Map(before.map((driver) => [driver.name, driver]));
  for (const [index, driver] of drivers.entries()) {
    const then = known.get(driver.name);
    if (then !== undefined && !deepEqual(driver, then))
      at.invalid(`spec.drivers[${index}]`, driver, 'field is immutable');
  }
};

const tokenAudiences = distinct<{ readonly audience?: string }>(
  ({ audience = '' }) => `=${audience}`,
  (_key, { audience = '' }, at) => at.duplicate('audience', audience),
);

const driverNames = distinct<NodeDriver>(
  ({ name }) => name,
  (name, _driver, at) => at.duplicate('name', name),
);

const nodeIds: Rule<StorageNode> = (node, at) => {
  // An update looks at what is stored first: see the change rules.
  if (!at.isUpdate) checkNodeIds(node.spec?.drivers ?? [], NODE_ID_BYTES_MAX, at);
};

const capacityAmount: Rule<string> = (amount, at) => {
  if (amount.startsWith('-')) at.invalid('', amount, 'must be greater than or equal to 0');
};

const nonEmptyClass: Rule<{ readonly storageClassName?: string }> = ({ storageClassName = '' }, at) => {
  at.problems('storageClassName', storageClassName, textProblems('dns1123Subdomain', storageClassName));
};

/** Of two sources neither is looked into. */
const onlyInline = ({ source }: AttachmentSpec): boolean => !isSet(source?.persistentVolumeName);
const attachmentFields = { attacher: { required: true }, source: { when: onlyInline } } as const;

const attachedNode: Rule<{ readonly nodeName?: string }> = ({ nodeName = '' }, at) =>
  at.problems('nodeName', nodeName, textProblems('dns1123Subdomain', nodeName));

export const storageTypes: RuleTable = {
  'storage.StorageClass': {
    fields: {
      provisioner: { required: true, format: 'qualifiedNameAnyCase' },
      parameters: { rules: [parameters] },
      reclaimPolicy: { enum: ['Delete', 'Retain'], mayBeEmpty: true },
      volumeBindingMode: { required: true, enum: true },
      allowedTopologies: topologyTermList,
    },
  },
  'storage.VolumeAttachmentSpec': {
    fields: attachmentFields,
    rules: ['attacher', attachmentSource, 'source', attachedNode],
  },
  'storage/v1.VolumeAttachmentSpec': {
    fields: attachmentFields,
    rules: ['attacher', attachmentSource, 'source', attachedNode, attacherName, namedVolume],
  },
  'storage.VolumeAttachmentStatus': { fields: { attachmentMetadata: { rules: [attachmentMetadata] } } },
  'storage.VolumeError': { fields: { message: { bytesMax: 1024 } } },
  'storage.CSINode': { rules: [nodeIds] },
  'storage.CSINodeDriver': {
    fields: {
      name: csiSource,
      nodeID: { required: true },
      topologyKeys: { unique: true, format: 'qualifiedName' },
    },
    rules: ['name', 'nodeID', 'allocatable', driverNames, 'topologyKeys'],
  },
  'storage.VolumeNodeResources': { fields: { count: { min: 0 } } },
  'storage.CSIDriver': { rules: ['spec'] },
  'storage.CSIDriverSpec': {
    fields: {
      fsGroupPolicy: { enum: true, emptyToo: true },
      volumeLifecycleModes: { enum: ['Persistent', 'Ephemeral'], reportedAtList: true },
    },
    rules: [neededFlags, 'fsGroupPolicy', 'tokenRequests', 'volumeLifecycleModes'],
  },
  'storage.TokenRequest': {
    fields: { expirationSeconds: { rules: [tokenSeconds] } },
    rules: [tokenAudiences, 'expirationSeconds'],
  },
  'storage.CSIStorageCapacity': {
    fields: { capacity: { rules: [capacityAmount] }, maximumVolumeSize: { rules: [capacityAmount] } },
    rules: [nonEmptyClass, 'nodeTopology', 'capacity', 'maximumVolumeSize'],
  },
};

/** False is a value: only absence is an error. Without its gate there is no storageCapacity to be given. */
function neededFlags(spec: JsonObject, at: Report): void {
  for (const flag of ['attachRequired', 'podInfoOnMount', 'storageCapacity']) {
    if (isSet(spec[flag]) || (flag === 'storageCapacity' && !at.settings.gate('CSIStorageCapacity'))) continue;
    at.required(flag);
  }
}

const FIXED = { immutable: true } as const;
/** In the words by which tools know that a class has to be made anew. */
const fixed = (member: string) =>
  ({ immutable: true, reason: 'forbidden', text: `updates to ${member} are forbidden.` }) as const;

export const storageUpdates: ChangeTable = {
  'storage.StorageClass': {
    fields: {
      parameters: fixed('parameters'),
      provisioner: fixed('provisioner'),
      reclaimPolicy: fixed('reclaimPolicy'),
      volumeBindingMode: FIXED,
    },
  },
  'storage.VolumeAttachment': { fields: { spec: FIXED } },
  'storage.CSINode': { rules: [driverChange] },
  'storage.CSIDriver': {
    fields: {
      'spec.attachRequired': FIXED,
      'spec.fsGroupPolicy': FIXED,
      'spec.podInfoOnMount': FIXED,
      'spec.volumeLifecycleModes': FIXED,
      'spec.storageCapacity': FIXED,
    },
    rules: [CREATE_RULES],
  },
  'storage.CSIStorageCapacity': { fields: { nodeTopology: FIXED, storageClassName: FIXED } },
};
