// Nobody grants by role-based access control what they may not do themselves: which of the rules to be granted the rules
// held do not cover. Pure.
import { type PolicyRule, urlMatches } from './policy-rule.ts';

const ALL = '*';
const NONE: readonly string[] = [];

/** How much may be compared for one question: a rule of some lists comes to as many parts as these have members, multiplied. */
export interface Bounds {
  readonly partsMax: number;
  /** Of a part with a rule that is held: members of lists. */
  readonly comparisonsMax: number;
}

const BOUNDLESS: Bounds = { partsMax: Number.POSITIVE_INFINITY, comparisonsMax: Number.POSITIVE_INFINITY };

/**
 * The parts of `granted` that no rule of `held` covers, one verb, group, resource and name each; empty when all is
 * covered. A part must be covered by one rule alone, as it would be allowed by one rule alone. Undefined: beyond the bounds.
 */
export function uncoveredWithin(
  held: readonly PolicyRule[],
  granted: readonly PolicyRule[],
  { partsMax, comparisonsMax }: Bounds,
): PolicyRule[] | undefined {
  const rules = new HeldRules(held);
  const missing: PolicyRule[] = [];
  let parts = 0;
  for (const rule of granted) {
    if (rules.comparisons > comparisonsMax) return undefined;
    if (!isOfUrls(rule) && rules.cover(rule)) continue;
    for (const atom of atoms(rule)) {
      if (++parts > partsMax || rules.comparisons > comparisonsMax) return undefined;
      if (!rules.cover(atom)) missing.push(atom);
    }
  }
  return missing;
}

/** The same without bounds. */
export function uncovered(held: readonly PolicyRule[], granted: readonly PolicyRule[]): PolicyRule[] {
  return uncoveredWithin(held, granted, BOUNDLESS)!;
}

function isOfUrls({ nonResourceURLs = NONE }: PolicyRule): boolean {
  return nonResourceURLs.length > 0;
}

/** A rule as rules of one verb and one resource (or path) each. */
function* atoms(rule: PolicyRule): Generator<PolicyRule> {
  const { apiGroups = NONE, resources = NONE, resourceNames = NONE, nonResourceURLs = NONE } = rule;
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of rule.verbs) {
        const atom = { verbs: [verb], apiGroups: [group], resources: [resource] };
        if (resourceNames.length === 0) yield atom;
        else for (const name of resourceNames) yield { ...atom, resourceNames: [name] };
      }
    }
  }
  for (const url of nonResourceURLs) for (const verb of rule.verbs) yield { verbs: [verb], nonResourceURLs: [url] };
}

/** What somebody holds, found by resource. */
class HeldRules {
  readonly #byResource = new Map<string, HeldRule[]>();
  readonly #ofUrls: HeldRule[] = [];
  comparisons = 0;

  constructor(rules: readonly PolicyRule[]) {
    for (const rule of rules) {
      const held = new HeldRule(rule);
      if (held.urls.length > 0) this.#ofUrls.push(held);
      for (const resource of held.resources) {
        const others = this.#byResource.get(resource);
        if (others === undefined) this.#byResource.set(resource, [held]);
        else others.push(held);
      }
    }
  }

  /** Whether one rule covers all of another, which is of resources, or of one path. */
  cover(rule: PolicyRule): boolean {
    const { verbs, nonResourceURLs = NONE, apiGroups = NONE, resources = NONE, resourceNames = NONE } = rule;
    if (isOfUrls(rule)) {
      return this.#ofUrls.some((held) => {
        this.comparisons += held.urls.length;
        return held.coversUrls(verbs, nonResourceURLs);
      });
    }
    const [resource] = resources;
    if (resource === undefined) return false;
    const length = verbs.length + apiGroups.length + resources.length + resourceNames.length;
    return [resource, ALL, ofAnything(resource)].some((way) =>
      (this.#byResource.get(way) ?? NO_RULES).some((held) => {
        this.comparisons += length;
        return held.coversResources(rule);
      }),
    );
  }
}

class HeldRule {
  readonly resources: ReadonlySet<string>;
  readonly urls: readonly string[];
  readonly #verbs: ReadonlySet<string>;
  readonly #groups: ReadonlySet<string>;
  readonly #names: ReadonlySet<string>;

  constructor({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule) {
    this.#verbs = new Set(verbs);
    this.#groups = new Set(apiGroups);
    this.resources = new Set(resources);
    this.#names = new Set(resourceNames);
    this.urls = nonResourceURLs ?? NONE;
  }

  coversUrls(verbs: readonly string[], urls: readonly string[]): boolean {
    return coversAll(this.#verbs, verbs) && coversUrls(this.urls, urls);
  }

  coversResources({ verbs, apiGroups = NONE, resources = NONE, resourceNames = NONE }: PolicyRule): boolean {
    return (
      coversAll(this.#verbs, verbs) &&
      coversAll(this.#groups, apiGroups) &&
      coversResources(this.resources, resources) &&
      coversNames(this.#names, resourceNames)
    );
  }
}

const NO_RULES: readonly HeldRule[] = [];

function coversAll(held: ReadonlySet<string>, wanted: readonly string[]): boolean {
  return held.has(ALL) || wanted.every((item) => held.has(item));
}

function coversResources(held: ReadonlySet<string>, wanted: readonly string[]): boolean {
  if (held.has(ALL)) return true;
  return wanted.every((item) => held.has(item) || held.has(ofAnything(item)));
}

/** How a rule says a subresource of whatever there is; a resource as it is. */
function ofAnything(resource: string): string {
  const slash = resource.indexOf('/');
  return slash < 0 ? resource : `${ALL}${resource.slice(slash)}`;
}

/** No names at all means all of them. */
function coversNames(held: ReadonlySet<string>, wanted: readonly string[]): boolean {
  if (held.size === 0) return true;
  return wanted.length > 0 && wanted.every((name) => held.has(name));
}

function coversUrls(held: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((path) => urlMatches(held, path));
}
