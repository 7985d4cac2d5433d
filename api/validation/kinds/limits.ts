// Rules of what limits a namespace: quotas and limit ranges.
import { compareQuantities, nanoOf } from '../../../values/quantity.ts';
import { qualifiedNameProblems } from '../formats.ts';
import type { Report } from '../report.ts';
import type { ChangeTable, Rule, RuleTable } from '../rule.ts';
import {
  type Amounts,
  amountAllowed,
  checkLimitRangeName,
  isOvercommittable,
  quotaAmounts,
} from './resource-amounts.ts';

interface QuotaSpec {
  readonly hard?: Amounts;
  readonly scopes?: readonly string[];
  readonly scopeSelector?: { readonly matchExpressions?: readonly ScopeRequirement[] };
}

interface ScopeRequirement {
  readonly scopeName?: string;
  readonly operator?: string;
  readonly values?: readonly string[];
}

const SCOPES: ReadonlySet<string> = new Set([
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
]);
const AFFINITY_SCOPE = 'CrossNamespacePodAffinity';

function isScope(scope: string, at: Report): boolean {
  return SCOPES.has(scope) || (scope === AFFINITY_SCOPE && at.settings.gate('PodAffinityNamespaceSelector'));
}

/** What a quota that counts only some pods can limit. */
const COMPUTE: ReadonlySet<string> = new Set([
  'pods',
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
]);

function allows(scope: string, resource: string): boolean {
  if (scope === 'BestEffort') return resource === 'pods';
  return COMPUTE.has(resource);
}

const OPPOSITES = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

function checkScopes(scopes: readonly string[], hard: Amounts, path: string, at: Report): void {
  const resources = Object.keys(hard);
  // A scope may be named as often as a body has room for.
  const refused = new Set(
    [...new Set(scopes)].filter((scope) => !resources.every((resource) => allows(scope, resource))),
  );
  for (const scope of scopes) {
    if (!isScope(scope, at)) {
      at.invalid(path, scopes, 'unsupported scope');
      continue;
    }
    if (refused.has(scope)) at.invalid(path, scopes, `unsupported scope applied to resource`);
  }
  for (const [one, other] of OPPOSITES) {
    if (scopes.includes(one) && scopes.includes(other)) at.invalid(path, scopes, 'conflicting scopes');
  }
}

const scopes: Rule<QuotaSpec> = ({ scopes: list = [], scopeSelector, hard = {} }, at) => {
  if (list.length > 0) checkScopes(list, hard, 'scopes', at);
  const expressions = scopeSelector?.matchExpressions ?? [];
  if (expressions.length === 0) return;
  for (const [index, requirement] of expressions.entries()) checkScopeRequirement(requirement, index, at);
  const names = expressions.map(({ scopeName = '' }) => scopeName);
  checkScopes(names, hard, 'scopeSelector.matchExpressions', at);
};

function checkScopeRequirement(
  { scopeName = '', operator = '', values = [] }: ScopeRequirement,
  index: number,
  at: Report,
): void {
  const path = `scopeSelector.matchExpressions[${index}]`;
  if (!isScope(scopeName, at)) at.invalid(`${path}.scopeName`, scopeName, 'unsupported scope');
  if (scopeName !== 'PriorityClass' && operator !== 'Exists') {
    at.invalid(
      `${path}.operator`,
      operator,
      "must be 'Exists' when scope is any of Terminating, NotTerminating, BestEffort, NotBestEffort",
    );
  }
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0)
      at.required(`${path}.values`, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector");
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0)
      at.invalid(
        `${path}.values`,
        values,
        "must be no value when `operator` is 'Exists' or 'DoesNotExist' for scope selector",
      );
  } else at.invalid(`${path}.operator`, operator, 'not a valid selector operator');
}

interface LimitRangeItem {
  readonly type?: string;
  readonly max?: Amounts;
  readonly min?: Amounts;
  readonly default?: Amounts;
  readonly defaultRequest?: Amounts;
  readonly maxLimitRequestRatio?: Amounts;
}

const AMOUNT_MEMBERS = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;
const LIMIT_TYPES: ReadonlySet<string> = new Set(['Pod', 'Container', 'PersistentVolumeClaim']);

