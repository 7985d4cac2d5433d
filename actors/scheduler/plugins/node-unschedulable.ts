// NodeUnschedulable: a cordoned node takes only pods that tolerate the unschedulable taint.

import { tolerationOf } from '../../../api/pods/tolerations.ts';
import type { Dialect } from '../../../config/dialect.ts';
import { ClusterEvent } from '../core/cluster-event.ts';
import type { Taint } from '../core/node-info.ts';
import type { FilterPlugin } from '../framework/framework.ts';
import { refusal } from '../framework/status.ts';

const CORDONED = refusal(
  'unresolvable',
  ClusterEvent.nodeAdded | ClusterEvent.nodeTaints,
  'node(s) were unschedulable',
);

export function nodeUnschedulable(dialect: Dialect): FilterPlugin {
  const taint: Taint = { key: dialect.spell('node.@label/unschedulable'), value: '', effect: 'NoSchedule' };
  return {
    name: 'NodeUnschedulable',
    prepareFilter: (pod, { hasCordonedNodes }) =>
      !hasCordonedNodes || tolerationOf(pod.constraints.tolerations, taint) !== undefined
        ? null
        : { check: (node) => (node.unschedulable ? CORDONED : null), ofNodeAlone: '' },
  };
}
