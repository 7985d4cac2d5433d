// Pods of a namespace that a selector matches, as a question about placed pods. Shared by what spreads pods, and what keeps them together.
import type { LabelSelector } from '../../../api/selectors/label-selector.ts';
import { selectorText } from '../pods/pod-terms.ts';
import type { PodSelection } from '../topology/topology-index.ts';

/** Those that are being deleted do not count, because they make room already. */
export function podsSelected(namespace: string, selector: LabelSelector): PodSelection {
  return {
    id: `selected\n${namespace}\n${selectorText(selector)}`,
    namespaces: [namespace],
    amount: (other, labels, deleting) => (other === namespace && !deleting && selector.matches(labels) ? 1 : 0),
  };
}

/** The same, with those that are being deleted: while they are there, they are where they are. */
export function podsThere(namespace: string, selector: LabelSelector): PodSelection {
  return {
    id: `there\n${namespace}\n${selectorText(selector)}`,
    namespaces: [namespace],
    amount: (other, labels) => (other === namespace && selector.matches(labels) ? 1 : 0),
  };
}
