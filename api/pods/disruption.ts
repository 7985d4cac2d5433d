// What evicting a pod asks of the disruption budget that guards it (SPEC.md "Errors"; PodDisruptionBudget status). Pure:
// says whether a pod is guarded, by which budget, and what the budget's status is once a disruption has been taken from it.

import type { JsonObject } from '../json/json-value.ts';
import { asObject } from '../json/object-fields.ts';
import { metadataOf } from '../metadata/object-meta.ts';
import { labelSelectorFromObject } from '../selectors/label-selector.ts';
import { disruptionBudgetExceeded, forbidden } from '../status/failures.ts';
import { StatusError } from '../status/status.ts';

/** Evictions a budget remembers; more means that nobody confirms them. */
const DISRUPTED_PODS_MAX = 2000;
/** Until a client should try again what a budget's controller has not caught up with. */
const RETRY_SECONDS = 10;
/** As the refusals of evictions call them. */
const BUDGETS = { group: 'policy', plural: 'poddisruptionbudget' };

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly lastTransitionTime?: string;
}

interface BudgetStatus {
  readonly observedGeneration?: number;
  readonly disruptionsAllowed?: number;
  readonly currentHealthy?: number;
  readonly desiredHealthy?: number;
  readonly disruptedPods?: Readonly<Record<string, string>>;
  readonly conditions?: readonly Condition[];
}

const UNGUARDED_PHASES: ReadonlySet<unknown> = new Set(['Succeeded', 'Failed', 'Pending']);

/** False for pods whose loss disrupts nothing: they have ended, have not begun, or are on their way out. */
export function isGuarded(pod: JsonObject): boolean {
  if (metadataOf(pod).deletionTimestamp) return false;
  return !UNGUARDED_PHASES.has(asObject(pod.status).phase);
}

function isReady(pod: JsonObject): boolean {
  const conditions = asObject(pod.status).conditions;
  if (!Array.isArray(conditions)) return false;
  return (conditions as readonly Condition[]).some(({ type, status }) => type === 'Ready' && status === 'True');
}

/** True when a budget of the pod's namespace, as v1 writes it, speaks of it: an empty selector of all pods, and none of none. */
export function selectsPod(budget: JsonObject, pod: JsonObject): boolean {
  const selector = asObject(budget.spec).selector;
  try {
    return labelSelectorFromObject(selector).matches(metadataOf(pod).labels);
  } catch {
    // A selector that validation would refuse today selects nothing.
    return false;
  }
}

/**
 * The budget after the pod's eviction; undefined when the eviction takes nothing from it, because the pod is not ready and
 * enough others are. Throws StatusError 429 when the budget allows no disruption, or has not seen its own latest change, and
 * 403 when its status cannot be used.
 */
export function disrupted(budget: JsonObject, pod: JsonObject, nowIso: string): JsonObject | undefined {
  const status = asObject(budget.status) as BudgetStatus;
  const { name = '', generation = 0 } = metadataOf(budget);
  const { currentHealthy = 0, desiredHealthy = 0, disruptionsAllowed = 0, disruptedPods = {} } = status;
  if (!isReady(pod) && desiredHealthy > 0 && currentHealthy >= desiredHealthy) return undefined;
  if ((status.observedGeneration ?? 0) < generation) {
    const detail = `The disruption budget ${name} is still being processed by the server.`;
    throw new StatusError(disruptionBudgetExceeded(detail, RETRY_SECONDS));
  }
  if (disruptionsAllowed < 0) throw new StatusError(forbidden(BUDGETS, name, 'pdb disruptions allowed is negative'));
  if (Object.keys(disruptedPods).length > DISRUPTED_PODS_MAX)
    throw new StatusError(
      forbidden(BUDGETS, name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller'),
    );
  if (disruptionsAllowed === 0) {
    const detail = `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
    throw new StatusError(disruptionBudgetExceeded(detail, 0));
  }
  const left = disruptionsAllowed - 1;
  const next: BudgetStatus = {
    ...status,
    disruptionsAllowed: left,
    disruptedPods: { ...disruptedPods, [metadataOf(pod).name ?? '']: nowIso },
    conditions: withAllowed(status, left, generation, nowIso),
  };
  return { ...budget, status: next };
}

/** The conditions with the one that says whether disruptions are allowed brought up to date. */
function withAllowed(
  { conditions = [] }: BudgetStatus,
  left: number,
  generation: number,
  nowIso: string,
): readonly Condition[] {
  const type = 'DisruptionAllowed';
  const isAllowed = left > 0;
  const status = isAllowed ? 'True' : 'False';
  const before = conditions.find((condition) => condition.type === type);
  const condition = {
    type,
    status,
    observedGeneration: generation,
    lastTransitionTime: before?.status === status ? (before.lastTransitionTime ?? nowIso) : nowIso,
    reason: isAllowed ? 'SufficientPods' : 'InsufficientPods',
    message: '',
  };
  return before === undefined
    ? [...conditions, condition]
    : conditions.map((other) => (other === before ? condition : other));
}
