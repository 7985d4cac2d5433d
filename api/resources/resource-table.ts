// Every resource type in every group and version, spelled in a dialect: the rows of the types-*.ts files with their
// shared defaults filled in. Says what exists; what of it is served is the registry's business.
import type { Dialect } from '../../config/dialect.ts';
import type { CustomType } from '../custom/definitions/custom-type.ts';
import type { ResourceType, Subresource, Traits } from '../resource-type.ts';
import { EVERY_VERB, type Verb } from '../verbs.ts';
import type { GroupTypes, SubresourceRow, TypeRow, VersionRow } from './resource-row.ts';
import { DEFAULT_SELECTABLE_FIELDS } from './resource-row.ts';
import { CONTROL_TYPES } from './types-control.ts';
import { CORE_TYPES } from './types-core.ts';
import { INFRASTRUCTURE_TYPES } from './types-infrastructure.ts';
import { WORKLOAD_TYPES } from './types-workloads.ts';

/** A resource type with what the table alone knows about it. */
export interface KnownType extends ResourceType {
  /** The version of this type to prefer. The group's preferred version may not have the type at all. */
  readonly preferredVersion: string;
  /** False for alpha versions, which have to be switched on. */
  readonly servedByDefault: boolean;
  /** The gate without which it is not served; undefined: none. */
  readonly featureGate: string | undefined;
  /** Objects are stored in another version than this one. */
  readonly needsConversion: boolean;
  /**
   * The fields whose values the store keeps beside an object, for selectors: the same list for every version that is
   * stored under one key. Named as the stored version names them.
   */
  readonly storedFields: readonly string[];
  /** Selectable fields that the stored version names otherwise: this version's name to that one. */
  readonly storedFieldNames: Readonly<Record<string, string>>;
  readonly lifecycle: Lifecycle;
  /** Of types that a definition makes. */
  readonly custom: CustomType | undefined;
}

/** Releases as `1.21`; null: unknown, or not planned (SPEC.md "Removals by release"). */
export interface Lifecycle {
  readonly introducedIn: string | null;
  readonly deprecatedIn: string | null;
  readonly removedIn: string | null;
  readonly replacement: { readonly group: string; readonly version: string; readonly kind: string } | null;
}

const TABLE: readonly GroupTypes[] = [CORE_TYPES, ...WORKLOAD_TYPES, ...INFRASTRUCTURE_TYPES, ...CONTROL_TYPES];

/**
 * Every type of the table in every version, spelled in `dialect`, in the table's order.
 *
 * @param storageVersions apiVersions to store objects in, where their types have them, the most wanted first; what no
 *   one of them fits is stored in its preferred version.
 */
export function resourceTable(dialect: Dialect, storageVersions: readonly string[] = []): readonly KnownType[] {
  const types: KnownType[] = [];
  for (const { group, types: rows } of TABLE) {
    for (const row of rows) {
      const home = homeOf(group, row);
      const storage = storageOf(dialect, home, row, storageVersions);
      const storedFields = storedFieldsOf(home);
      for (const [version, traits] of Object.entries(row.versions)) {
        types.push(expand(dialect, dialect.spell(group), row, version, traits, storage, storedFields));
      }
    }
  }
  return types;
}

/** `v1` or `<group>/<version>`. */
export function apiVersionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

/** `group/version, Kind=kind`, as messages name what objects are; the slash is there also where nothing stands around it. */
export function qualifiedKind(apiVersion: string, kind: string): string {
  const { group, version } = splitApiVersion(apiVersion);
  return `${group}/${version}, Kind=${kind}`;
}

/** The two parts of an apiVersion; the group is empty in `v1`. */
export function splitApiVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf('/');
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

function expand(
  dialect: Dialect,
  group: string,
  row: TypeRow,
  version: string,
  traits: VersionRow,
  storage: Storage,
  storedFields: readonly string[],
): KnownType {
  const apiVersion = apiVersionOf(group, version);
  const preferredVersion = Object.keys(row.versions)[0]!;
  const subresources = traits.subresources ?? row.subresources ?? [];
  return {
    group,
    version,
    apiVersion,
    kind: row.kind,
    listKind: `${row.kind}List`,
    plural: row.plural,
    singular: row.kind.toLowerCase(),
    shortNames: row.shortNames ?? [],
    categories: row.categories ?? [],
    namespaced: row.clusterScoped !== true,
    verbs: new Set<Verb>(row.verbs ?? EVERY_VERB),
    subresources: new Map(subresources.map((sub) => [sub.name, subresource(dialect, group, row.kind, version, sub)])),
    persisted: row.virtual !== true,
    storageApiVersion: storage.apiVersion,
    storageKey: storage.key,
    selectableFields: selectableFields(row, traits),
    traits: traitsOf(row, traits, subresources),
    preferredVersion,
    servedByDefault: !version.includes('alpha'),
    featureGate: row.featureGate,
    needsConversion: row.virtual !== true && apiVersion !== storage.apiVersion,
    storedFields,
    storedFieldNames: row.sharedWith?.fieldNames ?? NO_NAMES,
    lifecycle: lifecycleOf(dialect, group, row.kind, traits),
    custom: undefined,
  };
}

