// A registry with custom types beside the built-in ones, which are looked up as before and cannot be covered: of a group
// that has any, nothing else is served.
import { byPriority } from '../version-order.ts';
import type { Registry } from './registry.ts';
import { indexed, namespacedOnce, servedGroups } from './registry.ts';
import type { KnownType } from './resource-table.ts';

/**
 * @param types every version of every definition; those that are served by default are served.
 * @param edition tells this state of the types from others.
 */
export function withCustomTypes(builtIn: Registry, types: readonly KnownType[], edition: number): Registry {
  if (types.length === 0) return { ...builtIn, edition };
  const isCovered = ({ group }: KnownType): boolean => builtIn.preferredVersion(group) !== undefined;
  const served = types.filter((type) => type.servedByDefault && !isCovered(type)).sort(inOrder);
  const byPath = indexed(served, (type) => type.plural);
  const byKind = indexed(served, (type) => type.kind);
  // Groups that only definitions have stand behind all others.
  const groups = [...builtIn.groups(), ...servedGroups(served)];
  const groupByName = new Map(groups.map((group) => [group.name, group]));
  const storageTypes = new Map(
    types.filter((type) => type.apiVersion === type.storageApiVersion).map((type) => [type.storageKey, type]),
  );
  let all: readonly KnownType[] | undefined;
  let known: readonly KnownType[] | undefined;
  let namespaced: readonly KnownType[] | undefined;
  return {
    dialect: builtIn.dialect,
    minorRelease: builtIn.minorRelease,
    edition,
    byPath: (group, version, plural) =>
      builtIn.byPath(group, version, plural) ?? byPath.get(group)?.get(version)?.get(plural),
    byKind: (group, version, kind) =>
      builtIn.byKind(group, version, kind) ?? byKind.get(group)?.get(version)?.get(kind),
    all: () => {
      all ??= [...builtIn.all(), ...served];
      return all;
    },
    known: () => {
      known ??= [...builtIn.known(), ...types];
      return known;
    },
    groups: () => groups,
    servedVersions: (group) => groupByName.get(group)?.versions ?? [],
    preferredVersion: (group) => groupByName.get(group)?.preferredVersion,
    storageType: (storageKey) => builtIn.storageType(storageKey) ?? storageTypes.get(storageKey),
    resourcesByPreferredVersion: () => {
      namespaced ??= [...builtIn.resourcesByPreferredVersion(), ...namespacedOnce(served)];
      return namespaced;
    },
  };
}

function inOrder(a: KnownType, b: KnownType): number {
  if (a.group !== b.group) return a.group < b.group ? -1 : 1;
  return byPriority(a.version, b.version) || (a.plural < b.plural ? -1 : 1);
}
