// The look-ups over the resource table: which types are served, by path and by kind, in which order discovery shows
// them, and as what their objects are stored. Never changed once built: custom types make a new one (custom-registry.ts).
import type { Dialect } from '../../config/dialect.ts';
import type { Subresource } from '../resource-type.ts';
import { API_GROUPS } from './api-groups.ts';
import { API_MINOR_VERSION, isRemoved } from './deprecation.ts';
import { DEFAULT_SELECTABLE_FIELDS } from './resource-row.ts';
import type { KnownType } from './resource-table.ts';
import { apiVersionOf, resourceTable } from './resource-table.ts';
import { RuntimeConfigError, switchVersions } from './runtime-config.ts';

/** A group with the versions in which at least one of its types is served, the preferred version first. */
export interface ServedGroup {
  /** Empty for the core group. */
  readonly name: string;
  readonly versions: readonly string[];
  readonly preferredVersion: string;
}

export interface RegistryOptions {
  /** `--runtime-config` pairs such as `api/beta=false` and `batch/v1=false`. */
  readonly runtimeConfig?: readonly string[];
  /** `--storage-versions`: apiVersions to store objects in, the most wanted first. */
  readonly storageVersions?: readonly string[];
  /** `--emulated-release`: the minor release whose removals apply. */
  readonly minorRelease?: number;
  /** Feature gates by name. Of those that are absent, the ones that subresources ask for are off, and those of whole types on. */
  readonly featureGates?: Readonly<Record<string, boolean>>;
}

/** Everything about which resource types there are. Only `known` and `storageType` see types that are not served. */
export interface Registry {
  readonly dialect: Dialect;
  /** The minor release whose removals apply. */
  readonly minorRelease: number;
  /** Counts the states that custom types have brought it into; 0: there have been none. */
  readonly edition: number;
  /** The served type at `/apis/<group>/<version>/<plural>`; the core group is empty. */
  byPath(group: string, version: string, plural: string): KnownType | undefined;
  byKind(group: string, version: string, kind: string): KnownType | undefined;
  /** Every served type: groups and versions in discovery order, then by plural. */
  all(): readonly KnownType[];
  /** Every type of the table, served or not. */
  known(): readonly KnownType[];
  /** The groups that serve anything, in discovery order. */
  groups(): readonly ServedGroup[];
  /** Highest priority first; empty for a group that serves nothing. */
  servedVersions(group: string): readonly string[];
  preferredVersion(group: string): string | undefined;
  /** The type that objects under a store key are stored as, even where that version is switched off. */
  storageType(storageKey: string): KnownType | undefined;
  /**
   * Every stored, namespaced type that is served, once, in the first of its versions in discovery order: what must be
   * empty before a namespace is gone.
   */
  resourcesByPreferredVersion(): readonly KnownType[];
}

/**
 * The paths that field selectors over a type's stored objects are about. Of a type that is not there any more, those of every
 * custom one: requests that came while it was there may still be under way.
 */
export function storedFieldsIn(registry: Pick<Registry, 'storageType'>, storageKey: string): readonly string[] {
  return registry.storageType(storageKey)?.storedFields ?? DEFAULT_SELECTABLE_FIELDS;
}

/**
 * Builds the registry. Throws RuntimeConfigError when `runtimeConfig` or `storageVersions` names something that is not
 * there.
 */
export function createRegistry(dialect: Dialect, options: RegistryOptions = {}): Registry {
  const { featureGates = {}, runtimeConfig = [], storageVersions = [], minorRelease = API_MINOR_VERSION } = options;
  const known = inDiscoveryOrder(dialect, gated(resourceTable(dialect, storageVersions), featureGates));
  requireStored(known, storageVersions);
  const served = servedTypes(known, runtimeConfig, minorRelease).filter(
    ({ featureGate }) => featureGate === undefined || featureGates[featureGate] !== false,
  );
  const groups = servedGroups(served);
  const byPath = indexed(served, (type) => type.plural);
  const byKind = indexed(served, (type) => type.kind);
  const groupByName = new Map(groups.map((group) => [group.name, group]));
  const storageTypes = new Map(
    known.filter((type) => type.persisted && !type.needsConversion).map((type) => [type.storageKey, type]),
  );
  const preferred = namespacedOnce(served);
  return {
    dialect,
    minorRelease,
    edition: 0,
    byPath: (group, version, plural) => byPath.get(group)?.get(version)?.get(plural),
    byKind: (group, version, kind) => byKind.get(group)?.get(version)?.get(kind),
    all: () => served,
    known: () => known,
    groups: () => groups,
    servedVersions: (group) => groupByName.get(group)?.versions ?? [],
    preferredVersion: (group) => groupByName.get(group)?.preferredVersion,
    storageType: (storageKey) => storageTypes.get(storageKey),
    resourcesByPreferredVersion: () => preferred,
  };
}

