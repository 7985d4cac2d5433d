// A legacy policy, as a parsed value: predicates and priorities by their old names become the plug-ins that do their work.
// SPEC.md "Scheduler options", `--policy-config-file`, `--policy-configmap`.
import { Section } from '../../../config/configuration-section.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { SchedulerGates } from '../framework/gates.ts';
import type { EnabledPlugin, PluginSets } from '../profiles/default-plugins.ts';
import { PLUGIN_ARGS, type PluginArgs } from '../profiles/plugin-args.ts';
import { PLUGINS } from '../profiles/plugin-table.ts';
import type { ExtenderConfiguration } from './configuration.ts';
import { RESOURCE_MEMBERS, readRatio } from './read-args.ts';
import { EXTENDER_MEMBERS, type FileReader, readExtenders } from './read-extenders.ts';
import { policyVersions } from './versions.ts';

/** What a policy says of the one profile there is beside it. */
export interface Policy {
  readonly sets: PluginSets;
  readonly args: PluginArgs;
  readonly extenders: readonly ExtenderConfiguration[];
  readonly asksAllFilters: boolean;
}

/** Old name of a predicate, and the plug-ins that check it; in the order in which they are asked. */
const PREDICATES: readonly (readonly [predicate: string, plugins: readonly string[]])[] = [
  ['CheckNodeUnschedulable', ['NodeUnschedulable']],
  ['GeneralPredicates', ['NodeResourcesFit', 'NodeName', 'NodePorts', 'NodeAffinity']],
  ['HostName', ['NodeName']],
  ['PodFitsHostPorts', ['NodePorts']],
  ['PodFitsPorts', ['NodePorts']],
  ['MatchNodeSelector', ['NodeAffinity']],
  ['PodFitsResources', ['NodeResourcesFit']],
  ['NoDiskConflict', ['VolumeRestrictions']],
  ['PodToleratesNodeTaints', ['TaintToleration']],
  ['CheckNodeLabelPresence', ['NodeLabel']],
  ['CheckServiceAffinity', ['ServiceAffinity']],
  ['MaxEBSVolumeCount', ['EBSLimits']],
  ['MaxGCEPDVolumeCount', ['GCEPDLimits']],
  ['MaxCSIVolumeCountPred', ['NodeVolumeLimits']],
  ['MaxAzureDiskVolumeCount', ['AzureDiskLimits']],
  ['MaxCinderVolumeCount', ['CinderLimits']],
  ['CheckVolumeBinding', ['VolumeBinding']],
  ['NoVolumeZoneConflict', ['VolumeZone']],
  ['EvenPodsSpread', ['PodTopologySpread']],
  ['MatchInterPodAffinity', ['InterPodAffinity']],
];
/** These are checked whatever a policy says. */
const MANDATORY = ['CheckNodeUnschedulable', 'PodToleratesNodeTaints'];

/** For pods without constraints of their own, by their services and controllers; how, a feature gate says. */
const BY_OWNERS: ReadonlySet<string> = new Set(['SelectorSpreadPriority', 'ServiceSpreadingPriority']);
/** For pods that have constraints. */
const BY_CONSTRAINTS = 'EvenPodsSpreadPriority';
const PRIORITIES: Readonly<Record<string, string>> = {
  LeastRequestedPriority: 'NodeResourcesLeastAllocated',
  MostRequestedPriority: 'NodeResourcesMostAllocated',
  BalancedResourceAllocation: 'NodeResourcesBalancedAllocation',
  InterPodAffinityPriority: 'InterPodAffinity',
  TaintTolerationPriority: 'TaintToleration',
  ImageLocalityPriority: 'ImageLocality',
  NodeAffinityPriority: 'NodeAffinity',
  NodePreferAvoidPodsPriority: 'NodePreferAvoidPods',
  [BY_CONSTRAINTS]: 'PodTopologySpread',
};
/** Does nothing: every node is equal. */
const EQUAL = 'EqualPriority';
/** Has one line for all resources, so there is one priority that is told it. */
const RATIO = 'RequestedToCapacityRatio';
const ONE_ARGUMENT = 'must be of one kind';
const PERCENT = { least: 0, most: 100 };
const WEIGHT = { least: 1, most: 2 ** 31 - 1 };

export interface PolicySources {
  /** What runs where the policy says nothing of it. */
  readonly base: PluginSets;
  readonly readFile: FileReader;
  readonly dialect: Dialect;
  readonly gates: Pick<SchedulerGates, 'spreadsByTopology'>;
}

