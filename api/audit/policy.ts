// Which rule of an audit policy a request goes by: the first that matches (SPEC.md "Audit events"). Pure.
import type { AuditedResources, AuditLevel, AuditPolicy, AuditRule, AuditStage } from '../../config/audit-policy.ts';
import type { AccessAttributes, User } from '../authorization/attributes.ts';

export interface AuditDecision {
  readonly level: AuditLevel;
  readonly omitStages: readonly AuditStage[];
}

const NOT_RECORDED: AuditDecision = { level: 'None', omitStages: [] };

/** How much of a request is recorded. `user`: null for one whom nobody knows. What no rule is about is not recorded. */
export function auditDecision({ rules }: AuditPolicy, user: User | null, access: AccessAttributes): AuditDecision {
  return rules.find((rule) => isAbout(rule, user, access)) ?? NOT_RECORDED;
}

function isAbout(rule: AuditRule, user: User | null, access: AccessAttributes): boolean {
  const { users, userGroups, verbs, namespaces, resources, nonResourceURLs } = rule;
  if (users.length > 0 && (user === null || !users.includes(user.name))) return false;
  if (userGroups.length > 0 && !user?.groups.some((group) => userGroups.includes(group))) return false;
  if (verbs.length > 0 && !verbs.includes(access.verb)) return false;
  if (namespaces.length > 0 || resources.length > 0) return isAboutResource(rule, access);
  if (nonResourceURLs.length > 0)
    return !access.isResource && nonResourceURLs.some((url) => isAboutPath(url, access.path));
  return true;
}

function isAboutPath(url: string, path: string): boolean {
  if (url === '*' || url === path) return true;
  return url.endsWith('*') && path.startsWith(url.slice(0, -1));
}

/** What is in no namespace is in the one with the empty name. */
function isAboutResource({ namespaces, resources }: AuditRule, access: AccessAttributes): boolean {
  if (!access.isResource) return false;
  if (namespaces.length > 0 && !namespaces.includes(access.namespace)) return false;
  return resources.length === 0 || resources.some((one) => isAmong(one, access));
}

function isAmong({ group, resources, resourceNames }: AuditedResources, access: AccessAttributes): boolean {
  if (group !== access.group) return false;
  if (resources.length === 0) return true;
  if (resourceNames.length > 0 && !resourceNames.includes(access.name)) return false;
  return resources.some((resource) => isCalled(resource, access));
}

/** `pods` is without its subresources, `pods/*` with them; `*` is everything. */
function isCalled(wanted: string, { resource, subresource }: AccessAttributes): boolean {
  if (wanted === '*' || wanted === (subresource === '' ? resource : `${resource}/${subresource}`)) return true;
  if (subresource !== '' && wanted === `*/${subresource}`) return true;
  return wanted === `${resource}/*`;
}
