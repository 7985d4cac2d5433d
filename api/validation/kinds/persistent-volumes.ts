// Rules of persistent volumes and of the claims for them.

import { compareQuantities, nanoOf } from '../../../values/quantity.ts';
import { deepEqual } from '../../json/deep-equal.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { isSet } from '../../json/object-fields.ts';
import { metadataOf } from '../../metadata/object-meta.ts';
import type { Report } from '../report.ts';
import type { ChangeRule, ChangeTable, Rule, RuleTable } from '../rule.ts';
import { type Amounts, nonNegativeAmounts } from './resource-amounts.ts';
import { DISK_PLACE } from './volume-sources.ts';

/** Members of a persistent volume's spec that are no volume source. */
const NOT_A_SOURCE: ReadonlySet<string> = new Set([
  'capacity',
  'accessModes',
  'claimRef',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'mountOptions',
  'volumeMode',
  'nodeAffinity',
]);

interface VolumeSpec extends JsonObject {
  readonly capacity?: Amounts;
  readonly persistentVolumeReclaimPolicy?: string;
  readonly hostPath?: { readonly path?: string };
  readonly local?: object;
  readonly nodeAffinity?: object;
}

/** In the order in which they are looked at. What only a local volume needs is asked for where it has its turn. */
const SOURCES = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'cinder',
  'fc',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
  'csi',
] as const;

const STORAGE = 'storage';

/** Sources whose plug-ins take mount options. */
const WITH_MOUNT_OPTIONS: readonly string[] = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
];

/** Of the annotation that came before the field; the field itself is held to nothing. */
const mountOptions: Rule<{ readonly spec?: VolumeSpec } & JsonObject> = (volume, at) => {
  const key = at.dialect.spell('volume.beta.@label/mount-options');
  const { annotations } = metadataOf(volume);
  if (annotations === undefined || !Object.hasOwn(annotations, key)) return;
  const { spec = {} } = volume;
  if (WITH_MOUNT_OPTIONS.some((source) => spec[source])) return;
  at.forbidden(`metadata.annotations.${key}`, 'may not specify mount options for this volume type');
};

/** In an attachment, a volume stands for one that a pod names itself: nobody claims it, and a driver has it. */
const isInAttachment = (at: Report): boolean => at.root.kind === 'VolumeAttachment';

const NOT_IN_ATTACHMENT = 'may not be specified in the context of inline volumes';

/** In an attachment the member is empty, or says this. */
function inAttachment(member: string, only?: string): Rule<VolumeSpec> {
  const detail = only === undefined ? NOT_IN_ATTACHMENT : `may only be ${only} in the context of inline volumes`;
  return (spec, at) => {
    const value = spec[member] ?? '';
    if (value !== '' && value !== only && isInAttachment(at)) at.forbidden(member, detail);
  };
}

const attached: Rule<VolumeSpec> = ({ capacity: amounts = {}, csi }, at) => {
  if (!isInAttachment(at)) return;
  if (Object.keys(amounts).length > 0) at.forbidden('capacity', NOT_IN_ATTACHMENT);
  if (!csi) at.required('csi', 'has to be specified in the context of inline volumes');
};

const capacity: Rule<VolumeSpec> = ({ capacity: amounts = {} }, at) => {
  if (isInAttachment(at)) return;
  const names = Object.keys(amounts);
  if (names.length === 0) at.required('capacity');
  if (!Object.hasOwn(amounts, STORAGE) || names.length > 1) at.notSupported('capacity', amounts, [STORAGE]);
  for (const name of names) {
    if (nanoOf(amounts[name]!) < 0n)
      at.invalid(`capacity[${name}]`, amounts[name], 'must be a valid resource quantity');
    checkPositive(amounts[name]!, `capacity[${name}]`, at);
  }
};

function checkPositive(amount: string, path: string, at: Report): void {
  if (nanoOf(amount) <= 0n) at.invalid(path, amount, 'must be greater than zero');
}

const recycling: Rule<VolumeSpec> = ({ hostPath, persistentVolumeReclaimPolicy }, at) => {
  const path = hostPath?.path;
  if (path !== undefined && persistentVolumeReclaimPolicy === 'Recycle' && leadsToRoot(path)) {
    at.forbidden('persistentVolumeReclaimPolicy', "may not be 'recycle' for a hostPath mount of '/'");
  }
};

