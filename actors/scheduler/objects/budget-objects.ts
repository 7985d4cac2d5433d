// Disruption budgets as preemption reads them: which pods they guard, and how many may still go. Pure.

import type { JsonObject } from '../../../api/json-value.ts';
import { asNumber, asObject, asText } from '../../../api/object-fields.ts';
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

export class BudgetObjects {
  private readonly byNamespace = new Map<string, Map<string, Budget>>();

  set(namespace: string, name: string, object: JsonObject): void {
    const status = asObject(object.status);
    const selector = readSelector(asObject(object.spec).selector);
    const disruptedPods = new Set(Object.keys(asObject(status.disruptedPods)));
    const budgets = this.byNamespace.get(namespace) ?? new Map<string, Budget>();
    this.byNamespace.set(namespace, budgets);
    // An empty selector selects nothing in the beta version, and everything since.
    if (selector.text === '' && !asText(object.apiVersion).endsWith('/v1')) budgets.delete(name);
    else {
      const disruptionsAllowed = asNumber(status.disruptionsAllowed);
      budgets.set(name, { namespace, name, selector, disruptionsAllowed, disruptedPods });
    }
  }

  remove(namespace: string, name: string): void {
    this.byNamespace.get(namespace)?.delete(name);
  }

  /** The budgets that guard a pod. A pod without labels is guarded by those alone that guard all. */
  guarding(pod: PodInfo): readonly Budget[] {
    const budgets = this.byNamespace.get(pod.namespace);
    if (budgets === undefined) return [];
    const isLabelled = Object.keys(pod.labels).length > 0;
    return [...budgets.values()].filter(
      ({ selector }) => (isLabelled || selector.text === '') && selector.matches(pod.labels),
    );
  }
}
