// What is shown of a node: whether it takes pods, its roles, its addresses.
import type { JsonObject } from '../json/json-value.ts';
import { booleanAt, partAt, partsAt, textAt } from '../json/object-fields.ts';
import { conditionOf, isTrue } from './conditions.ts';

/** `Ready`, `NotReady` or `Unknown`, then `,SchedulingDisabled` for one that was cordoned. */
export function nodeStatus(node: JsonObject): string {
  const ready = conditionOf(node, 'Ready');
  const health = ready === undefined ? 'Unknown' : isTrue(ready) ? 'Ready' : 'NotReady';
  return booleanAt(partAt(node, 'spec'), 'unschedulable') ? `${health},SchedulingDisabled` : health;
}

/** Roles by label: `<prefix><role>` with any value, or `<roleLabel>` with the role as its value. Sorted, each once. */
export function nodeRoles(node: JsonObject, prefix: string, roleLabel: string): string {
  const labels = partAt(partAt(node, 'metadata'), 'labels');
  const roles = new Set<string>();
  for (const key of Object.keys(labels)) {
    const role = key.startsWith(prefix) ? key.slice(prefix.length) : key === roleLabel ? textAt(labels, key) : '';
    if (role !== '') roles.add(role);
  }
  return roles.size === 0 ? '<none>' : [...roles].sort().join(',');
}

/** The first address of a type, else `<none>`. */
export function nodeAddress(node: JsonObject, type: 'InternalIP' | 'ExternalIP'): string {
  const address = partsAt(partAt(node, 'status'), 'addresses').find((candidate) => candidate.type === type);
  return address === undefined ? '<none>' : textAt(address, 'address');
}
