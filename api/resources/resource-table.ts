// Every resource type in every group and version, spelled in a dialect: the rows of the types-*.ts files with their
// shared defaults filled in. Says what exists; what of it is served is the registry's business.
import type { Dialect } from '../../config/dialect.ts';
import type { GroupTypes, SubresourceRow, TypeRow, VersionRow } from './resource-row.ts';
import { DEFAULT_SELECTABLE_FIELDS, EVERY_VERB } from './resource-row.ts';
import type { ResourceType, Strategy, Subresource, Verb } from './resource-type.ts';
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
  /** Objects in this version would have to be converted from the stored one. */
  readonly needsConversion: boolean;
  readonly lifecycle: Lifecycle;
}

/** Releases as `1.21`; null: unknown, or not planned (SPEC.md "Removals by release"). */
export interface Lifecycle {
  readonly introducedIn: string | null;
  readonly deprecatedIn: string | null;
  readonly removedIn: string | null;
  readonly replacement: { readonly group: string; readonly version: string; readonly kind: string } | null;
}

const TABLE: readonly GroupTypes[] = [CORE_TYPES, ...WORKLOAD_TYPES, ...INFRASTRUCTURE_TYPES, ...CONTROL_TYPES];

/** Every type of the table in every version, spelled in `dialect`, in the table's order. */
export function resourceTable(dialect: Dialect): readonly KnownType[] {
  const types: KnownType[] = [];
  for (const { group, types: rows } of TABLE) {
    for (const row of rows) {
      for (const [version, traits] of Object.entries(row.versions)) {
        types.push(expand(dialect, dialect.spell(group), row, version, traits));
      }
    }
  }
  return types;
}

/** `v1` or `<group>/<version>`. */
export function apiVersionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

/** The two parts of an apiVersion; the group is empty in `v1`. */
export function splitApiVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf('/');
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

function expand(dialect: Dialect, group: string, row: TypeRow, version: string, traits: VersionRow): KnownType {
  const apiVersion = apiVersionOf(group, version);
  const preferredVersion = Object.keys(row.versions)[0]!;
  const storage = storageOf(dialect, group, row, preferredVersion);
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
    strategy: strategyOf(row, traits, subresources),
    preferredVersion,
    servedByDefault: !version.includes('alpha'),
    needsConversion: row.virtual === true ? version !== preferredVersion : apiVersion !== storage.apiVersion,
    lifecycle: lifecycleOf(dialect, group, row.kind, traits),
  };
}

/**
 * Where objects are kept and as what. The row's `storageVersion` is left aside for now: with nothing to convert between
 * versions, every type is stored as the version it is served in, the preferred one. A type that shares another group's
 * objects still names that group's version, and so needs conversion in all of its own.
 */
function storageOf(
  dialect: Dialect,
  group: string,
  row: TypeRow,
  preferredVersion: string,
): { readonly key: string; readonly apiVersion: string } {
  const home = row.sharedWith
    ? { group: dialect.spell(row.sharedWith.group), version: row.sharedWith.version }
    : { group, version: preferredVersion };
  return {
    key: `${home.group === '' ? 'core' : home.group}/${row.plural}`,
    apiVersion: row.virtual ? '' : apiVersionOf(home.group, home.version),
  };
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

function strategyOf(row: TypeRow, traits: VersionRow, subresources: readonly SubresourceRow[]): Strategy {
  const generationParts = row.generationParts ?? [];
  return {
    putCreates: row.putCreates ?? false,
    putWithoutResourceVersion: row.putNeedsResourceVersion !== true,
    initialGeneration: row.initialGeneration ?? (generationParts.length > 0 ? 1 : 0),
    generationParts,
    hasStatus: traits.hasStatus ?? subresources.some(({ name }) => name === 'status'),
    keepsStatusOnCreate: row.keepsStatusOnCreate ?? false,
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
