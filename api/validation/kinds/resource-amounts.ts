// Rules of amounts of resources: which names containers, quotas and nodes may use, what their amounts may be, and how
// requests and limits go together. Plain amounts are compared as numbers, so that usual pods allocate nothing here.
import type { Dialect } from '../../../config/dialect.ts';
import { compareQuantities, parseQuantity } from '../../../values/quantity.ts';
import { qualifiedNameProblems } from '../../metadata/formats.ts';
import type { Report } from '../report.ts';
import type { Rule, RuleTable } from '../rule.ts';

export type Amounts = Readonly<Record<string, string>>;

const CONTAINER_RESOURCES: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);
const HUGE_PAGES = 'hugepages-';
const REQUESTS = 'requests.';

/** What a quota may count that is not a resource of containers. */
const COUNTED_RESOURCES: readonly string[] = [
  'pods',
  'services',
  'resourcequotas',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];

const QUOTA_RESOURCES: ReadonlySet<string> = new Set([
  ...COUNTED_RESOURCES,
  ...CONTAINER_RESOURCES,
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'requests.storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
]);

/** Amounts of these are whole numbers. */
const WHOLE_RESOURCES: ReadonlySet<string> = new Set(COUNTED_RESOURCES);

const LIMIT_RANGE_RESOURCES: ReadonlySet<string> = new Set([...QUOTA_RESOURCES, 'storage']);

/** What is said of a resource. Clients choose the names, and may ask for what every object inherits: nobody has said that. */
export function amountOf(amounts: Amounts | undefined, name: string): string | undefined {
  return amounts !== undefined && Object.hasOwn(amounts, name) ? amounts[name] : undefined;
}

function isHugePages(name: string): boolean {
  return name.startsWith(HUGE_PAGES);
}

/** Resources the system knows: without a prefix, or with its own. */
function isNative(name: string, dialect: Dialect): boolean {
  return !name.includes('/') || name.includes(`${dialect.labelDomain}/`);
}

/** Resources that others defined, such as devices. */
export function isExtendedResource(name: string, dialect: Dialect): boolean {
  if (isNative(name, dialect) || name.startsWith(REQUESTS)) return false;
  return qualifiedNameProblems(REQUESTS + name).length === 0;
}

/** More of them may be promised than there is. */
export function isOvercommittable(name: string, dialect: Dialect): boolean {
  return isNative(name, dialect) && !isHugePages(name);
}

function isWhole(name: string, dialect: Dialect): boolean {
  return WHOLE_RESOURCES.has(name) || isExtendedResource(name, dialect);
}

const PLAIN_AMOUNT = /^[0-9]{1,15}(?:m|k|M|G|Ki|Mi|Gi)?$/;
const PLAIN_WHOLE = /^[0-9]{1,15}(?:k|M|G|Ki|Mi|Gi)?$/;

/** Reports an amount, at `[name]` unless told otherwise, that is no quantity, negative, or not whole where it must be. True when it is fine. */
export function amountAllowed(name: string, amount: string, at: Report, path = `[${name}]`): boolean {
  const mustBeWhole = isWhole(name, at.dialect);
  if ((mustBeWhole ? PLAIN_WHOLE : PLAIN_AMOUNT).test(amount)) return true;
  const nano = parseQuantity(amount)?.nano;
  if (nano === undefined) {
    at.invalid(path, amount, 'must be a quantity');
    return false;
  }
  const isNegative = nano < 0n;
  const isBroken = mustBeWhole && nano % 1_000_000_000n !== 0n;
  if (isNegative) at.invalid(path, amount, 'must be greater than or equal to 0');
  if (isBroken) at.invalid(path, amount, 'must be an integer');
  return !isNegative && !isBroken;
}

/** Reports a name that nothing could have. What the place cannot have is reported beside it. */
function checkName(name: string, at: Report): void {
  const problems = qualifiedNameProblems(name);
  if (problems.length > 0) at.problems(`[${name}]`, name, problems);
  else if (!name.includes('/') && !LIMIT_RANGE_RESOURCES.has(name))
    at.invalid(`[${name}]`, name, 'must be a standard resource type or fully qualified');
}

/** Reports a name that containers can ask nothing of. */
function checkContainerResource(name: string, at: Report): void {
  if (CONTAINER_RESOURCES.has(name) || isHugePages(name)) return;
  checkName(name, at);
  if (!name.includes('/')) at.invalid(`[${name}]`, name, 'must be a standard resource for containers');
  else if (!isNative(name, at.dialect) && !isExtendedResource(name, at.dialect)) {
    at.invalid(`[${name}]`, name, "doesn't follow extended resource name standard");
  }
}