/** Leaves out the subresources whose feature gate is off. */
function gated(types: readonly KnownType[], gates: Readonly<Record<string, boolean>>): readonly KnownType[] {
  const isOn = ({ featureGate }: Subresource) =>
    featureGate === undefined || (Object.hasOwn(gates, featureGate) && gates[featureGate] === true);
  return types.map((type) => {
    const subresources = new Map([...type.subresources].filter(([, subresource]) => isOn(subresource)));
    return subresources.size === type.subresources.size ? type : { ...type, subresources };
  });
}

function inDiscoveryOrder(dialect: Dialect, types: readonly KnownType[]): readonly KnownType[] {
  const rank = new Map<string, number>();
  for (const { name, versions } of API_GROUPS) {
    for (const version of Object.keys(versions)) rank.set(apiVersionOf(dialect.spell(name), version), rank.size);
  }
  return types.toSorted((a, b) => rank.get(a.apiVersion)! - rank.get(b.apiVersion)! || (a.plural < b.plural ? -1 : 1));
}

/**
 * What is switched on and has not been removed by the release. Switching on by name what is gone is refused, for the
 * operator would otherwise wait for it in vain.
 */
function servedTypes(
  known: readonly KnownType[],
  runtimeConfig: readonly string[],
  minorRelease: number,
): readonly KnownType[] {
  const byDefault = new Map(known.map((type) => [type.apiVersion, type.servedByDefault]));
  const { enabled, enabledByName } = switchVersions(byDefault, runtimeConfig);
  const served = known.filter((type) => enabled.has(type.apiVersion) && !isRemoved(type, minorRelease));
  for (const apiVersion of enabledByName) {
    if (!served.some((type) => type.apiVersion === apiVersion)) {
      throw new RuntimeConfigError(
        `runtime-config: ${apiVersion} cannot be served: release 1.${minorRelease} has removed it`,
      );
    }
  }
  return served;
}

/** Throws RuntimeConfigError for a storage version that nothing can be stored in. */
function requireStored(known: readonly KnownType[], storageVersions: readonly string[]): void {
  for (const apiVersion of storageVersions) {
    if (!known.some((type) => canStore(type, apiVersion))) {
      throw new RuntimeConfigError(`storage-versions: nothing can be stored in ${apiVersion}`);
    }
  }
}

/** True for a type in the version, unless its objects are another group's. */
function canStore(type: KnownType, apiVersion: string): boolean {
  return (
    type.persisted && type.apiVersion === apiVersion && type.storageKey === `${type.group || 'core'}/${type.plural}`
  );
}

/** The groups of types, in the order of the types. */
export function servedGroups(served: readonly KnownType[]): readonly ServedGroup[] {
  const versions = new Map<string, Set<string>>();
  for (const { group, version } of served) versions.set(group, (versions.get(group) ?? new Set()).add(version));
  return [...versions].map(([name, names]) => ({ name, versions: [...names], preferredVersion: [...names][0]! }));
}

/** Types by group, version and one of their names. */
export function indexed(
  types: readonly KnownType[],
  nameOf: (type: KnownType) => string,
): ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, KnownType>>> {
  const groups = new Map<string, Map<string, Map<string, KnownType>>>();
  for (const type of types) {
    const versions = groups.get(type.group) ?? new Map<string, Map<string, KnownType>>();
    const names = versions.get(type.version) ?? new Map<string, KnownType>();
    groups.set(type.group, versions.set(type.version, names.set(nameOf(type), type)));
  }
  return groups;
}

/** Stored, namespaced types, the first of those that share a storage key. */
export function namespacedOnce(served: readonly KnownType[]): readonly KnownType[] {
  const first = new Map<string, KnownType>();
  for (const type of served) {
    if (type.persisted && type.namespaced && !first.has(type.storageKey)) first.set(type.storageKey, type);
  }
  return [...first.values()];
}
