// Why a pod fits nowhere, in one sentence: `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.`
import type { Status } from '../status.ts';

export const NO_NODES_MESSAGE = 'no nodes available to schedule pods';

/** Counts each reason over the nodes' refusals (one Status a node), and lists them in the order of the text. */
export function unschedulableMessage(nodeCount: number, statuses: readonly Status[]): string {
  const nodesByReason = new Map<string, number>();
  for (const { reasons } of statuses) {
    for (const reason of reasons) nodesByReason.set(reason, (nodesByReason.get(reason) ?? 0) + 1);
  }
  const parts = [...nodesByReason].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${nodeCount} nodes are available: ${parts.join(', ')}.`;
}
