// One rule of role-based access control (SPEC.md "Authorization" 4), and what it allows. Pure.
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import type { AccessAttributes } from './attributes.ts';

/** A rule as RBAC objects hold it; absent lists are empty ones. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

const ALL = '*';
const NONE: readonly string[] = [];

/** The rules of a role as it is stored. What is no list of texts counts as an empty one: it allows nothing. */
export function rulesOf(role: JsonObject): readonly PolicyRule[] {
  return list(role.rules)
    .filter(isJsonObject)
    .map((rule) => ({
      verbs: texts(rule.verbs),
      apiGroups: texts(rule.apiGroups),
      resources: texts(rule.resources),
      resourceNames: texts(rule.resourceNames),
      nonResourceURLs: texts(rule.nonResourceURLs),
    }));
}

function texts(value: unknown): readonly string[] {
  return list(value).filter((item): item is string => typeof item === 'string');
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Whether one rule by itself allows an access. */
export function ruleAllows(rule: PolicyRule, access: AccessAttributes): boolean {
  if (!holds(rule.verbs, access.verb)) return false;
  if (!access.isResource) return urlMatches(rule.nonResourceURLs ?? NONE, access.path);
  return (
    holds(rule.apiGroups ?? NONE, access.group) &&
    resourceMatches(rule.resources ?? NONE, access.resource, access.subresource) &&
    nameMatches(rule.resourceNames ?? NONE, access.name)
  );
}

function holds(list: readonly string[], value: string): boolean {
  for (const item of list) if (item === ALL || item === value) return true;
  return false;
}

/** `pods`, `pods/log`, `*` for everything, and `*` + `/scale` for that subresource of everything. */
function resourceMatches(list: readonly string[], resource: string, subresource: string): boolean {
  for (const item of list) {
    if (item === ALL) return true;
    if (subresource === '') {
      if (item === resource) return true;
      continue;
    }
    const slash = item.indexOf('/');
    if (slash < 0 || item.slice(slash + 1) !== subresource) continue;
    const parent = item.slice(0, slash);
    if (parent === ALL || parent === resource) return true;
  }
  return false;
}

function nameMatches(list: readonly string[], name: string): boolean {
  return list.length === 0 || list.includes(name);
}

/** Paths are matched whole, or up to stars at the end. */
export function urlMatches(list: readonly string[], path: string): boolean {
  for (const item of list) {
    if (item === ALL || item === path) return true;
    if (item.endsWith(ALL) && path.startsWith(withoutStars(item))) return true;
  }
  return false;
}

/** Not by a pattern: one for the stars at the end tries every run of them. */
function withoutStars(text: string): string {
  let end = text.length;
  while (text.charAt(end - 1) === ALL) end--;
  return text.slice(0, end);
}
