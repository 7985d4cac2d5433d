// Which pods a quota is about: its scopes and its scope selector. Pure.
import type { JsonObject } from '../json/json-value.ts';
import { asTexts, partAt, partsAt, setNumberAt, textAt, textsAt } from '../json/object-fields.ts';
import { qosClassOf } from '../pods/quality-of-service.ts';

/** One scope that a pod has to be in. */
export interface ScopeRequirement {
  readonly scopeName: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** A requirement as a scope selector has it. */
export function requirementOf(expression: JsonObject): ScopeRequirement {
  return {
    scopeName: textAt(expression, 'scopeName'),
    operator: textAt(expression, 'operator'),
    values: asTexts(expression.values),
  };
}

/** All of them have to be met. Empty: the quota is about everything. */
export function requirementsOf(quotaSpec: JsonObject): readonly ScopeRequirement[] {
  const plain = textsAt(quotaSpec, 'scopes').map((scopeName) => ({ scopeName, operator: 'Exists', values: [] }));
  return [...plain, ...partsAt(partAt(quotaSpec, 'scopeSelector'), 'matchExpressions').map(requirementOf)];
}

/** Whether the pod is one that the scope is about. */
export function isMetBy(requirement: ScopeRequirement, pod: JsonObject): boolean {
  const spec = partAt(pod, 'spec');
  switch (requirement.scopeName) {
    case 'Terminating':
      return isLimitedInTime(spec);
    case 'NotTerminating':
      return !isLimitedInTime(spec);
    case 'BestEffort':
      return qosClassOf(pod) === 'BestEffort';
    case 'NotBestEffort':
      return qosClassOf(pod) !== 'BestEffort';
    case 'PriorityClass':
      return isOfClass(requirement, textAt(spec, 'priorityClassName'));
    case 'CrossNamespacePodAffinity':
      return looksElsewhere(spec);
    default:
      return false;
  }
}

function isLimitedInTime(spec: JsonObject): boolean {
  return (setNumberAt(spec, 'activeDeadlineSeconds') ?? -1) >= 0;
}

function isOfClass({ operator, values }: ScopeRequirement, className: string): boolean {
  switch (operator) {
    case 'Exists':
      return className !== '';
    case 'DoesNotExist':
      return className === '';
    case 'In':
      return className !== '' && values.includes(className);
    case 'NotIn':
      return className === '' || !values.includes(className);
    default:
      return false;
  }
}

/** Whether some term of affinity names namespaces. */
function looksElsewhere(spec: JsonObject): boolean {
  return ['podAffinity', 'podAntiAffinity'].some((sort) => {
    const affinity = partAt(partAt(spec, 'affinity'), sort);
    const preferred = partsAt(affinity, 'preferredDuringSchedulingIgnoredDuringExecution');
    const terms = [
      ...partsAt(affinity, 'requiredDuringSchedulingIgnoredDuringExecution'),
      ...preferred.map((weighted) => partAt(weighted, 'podAffinityTerm')),
    ];
    return terms.some((term) => textsAt(term, 'namespaces').length > 0 || term.namespaceSelector != null);
  });
}

/** `{PriorityClass In [high]}`, as refusals have it. */
export function spoken({ scopeName, operator, values }: ScopeRequirement): string {
  return `{${scopeName} ${operator} [${values.join(' ')}]}`;
}