const NO_NAMES: Readonly<Record<string, string>> = {};

/** Where objects are kept and as what. */
interface Storage {
  readonly key: string;
  /** Empty for types that are not stored. */
  readonly apiVersion: string;
}

/** The row whose objects a row's are, and its group: itself, or the one it shares with. */
interface Home {
  readonly group: string;
  readonly row: TypeRow;
}

function homeOf(group: string, row: TypeRow): Home {
  if (row.sharedWith === undefined) return { group, row };
  const home = row.sharedWith.group;
  const shared = TABLE.find(({ group: name }) => name === home)?.types.find(({ plural }) => plural === row.plural);
  if (shared === undefined) throw new RangeError(`${group} shares ${row.plural} with ${home}, which has none`);
  return { group: home, row: shared };
}

/**
 * The original stores a few types in an older version than the preferred one, for the release before it to read. Nothing
 * is before this one, and what is stored in the preferred version is sent as it lies.
 */
function storageOf(dialect: Dialect, home: Home, row: TypeRow, storageVersions: readonly string[]): Storage {
  const group = dialect.spell(home.group);
  const versions = Object.keys(home.row.versions);
  const wanted = storageVersions
    .map(splitApiVersion)
    .find((other) => other.group === group && versions.includes(other.version));
  return {
    key: `${group === '' ? 'core' : group}/${row.plural}`,
    apiVersion: row.virtual ? '' : apiVersionOf(group, wanted?.version ?? versions[0]!),
  };
}

const fieldsByHome = new Map<TypeRow, readonly string[]>();

/** The fields of the preferred version, then what only others of its group can be asked for. One list a row. */
function storedFieldsOf({ row }: Home): readonly string[] {
  let fields = fieldsByHome.get(row);
  if (fields === undefined) {
    fields = [...new Set(Object.values(row.versions).flatMap((traits) => selectableFields(row, traits)))];
    fieldsByHome.set(row, fields);
  }
  return fields;
}

function subresource(dialect: Dialect, group: string, kind: string, version: string, row: SubresourceRow): Subresource {
  const home = row.apiVersion === undefined ? { group, version } : splitApiVersion(dialect.spell(row.apiVersion));
  return {
    name: row.name,
    kind: row.kind ?? kind,
    ...home,
    verbs: row.verbs ?? ['get', 'patch', 'update'],
    featureGate: row.featureGate,
  };
}

function selectableFields(row: TypeRow, traits: VersionRow): readonly string[] {
  const listable = row.verbs === undefined || row.verbs.includes('list');
  return traits.selectableFields ?? row.selectableFields ?? (listable ? DEFAULT_SELECTABLE_FIELDS : []);
}

function traitsOf(row: TypeRow, traits: VersionRow, subresources: readonly SubresourceRow[]): Traits {
  const generationParts = row.generationParts ?? [];
  return {
    putCreates: row.putCreates ?? false,
    putWithoutResourceVersion: row.putNeedsResourceVersion !== true,
    initialGeneration: row.initialGeneration ?? (generationParts.length > 0 ? 1 : 0),
    generationParts,
    hasStatus: traits.hasStatus ?? subresources.some(({ name }) => name === 'status'),
    keepsStatusOnCreate: row.keepsStatusOnCreate ?? false,
    statusKeepsMetadata: false,
    initialStatus: row.initialStatus,
    defaultPropagation: traits.defaultPropagation ?? row.defaultPropagation ?? 'Background',
    deleteReturns: row.deleteReturnsObject ? 'object' : 'Status',
    nameFormat: row.nameFormat ?? 'dns1123Subdomain',
  };
}

function lifecycleOf(dialect: Dialect, group: string, kind: string, traits: VersionRow): Lifecycle {
  const { introducedIn = null, deprecatedIn = null, removedIn = null, replacement } = traits;
  if (replacement === undefined) return { introducedIn, deprecatedIn, removedIn, replacement: null };
  const home = replacement.includes('/')
    ? splitApiVersion(dialect.spell(replacement))
    : { group, version: replacement };
  return { introducedIn, deprecatedIn, removedIn, replacement: { ...home, kind } };
}
