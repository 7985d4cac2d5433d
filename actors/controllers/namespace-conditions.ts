// The conditions of a namespace whose deletion takes longer: what was found in the way, as the five condition types that
// clients know. Pure.

import { asList, asObject } from '../../api/object-fields.ts';
import type { ApiObject } from './controller.ts';

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

function listed(counts: ReadonlyMap<string, number>): string {
  const items = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => `${name} (${count})`);
  const more = items.length - ITEMS_NAMED_MAX;
  return items.slice(0, ITEMS_NAMED_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function failuresListed(failures: ReadonlyMap<string, string>): string {
  const items = [...failures].sort(([a], [b]) => (a < b ? -1 : 1)).map(([type, message]) => `${type}: ${message}`);
  return items.join('; ').slice(0, MESSAGE_LENGTH_MAX);
}

/** In the words that operators look for. */
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
    messageFalse: 'every resource type is known',
    trouble: {
      reason: 'DiscoveryFailed',
      message: ({ unknown }) => (unknown.size === 0 ? '' : discoveryFailed(unknown)),
    },
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    reasonFalse: 'ParsedGroupVersions',
    messageFalse: 'every group and version is known',
  },
  {
    type: 'NamespaceDeletionContentFailure',
    reasonFalse: 'ContentDeleted',
    messageFalse: 'deletion of everything was accepted',
    trouble: {
      reason: 'ContentDeletionFailed',
      message: ({ failures }) => (failures.size === 0 ? '' : `deletion failed: ${failuresListed(failures)}`),
    },
  },
  {
    type: 'NamespaceContentRemaining',
    reasonFalse: 'ContentRemoved',
    messageFalse: 'nothing is left',
    trouble: {
      reason: 'SomeResourcesRemain',
      message: ({ remaining }) => (remaining.size === 0 ? '' : `still there: ${listed(remaining)}`),
    },
  },
  {
    type: 'NamespaceFinalizersRemaining',
    reasonFalse: 'ContentHasNoFinalizers',
    messageFalse: 'no finalizer holds anything',
    trouble: {
      reason: 'SomeFinalizersRemain',
      message: ({ finalizers }) => (finalizers.size === 0 ? '' : `finalizers to wait for: ${listed(finalizers)}`),
    },
  },
];

const OUR_TYPES: ReadonlySet<unknown> = new Set(CONDITIONS.map((row) => row.type));

/**
 * The namespace's `status.conditions` as they should be, or undefined when they are already. Conditions of other types
 * stay; a condition that changes gets `now` (an API timestamp) as its transition time.
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
    return { ...wanted, lastTransitionTime: now };
  });
  return changed ? [...present.filter((condition) => !OUR_TYPES.has(condition.type)), ...next] : undefined;
}

function isSame(
  old: ApiObject,
  wanted: { readonly status: string; readonly reason: string; readonly message: string },
) {
  return old.status === wanted.status && old.reason === wanted.reason && old.message === wanted.message;
}
