// By which group a refusal names a kind.
import { kindKey } from '../kind-key.ts';
import type { ResourceType } from '../resource-type.ts';

/** Kinds that refusals name by the group in which they were first, by kind. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'events/events': '',
  'networking/ingresses': 'extensions',
  'networking/networkpolicies': 'extensions',
  'policy/podsecuritypolicies': 'extensions',
};

/**
 * The group that stands behind the kind where an object is invalid, or not the one that a precondition meant. `custom`: what defines a
 * type that is not built in, as of a KnownType.
 */
export function refusedGroup({
  group,
  plural,
  custom,
}: Pick<ResourceType, 'group' | 'plural'> & { readonly custom?: unknown }): string {
  return custom === undefined ? (NAMED_BY[kindKey({ group, plural })] ?? group) : group;
}
