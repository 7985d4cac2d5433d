// Rules of volumes in pods and of the sources they come from. Sources that persistent volumes have as well are in
// volume-sources.ts.
import type { JsonObject } from '../../json/json-value.ts';
import { isSet } from '../../json/object-fields.ts';
import { textProblems } from '../../metadata/formats.ts';
import { metadataOf } from '../../metadata/object-meta.ts';
import { relativePathProblems } from '../field-formats.ts';
import { distinct } from '../repeats.ts';
import type { Report } from '../report.ts';
import type { Rule, RuleTable } from '../rule.ts';
import {
  checkFieldPath,
  checkResourceField,
  type ObjectFieldSelector,
  type ResourceFieldSelector,
} from './downward.ts';
import { embeddedAnnotations, embeddedLabels } from './labels.ts';
import { tokenSeconds } from './token-seconds.ts';
import { DISK_PLACE, type Iscsi, isLongPortal, LONG_PORTAL } from './volume-sources.ts';

export interface Volume {
  readonly name?: string;
  readonly persistentVolumeClaim?: { readonly claimName?: string };
  readonly ephemeral?: object;
  readonly projected?: ProjectedVolumeSource;
  readonly iscsi?: Iscsi;
}

/** In the order in which they are looked at: the first that is there counts. */
const SOURCES: readonly string[] = [
  'emptyDir',
  'hostPath',
  'gitRepo',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'secret',
  'nfs',
  'iscsi',
  'glusterfs',
  'flocker',
  'persistentVolumeClaim',
  'rbd',
  'cinder',
  'cephfs',
  'quobyte',
  'downwardAPI',
  'fc',
  'flexVolume',
  'configMap',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'storageos',
  'projected',
  'scaleIO',
  'csi',
  'ephemeral',
];

/** The claim of an ephemeral volume is named by pod and volume. */
const ephemeralName: Rule<Volume> = (volume, at) => {
  const { ephemeral, name = '' } = volume;
  if (!ephemeral || name === '' || at.root.kind !== 'Pod') return;
  const { name: podName = '' } = metadataOf(at.root);
  if (podName === '' || SOURCES.some((source) => source !== 'ephemeral' && isSet((volume as JsonObject)[source])))
    return;
  for (const problem of textProblems('dns1123Subdomain', `${podName}-${name}`)) {
    at.invalid('name', name, `PVC name "${podName}-${name}": ${problem}`);
  }
};

/** Name and portal are written together where the initiator has a name. */
const shortPortal: Rule<Volume> = ({ name = '', iscsi }, at) => {
  if (isLongPortal(name, iscsi)) at.invalid('name', name, LONG_PORTAL);
};

const volumeNames = distinct<Volume>(
  ({ name }) => name,
  (name, _volume, at) => at.duplicate('name', name),
  true,
);

const VOLUME_FIELD_PATHS: readonly string[] = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

interface DownwardFile {
  readonly fieldRef?: ObjectFieldSelector;
  readonly resourceFieldRef?: ResourceFieldSelector;
}

