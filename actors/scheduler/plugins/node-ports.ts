// NodePorts: no two pods of a node claim the same host port.

import type { FilterPlugin } from '../framework/framework.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import { refusal } from '../status.ts';

const PORT_TAKEN = refusal(
  'unschedulable',
  ClusterEvent.nodeAdded | ClusterEvent.podRemoved,
  "node(s) didn't have free ports for the requested pod ports",
);

export const nodePorts: FilterPlugin = {
  name: 'NodePorts',
  prepareFilter({ hostPorts }) {
    if (hostPorts.length === 0) return null;
    return (node) => {
      const claims = node.hostPorts;
      if (claims === undefined) return null;
      return hostPorts.some((claim) => claims.conflicts(claim)) ? PORT_TAKEN : null;
    };
  },
};