/** Names and amounts as containers and pods may have them, each reported below the value itself. */
export const containerAmounts: Rule<Amounts> = (amounts, at) => {
  for (const name in amounts) {
    checkContainerAmount(name, amounts[name]!, at);
  }
};

function checkContainerAmount(name: string, amount: string, at: Report): void {
  checkContainerResource(name, at);
  amountAllowed(name, amount, at);
  if (isHugePages(name)) checkPageSize(name, amount, at);
}

function checkPageSize(name: string, amount: string, at: Report): void {
  const size = name.slice(HUGE_PAGES.length);
  const page = parseQuantity(size)?.nano;
  if (page === undefined) {
    at.invalid(`[${name}]`, name, 'must name a page size, (e.g. hugepages-2Mi)');
    return;
  }
  const asked = parseQuantity(amount)?.nano;
  if (asked === undefined) return;
  if (page <= 0n || asked % page !== 0n) {
    at.invalid(`[${name}]`, amount, `must be a multiple of the page size ${size}`);
  }
}

/** What rules read of ResourceRequirements. */
export interface ResourceRequirements {
  readonly limits?: Amounts;
  readonly requests?: Amounts;
}

/** Limits and requests of one container. */
const resourceRequirements: Rule<ResourceRequirements> = (resources, at) => {
  const { limits, requests } = resources;
  if (limits === undefined && requests === undefined) return;
  if (limits !== undefined) {
    at.enter('limits');
    containerAmounts(limits, at);
    at.leave();
  }
  for (const name in requests) {
    at.enter('requests');
    checkContainerAmount(name, requests[name]!, at);
    at.leave();
    checkAgainstLimit(name, requests[name]!, amountOf(limits, name), at);
  }
  checkHugePagesCompany(limits, requests, at);
};

function checkAgainstLimit(name: string, request: string, limit: string | undefined, at: Report): void {
  const mayDiffer = isOvercommittable(name, at.dialect);
  if (limit === undefined) {
    if (!mayDiffer) at.required('limits', 'Limit must be set for non overcommitable resources');
    return;
  }
  const difference = compareQuantities(request, limit);
  if (mayDiffer && difference > 0) at.invalid('requests', request, `must be less than or equal to ${name} limit`);
  if (!mayDiffer && difference !== 0) at.invalid('requests', request, `must be equal to ${name} limit`);
}

function checkHugePagesCompany(limits: Amounts | undefined, requests: Amounts | undefined, at: Report): void {
  if (!asksHugePages(limits) && !asksHugePages(requests)) return;
  for (const name of ['cpu', 'memory']) if (limits?.[name] !== undefined || requests?.[name] !== undefined) return;
  at.forbidden('', 'HugePages require cpu or memory');
}

function asksHugePages(amounts: Amounts | undefined): boolean {
  for (const name in amounts) if (isHugePages(name)) return true;
  return false;
}

/** True for what a quota can count without being told more. */
export function isStandardQuota(name: string): boolean {
  return QUOTA_RESOURCES.has(name) || isHugePages(name) || name.startsWith(REQUESTS + HUGE_PAGES);
}

/** Names and amounts of a quota. */
export const quotaAmounts: Rule<Amounts> = (amounts, at) => {
  for (const name in amounts) {
    if (!isStandardQuota(name)) {
      checkName(name, at);
      if (!name.includes('/')) at.invalid(`[${name}]`, name, 'must be a standard resource for quota');
    }
    amountAllowed(name, amounts[name]!, at);
  }
};

/** A name in a limit range: of what containers know where it limits those or their pods, else of anything known. */
export function checkLimitRangeName(name: string, type: string, at: Report): void {
  if (type === 'Pod' || type === 'Container') checkContainerResource(name, at);
  else if (!isHugePages(name) && !name.startsWith(REQUESTS + HUGE_PAGES)) checkName(name, at);
}

/** Amounts of anything, not negative. */
export const nonNegativeAmounts: Rule<Amounts> = (amounts, at) => {
  for (const name in amounts) amountAllowed(name, amounts[name]!, at);
};

export const resourceTypes: RuleTable = {
  'core/v1.ResourceRequirements': { rules: [resourceRequirements] },
};
