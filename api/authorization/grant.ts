// What a write of a role or a binding gives others the right to do, and what may be said against it. Pure.
import type { User } from './attributes.ts';
import { type Bounds, uncovered, uncoveredWithin } from './escalation.ts';
import type { PolicyRule } from './policy-rule.ts';
import { aggregate, type RoleRef, type UserRules } from './rbac-policy.ts';

/** What is granted, and by which verb on which role it may be granted by who does not hold it. */
export interface Grant {
  readonly verb: 'escalate' | 'bind';
  readonly resource: 'roles' | 'clusterroles';
  /** Of the role. */
  readonly name: string;
  /** Of a binding: the role whose rules are granted. */
  readonly roleRef?: RoleRef;
  /** Of a role: its rules. */
  readonly rules: readonly PolicyRule[];
  /** Of a role that sums up others: it may come to hold anything. */
  readonly isSum: boolean;
}

const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

/** A tenth of a second. */
const BOUNDS: Bounds = { partsMax: 50_000, comparisonsMax: 3_000_000 };

/** Why a user who holds `held` may not grant `granted`; empty where they may. The words are those that clients know. */
export function grantProblem(
  user: User,
  { isSum }: Grant,
  { rules: held, errors }: UserRules,
  granted: readonly PolicyRule[],
): string {
  const missing = uncoveredWithin(held, granted, BOUNDS);
  if (missing === undefined)
    return `the rules are too many to be compared with what user ${JSON.stringify(user.name)} holds`;
  if (missing.length > 0) {
    const groups = user.groups.map((group) => JSON.stringify(group)).join(' ');
    return (
      `user ${JSON.stringify(user.name)} (groups=[${groups}]) is attempting to grant RBAC permissions not currently held:\n` +
      [...new Set(merged(missing).map(ruleText))].sort().join('\n') +
      unresolved(errors)
    );
  }
  if (isSum && uncovered(held, EVERYTHING).length > 0)
    return 'must have cluster-admin privileges to use the aggregationRule';
  return '';
}

/** What somebody may hold by roles that are not there. Here a role is called by its resource, not by its kind. */
function unresolved(errors: UserRules['errors']): string {
  if (errors.length === 0) return '';
  return `; resolution errors: [${aggregate(errors.map((text) => text.replace('.', 's.')))}]`;
}

/** Parts that differ in their verbs alone, as one; those of paths stay apart. */
function merged(parts: readonly PolicyRule[]): readonly PolicyRule[] {
  const byTarget = new Map<string, PolicyRule & { readonly verbs: string[] }>();
  for (const part of parts) {
    const key = targetKey(part);
    const known = byTarget.get(key);
    if (known === undefined) byTarget.set(key, { ...part, verbs: [...part.verbs] });
    else if (part.nonResourceURLs === undefined) known.verbs.push(...part.verbs);
  }
  return [...byTarget.values()];
}

/** The same for parts that become one, and for no others: texts behind their lengths. There may be many thousand parts. */
function targetKey({ verbs, nonResourceURLs, apiGroups, resources, resourceNames }: PolicyRule): string {
  if (nonResourceURLs !== undefined) return `u${listKey(nonResourceURLs)}${listKey(verbs)}`;
  return `r${listKey(apiGroups)}${listKey(resources)}${listKey(resourceNames)}`;
}

function listKey(list: readonly string[] = []): string {
  let key = `${list.length}`;
  for (const text of list) key += `,${text.length}:${text}`;
  return key;
}

function ruleText({
  apiGroups = [],
  resources = [],
  nonResourceURLs = [],
  resourceNames = [],
  verbs,
}: PolicyRule): string {
  const lists = [
    ['APIGroups', apiGroups],
    ['Resources', resources],
    ['NonResourceURLs', nonResourceURLs],
    ['ResourceNames', resourceNames],
    ['Verbs', verbs],
  ] as const;
  const shown = lists.filter(([, list]) => list.length > 0);
  return `{${shown.map(([name, list]) => `${name}:[${list.map((item) => JSON.stringify(item)).join(' ')}]`).join(', ')}}`;
}
