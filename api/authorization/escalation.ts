// Nobody grants by role-based access control what they may not do themselves: which of the rules to be granted the rules
// held do not cover. Pure.
import type { PolicyRule } from './policy-rule.ts';

const ALL = '*';
const NONE: readonly string[] = [];

/**
 * The parts of `granted` that no rule of `held` covers, one verb, group, resource and name each; empty when all is
 * covered. A part must be covered by one rule alone, as it would be allowed by one rule alone.
 */
export function uncovered(held: readonly PolicyRule[], granted: readonly PolicyRule[]): PolicyRule[] {
  return granted.flatMap(atoms).filter((atom) => !held.some((rule) => covers(rule, atom)));
}

/** A rule as rules of one verb and one resource (or path) each. */
function atoms(rule: PolicyRule): PolicyRule[] {
  const parts: PolicyRule[] = [];
  const { apiGroups = NONE, resources = NONE, resourceNames = NONE, nonResourceURLs = NONE } = rule;
  for (const verb of rule.verbs) {
    const verbs = [verb];
    for (const group of apiGroups) {
      for (const resource of resources) {
        const atom = { verbs, apiGroups: [group], resources: [resource] };
        if (resourceNames.length === 0) parts.push(atom);
        else for (const name of resourceNames) parts.push({ ...atom, resourceNames: [name] });
      }
    }
    for (const url of nonResourceURLs) parts.push({ verbs, nonResourceURLs: [url] });
  }
  return parts;
}

function covers(held: PolicyRule, atom: PolicyRule): boolean {
  if (!coversAll(held.verbs, atom.verbs)) return false;
  if (atom.nonResourceURLs !== undefined) return coversUrls(held.nonResourceURLs ?? NONE, atom.nonResourceURLs);
  return (
    coversAll(held.apiGroups ?? NONE, atom.apiGroups ?? NONE) &&
    coversResources(held.resources ?? NONE, atom.resources ?? NONE) &&
    coversNames(held.resourceNames ?? NONE, atom.resourceNames ?? NONE)
  );
}

function coversAll(held: readonly string[], wanted: readonly string[]): boolean {
  return held.includes(ALL) || wanted.every((item) => held.includes(item));
}

function coversResources(held: readonly string[], wanted: readonly string[]): boolean {
  if (held.includes(ALL)) return true;
  return wanted.every((item) => {
    if (held.includes(item)) return true;
    const slash = item.indexOf('/');
    return slash >= 0 && held.includes(`${ALL}${item.slice(slash)}`);
  });
}

/** No names at all means all of them. */
function coversNames(held: readonly string[], wanted: readonly string[]): boolean {
  if (held.length === 0) return true;
  return wanted.length > 0 && wanted.every((name) => held.includes(name));
}

function coversUrls(held: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((path) =>
    held.some((item) => item === path || (item.endsWith(ALL) && path.startsWith(item.replace(/\*+$/, '')))),
  );
}
