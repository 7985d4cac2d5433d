// Which plug-ins run where unless a configuration says otherwise, in order.
import type { ExtensionPoint } from './plugin-table.ts';

/** A plug-in at an extension point; the weight counts at `score` only. */
export interface EnabledPlugin {
  readonly name: string;
  readonly weight: number;
}

export type PluginSets = Readonly<Record<ExtensionPoint, readonly EnabledPlugin[]>>;

const of = (...names: readonly string[]): EnabledPlugin[] => names.map((name) => ({ name, weight: 1 }));

/** The default set (`DefaultProvider`). */
export const DEFAULT_PLUGINS: PluginSets = {
  queueSort: of('PrioritySort'),
  preFilter: of(
    'NodeResourcesFit',
    'NodePorts',
    'PodTopologySpread',
    'InterPodAffinity',
    'VolumeBinding',
    'NodeAffinity',
  ),
  filter: of(
    'NodeUnschedulable',
    'NodeName',
    'TaintToleration',
    'NodeAffinity',
    'NodePorts',
    'NodeResourcesFit',
    'VolumeRestrictions',
    'EBSLimits',
    'GCEPDLimits',
    'NodeVolumeLimits',
    'AzureDiskLimits',
    'VolumeBinding',
    'VolumeZone',
    'PodTopologySpread',
    'InterPodAffinity',
  ),
  postFilter: of('DefaultPreemption'),
  preScore: of('InterPodAffinity', 'PodTopologySpread', 'TaintToleration', 'NodeAffinity'),
  score: [
    ...of('NodeResourcesBalancedAllocation', 'ImageLocality', 'InterPodAffinity', 'NodeResourcesLeastAllocated'),
    ...of('NodeAffinity'),
    // More than all others together.
    { name: 'NodePreferAvoidPods', weight: 10_000 },
    // What users ask for is to be heard beside what is free.
    { name: 'PodTopologySpread', weight: 2 },
    ...of('TaintToleration'),
  ],
  reserve: of('VolumeBinding'),
  permit: [],
  preBind: of('VolumeBinding'),
  bind: of('DefaultBinder'),
  postBind: [],
};

/** The set that fills nodes up before it uses empty ones (`ClusterAutoscalerProvider`). */
export const AUTOSCALER_PLUGINS: PluginSets = {
  ...DEFAULT_PLUGINS,
  score: DEFAULT_PLUGINS.score.map(({ name, weight }) => ({
    name: name === 'NodeResourcesLeastAllocated' ? 'NodeResourcesMostAllocated' : name,
    weight,
  })),
};

/** The set that scores by the capacity of the volumes found for a pod, too. */
export function withVolumeScores(sets: PluginSets): PluginSets {
  return { ...sets, score: [...sets.score, ...of('VolumeBinding')] };
}

/** The set that spreads the pods of a service or controller by these, where it is not done by topology. */
export function withSelectorSpread(sets: PluginSets): PluginSets {
  const added = of('SelectorSpread');
  return { ...sets, preScore: [...sets.preScore, ...added], score: [...sets.score, ...added] };
}
