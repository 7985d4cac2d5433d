// A kind in every version and dialect, for tables of what kinds have of their own.
import type { ResourceType } from './resource-type.ts';

/** `core/pods`, `apps/daemonsets`: the group without its domain, and the plural. */
export function kindKey({ group, plural }: Pick<ResourceType, 'group' | 'plural'>): string {
  return `${group.split('.', 1)[0] || 'core'}/${plural}`;
}
