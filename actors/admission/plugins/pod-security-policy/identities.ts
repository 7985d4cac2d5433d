// Which users, groups and SELinux labels a policy lets a pod run as. Pure.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { textAt } from '../../../../api/json/object-fields.ts';
import { type FieldError, invalid, required } from '../../../../api/status/field-error.ts';
import { shownEmptyList, shownList } from '../../../../api/status/shown-value.ts';
import { type IdentityRule, isWithin, MAY_RUN_AS, MUST_RUN_AS, NOT_ROOT, type Range } from './policy.ts';

/** As messages write them. */
function rangesText(ranges: readonly Range[]): string {
  return `[${ranges.map(({ min, max }) => `{${min} ${max}}`).join(' ')}]`;
}

/** @param path of the security context. */
export function userProblems(
  path: string,
  { rule, ranges }: IdentityRule,
  user: number | undefined,
  isNotRoot: boolean | undefined,
): readonly FieldError[] {
  const at = `${path}.runAsUser`;
  if (rule === MUST_RUN_AS) {
    if (user === undefined) return [required(at)];
    return isWithin(ranges, user) ? [] : [invalid(at, user, `must be in the ranges: ${rangesText(ranges)}`)];
  }
  if (rule !== NOT_ROOT) return [];
  if (isNotRoot === undefined && user === undefined) return [required(`${path}.runAsNonRoot`, 'must be true')];
  if (isNotRoot === false) return [invalid(`${path}.runAsNonRoot`, false, 'must be true')];
  return user === 0 ? [invalid(at, user, 'running with the root UID is forbidden')] : [];
}

export function groupProblems(
  path: string,
  { rule, ranges }: IdentityRule,
  groups: readonly number[],
): readonly FieldError[] {
  if (rule !== MUST_RUN_AS && rule !== MAY_RUN_AS) return [];
  // Where nothing is said there is a group by now.
  if (rule === MUST_RUN_AS && groups.length === 0)
    return [invalid(path, shownEmptyList('int64'), 'unable to validate empty groups against required ranges')];
  const shown = shownList('int64', groups);
  return groups
    .filter((group) => !isWithin(ranges, group))
    .map((group) => invalid(path, shown, `group ${group} must be in the ranges: ${rangesText(ranges)}`));
}

const PARTS = ['level', 'role', 'type', 'user'] as const;

/** @param options undefined: the pod says nothing. */
export function seLinuxProblems(
  path: string,
  wanted: JsonObject | undefined,
  options: JsonObject | undefined,
): readonly FieldError[] {
  if (wanted === undefined) return [];
  if (options === undefined) return [required(path)];
  return PARTS.flatMap((part) => {
    const [must, is] = [textAt(wanted, part), textAt(options, part)];
    const isSame = part === 'level' ? isSameLevel(must, is) : must === is;
    return isSame ? [] : [invalid(`${path}.${part}`, is, `must be ${must}`)];
  });
}

/** Categories may come in any order: `s0:c1,c0` is `s0:c0,c1`. */
function isSameLevel(must: string, is: string): boolean {
  return must === is || (must.includes(':') && is.includes(':') && inOrder(must) === inOrder(is));
}

function inOrder(level: string): string {
  const colon = level.indexOf(':');
  const categories = level.slice(colon + 1).split(',');
  return `${level.slice(0, colon)}:${categories.sort().join(',')}`;
}