function leadsToRoot(path: string): boolean {
  let levels = 0;
  for (const part of path.split('/')) {
    if (part === '..') levels = Math.max(0, levels - 1);
    else if (part !== '' && part !== '.') levels++;
  }
  return path.startsWith('/') && levels === 0;
}

const localNeedsNode: Rule<VolumeSpec> = ({ local, nodeAffinity }, at) => {
  if (local && !nodeAffinity) at.required('nodeAffinity', 'Local volume requires node affinity');
};

const CLASS_NAME = { format: 'dns1123Subdomain', mayBeEmpty: true } as const;

/** What a source that is already in use may still gain. */
const SECRET_FOR_EXPANSION = 'controllerExpandSecretRef';

const sourceChange: ChangeRule<{ readonly spec?: VolumeSpec }> = ({ spec = {} }, { spec: before = {} }, at) => {
  for (const name of new Set([...Object.keys(spec), ...Object.keys(before)])) {
    if (NOT_A_SOURCE.has(name) || deepEqual(comparableSource(name, spec, before), before[name])) continue;
    at.forbidden('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation');
    return;
  }
};

function comparableSource(name: string, spec: VolumeSpec, before: VolumeSpec): unknown {
  const then = before[name] as JsonObject | undefined;
  if (name !== 'csi' || !spec[name] || then?.[SECRET_FOR_EXPANSION]) return spec[name];
  const { [SECRET_FOR_EXPANSION]: _, ...rest } = spec[name] as JsonObject;
  return rest;
}

const affinityChange: ChangeRule<unknown> = (next, stored, at) => {
  if (stored && !deepEqual(next, stored)) at.invalid('', next ?? null, 'field is immutable');
};

interface ClaimSpec extends JsonObject {
  readonly resources?: { readonly requests?: Amounts };
  readonly dataSource?: { readonly apiGroup?: string | null; readonly kind?: string; readonly name?: string };
  readonly storageClassName?: string | null;
  readonly volumeName?: string;
}

const storageRequest: Rule<ClaimSpec> = ({ resources }, at) => {
  const amount = resources?.requests?.[STORAGE];
  if (amount === undefined) at.required(`resources[${STORAGE}]`);
  else checkPositive(amount, `resources[${STORAGE}]`, at);
};

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce'];

/** Reported at the list. */
const knownModes: Rule<readonly string[]> = (modes, at) => {
  for (const mode of modes) if (!ACCESS_MODES.includes(mode)) at.notSupported('', mode, ACCESS_MODES);
};

const someMode: Rule<{ readonly accessModes?: readonly string[] }> = ({ accessModes = [] }, at) => {
  if (accessModes.length === 0) at.required('accessModes', 'at least 1 access mode is required');
};

const dataSource: Rule<ClaimSpec> = ({ dataSource: source }, at) => {
  if (!source) return;
  if ((source.name ?? '') === '') at.required('dataSource.name');
  if ((source.kind ?? '') === '') at.required('dataSource.kind');
  if ((source.apiGroup ?? '') === '' && source.kind !== 'PersistentVolumeClaim') {
    at.invalid('dataSource', source.kind ?? '', 'must be PersistentVolumeClaim when accessing the default apiGroup');
  }
};

interface Claim extends JsonObject {
  readonly spec?: ClaimSpec;
  readonly status?: { readonly phase?: string };
}

const CLAIM_FIXED = 'spec is immutable after creation except resources.requests for bound claims';
const CLAIM_OF_ONE_SIZE = 'field is immutable after creation';

const classKey = (at: Report): string => `volume.beta.${at.dialect.labelDomain}/storage-class`;

const classNamed = (claim: Claim, at: Report): string | undefined => metadataOf(claim).annotations?.[classKey(at)];

/** The field may say what the annotation said that was there before it, which may then go. */
function takesClassOver(next: Claim, stored: Claim, at: Report): boolean {
  const before = classNamed(stored, at);
  if (before === undefined || isSet(stored.spec?.storageClassName)) return false;
  return next.spec?.storageClassName === before && (classNamed(next, at) ?? before) === before;
}