const downwardFile: Rule<DownwardFile> = ({ fieldRef, resourceFieldRef }, at) => {
  if (fieldRef) {
    checkFieldPath(fieldRef, VOLUME_FIELD_PATHS, at);
    if (resourceFieldRef)
      at.invalid('', 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
  } else if (resourceFieldRef) checkResourceField(resourceFieldRef, true, at);
  else at.required('', 'one of fieldRef and resourceFieldRef is required');
};

interface Projection {
  readonly secret?: Items & { readonly name?: string };
  readonly configMap?: Items & { readonly name?: string };
  readonly downwardAPI?: Items;
  readonly serviceAccountToken?: { readonly path?: string; readonly expirationSeconds?: number };
}

interface Items {
  readonly items?: readonly { readonly path?: string }[];
}

interface ProjectedVolumeSource {
  readonly sources?: readonly Projection[] | null;
}

const PROJECTIONS = ['secret', 'configMap', 'downwardAPI', 'serviceAccountToken'] as const;

const oneProjection: Rule<Projection> = (projection, at) => {
  if (PROJECTIONS.filter((member) => projection[member]).length > 1) {
    at.forbidden('', 'may not specify more than 1 volume type per source');
  }
};

/** Steps out of parts, reports there, and steps in again. The parts, the innermost first, are what `report` is given. */
function fromAbove(at: Report, count: number, report: (parts: readonly (string | number)[]) => void): void {
  const parts = Array.from({ length: count }, () => at.step());
  report(parts);
  for (const part of parts.reverse()) at.enter(part);
}

/** Every path that the items of a projected volume fill, each once. Reported at the volume, by the name of the source. */
const projectedPath: Rule<{ readonly path?: string }> = ({ path = '' }, at) => {
  const { sources } = (at.around.projected ?? {}) as ProjectedVolumeSource;
  if (!sources || path === '') return;
  const filled = at.metIn(sources, projectedPath);
  if (filled.has(path)) {
    fromAbove(at, 5, ([, , member, index]) => {
      const source = sources[index as number]?.[member as 'secret'];
      at.invalid('', source?.name ?? path, 'conflicting duplicate paths');
    });
  }
  filled.set(path, true);
};

/** Reported at the volume. */
const tokenPath: Rule<{ readonly path?: string }> = ({ path = '' }, at) => {
  if (path === '') fromAbove(at, 3, () => at.required('path'));
};

/** A token needs the service account it is of. Reported from the pod spec. */
export function checkTokenProjections(volumes: readonly Volume[], serviceAccountName: string, at: Report): void {
  if (serviceAccountName !== '') return;
  for (const [index, { projected }] of volumes.entries()) {
    for (const [source, { serviceAccountToken }] of (projected?.sources ?? []).entries()) {
      if (!serviceAccountToken) continue;
      const path = `volumes[${index}].projected.sources[${source}].serviceAccountToken`;
      at.forbidden(path, 'must not be specified when serviceAccountName is not set');
    }
  }
}

interface ClaimTemplate {
  readonly metadata?: Readonly<Record<string, unknown>>;
}

const TEMPLATE_METADATA: ReadonlySet<string> = new Set(['labels', 'annotations', 'creationTimestamp']);

const claimTemplate: Rule<ClaimTemplate> = ({ metadata }, at) => {
  at.enter('metadata');
  embeddedAnnotations(metadata, at);
  embeddedLabels(metadata, at);
  for (const member in metadata) {
    const value = metadata[member];
    if (TEMPLATE_METADATA.has(member) || value === undefined || value === null || value === '') continue;
    at.forbidden(member, 'cannot be set');
  }
  at.leave();
};

const gitDirectory: Rule<string> = (directory, at) => at.problems('', directory, relativePathProblems(directory));

/** The reserved domains a driver's options may not use. */
const flexOptions: Rule<Readonly<Record<string, string>>> = (options, at) => {
  const { labelDomain, groupDomain } = at.dialect;
  for (const key in options) {
    const domain = `.${key.split('/', 1)[0]!.toLowerCase()}`;
    if (domain.endsWith(`.${labelDomain}`) || domain.endsWith(`.${groupDomain}`)) {
      at.invalid(`[${key}]`, key, `${labelDomain} and ${groupDomain} namespaces are reserved`);
    }
  }
};

const sizeLimit: Rule<string> = (value, at) => {
  if (value.startsWith('-')) at.forbidden('', 'SizeLimit field must be a valid resource quantity');
};

const ITEM_FIELDS = { key: { required: true }, path: { required: true, format: 'projectedPath' } } as const;
const MODE = { format: 'fileMode' } as const;

export const volumeTypes: RuleTable = {
  'core/v1.Volume': {
    fields: { name: { required: true, format: 'dns1123Label' }, gcePersistentDisk: DISK_PLACE },
    rules: [
      {
        choice: SOURCES,
        more: 'may not specify more than 1 volume type',
        moreAt: { cephfs: 'cephFS', downwardAPI: 'downwarAPI' },
        none: 'must specify a volume type',
      },
      ephemeralName,
      shortPortal,
      'name',
      volumeNames,
    ],
  },
  'core/v1.EmptyDirVolumeSource': { fields: { sizeLimit: { rules: [sizeLimit] } } },
  'core/v1.GitRepoVolumeSource': {
    fields: { repository: { required: true }, directory: { rules: [gitDirectory] } },
  },
  'core/v1.SecretVolumeSource': { fields: { secretName: { required: true }, defaultMode: MODE } },
  'core/v1.ConfigMapVolumeSource': { fields: { name: { required: true }, defaultMode: MODE } },
  'core/v1.PersistentVolumeClaimVolumeSource': { fields: { claimName: { required: true } } },
  'core/v1.KeyToPath': { fields: { ...ITEM_FIELDS, mode: MODE }, rules: ['key', 'path', 'mode', projectedPath] },
  'core/v1.DownwardAPIVolumeSource': { fields: { defaultMode: MODE } },
  'core/v1.DownwardAPIVolumeFile': {
    fields: { path: { required: true, format: 'projectedPath' }, mode: MODE },
    rules: ['path', downwardFile, 'mode', projectedPath],
  },
  'core/v1.ProjectedVolumeSource': {
    around: 'projected',
    fields: { defaultMode: MODE },
  },
  'core/v1.VolumeProjection': { rules: [...PROJECTIONS, oneProjection] },
  'core/v1.SecretProjection': { fields: { name: { required: true } } },
  'core/v1.ConfigMapProjection': { fields: { name: { required: true } } },
  'core/v1.ServiceAccountTokenProjection': {
    fields: { expirationSeconds: { rules: [tokenSeconds] } },
    rules: ['expirationSeconds', tokenPath],
  },
  'core/v1.EphemeralVolumeSource': { fields: { volumeClaimTemplate: { required: true } } },
  'core/v1.PersistentVolumeClaimTemplate': { rules: [claimTemplate, 'spec'] },
  'core/v1.FlexVolumeSource': { fields: { driver: { required: true }, options: { rules: [flexOptions] } } },
  'core/v1.FlexPersistentVolumeSource': {
    fields: { driver: { required: true }, options: { rules: [flexOptions] } },
  },
};
