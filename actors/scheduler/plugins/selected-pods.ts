// Pods of a namespace that a selector matches, as a question about placed pods; those that are being deleted do not count,
// because they make room already. Shared by what spreads pods.
import type { LabelSelector } from '../../../api/selectors/label-selector.ts';
import { selectorText } from '../pods/pod-terms.ts';
import type { PodSelection } from '../topology/topology-index.ts';

export function podsSelected(namespace: string, selector: LabelSelector): PodSelection {
  return {
    id: `selected\n${namespace}\n${selectorText(selector)}`,
    namespaces: [namespace],
    amount: (other, labels, deleting) => (other === namespace && !deleting && selector.matches(labels) ? 1 : 0),
  };
}
