// Whether a pod's tolerations put up with a taint: shared by NodeUnschedulable and TaintToleration.
import type { Taint } from '../core/node-info.ts';
import type { Toleration } from '../pods/pod-info.ts';

/** True when one of the tolerations covers the taint. An operator other than Exists and Equal tolerates nothing. */
export function tolerates(tolerations: readonly Toleration[], taint: Taint): boolean {
  for (const toleration of tolerations) {
    if (toleration.effect !== '' && toleration.effect !== taint.effect) continue;
    if (toleration.key !== '' && toleration.key !== taint.key) continue;
    if (toleration.operator === 'Exists') return true;
    if ((toleration.operator === '' || toleration.operator === 'Equal') && toleration.value === taint.value)
      return true;
  }
  return false;
}
