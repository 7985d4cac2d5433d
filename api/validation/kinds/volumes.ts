// Rules of volumes in pods and of the sources they come from. Sources that persistent volumes have as well are in
// volume-sources.ts.
import { qualifiedNameProblems, textProblems } from '../formats.ts';
import { eachRepeated } from '../repeats.ts';
import type { Report } from '../report.ts';
import type { Rule, RuleTable } from '../rule.ts';
import {
  checkFieldPath,
  checkResourceField,
  type ObjectFieldSelector,
  type ResourceFieldSelector,
} from './downward.ts';
import { embeddedMetadata } from './labels.ts';
import { onlySource } from './volume-sources.ts';

export interface Volume {
  readonly name?: string;
  readonly persistentVolumeClaim?: object;
  readonly ephemeral?: object;
  readonly projected?: ProjectedVolumeSource;
}

const NOT_A_SOURCE: ReadonlySet<string> = new Set(['name']);

const volumeSource: Rule<Readonly<Record<string, unknown>>> = (volume, at) => onlySource(volume, NOT_A_SOURCE, at);

const VOLUME_FIELD_PATHS: readonly string[] = [
  'metadata.name',
  'metadata.namespace',
  'metadata.labels',
  'metadata.annotations',
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
  let found = 0;
  for (const member of PROJECTIONS) {
    if (!projection[member]) continue;
    if (found++ > 0) at.forbidden(member, 'may not specify more than 1 volume type');
  }
};

/** Every path that a projected volume fills, each once. */
const projectedPaths: Rule<ProjectedVolumeSource> = ({ sources }, at) => {
  if (!sources) return;
  const places: { readonly path: string | undefined; readonly where: string }[] = [];
  for (const [index, source] of sources.entries()) {
    for (const member of ['secret', 'configMap', 'downwardAPI'] as const) {
      for (const [item, { path }] of (source?.[member]?.items ?? []).entries()) {
        places.push({ path, where: `sources[${index}].${member}.items[${item}].path` });
      }
    }
    const token = source?.serviceAccountToken;
    if (token) places.push({ path: token.path, where: `sources[${index}].serviceAccountToken.path` });
  }
  eachRepeated(
    places,
    ({ path }) => path,
    (path, index, report) => report.invalid(places[index]!.where, path, 'conflicts with another path of the volume'),
    at,
  );
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
  embeddedMetadata(metadata, at);
  for (const member in metadata) {
    const value = metadata[member];
    if (TEMPLATE_METADATA.has(member) || value === undefined || value === null || value === '') continue;
    at.forbidden(member, 'only labels and annotations may be set in a volume claim template');
  }
  at.leave();
};

/** The claim of an ephemeral volume is named by pod and volume. Reported from the pod. */
export function checkEphemeralNames(volumes: readonly Volume[], podName: string, at: Report): void {
  if (podName === '') return;
  for (const [index, { ephemeral, name = '' }] of volumes.entries()) {
    if (!ephemeral) continue;
    for (const problem of textProblems('dns1123Subdomain', `${podName}-${name}`)) {
      at.invalid(`volumes[${index}].name`, name, `PVC name "${podName}-${name}": ${problem}`);
    }
  }
}

const gitDirectory: Rule<string> = (directory, at) => {
  if (directory.split('/').includes('..')) at.invalid('', directory, "must not contain '..'");
  if (directory.startsWith('/')) at.invalid('', directory, 'must be a relative path');
};

const volumeNames: Rule<readonly Volume[]> = (list, at) =>
  eachRepeated(
    list,
    ({ name }) => name,
    (name, index, report) => report.duplicate(`[${index}].name`, name),
    at,
  );

/** For the field `volumes` of a pod spec. */
export const volumeList = { rules: [volumeNames] } as const;

/** The reserved domains a driver's options may not use. */
const flexOptions: Rule<Readonly<Record<string, string>>> = (options, at) => {
  for (const key in options) {
    const domain = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
    if (`.${domain}`.endsWith(`.${at.dialect.labelDomain}`) || `.${domain}`.endsWith(`.${at.dialect.groupDomain}`)) {
      at.invalid(`[${key}]`, key, 'this prefix is reserved');
    } else if (key.includes('/')) at.problems(`[${key}]`, key, qualifiedNameProblems(key));
  }
};

const sizeLimit: Rule<string> = (value, at) => {
  if (value.startsWith('-')) at.forbidden('', 'must be a quantity that is not negative');
};

const TOKEN_SECONDS_MIN = 600;
const TOKEN_SECONDS_MAX = 2 ** 32;

const ITEM_FIELDS = { key: { required: true }, path: { required: true, format: 'projectedPath' } } as const;
const MODE = { format: 'fileMode' } as const;

export const volumeTypes: RuleTable = {
  'core/v1.Volume': { fields: { name: { required: true, format: 'dns1123Label' } }, rules: [volumeSource] },
  'core/v1.EmptyDirVolumeSource': { fields: { sizeLimit: { rules: [sizeLimit] } } },
  'core/v1.GitRepoVolumeSource': {
    fields: { repository: { required: true }, directory: { rules: [gitDirectory] } },
  },
  'core/v1.SecretVolumeSource': { fields: { secretName: { required: true }, defaultMode: MODE } },
  'core/v1.ConfigMapVolumeSource': { fields: { name: { required: true }, defaultMode: MODE } },
  'core/v1.PersistentVolumeClaimVolumeSource': { fields: { claimName: { required: true } } },
  'core/v1.KeyToPath': { fields: { ...ITEM_FIELDS, mode: MODE } },
  'core/v1.DownwardAPIVolumeSource': { fields: { defaultMode: MODE } },
  'core/v1.DownwardAPIVolumeFile': {
    fields: { path: { required: true, format: 'projectedPath' }, mode: MODE },
    rules: [downwardFile],
  },
  'core/v1.ProjectedVolumeSource': { fields: { defaultMode: MODE }, rules: [projectedPaths] },
  'core/v1.VolumeProjection': { rules: [oneProjection] },
  'core/v1.SecretProjection': { fields: { name: { required: true } } },
  'core/v1.ConfigMapProjection': { fields: { name: { required: true } } },
  'core/v1.ServiceAccountTokenProjection': {
    fields: {
      path: { required: true, format: 'projectedPath' },
      expirationSeconds: { min: TOKEN_SECONDS_MIN, max: TOKEN_SECONDS_MAX },
    },
  },
  'core/v1.EphemeralVolumeSource': { fields: { volumeClaimTemplate: { required: true } } },
  'core/v1.PersistentVolumeClaimTemplate': { rules: [claimTemplate] },
  'core/v1.FlexVolumeSource': { fields: { driver: { required: true }, options: { rules: [flexOptions] } } },
  'core/v1.FlexPersistentVolumeSource': {
    fields: { driver: { required: true }, options: { rules: [flexOptions] } },
  },
};
