// What can happen in the cluster that lets a pod fit which did not. Refusals say which of these could help.

/** A set of events is the sum of its members. */
export const ClusterEvent = {
  nodeAdded: 1,
  nodeAllocatable: 2,
  nodeLabels: 4,
  /** Taints, or `spec.unschedulable` switched off. */
  nodeTaints: 8,
  /** A pod left its node, finished there, was not bound after all, or no room is kept there for it any more. */
  podRemoved: 16,
  /** A pod was bound, or has other labels than before. */
  podAdded: 32,
  nodeRemoved: 64,
  /** A volume, claim or storage class came or changed, or there is more room to provision from. */
  volumes: 128,
  /** What a node can attach. */
  attachLimits: 256,
  services: 512,
  namespaceLabels: 1024,
  runtimeClasses: 2048,
  /** Every event: for what no plug-in can say more about. */
  any: 4095,
} as const;
