// Every built-in plug-in, by the name that configurations give it: where it can run and how it is made. A new one is a file
// under plugins/ and a row here.
import type { Dialect } from '../../../config/dialect.ts';
import type {
  BindPlugin,
  FilterPlugin,
  PermitPlugin,
  Plugin,
  PostBindPlugin,
  PostFilterPlugin,
  PreBindPlugin,
  QueueSortPlugin,
  ReservePlugin,
  ScorePlugin,
} from '../framework/framework.ts';
import type { SchedulerGates } from '../framework/gates.ts';
import { balancedAllocation } from '../plugins/balanced-allocation.ts';
import { defaultBinder } from '../plugins/default-binder.ts';
import { defaultPreemption } from '../plugins/default-preemption.ts';
import { imageLocality } from '../plugins/image-locality.ts';
import { interPodAffinity } from '../plugins/inter-pod-affinity.ts';
import { nodeAffinity } from '../plugins/node-affinity.ts';
import { nodeLabel } from '../plugins/node-label.ts';
import { nodeName } from '../plugins/node-name.ts';
import { nodePorts } from '../plugins/node-ports.ts';
import { nodePreferAvoidPods } from '../plugins/node-prefer-avoid-pods.ts';
import { nodeResourcesFit } from '../plugins/node-resources-fit.ts';
import { nodeUnschedulable } from '../plugins/node-unschedulable.ts';
import { podTopologySpread } from '../plugins/pod-topology-spread.ts';
import { prioritySort } from '../plugins/priority-sort.ts';
import { requestedToCapacityRatio } from '../plugins/requested-to-capacity-ratio.ts';
import { leastAllocated, mostAllocated, type WeightedResource } from '../plugins/resource-scores.ts';
import { selectorSpread } from '../plugins/selector-spread.ts';
import { serviceAffinity } from '../plugins/service-affinity.ts';
import { taintToleration } from '../plugins/taint-toleration.ts';
import { volumeBinding } from '../plugins/volume-binding.ts';
import { attachedDisks, builtInVolumeLimits, csiVolumeLimits, type DiskSettings } from '../plugins/volume-limits.ts';
import { volumeReach } from '../plugins/volume-reach.ts';
import { volumeRestrictions } from '../plugins/volume-restrictions.ts';
import { volumeZone } from '../plugins/volume-zone.ts';
import { type PluginArgs, systemConstraints } from './plugin-args.ts';

/** The extension points, as configurations name them, in the order in which a pod passes them. */
export const EXTENSION_POINTS = [
  'queueSort',
  'preFilter',
  'filter',
  'postFilter',
  'preScore',
  'score',
  'reserve',
  'permit',
  'preBind',
  'bind',
  'postBind',
] as const;

export type ExtensionPoint = (typeof EXTENSION_POINTS)[number];

/** A plug-in as it is made: it has the methods of the points where it can run. */
export type AnyPlugin = Plugin &
  Partial<
    QueueSortPlugin &
      FilterPlugin &
      PostFilterPlugin &
      ScorePlugin &
      ReservePlugin &
      PermitPlugin &
      PreBindPlugin &
      BindPlugin &
      PostBindPlugin
  >;

export interface PluginEntry {
  readonly points: readonly ExtensionPoint[];
  readonly create: (args: PluginArgs, dialect: Dialect, gates: SchedulerGates) => AnyPlugin;
}

const FILTER: readonly ExtensionPoint[] = ['filter'];
const PRE_AND_FILTER: readonly ExtensionPoint[] = ['preFilter', 'filter'];
const SCORE: readonly ExtensionPoint[] = ['score'];
const BUILT_IN_LIMITS = ['EBSLimits', 'GCEPDLimits', 'AzureDiskLimits', 'CinderLimits'] as const;

function disksOf(dialect: Dialect, { migratedDisks, builtInDisksMax }: SchedulerGates): DiskSettings {
  return {
    provisionerPrefix: dialect.spell('@label/'),
    migrated: migratedDisks,
    machineTypeLabels: ['beta', 'node'].map((part) => dialect.spell(`${part}.@label/instance-type`)),
    most: builtInDisksMax,
  };
}

function limitsEntry(name: string): [string, PluginEntry] {
  const create = (_: PluginArgs, dialect: Dialect, gates: SchedulerGates) =>
    builtInVolumeLimits(disksOf(dialect, gates)).find((plugin) => plugin.name === name)!;
  return [name, { points: FILTER, create }];
}

