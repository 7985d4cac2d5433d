// The arguments of the built-in plug-ins, by plug-in, with what holds where a configuration says nothing.
import type { Dialect } from '../../../config/dialect.ts';
import { type DefaultPreemptionArgs, PREEMPTION_DEFAULTS } from '../plugins/default-preemption.ts';
import type { InterPodAffinityArgs } from '../plugins/inter-pod-affinity.ts';
import type { NodeAffinityArgs } from '../plugins/node-affinity.ts';
import type { NodeLabelArgs } from '../plugins/node-label.ts';
import type { NodeResourcesFitArgs } from '../plugins/node-resources-fit.ts';
import type { DefaultConstraint } from '../plugins/pod-topology-spread.ts';
import type { ShapePoint } from '../plugins/requested-to-capacity-ratio.ts';
import { CPU_AND_MEMORY, type WeightedResource } from '../plugins/resource-scores.ts';
import type { ServiceAffinityArgs } from '../plugins/service-affinity.ts';
import type { VolumeBindingArgs } from '../plugins/volume-binding.ts';

interface ResourcesArgs {
  readonly resources: readonly WeightedResource[];
}

export interface PluginArgs {
  readonly DefaultPreemption: DefaultPreemptionArgs;
  readonly InterPodAffinity: InterPodAffinityArgs;
  readonly NodeAffinity: NodeAffinityArgs;
  readonly NodeLabel: NodeLabelArgs;
  readonly NodeResourcesFit: NodeResourcesFitArgs;
  readonly NodeResourcesLeastAllocated: ResourcesArgs;
  readonly NodeResourcesMostAllocated: ResourcesArgs;
  readonly PodTopologySpread: {
    readonly defaultConstraints: readonly DefaultConstraint[];
    /** The built-in constraints take the place of `defaultConstraints`. */
    readonly systemDefaults: boolean;
  };
  readonly RequestedToCapacityRatio: ResourcesArgs & { readonly shape: readonly ShapePoint[] };
  readonly ServiceAffinity: ServiceAffinityArgs;
  readonly VolumeBinding: VolumeBindingArgs;
}

export const PLUGIN_ARGS: PluginArgs = {
  DefaultPreemption: PREEMPTION_DEFAULTS,
  InterPodAffinity: { hardPodAffinityWeight: 1 },
  NodeAffinity: { addedRequired: undefined, addedPreferred: [] },
  NodeLabel: { presentLabels: [], absentLabels: [], presentLabelsPreference: [], absentLabelsPreference: [] },
  NodeResourcesFit: { ignoredResources: [], ignoredResourceGroups: [] },
  NodeResourcesLeastAllocated: { resources: CPU_AND_MEMORY },
  NodeResourcesMostAllocated: { resources: CPU_AND_MEMORY },
  PodTopologySpread: { defaultConstraints: [], systemDefaults: true },
  RequestedToCapacityRatio: { resources: CPU_AND_MEMORY, shape: [] },
  ServiceAffinity: { affinityLabels: [], antiAffinityLabelsPreference: [] },
  VolumeBinding: { bindTimeoutMs: 600_000 },
};

/** What pods without constraints of their own are spread by, unless a profile says otherwise. */
export function systemConstraints(dialect: Dialect): readonly DefaultConstraint[] {
  return [
    { topologyKey: dialect.spell('@label/hostname'), maxSkew: 3, required: false },
    { topologyKey: dialect.spell('topology.@label/zone'), maxSkew: 5, required: false },
  ];
}
