// The default profile: which plugins run, in which order, with which weight. Cheap refusals come first.
import type { Dialect } from '../../../config/dialect.ts';
import { balancedAllocation } from '../plugins/balanced-allocation.ts';
import { interPodAffinity } from '../plugins/inter-pod-affinity.ts';
import { knownDemands } from '../plugins/known-demands.ts';
import { leastAllocated } from '../plugins/least-allocated.ts';
import { nodeAffinity } from '../plugins/node-affinity.ts';
import { nodeName } from '../plugins/node-name.ts';
import { nodePorts } from '../plugins/node-ports.ts';
import { nodeResourcesFit } from '../plugins/node-resources-fit.ts';
import { nodeUnschedulable } from '../plugins/node-unschedulable.ts';
import { podTopologySpread } from '../plugins/pod-topology-spread.ts';
import { taintToleration } from '../plugins/taint-toleration.ts';
import type { Profile } from './framework.ts';

export function defaultProfile(dialect: Dialect): Profile {
  const affinity = interPodAffinity({ hardPodAffinityWeight: 1 });
  const spread = podTopologySpread({
    defaultConstraints: [],
    systemDefaults: true,
    hostnameLabel: dialect.spell('@label/hostname'),
  });
  return {
    filters: [
      knownDemands,
      nodeUnschedulable(dialect),
      nodeName,
      taintToleration,
      nodeAffinity,
      nodePorts,
      nodeResourcesFit,
      spread,
      affinity,
    ],
    scores: [
      { plugin: leastAllocated, weight: 1 },
      { plugin: balancedAllocation, weight: 1 },
      { plugin: nodeAffinity, weight: 1 },
      { plugin: taintToleration, weight: 1 },
      { plugin: spread, weight: 2 },
      { plugin: affinity, weight: 1 },
    ],
    postFilters: [],
    reserves: [],
    permits: [],
  };
}
