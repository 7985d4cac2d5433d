// Groups of the domains of those who make this API are theirs: a definition in one says in an annotation who has approved of it.
import type { Dialect } from '../../../config/dialect.ts';

export type Approval = 'missing' | 'invalid' | 'bypassed' | 'approved';

/** The annotation. */
export function approvalKey({ labelDomain }: Dialect): string {
  return `api-approved.${labelDomain}`;
}

/** True for a group in one of the domains. */
export function isProtectedGroup(group: string, { groupDomain, labelDomain }: Dialect): boolean {
  return [groupDomain, labelDomain].some((domain) => group === domain || group.endsWith(`.${domain}`));
}

/** What the annotation's text comes to. */
export function approvalOf(text: string): Approval {
  if (text === '') return 'missing';
  if (text.startsWith('unapproved')) return 'bypassed';
  return URL.canParse(text) && new URL(text).host !== '' ? 'approved' : 'invalid';
}

/** What is wrong with an annotation that is missing or invalid, in the words that whoever meets them looks for. */
export function approvalProblem(dialect: Dialect, state: 'missing' | 'invalid'): string {
  const { approvalPage } = dialect;
  const key = JSON.stringify(approvalKey(dialect));
  const what = state === 'missing' ? '' : ' with either a URL or a reason starting with "unapproved"';
  return `protected groups must have approval annotation ${key}${what}${approvalPage && `, see ${approvalPage}`}`;
}