/** Throws ConfigurationError. */
export function readPolicy(content: unknown, { base, readFile, dialect, gates }: PolicySources): Policy {
  const file = new Section(content, '', [
    'apiVersion',
    'kind',
    'predicates',
    'priorities',
    'extenders',
    'extenderConfigs',
    'hardPodAffinitySymmetricWeight',
    'alwaysCheckAllPredicates',
  ]);
  if (file.text('kind', 'Policy') !== 'Policy') file.fail('kind', 'must be Policy');
  file.choice('apiVersion', policyVersions(dialect), 'v1');
  // 0 says nothing, like a weight that is left out.
  const hardPodAffinityWeight = file.number('hardPodAffinitySymmetricWeight', PERCENT, 0) || 1;
  const args = new PolicyArgs(hardPodAffinityWeight, gates.spreadsByTopology);
  const filters = inOrder(file.has('predicates') ? readPredicates(file, args) : predicatesOf(base));
  if (!file.has('priorities')) args.spreadByOwners();
  const scores = file.has('priorities') ? readPriorities(file, args) : base.score;
  const extenders = [
    ...file.sections('extenders', EXTENDER_MEMBERS),
    ...file.sections('extenderConfigs', EXTENDER_MEMBERS),
  ];
  return {
    sets: setsOf(base, filters, scores),
    args: args.args,
    extenders: readExtenders(extenders, { readFile, dialect }),
    asksAllFilters: file.flag('alwaysCheckAllPredicates', false),
  };
}

function setsOf(base: PluginSets, filters: readonly string[], scores: readonly EnabledPlugin[]): PluginSets {
  const enabled = (names: readonly string[]) => names.map((name) => ({ name, weight: 1 }));
  const running = (names: readonly string[], point: 'preFilter' | 'preScore') =>
    enabled(names.filter((name) => PLUGINS.get(name)?.points.includes(point)));
  const bindsVolumes = enabled(filters.includes('VolumeBinding') ? ['VolumeBinding'] : []);
  return {
    ...base,
    preFilter: running(filters, 'preFilter'),
    filter: enabled(filters),
    preScore: running(
      scores.map(({ name }) => name),
      'preScore',
    ),
    score: scores,
    reserve: bindsVolumes,
    preBind: bindsVolumes,
  };
}

/** The arguments of predicates and priorities, which become those of plug-ins; several add up. */
class PolicyArgs {
  args: PluginArgs;
  /** Where a policy names no resources for its ratio none is scored; in the args of a plug-in that would mean cpu and memory. */
  scoresByRatio = false;
  readonly #spreadsByTopology: boolean;

  constructor(hardPodAffinityWeight: number, spreadsByTopology: boolean) {
    this.#spreadsByTopology = spreadsByTopology;
    this.args = {
      ...PLUGIN_ARGS,
      InterPodAffinity: { hardPodAffinityWeight },
      // Policies name what spreads pods that have no constraints.
      PodTopologySpread: { defaultConstraints: [], systemDefaults: false },
    };
  }

