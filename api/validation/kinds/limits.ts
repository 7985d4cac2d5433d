// Rules of what limits a namespace: quotas and limit ranges.
import { compareQuantities, nanoOf } from '../../../values/quantity.ts';
import { asObject } from '../../json/object-fields.ts';
import { qualifiedNameProblems } from '../../metadata/formats.ts';
import { distinct } from '../repeats.ts';
import type { Report } from '../report.ts';
import type { ChangeRule, ChangeTable, Rule, RuleTable } from '../rule.ts';
import {
  type Amounts,
  amountOf,
  checkLimitRangeName,
  isOvercommittable,
  isStandardQuota,
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

/** These are there or not, and have no values. */
const EXISTS_ONLY: ReadonlySet<string> = new Set(['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort']);

/** Which scopes there are. The stored quota is looked at once, however often they are named. */
function scopesThere(at: Report): (scope: string) => boolean {
  let hasAffinity: boolean | undefined;
  return (scope) => {
    if (scope !== AFFINITY_SCOPE) return SCOPES.has(scope);
    hasAffinity ??= at.settings.gate('PodAffinityNamespaceSelector') || hadAffinityScope(at);
    return hasAffinity;
  };
}

/** A quota that was made while the gate was open can be changed, and its scopes cannot. */
function hadAffinityScope({ stored }: Report): boolean {
  const { scopes, scopeSelector } = asObject(stored?.spec) as QuotaSpec;
  const selected = scopeSelector?.matchExpressions?.some(({ scopeName }) => scopeName === AFFINITY_SCOPE);
  return selected === true || scopes?.includes(AFFINITY_SCOPE) === true;
}

/** What a quota that counts only some pods can limit. */
const COMPUTE: ReadonlySet<string> = new Set([
  'pods',
  'cpu',
  'memory',
  'requests.cpu',
  'requests.memory',
  'limits.cpu',
  'limits.memory',
]);

/** A scope that is none says nothing of resources. */
function allows(scope: string, resource: string): boolean {
  if (scope === 'BestEffort') return resource === 'pods';
  return COMPUTE.has(resource) || !(SCOPES.has(scope) || scope === AFFINITY_SCOPE);
}

const OPPOSITES = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

function checkOpposites(scopes: readonly string[], path: string, at: Report): void {
  for (const [one, other] of OPPOSITES) {
    if (scopes.includes(one) && scopes.includes(other)) at.invalid(path, scopes, 'conflicting scopes');
  }
}

/** For each scope that is named, the names of resources it is not for. A scope may be named often. */
function refusals(hard: Amounts): (scope: string) => number {
  const known = new Map<string, number>();
  return (scope) => {
    let count = known.get(scope);
    if (count === undefined) {
      count = Object.keys(hard).filter((resource) => isStandardQuota(resource) && !allows(scope, resource)).length;
      known.set(scope, count);
    }
    return count;
  };
}

const scopes: Rule<QuotaSpec> = ({ scopes: list = [], hard = {} }, at) => {
  const refused = refusals(hard);
  const isScope = scopesThere(at);
  for (const scope of list) {
    if (!isScope(scope)) at.invalid('scopes', list, 'unsupported scope');
    for (let i = refused(scope); i > 0; i--) at.invalid('scopes', list, 'unsupported scope applied to resource');
  }
  checkOpposites(list, 'scopes', at);
};

const scopeSelector: Rule<QuotaSpec> = ({ scopeSelector: selector, hard = {} }, at) => {
  const requirements = selector?.matchExpressions ?? [];
  const path = 'scopeSelector.matchExpressions';
  const refused = refusals(hard);
  const isScope = scopesThere(at);
  const names = requirements.map(({ scopeName = '' }) => scopeName);
  for (const [index, requirement] of requirements.entries()) {
    const { scopeName = '' } = requirement;
    if (!isScope(scopeName)) at.invalid(`${path}[${index}].scopeName`, scopeName, 'unsupported scope');
    for (let i = refused(scopeName); i > 0; i--) at.invalid(path, names, 'unsupported scope applied to resource');
    checkOperator(requirement, `${path}[${index}]`, at);
  }
  checkOpposites(names, path, at);
};

function checkOperator(
  { scopeName = '', operator = '', values = [] }: ScopeRequirement,
  path: string,
  at: Report,
): void {
  if (EXISTS_ONLY.has(scopeName) && operator !== 'Exists') {
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

const LIMIT_TYPES: ReadonlySet<string> = new Set(['Pod', 'Container', 'PersistentVolumeClaim']);

type Amount = 'max' | 'min' | 'default' | 'defaultRequest' | 'maxLimitRequestRatio';

const knownType: Rule<LimitRangeItem> = ({ type = '' }, at) => {
  const problems = qualifiedNameProblems(type);
  if (problems.length > 0) at.problems('type', type, problems);
  else if (!type.includes('/') && !LIMIT_TYPES.has(type))
    at.invalid('type', type, 'must be a standard limit type or fully qualified');
};

const limitTypeOnce = distinct<LimitRangeItem>(
  ({ type }) => `=${type ?? ''}`,
  (_key, { type }, at) => at.duplicate('type', type ?? ''),
);

const limitRangeItem: Rule<LimitRangeItem> = (item, at) => {
  const { type = '' } = item;
  const names = new Set<string>();
  checkNames(item, ['max', 'min'], names, at);
  if (type === 'Pod') {
    for (const member of ['default', 'defaultRequest'] as const) {
      if (Object.keys(item[member] ?? {}).length > 0) at.forbidden(member, "may not be specified when `type` is 'Pod'");
    }
  } else checkNames(item, ['default', 'defaultRequest'], names, at);
  if (type === 'PersistentVolumeClaim' && item.min?.storage === undefined && item.max?.storage === undefined) {
    at.required('', 'either minimum or maximum storage value is required, but neither was provided');
  }
  checkNames(item, ['maxLimitRequestRatio'], names, at);
  for (const name of [...names].sort()) checkOrder(name, item, at);
};

function checkNames(item: LimitRangeItem, members: readonly Amount[], names: Set<string>, at: Report): void {
  for (const member of members) {
    at.enter(member);
    for (const name in item[member]) {
      checkLimitRangeName(name, item.type ?? '', at);
      names.add(name);
    }
    at.leave();
  }
}

/** Each amount with those that must not be less, which of the two is said to be wrong, and what they are called then. */
const ORDER = [
  ['min', 'max', 'min', 'min value', 'max value'],
  ['min', 'defaultRequest', 'defaultRequest', 'min value', 'default request value'],
  ['defaultRequest', 'max', 'defaultRequest', 'default request value', 'max value'],
  ['defaultRequest', 'default', 'defaultRequest', 'default request value', 'default limit value'],
  ['min', 'default', 'default', 'min value', 'default value'],
  ['default', 'max', 'default', 'default value', 'max value'],
] as const;

function checkOrder(name: string, item: LimitRangeItem, at: Report): void {
  for (const [low, high, wrong, lowSaid, highSaid] of ORDER) {
    const lower = amountOf(item[low], name);
    const upper = amountOf(item[high], name);
    if (lower === undefined || upper === undefined || compareQuantities(lower, upper) <= 0) continue;
    at.invalid(
      `${wrong}[${name}]`,
      wrong === low ? lower : upper,
      `${lowSaid} ${lower} is greater than ${highSaid} ${upper}`,
    );
  }
  checkRatio(name, item, at);
  if (isOvercommittable(name, at.dialect)) return;
  const limit = amountOf(item.default, name);
  const request = amountOf(item.defaultRequest, name);
  if (limit === undefined || request === undefined || compareQuantities(limit, request) === 0) return;
  at.invalid(
    `defaultRequest[${name}]`,
    request,
    `default value ${limit} must equal to defaultRequest value ${request} in ${name}`,
  );
}

const NANO = nanoOf('1');

function checkRatio(name: string, { maxLimitRequestRatio, min, max }: LimitRangeItem, at: Report): void {
  const ratio = amountOf(maxLimitRequestRatio, name);
  if (ratio === undefined) return;
  const path = `maxLimitRequestRatio[${name}]`;
  const ratioNano = nanoOf(ratio);
  if (ratioNano < NANO) at.invalid(path, ratio, `ratio ${ratio} is less than 1`);
  const least = amountOf(min, name);
  const most = amountOf(max, name);
  if (least === undefined || most === undefined) return;
  const leastNano = nanoOf(least);
  // ratio > max / min, without a division.
  const mostNano = nanoOf(most);
  const difference = ratioNano * leastNano - mostNano * NANO;
  if (leastNano > 0n ? difference > 0n : leastNano < 0n && difference < 0n) {
    const limit = (Number(mostNano) / Number(leastNano)).toFixed(6);
    at.invalid(path, ratio, `ratio ${ratio} is greater than max/min = ${limit}`);
  }
}

/** In whichever order, and however often. */
const sameScopes: ChangeRule<readonly string[] | undefined> = (next, stored, at) => {
  const now = new Set(next ?? []);
  const then = new Set(stored ?? []);
  if (now.size !== then.size || [...now].some((scope) => !then.has(scope))) {
    at.invalid('', next ?? [], 'field is immutable');
  }
};

export const limitTypes: RuleTable = {
  'core/v1.ResourceQuotaSpec': { fields: { hard: { rules: [quotaAmounts] } }, rules: ['hard', scopes, scopeSelector] },
  'core/v1.ResourceQuotaStatus': {
    fields: { hard: { rules: [quotaAmounts] }, used: { rules: [quotaAmounts] } },
  },
  'core/v1.LimitRangeItem': {
    rules: [knownType, limitTypeOnce, limitRangeItem],
  },
};

export const limitUpdates: ChangeTable = {
  'core/v1.ResourceQuota': { fields: { 'spec.scopes': { rules: [sameScopes] } } },
};
