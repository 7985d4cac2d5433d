// NodeUnschedulable: a cordoned node takes only pods that tolerate the unschedulable taint.
import type { Dialect } from '../../../config/dialect.ts';
import { ClusterEvent } from '../core/cluster-event.ts';
import type { Taint } from '../core/node-info.ts';
import { type FilterPlugin, refusal } from '../framework/framework.ts';
import { tolerates } from './tolerations.ts';

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
      !hasCordonedNodes || tolerates(pod.constraints.tolerations, taint)
        ? null
        : (node) => (node.unschedulable ? CORDONED : null),
  };
}
