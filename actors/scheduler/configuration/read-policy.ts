// A legacy policy, as a parsed value: predicates and priorities by their old names become the plug-ins that do their work.
// SPEC.md "Scheduler options", `--policy-config-file`, `--policy-configmap`.
import { Section } from '../../../config/configuration-section.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { SchedulerGates } from '../framework/gates.ts';
import type { EnabledPlugin, PluginSets } from '../profiles/default-plugins.ts';
import { PLUGIN_ARGS, type PluginArgs } from '../profiles/plugin-args.ts';
import { PLUGINS } from '../profiles/plugin-table.ts';
import type { ExtenderConfiguration } from './configuration.ts';
import { readRatio } from './read-args.ts';
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
  const filters = file.has('predicates') ? readPredicates(file, args) : base.filter.map(({ name }) => name);
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
    this.args = { ...this.args, RequestedToCapacityRatio: readRatio(ratio) };
  }
}

function readPredicates(file: Section, args: PolicyArgs): readonly string[] {
  const plugins = new Set<string>();
  const wanted = new Set(MANDATORY);
  for (const predicate of file.sections('predicates', ['name', 'argument'])) {
    const name = predicate.requiredText('name');
    const argument = predicate.section('argument', ['labelsPresence', 'serviceAffinity']);
    if (argument.has('labelsPresence') && argument.has('serviceAffinity')) predicate.fail('argument', ONE_ARGUMENT);
    if (argument.has('labelsPresence')) {
      const { labels, presence } = readPresence(argument.section('labelsPresence', ['labels', 'presence']));
      args.addLabels(presence ? 'presentLabels' : 'absentLabels', labels);
      wanted.add('CheckNodeLabelPresence');
    } else if (argument.has('serviceAffinity')) {
      args.addServiceLabels('affinityLabels', argument.section('serviceAffinity', ['labels']).texts('labels'));
      wanted.add('CheckServiceAffinity');
    } else if (PREDICATES.some(([known]) => known === name)) wanted.add(name);
    else predicate.fail('name', `there is no predicate ${name}`);
  }
  for (const [predicate, names] of PREDICATES) if (wanted.has(predicate)) for (const name of names) plugins.add(name);
  return [...plugins];
}

function readPresence(section: Section): { readonly labels: readonly string[]; readonly presence: boolean } {
  return { labels: section.texts('labels'), presence: section.flag('presence', false) };
}

function readPriorities(file: Section, args: PolicyArgs): readonly EnabledPlugin[] {
  const weights = new Map<string, number>();
  // What pods ask for themselves weighs as it is said, where one plug-in also does what is assumed of the others.
  let byConstraints: string | undefined;
  for (const priority of file.sections('priorities', ['name', 'weight', 'argument'])) {
    const name = priority.requiredText('name');
    if (name === EQUAL) continue;
    const plugin = pluginOfPriority(priority, name, args);
    const weight = priority.number('weight', WEIGHT, 0);
    if (name === BY_CONSTRAINTS) byConstraints = plugin;
    // Those of one's own that a plug-in does together add up; of one that is named twice the last counts.
    if (!BY_OWNERS.has(name) && PRIORITIES[name] !== plugin) weights.set(plugin, (weights.get(plugin) ?? 0) + weight);
    else if (!BY_OWNERS.has(name) || plugin !== byConstraints) weights.set(plugin, weight);
  }
  return [...weights].map(([name, weight]) => ({ name, weight }));
}

function pluginOfPriority(priority: Section, name: string, args: PolicyArgs): string {
  const known = ['serviceAntiAffinity', 'labelPreference', 'requestedToCapacityRatioArguments'];
  const argument = priority.section('argument', known);
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
  if (argument.has('requestedToCapacityRatioArguments')) {
    args.setRatio(argument.section('requestedToCapacityRatioArguments', ['shape', 'resources']));
    return 'RequestedToCapacityRatio';
  }
  if (BY_OWNERS.has(name)) return args.spreadByOwners();
  return Object.hasOwn(PRIORITIES, name) ? PRIORITIES[name]! : priority.fail('name', `there is no priority ${name}`);
}
