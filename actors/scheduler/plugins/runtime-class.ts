// RuntimeClass: a pod of a runtime class waits until the class is there, and for ever if it was admitted without what the
// class adds to its pods: binding it would break what the class promises, and nobody would notice.

import type { FilterPlugin } from '../framework/framework.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import type { RuntimeClass } from '../objects/cluster-objects.ts';
import type { PodInfo, Toleration } from '../pods/pod-info.ts';
import { refusal } from '../status.ts';

export const runtimeClass: FilterPlugin = {
  name: 'RuntimeClass',
  prepareFilter(pod, { objects }) {
    if (pod.runtimeClass === '') return null;
    const known = objects.runtimeClasses.get(pod.runtimeClass);
    const name = JSON.stringify(pod.runtimeClass);
    if (known === undefined) {
      return refusal('unresolvable', ClusterEvent.runtimeClasses, `there is no runtime class ${name}`);
    }
    if (carries(pod, known)) return null;
    const reason = `the pod was admitted without what its runtime class ${name} adds to it`;
    return refusal('unresolvable', ClusterEvent.runtimeClasses, reason);
  },
};

function carries(
  { constraints, hasOverhead }: PodInfo,
  { nodeSelector, tolerations, overhead }: RuntimeClass,
): boolean {
  for (const [key, value] of nodeSelector) if (constraints.nodeSelector.get(key) !== value) return false;
  return (
    (hasOverhead || !overhead) &&
    tolerations.every((toleration) => constraints.tolerations.some((own) => same(own, toleration)))
  );
}

function same(a: Toleration, b: Toleration): boolean {
  return (
    a.key === b.key &&
    a.effect === b.effect &&
    a.value === b.value &&
    (a.operator || 'Equal') === (b.operator || 'Equal')
  );
}
