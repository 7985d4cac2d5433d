// The shorthand in which the built-in roles are written, and what it stands for. Lists are separated by blanks.
import type { Dialect } from '../../config/dialect.ts';

/**
 * One rule: verbs, API groups (`core` is the core group), resources and, if only some objects are meant, their names;
 * or verbs and paths outside the API.
 */
export type RuleRow =
  | readonly [verbs: string, groups: string, resources: string, names?: string]
  | readonly [verbs: string, paths: string];

/** A rule as RBAC objects hold it. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

export const READ = 'get list watch';
export const WRITE = 'create delete deletecollection patch update';
export const MANAGE = 'create delete get list patch update watch';
export const EVERYTHING = 'create delete deletecollection get list patch update watch';

export const RECORD_EVENTS: RuleRow = ['create patch update', 'core events.@group', 'events'];

/** Spells a rule out in the words of `dialect`. */
export function policyRule(dialect: Dialect, row: RuleRow): PolicyRule {
  const words = (list: string) => dialect.spell(list).split(' ');
  if (row.length === 2) return { verbs: words(row[0]), nonResourceURLs: words(row[1]) };
  const [verbs, groups, resources, names] = row;
  return {
    verbs: words(verbs),
    apiGroups: words(groups).map((group) => (group === 'core' ? '' : group)),
    resources: words(resources),
    ...(names === undefined ? {} : { resourceNames: words(names) }),
  };
}