const limitRangeItem: Rule<LimitRangeItem> = (item, at) => {
  const { type = '' } = item;
  if (!type.includes('/') && !LIMIT_TYPES.has(type) && type !== '') {
    at.invalid('type', type, 'must be a standard limit type or fully qualified');
  }
  const before = at.count;
  const names = checkNames(item, at);
  if (type === 'Pod') {
    for (const member of ['default', 'defaultRequest'] as const) {
      if (Object.keys(item[member] ?? {}).length > 0) at.forbidden(member, "may not be specified when `type` is 'Pod'");
    }
  }
  if (type === 'PersistentVolumeClaim' && item.min?.storage === undefined && item.max?.storage === undefined) {
    at.required('', 'either minimum or maximum storage value is required, but neither was provided');
  }
  if (at.count > before) return;
  for (const name of names) checkOrder(name, item, at);
};

function checkNames(item: LimitRangeItem, at: Report): ReadonlySet<string> {
  const names = new Set<string>();
  for (const member of AMOUNT_MEMBERS) {
    at.enter(member);
    for (const name in item[member]) {
      checkLimitRangeName(name, at);
      amountAllowed(name, item[member]![name]!, at);
      names.add(name);
    }
    at.leave();
  }
  return names;
}

/** Each amount with those that must not be less. */
const ORDER = [
  ['min', 'max'],
  ['min', 'defaultRequest'],
  ['min', 'default'],
  ['defaultRequest', 'max'],
  ['defaultRequest', 'default'],
  ['default', 'max'],
] as const;

function checkOrder(name: string, item: LimitRangeItem, at: Report): void {
  for (const [low, high] of ORDER) {
    const lower = item[low]?.[name];
    const upper = item[high]?.[name];
    if (lower === undefined || upper === undefined || compareQuantities(lower, upper) <= 0) continue;
    at.invalid(`${low}[${name}]`, lower, `${low} value ${lower} is greater than ${high} value ${upper}`);
  }
  checkRatio(name, item, at);
  const { default: limit, defaultRequest: request } = item;
  if (isOvercommittable(name, at.dialect) || name.includes('.')) return;
  if (
    limit?.[name] !== undefined &&
    request?.[name] !== undefined &&
    compareQuantities(limit[name], request[name]) !== 0
  ) {
    at.invalid(
      `defaultRequest[${name}]`,
      request[name],
      'must be equal to the default limit of a resource that cannot be overcommitted',
    );
  }
}

const NANO = nanoOf('1');

function checkRatio(name: string, { maxLimitRequestRatio, min, max }: LimitRangeItem, at: Report): void {
  const ratio = maxLimitRequestRatio?.[name];
  if (ratio === undefined) return;
  const path = `maxLimitRequestRatio[${name}]`;
  const ratioNano = nanoOf(ratio);
  if (ratioNano < NANO) at.invalid(path, ratio, `ratio ${ratio} is less than 1`);
  const least = min?.[name];
  const most = max?.[name];
  if (least === undefined || most === undefined) return;
  const leastNano = nanoOf(least);
  // ratio > max / min, without a division.
  if (leastNano > 0n && ratioNano * leastNano > nanoOf(most) * NANO) {
    at.invalid(path, ratio, `ratio ${ratio} is greater than max/min = ${most}/${least}`);
  }
}

const limitType: Rule<string> = (type, at) => at.problems('', type, qualifiedNameProblems(type));

export const limitTypes: RuleTable = {
  'core/v1.ResourceQuotaSpec': { fields: { hard: { rules: [quotaAmounts] } }, rules: [scopes] },
  'core/v1.ResourceQuotaStatus': {
    fields: { hard: { rules: [quotaAmounts] }, used: { rules: [quotaAmounts] } },
  },
  'core/v1.LimitRangeSpec': { fields: { limits: { unique: 'type' } } },
  'core/v1.LimitRangeItem': { fields: { type: { required: true, rules: [limitType] } }, rules: [limitRangeItem] },
};

export const limitUpdates: ChangeTable = {
  'core/v1.ResourceQuota': { fields: { 'spec.scopes': { immutable: true } } },
};
