// In which order groups and their versions are shown, where some of them are other servers'. Pure.
import type { Dialect } from '../../config/dialect.ts';
import { API_GROUPS } from '../resources/api-groups.ts';
import type { ServedGroup } from '../resources/registry.ts';
import { byPriority } from '../version-order.ts';
import { type ApiService, isRemote, type RemoteApiService } from './api-service.ts';

/** `groupPriorityMinimum` and `versionPriority` of a group and version that this server answers for. */
interface Priorities {
  readonly group: number;
  readonly version: number;
}

/** Of what definitions make. */
const CUSTOM: Priorities = { group: 1000, version: 100 };

/** Undefined for the group that has no APIService of its own, and stands first. */
export function localPriorities(dialect: Dialect, group: string, version: string): Priorities | undefined {
  const row = API_GROUPS.find(({ name }) => dialect.spell(name) === group);
  const ofVersion = row?.versions[version];
  if (row === undefined || ofVersion === undefined) return CUSTOM;
  return row.priorityMinimum === null ? undefined : { group: row.priorityMinimum, version: ofVersion };
}

/** The order of a group's versions, the preferred one first. */
export function byVersion(a: RemoteApiService, b: RemoteApiService): number {
  return b.versionPriority - a.versionPriority || byPriority(a.version, b.version);
}

interface Entry extends Priorities {
  /** Of the APIService: decides between equals. */
  readonly name: string;
  readonly inGroup: string;
  readonly inVersion: string;
}

/**
 * The groups of this server with those of others, as their priorities order them.
 *
 * @param ordering those of others, and of this server's own those with priorities of their own.
 */
export function withRemoteGroups(
  dialect: Dialect,
  local: readonly ServedGroup[],
  ordering: readonly ApiService[],
): readonly ServedGroup[] {
  if (ordering.length === 0) return local;
  const first: ServedGroup[] = [];
  const entries = new Map<string, Entry>();
  for (const group of local) {
    for (const version of group.versions) {
      const priorities = localPriorities(dialect, group.name, version);
      const name = `${version}.${group.name}`;
      if (priorities !== undefined) entries.set(name, { ...priorities, name, inGroup: group.name, inVersion: version });
      else if (!first.includes(group)) first.push(group);
    }
  }
  for (const one of ordering) {
    const { name, group, version, groupPriority, versionPriority } = one;
    // A local one makes nothing of a version that is not served.
    if (isRemote(one) || entries.has(name))
      entries.set(name, { group: groupPriority, version: versionPriority, name, inGroup: group, inVersion: version });
  }
  return [...first, ...grouped([...entries.values()])];
}

/** A group stands where the first of its versions does. */
function grouped(entries: readonly Entry[]): readonly ServedGroup[] {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries.toSorted((a, b) => b.group - a.group || (a.name < b.name ? -1 : 1))) {
    const versions = groups.get(entry.inGroup);
    if (versions === undefined) groups.set(entry.inGroup, [entry]);
    else versions.push(entry);
  }
  return [...groups].map(([name, found]) => {
    const versions = found
      .toSorted((a, b) => b.version - a.version || byPriority(a.inVersion, b.inVersion))
      .map(({ inVersion }) => inVersion);
    return { name, versions, preferredVersion: versions[0]! };
  });
}