/** Else the annotation stays as it is. */
const classAnnotation: ChangeRule<Claim> = (next, stored, at) => {
  const now = classNamed(next, at) ?? '';
  if (now === (classNamed(stored, at) ?? '') || takesClassOver(next, stored, at)) return;
  at.invalid(`metadata.annotations.${classKey(at)}`, now, 'field is immutable');
};

/** A claim is bound once, and may grow while it is bound, where claims may grow at all. */
const claimChange: ChangeRule<Claim> = (next, stored, at) => {
  const spec = next.spec ?? {};
  const before = stored.spec ?? {};
  if (spec === before) return;
  const { volumeName, storageClassName, ...rest } = spec;
  const { volumeName: nameBefore, storageClassName: classBefore, ...restBefore } = before;
  const takesOver = takesClassOver(next, stored, at);
  const mayGrow = at.settings.gate('ExpandPersistentVolumes');
  const isBound = mayGrow && stored.status?.phase === 'Bound';
  const sameName = volumeName === nameBefore || (nameBefore ?? '') === '';
  const fixed = isBound ? withoutRequest(rest) : rest;
  const fixedBefore = isBound ? withoutRequest(restBefore) : restBefore;
  if (!sameName || !deepEqual(fixed, fixedBefore) || (storageClassName !== classBefore && !takesOver)) {
    at.forbidden('spec', mayGrow ? CLAIM_FIXED : CLAIM_OF_ONE_SIZE);
  }
  if (!mayGrow) return;
  const amount = spec.resources?.requests?.[STORAGE];
  const amountBefore = before.resources?.requests?.[STORAGE];
  if (amount !== amountBefore && compareQuantities(amount ?? '0', amountBefore ?? '0') < 0) {
    at.forbidden('spec.resources.requests.storage', 'field can not be less than previous value');
  }
};

function withoutRequest(spec: JsonObject): JsonObject {
  const { requests, ...resources } = (spec.resources ?? {}) as { requests?: Amounts };
  const { [STORAGE]: _, ...others } = (requests ?? {}) as Record<string, string>;
  return { ...spec, resources: { ...resources, requests: others } };
}

export const persistentVolumeTypes: RuleTable = {
  'core/v1.PersistentVolume': { rules: ['spec', mountOptions] },
  'core/v1.PersistentVolumeSpec': {
    fields: {
      gcePersistentDisk: DISK_PLACE,
      accessModes: { required: true, rules: [knownModes] },
      persistentVolumeReclaimPolicy: { enum: true },
      storageClassName: CLASS_NAME,
      volumeMode: { enum: true },
    },
    rules: [
      inAttachment('claimRef'),
      attached,
      'accessModes',
      capacity,
      inAttachment('persistentVolumeReclaimPolicy', 'Retain'),
      'persistentVolumeReclaimPolicy',
      inAttachment('nodeAffinity'),
      'nodeAffinity',
      {
        choice: SOURCES,
        more: 'may not specify more than 1 volume type',
        moreAt: { cephfs: 'cephFS' },
        none: 'must specify a volume type',
      },
      localNeedsNode,
      recycling,
      inAttachment('storageClassName'),
      'storageClassName',
      inAttachment('volumeMode', 'Filesystem'),
      'volumeMode',
    ],
  },
  'core/v1.VolumeNodeAffinity': { fields: { required: { required: 'must specify required node constraints' } } },
  'core/v1.PersistentVolumeClaimSpec': {
    fields: {
      accessModes: { rules: [knownModes] },
      storageClassName: CLASS_NAME,
      volumeMode: { enum: true },
      resources: { opaque: true },
    },
    rules: [someMode, 'selector', 'accessModes', storageRequest, 'storageClassName', 'volumeMode', dataSource],
  },
  'core/v1.PersistentVolumeClaimStatus': { fields: { capacity: { rules: [nonNegativeAmounts] } } },
};

const FIXED = { immutable: true } as const;

export const persistentVolumeUpdates: ChangeTable = {
  'core/v1.PersistentVolume': {
    fields: { 'spec.volumeMode': FIXED, 'spec.nodeAffinity': { rules: [affinityChange] } },
    rules: [sourceChange, 'spec.volumeMode', 'spec.nodeAffinity'],
  },
  'core/v1.PersistentVolumeClaim': {
    fields: { 'spec.volumeMode': FIXED },
    rules: [classAnnotation, claimChange, 'spec.volumeMode'],
  },
};
