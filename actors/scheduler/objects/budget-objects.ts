// Disruption budgets as preemption reads them: which pods they guard, and how many may still go. Pure.

import type { JsonObject } from '../../../api/json/json-value.ts';
import { asNumber, asObject, asText } from '../../../api/json/object-fields.ts';
import type { LabelSelector } from '../../../api/selectors/label-selector.ts';
import type { PodInfo } from '../pods/pod-info.ts';
import { readSelector } from '../pods/pod-terms.ts';

export interface Budget {
  readonly namespace: string;
  readonly name: string;
  readonly selector: LabelSelector;
  readonly disruptionsAllowed: number;
  /** Pods whose disruption the budget has counted already. */
  readonly disruptedPods: ReadonlySet<string>;
}

const NONE: readonly Budget[] = Object.freeze([]);

/** A label that all pods have which a budget guards; the empty key for a budget that asks for no label of one value. */
type Label = readonly [key: string, value: string];

const NO_LABEL: Label = ['', ''];

/** The budgets of a namespace. Each pod that might leave is asked about, and each service may have a budget of its own. */
class NamespaceBudgets {
  readonly #byName = new Map<string, { readonly budget: Budget; readonly label: Label }>();
  /** By key and value. Never empty. */
  readonly #byLabel = new Map<string, Map<string, Set<Budget>>>();

  get size(): number {
    return this.#byName.size;
  }

  set(budget: Budget): void {
    this.remove(budget.name);
    const label = this.#rarestLabel(budget);
    const [key, value] = label;
    const byValue = this.#byLabel.get(key) ?? new Map<string, Set<Budget>>();
    this.#byLabel.set(key, byValue);
    byValue.set(value, (byValue.get(value) ?? new Set<Budget>()).add(budget));
    this.#byName.set(budget.name, { budget, label });
  }

  remove(name: string): void {
    const known = this.#byName.get(name);
    if (known === undefined) return;
    this.#byName.delete(name);
    const [key, value] = known.label;
    const byValue = this.#byLabel.get(key);
    const alike = byValue?.get(value);
    alike?.delete(known.budget);
    if (alike?.size === 0) byValue?.delete(value);
    if (byValue?.size === 0) this.#byLabel.delete(key);
  }

  /** Whose selectors may match; the others do not. */
  *perhapsGuarding(labels: PodInfo['labels']): IterableIterator<Budget> {
    for (const [key, value] of [NO_LABEL, ...Object.entries(labels)]) {
      yield* this.#byLabel.get(key)?.get(value) ?? NONE;
    }
  }

  /** Of the labels that it asks for, the one that the fewest others are found by. */
  #rarestLabel({ selector }: Budget): Label {
    let rarest = NO_LABEL;
    let fewest = Number.POSITIVE_INFINITY;
    for (const [key, value] of selector.equality) {
      const alike = this.#byLabel.get(key)?.get(value)?.size ?? 0;
      if (alike >= fewest) continue;
      fewest = alike;
      rarest = [key, value];
    }
    return rarest;
  }
}

export class BudgetObjects {
  /** How often any of them has changed. */
  changes = 0;
  private readonly byNamespace = new Map<string, NamespaceBudgets>();

  set(namespace: string, name: string, object: JsonObject): void {
    this.changes++;
    const status = asObject(object.status);
    const selector = readSelector(asObject(object.spec).selector);
    const disruptedPods = new Set(Object.keys(asObject(status.disruptedPods)));
    // An empty selector selects nothing in the beta version, and everything since.
    if (selector.text === '' && !asText(object.apiVersion).endsWith('/v1')) {
      this.remove(namespace, name);
      return;
    }
    const budgets = this.byNamespace.get(namespace) ?? new NamespaceBudgets();
    this.byNamespace.set(namespace, budgets);
    const disruptionsAllowed = asNumber(status.disruptionsAllowed);
    budgets.set({ namespace, name, selector, disruptionsAllowed, disruptedPods });
  }

  remove(namespace: string, name: string): void {
    this.changes++;
    const budgets = this.byNamespace.get(namespace);
    budgets?.remove(name);
    if (budgets?.size === 0) this.byNamespace.delete(namespace);
  }

  /** The budgets that guard a pod. A pod without labels is guarded by those alone that guard all. */
  guarding({ namespace, labels }: PodInfo): readonly Budget[] {
    const budgets = this.byNamespace.get(namespace);
    if (budgets === undefined) return NONE;
    const isLabelled = Object.keys(labels).length > 0;
    return [...budgets.perhapsGuarding(labels)].filter(
      ({ selector }) => (isLabelled || selector.text === '') && selector.matches(labels),
    );
  }
}