  /** Pods without constraints are spread by what owns them; answers which plug-in does it. */
  spreadByOwners(): string {
    if (!this.#spreadsByTopology) return 'SelectorSpread';
    this.args = { ...this.args, PodTopologySpread: { defaultConstraints: [], systemDefaults: true } };
    return 'PodTopologySpread';
  }

  addLabels(member: keyof PluginArgs['NodeLabel'], labels: readonly string[]): void {
    const { NodeLabel } = this.args;
    this.args = { ...this.args, NodeLabel: { ...NodeLabel, [member]: [...NodeLabel[member], ...labels] } };
  }

  addServiceLabels(member: keyof PluginArgs['ServiceAffinity'], labels: readonly string[]): void {
    const { ServiceAffinity } = this.args;
    const added = { ...ServiceAffinity, [member]: [...ServiceAffinity[member], ...labels] };
    this.args = { ...this.args, ServiceAffinity: added };
  }

  setRatio(ratio: Section): void {
    this.args = { ...this.args, [RATIO]: readRatio(ratio) };
    this.scoresByRatio = ratio.sections('resources', RESOURCE_MEMBERS).length > 0;
  }
}

/** The predicates that filter nodes where a policy names none. */
function predicatesOf({ filter }: PluginSets): ReadonlySet<string> {
  const runs = (name: string): boolean => filter.some((each) => each.name === name);
  return new Set(PREDICATES.flatMap(([name, plugins]) => (plugins.every(runs) ? [name] : [])));
}

/** The plug-ins that check these predicates. Which reason a node is refused for goes by the order. */
function inOrder(predicates: ReadonlySet<string>): readonly string[] {
  const plugins = PREDICATES.flatMap(([name, names]) => (predicates.has(name) ? names : []));
  return [...new Set(plugins)];
}

function readPredicates(file: Section, args: PolicyArgs): ReadonlySet<string> {
  const wanted = new Set(MANDATORY);
  for (const predicate of file.sections('predicates', ['name', 'argument'])) {
    const name = predicate.requiredText('name');
    const argument = argumentOf(predicate, ['labelsPresence', 'serviceAffinity']);
    // What has such a name has no argument of its own: one that is given says nothing.
    if (PREDICATES.some(([known]) => known === name)) wanted.add(name);
    else if (argument?.has('labelsPresence')) {
      const { labels, presence } = readPresence(argument.section('labelsPresence', ['labels', 'presence']));
      args.addLabels(presence ? 'presentLabels' : 'absentLabels', labels);
      wanted.add('CheckNodeLabelPresence');
    } else if (argument !== undefined) {
      args.addServiceLabels('affinityLabels', argument.section('serviceAffinity', ['labels']).texts('labels'));
      wanted.add('CheckServiceAffinity');
    } else predicate.fail('name', `there is no predicate ${name}`);
  }
  return wanted;
}

/** What a predicate or a priority of one's own is told; undefined where there is none. */
function argumentOf(rule: Section, kinds: readonly string[]): Section | undefined {
  if (!rule.has('argument')) return undefined;
  const argument = rule.section('argument', kinds);
  if (kinds.filter((kind) => argument.has(kind)).length !== 1) rule.fail('argument', ONE_ARGUMENT);
  return argument;
}

function readPresence(section: Section): { readonly labels: readonly string[]; readonly presence: boolean } {
  return { labels: section.texts('labels'), presence: section.flag('presence', false) };
}

function readPriorities(file: Section, args: PolicyArgs): readonly EnabledPlugin[] {
  const weights = new Map<string, number>();
  const ownWeights = new OwnWeights();
  // What pods ask for themselves weighs as it is said, where one plug-in also does what is assumed of the others.
  let byConstraints: string | undefined;
  for (const priority of file.sections('priorities', ['name', 'weight', 'argument'])) {
    const name = priority.requiredText('name');
    const weight = priority.number('weight', WEIGHT, 0);
    if (name === EQUAL) continue;
    const { plugin, isOwn } = pluginOfPriority(priority, name, args);
    if (isOwn) ownWeights.check(priority, plugin, weight);
    if (plugin === RATIO && !args.scoresByRatio) continue;
    if (name === BY_CONSTRAINTS) byConstraints = plugin;
    // Those of one's own that a plug-in does together add up; of one that is named twice the last counts.
    if (isOwn) weights.set(plugin, (weights.get(plugin) ?? 0) + weight);
    else if (!BY_OWNERS.has(name) || plugin !== byConstraints) weights.set(plugin, weight);
  }
  return [...weights].map(([name, weight]) => ({ name, weight }));
}

/** What the priorities of one's own weigh that one plug-in does together: all alike, since the plug-in has one weight for them. */
class OwnWeights {
  readonly #first = new Map<string, number>();

  /** Throws ConfigurationError. */
  check(priority: Section, plugin: string, weight: number): void {
    const first = this.#first.get(plugin);
    if (first !== undefined && plugin === RATIO)
      priority.fail('argument', 'another priority has one of this kind already');
    if (first !== undefined && first !== weight) {
      priority.fail('weight', `must be ${first}, as that of the other priorities with an argument of this kind`);
    }
    this.#first.set(plugin, weight);
  }
}

interface PriorityPlugin {
  readonly plugin: string;
  /** The policy says what is scored, by an argument. */
  readonly isOwn: boolean;
}

function pluginOfPriority(priority: Section, name: string, args: PolicyArgs): PriorityPlugin {
  const argument = argumentOf(priority, [
    'serviceAntiAffinity',
    'labelPreference',
    'requestedToCapacityRatioArguments',
  ]);
  // As of predicates: these have no argument of their own.
  if (BY_OWNERS.has(name)) return { plugin: args.spreadByOwners(), isOwn: false };
  if (Object.hasOwn(PRIORITIES, name)) return { plugin: PRIORITIES[name]!, isOwn: false };
  if (argument === undefined) return priority.fail('name', `there is no priority ${name}`);
  return { plugin: readOwnPriority(argument, args), isOwn: true };
}

function readOwnPriority(argument: Section, args: PolicyArgs): string {
  if (argument.has('serviceAntiAffinity')) {
    const label = argument.section('serviceAntiAffinity', ['label']).requiredText('label');
    args.addServiceLabels('antiAffinityLabelsPreference', [label]);
    return 'ServiceAffinity';
  }
  if (argument.has('labelPreference')) {
    const preference = argument.section('labelPreference', ['label', 'presence']);
    const member = preference.flag('presence', false) ? 'presentLabelsPreference' : 'absentLabelsPreference';
    args.addLabels(member, [preference.requiredText('label')]);
    return 'NodeLabel';
  }
  args.setRatio(argument.section('requestedToCapacityRatioArguments', ['shape', 'resources']));
  return RATIO;
}