function spreadOf({ PodTopologySpread: { defaultConstraints, systemDefaults } }: PluginArgs, dialect: Dialect) {
  return podTopologySpread({
    defaultConstraints: systemDefaults ? systemConstraints(dialect) : defaultConstraints,
    systemDefaults,
    hostnameLabel: dialect.spell('@label/hostname'),
  });
}

/**
 * What is scored: each resource once, as it was named last. What no node has stands for what does not count, so that the weights of the
 * others are as they are.
 */
function counted<R extends WeightedResource>(
  resources: readonly R[],
  { countsLocalStorage }: SchedulerGates,
): readonly R[] {
  const once = [...new Map(resources.map((one) => [one.name, one])).values()];
  if (countsLocalStorage) return once;
  return once.map((one) => (one.name === 'ephemeral-storage' ? { ...one, name: '' } : one));
}

export const PLUGINS: ReadonlyMap<string, PluginEntry> = new Map<string, PluginEntry>([
  ['PrioritySort', { points: ['queueSort'], create: () => prioritySort }],
  [
    'NodeResourcesFit',
    {
      points: PRE_AND_FILTER,
      create: (args, _, { countsLocalStorage }) => nodeResourcesFit(args.NodeResourcesFit, countsLocalStorage),
    },
  ],
  ['NodePorts', { points: PRE_AND_FILTER, create: () => nodePorts }],
  ['PodTopologySpread', { points: ['preFilter', 'filter', 'preScore', 'score'], create: spreadOf }],
  [
    'InterPodAffinity',
    {
      points: ['preFilter', 'filter', 'preScore', 'score'],
      create: (args) => interPodAffinity(args.InterPodAffinity),
    },
  ],
  [
    'VolumeBinding',
    {
      points: ['preFilter', 'filter', 'score', 'reserve', 'preBind'],
      create: (args, dialect, gates) =>
        volumeBinding(args.VolumeBinding, gates, volumeReach(dialect, gates.migratedDisks)),
    },
  ],
  [
    'NodeAffinity',
    { points: ['preFilter', 'filter', 'preScore', 'score'], create: (args) => nodeAffinity(args.NodeAffinity) },
  ],
  ['NodeUnschedulable', { points: FILTER, create: (_, dialect) => nodeUnschedulable(dialect) }],
  ['NodeName', { points: FILTER, create: () => nodeName }],
  ['TaintToleration', { points: ['filter', 'preScore', 'score'], create: () => taintToleration }],
  ['VolumeRestrictions', { points: FILTER, create: () => volumeRestrictions }],
  ...BUILT_IN_LIMITS.map(limitsEntry),
  ['NodeVolumeLimits', { points: FILTER, create: (_, dialect, gates) => csiVolumeLimits(disksOf(dialect, gates)) }],
  ['VolumeZone', { points: FILTER, create: (_, dialect) => volumeZone(dialect) }],
  ['DefaultPreemption', { points: ['postFilter'], create: (args) => defaultPreemption(args.DefaultPreemption) }],
  [
    'NodeResourcesBalancedAllocation',
    {
      points: SCORE,
      create: (_, dialect, gates) =>
        balancedAllocation(gates.balancesAttachedVolumes ? attachedDisks(disksOf(dialect, gates)) : undefined),
    },
  ],
  ['ImageLocality', { points: SCORE, create: () => imageLocality }],
  [
    'NodeResourcesLeastAllocated',
    {
      points: SCORE,
      create: (args, _, gates) => leastAllocated(counted(args.NodeResourcesLeastAllocated.resources, gates)),
    },
  ],
  [
    'NodeResourcesMostAllocated',
    {
      points: SCORE,
      create: (args, _, gates) => mostAllocated(counted(args.NodeResourcesMostAllocated.resources, gates)),
    },
  ],
  [
    'RequestedToCapacityRatio',
    {
      points: SCORE,
      create: ({ RequestedToCapacityRatio: { shape, resources } }, _, gates) =>
        requestedToCapacityRatio(shape, counted(resources, gates)),
    },
  ],
  ['NodePreferAvoidPods', { points: SCORE, create: () => nodePreferAvoidPods }],
  ['NodeLabel', { points: ['filter', 'score'], create: (args) => nodeLabel(args.NodeLabel) }],
  [
    'ServiceAffinity',
    {
      points: ['preFilter', 'filter', 'score'],
      create: (args, dialect) => serviceAffinity(args.ServiceAffinity, dialect.spell('@label/hostname')),
    },
  ],
  ['SelectorSpread', { points: ['preScore', 'score'], create: (_, dialect) => selectorSpread(dialect) }],
  ['DefaultBinder', { points: ['bind'], create: () => defaultBinder }],
]);
