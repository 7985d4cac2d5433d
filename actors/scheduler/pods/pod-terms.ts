// What a pod says about other pods: affinity, anti-affinity and how it spreads. Read once from the stored object; a
// selector that cannot be read selects nothing, so that no object in the store can make the scheduler throw.

import type { JsonObject } from '../../../api/json/json-value.ts';
import { asList, asNumber, asObject, asText } from '../../../api/json/object-fields.ts';
import type { Labels } from '../../../api/selectors/label-requirement.ts';
import { type LabelSelector, labelSelectorFromObject, NOTHING } from '../../../api/selectors/label-selector.ts';

/** The namespaces a term speaks of: those named, and those whose labels are selected. */
export interface NamespaceScope {
  readonly names: readonly string[];
  /** Undefined: the names are all. */
  readonly selector: LabelSelector | undefined;
}

/** One term of affinity or anti-affinity: pods in `scope` with labels that `selector` matches, near by `topologyKey`. */
export interface AffinityTerm {
  /** Equal for terms that say the same. */
  readonly id: string;
  /** `id` without the topology key: which pods are meant. */
  readonly podsId: string;
  readonly scope: NamespaceScope;
  readonly selector: LabelSelector;
  readonly topologyKey: string;
}

export interface WeightedTerm {
  /** Below 0 for anti-affinity. */
  readonly weight: number;
  readonly term: AffinityTerm;
}

export interface PodAffinity {
  readonly required: readonly AffinityTerm[];
  readonly requiredAnti: readonly AffinityTerm[];
  readonly preferred: readonly WeightedTerm[];
}

/** Pods that `selector` matches may differ in number by at most `maxSkew` between the values of `topologyKey`. */
export interface SpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  /** DoNotSchedule; else the constraint is a preference. */
  readonly required: boolean;
  readonly selector: LabelSelector;
  /** Why the selector cannot be read; absent where it can. */
  readonly problem?: string;
}

export const NO_AFFINITY: PodAffinity = Object.freeze({ required: [], requiredAnti: [], preferred: [] });
export const NO_SPREAD: readonly SpreadConstraint[] = Object.freeze([]);
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** Reads `spec.affinity` but for its node affinity. */
export function readAffinity(affinity: unknown, namespace: string): PodAffinity {
  const near = asObject(asObject(affinity).podAffinity);
  const far = asObject(asObject(affinity).podAntiAffinity);
  const terms = (list: unknown) => asList(list).map((term) => readTerm(asObject(term), namespace));
  const weighted = (list: unknown, sign: 1 | -1) =>
    asList(list).map((entry) => {
      const { weight, podAffinityTerm } = asObject(entry);
      return { weight: sign * asNumber(weight), term: readTerm(asObject(podAffinityTerm), namespace) };
    });
  const read = {
    required: terms(near[REQUIRED]),
    requiredAnti: terms(far[REQUIRED]),
    preferred: [...weighted(near[PREFERRED], 1), ...weighted(far[PREFERRED], -1)],
  };
  return read.required.length + read.requiredAnti.length + read.preferred.length === 0 ? NO_AFFINITY : read;
}

/** Reads `spec.topologySpreadConstraints`. */
export function readSpread(constraints: unknown): readonly SpreadConstraint[] {
  const list = asList(constraints);
  return list.length === 0 ? NO_SPREAD : list.map((each) => readConstraint(asObject(each)));
}

function readConstraint(constraint: JsonObject): SpreadConstraint {
  const constant = {
    maxSkew: asNumber(constraint.maxSkew),
    topologyKey: asText(constraint.topologyKey),
    required: constraint.whenUnsatisfiable === 'DoNotSchedule',
  };
  try {
    return { ...constant, selector: labelSelectorFromObject(constraint.labelSelector) };
  } catch (error) {
    return { ...constant, selector: NOTHING, problem: (error as Error).message };
  }
}

/** A LabelSelector object; one that cannot be read selects nothing. */
export function readSelector(selector: unknown): LabelSelector {
  try {
    return labelSelectorFromObject(selector);
  } catch {
    return NOTHING;
  }
}

/** True when the term speaks of pods with these labels in this namespace. */
export function termMatches(
  { scope, selector }: AffinityTerm,
  namespace: string,
  labels: Labels,
  labelsOfNamespace: (name: string) => Labels | undefined,
): boolean {
  return inScope(scope, namespace, labelsOfNamespace) && selector.matches(labels);
}

function inScope(
  { names, selector }: NamespaceScope,
  namespace: string,
  labelsOfNamespace: (name: string) => Labels | undefined,
): boolean {
  return names.includes(namespace) || (selector?.matches(labelsOfNamespace(namespace)) ?? false);
}

/** Without namespaces and without a selector of them, a term speaks of its pod's own. */
function readTerm(term: JsonObject, namespace: string): AffinityTerm {
  const named = asList(term.namespaces).map(asText);
  const byNamesOnly = term.namespaceSelector === undefined || term.namespaceSelector === null;
  const scope: NamespaceScope = {
    names: named.length === 0 && byNamesOnly ? [namespace] : named.sort(),
    selector: byNamesOnly ? undefined : readSelector(term.namespaceSelector),
  };
  const selector = readSelector(term.labelSelector);
  const topologyKey = asText(term.topologyKey);
  const podsId = JSON.stringify([scope.names, scopeText(scope), selectorText(selector)]);
  return { id: `${topologyKey}\n${podsId}`, podsId, scope, selector, topologyKey };
}

function scopeText({ selector }: NamespaceScope): string | null {
  return selector === undefined ? null : selectorText(selector);
}

/** Tells a selector of nothing from one of everything, whose texts are both empty. */
export function selectorText(selector: LabelSelector): string {
  return selector === NOTHING ? '\0' : selector.text;
}
