// By which group a refusal names a kind.
import type { ResourceType } from '../resource-type.ts';

/** Kinds that refusals name by the group in which they were first, by storage key. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'core/events': '',
  'networking/ingresses': 'extensions',
  'networking/networkpolicies': 'extensions',
  'policy/podsecuritypolicies': 'extensions',
};

/** The group that stands behind the kind where an object is invalid, or not the one that a precondition meant. */
export function refusedGroup({ storageKey, group }: Pick<ResourceType, 'storageKey' | 'group'>): string {
  return NAMED_BY[storageKey] ?? group;
}
