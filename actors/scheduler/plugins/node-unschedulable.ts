// NodeUnschedulable: a cordoned node takes only pods that tolerate the unschedulable taint.

import { tolerationOf } from '../../../api/pods/tolerations.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { FilterPlugin } from '../framework/framework.ts';
import type { Taint } from '../nodes/node-info.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import { refusal } from '../status.ts';

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
