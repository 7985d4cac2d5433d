// NodeName: a pod that names its node goes there or nowhere.

import type { FilterPlugin } from '../framework/framework.ts';
import { ClusterEvent } from '../objects/cluster-event.ts';
import { refusal } from '../status.ts';

const OTHER_NODE = refusal('unresolvable', ClusterEvent.nodeAdded, "node(s) didn't match the requested hostname");

export const nodeName: FilterPlugin = {
  name: 'NodeName',
  prepareFilter: (pod) => (pod.nodeName === '' ? null : (node) => (node.name === pod.nodeName ? null : OTHER_NODE)),
};
