// The conditions of a namespace whose deletion takes longer: what was found in the way, as the five condition types that
// clients know, in the words that operators look for. Pure.

import { asList, asObject } from '../../../api/json/object-fields.ts';
import type { ApiObject } from '../controller.ts';

/** What the last sweep of a namespace found. */
export interface Obstacles {
  /** Why the types of a group and version are not known, by both. */
  readonly unknown: ReadonlyMap<string, string>;
  /** Objects left, by type as errors name it (`pods`, `deployments.apps`). */
  readonly remaining: ReadonlyMap<string, number>;
  /** Objects left, by the finalizer that holds them. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** Why types could not be deleted, by type. */
  readonly failures: ReadonlyMap<string, string>;
}

interface ConditionRow {
  readonly type: string;
  readonly reasonFalse: string;
  readonly messageFalse: string;
  /** What makes it true: the reason, and the message, which is empty when all is well. Absent: nothing can. */
  readonly trouble?: { readonly reason: string; readonly message: (obstacles: Obstacles) => string };
}

const ITEMS_NAMED_MAX = 20;
const MESSAGE_LENGTH_MAX = 1_024;

/** What was counted, each as `phrase` has it, in the order of the phrases. */
function counted(counts: ReadonlyMap<string, number>, phrase: (name: string, count: number) => string): string {
  const items = [...counts].map(([name, count]) => phrase(name, count)).sort();
  const more = items.length - ITEMS_NAMED_MAX;
  return items.slice(0, ITEMS_NAMED_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** `configmaps. has 2 resource instances`: there is a dot after a type of the group without a name as well. */
function instances(type: string, count: number): string {
  return `${type.includes('.') ? type : `${type}.`} has ${count} resource instances`;
}

function finalizersListed(finalizers: ReadonlyMap<string, number>): string {
  const all = counted(finalizers, (finalizer, count) => `${finalizer} in ${count} resource instances`);
  return `Some content in the namespace has finalizers remaining: ${all}`;
}

/** One message a type, the same ones too. */
function failuresListed(failures: ReadonlyMap<string, string>): string {
  const all = [...failures.values()].sort().join(', ').slice(0, MESSAGE_LENGTH_MAX);
  return `Failed to delete all resource types, ${failures.size} remaining: ${all}`;
}

function discoveryFailed(unknown: ReadonlyMap<string, string>): string {
  const items = [...unknown].sort(([a], [b]) => (a < b ? -1 : 1)).map(([version, why]) => `${version}: ${why}`);
  const failing = `Discovery failed for some groups, ${unknown.size} failing`;
  const listed = items.join(', ').slice(0, MESSAGE_LENGTH_MAX);
  return `${failing}: unable to retrieve the complete list of server APIs: ${listed}`;
}

// This server's types come from its registry, others' by their servers' word; versions are never parsed, and the second condition is
// there because clients expect all five together.
const CONDITIONS: readonly ConditionRow[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    reasonFalse: 'ResourcesDiscovered',
    messageFalse: 'All resources successfully discovered',
    trouble: {
      reason: 'DiscoveryFailed',
      message: ({ unknown }) => (unknown.size === 0 ? '' : discoveryFailed(unknown)),
    },
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    reasonFalse: 'ParsedGroupVersions',
    messageFalse: 'All legacy kube types successfully parsed',
  },
  {
    type: 'NamespaceDeletionContentFailure',
    reasonFalse: 'ContentDeleted',
    messageFalse: 'All content successfully deleted, may be waiting on finalization',
    trouble: {
      reason: 'ContentDeletionFailed',
      message: ({ failures }) => (failures.size === 0 ? '' : failuresListed(failures)),
    },
  },
  {
    type: 'NamespaceContentRemaining',
    reasonFalse: 'ContentRemoved',
    messageFalse: 'All content successfully removed',
    trouble: {
      reason: 'SomeResourcesRemain',
      message: ({ remaining }) =>
        remaining.size === 0 ? '' : `Some resources are remaining: ${counted(remaining, instances)}`,
    },
  },
  {
    type: 'NamespaceFinalizersRemaining',
    reasonFalse: 'ContentHasNoFinalizers',
    messageFalse: 'All content-preserving finalizers finished',
    trouble: {
      reason: 'SomeFinalizersRemain',
      message: ({ finalizers }) => (finalizers.size === 0 ? '' : finalizersListed(finalizers)),
    },
  },
];

const OUR_TYPES: ReadonlySet<unknown> = new Set(CONDITIONS.map((row) => row.type));

/**
 * The namespace's `status.conditions` as they should be, or undefined when they are already. Conditions of other types
 * stay; a condition whose status changes gets `now` (an API timestamp) as its transition time.
 */
export function nextConditions(namespace: ApiObject, obstacles: Obstacles, now: string): object[] | undefined {
  const present = asList(asObject(namespace.status).conditions).map(asObject);
  let changed = false;
  const next = CONDITIONS.map((row): object => {
    const message = row.trouble?.message(obstacles) ?? '';
    const wanted = {
      type: row.type,
      status: message === '' ? 'False' : 'True',
      reason: message === '' || row.trouble === undefined ? row.reasonFalse : row.trouble.reason,
      message: message === '' ? row.messageFalse : message,
    };
    const old = present.find((condition) => condition.type === row.type);
    if (old !== undefined && isSame(old, wanted)) return old;
    changed = true;
    const hasTurned = old?.status !== wanted.status;
    return { ...wanted, lastTransitionTime: hasTurned ? now : old.lastTransitionTime };
  });
  return changed ? [...present.filter((condition) => !OUR_TYPES.has(condition.type)), ...next] : undefined;
}

function isSame(
  old: ApiObject,
  wanted: { readonly status: string; readonly reason: string; readonly message: string },
) {
  return old.status === wanted.status && old.reason === wanted.reason && old.message === wanted.message;
}
