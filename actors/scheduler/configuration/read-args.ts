// The `args` of built-in plug-ins, as configuration files and legacy policies write them, checked against what each plug-in
// can do. One reader a plug-in.
import { asObject } from '../../../api/json/object-fields.ts';
import { qualifiedNameProblems } from '../../../api/metadata/formats.ts';
import { ConfigurationError } from '../../../config/configuration-file.ts';
import { Section } from '../../../config/configuration-section.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { DefaultConstraint } from '../plugins/pod-topology-spread.ts';
import type { ShapePoint } from '../plugins/requested-to-capacity-ratio.ts';
import { CPU_AND_MEMORY, type WeightedResource } from '../plugins/resource-scores.ts';
import type { WeightedNodeTerm } from '../pods/node-terms.ts';
import type { PluginArgs } from '../profiles/plugin-args.ts';
import { readCheckedTerm, TERM_MEMBERS } from './read-node-terms.ts';
import { configurationVersions } from './versions.ts';

const PERCENT = { least: 0, most: 100 };
const COUNT = { least: 0, most: 2 ** 31 - 1 };
const WEIGHT = { least: 1, most: 100 };
const ANY_WEIGHT = { least: 1, most: Number.MAX_SAFE_INTEGER };

type Readers = {
  readonly [Name in keyof PluginArgs]: (args: unknown, path: string, dialect: Dialect) => PluginArgs[Name];
};

const READERS: Readers = {
  DefaultPreemption(args, path, dialect) {
    const section = open(args, path, dialect, ['minCandidateNodesPercentage', 'minCandidateNodesAbsolute']);
    const minCandidateNodesPercentage = section.number('minCandidateNodesPercentage', PERCENT, 10);
    const minCandidateNodesAbsolute = section.number('minCandidateNodesAbsolute', COUNT, 100);
    if (minCandidateNodesPercentage === 0 && minCandidateNodesAbsolute === 0) {
      section.fail('minCandidateNodesPercentage', 'may not be 0 where minCandidateNodesAbsolute is');
    }
    return { minCandidateNodesPercentage, minCandidateNodesAbsolute };
  },
  InterPodAffinity: (args, path, dialect) => ({
    hardPodAffinityWeight: open(args, path, dialect, ['hardPodAffinityWeight']).number(
      'hardPodAffinityWeight',
      PERCENT,
      1,
    ),
  }),
  NodeAffinity(args, path, dialect) {
    const required = 'requiredDuringSchedulingIgnoredDuringExecution';
    const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';
    const section = open(args, path, dialect, ['addedAffinity']);
    const added = section.section('addedAffinity', [required, preferred]);
    const terms = added.has(required) ? added.section(required, ['nodeSelectorTerms']) : undefined;
    return {
      addedRequired: terms?.sections('nodeSelectorTerms', TERM_MEMBERS).map(readCheckedTerm),
      addedPreferred: added.sections(preferred, ['weight', 'preference']).map(
        (each): WeightedNodeTerm => ({
          weight: each.number('weight', WEIGHT, 0),
          term: readCheckedTerm(each.section('preference', TERM_MEMBERS)),
        }),
      ),
    };
  },
  NodeLabel(args, path, dialect) {
    const names = ['presentLabels', 'absentLabels', 'presentLabelsPreference', 'absentLabelsPreference'] as const;
    const section = open(args, path, dialect, names);
    const [presentLabels, absentLabels, presentLabelsPreference, absentLabelsPreference] = names.map((name) =>
      section.texts(name),
    );
    const both = presentLabels!.find((label) => absentLabels!.includes(label));
    if (both !== undefined) section.fail('absentLabels', `${both} is among presentLabels too`);
    const wishedBoth = presentLabelsPreference!.find((label) => absentLabelsPreference!.includes(label));
    if (wishedBoth !== undefined)
      section.fail('absentLabelsPreference', `${wishedBoth} is among presentLabelsPreference too`);
    return {
      presentLabels: presentLabels!,
      absentLabels: absentLabels!,
      presentLabelsPreference: presentLabelsPreference!,
      absentLabelsPreference: absentLabelsPreference!,
    };
  },
  NodeResourcesFit(args, path, dialect) {
    const section = open(args, path, dialect, ['ignoredResources', 'ignoredResourceGroups']);
    const ignoredResourceGroups = section.texts('ignoredResourceGroups');
    const wrong = ignoredResourceGroups.find((group) => group.includes('/'));
    if (wrong !== undefined)
      section.fail('ignoredResourceGroups', `${wrong} has a slash: a group is what comes before it`);
    const ignoredResources = section.texts('ignoredResources');
    requireQualified(section, 'ignoredResources', ignoredResources);
    requireQualified(section, 'ignoredResourceGroups', ignoredResourceGroups);
    return { ignoredResources, ignoredResourceGroups };
  },
  NodeResourcesLeastAllocated: (args, path, dialect) => ({
    resources: readResources(open(args, path, dialect, ['resources'])),
  }),
  NodeResourcesMostAllocated: (args, path, dialect) => ({
    resources: readResources(open(args, path, dialect, ['resources'])),
  }),
  PodTopologySpread(args, path, dialect) {
    const section = open(args, path, dialect, ['defaultConstraints', 'defaultingType']);
    const defaultConstraints = readConstraints(section);
    // Files written before there was a choice mean a list; an empty one says nothing.
    const unsaid = defaultConstraints.length > 0 ? 'List' : 'System';
    const type = section.choice('defaultingType', ['', 'List', 'System'], '') || unsaid;
    if (type === 'System' && defaultConstraints.length > 0) {
      section.fail('defaultingType', 'must be List where there are defaultConstraints');
    }
    return { defaultConstraints, systemDefaults: type === 'System' };
  },
  RequestedToCapacityRatio(args, path, dialect) {
    const section = open(args, path, dialect, ['shape', 'resources']);
    return readRatio(section);
  },
  ServiceAffinity(args, path, dialect) {
    const section = open(args, path, dialect, ['affinityLabels', 'antiAffinityLabelsPreference']);
    return {
      affinityLabels: section.texts('affinityLabels'),
      antiAffinityLabelsPreference: section.texts('antiAffinityLabelsPreference'),
    };
  },
  VolumeBinding(args, path, dialect) {
    const section = open(args, path, dialect, ['bindTimeoutSeconds', 'shape']);
    const bindTimeoutMs = 1000 * section.number('bindTimeoutSeconds', COUNT, 600);
    return section.has('shape') ? { bindTimeoutMs, shape: readShape(section) } : { bindTimeoutMs };
  },
};

/** The args of a plug-in, checked; undefined when none are known for it. Throws ConfigurationError. */
export function readPluginArgs(
  name: string,
  args: unknown,
  path: string,
  dialect: Dialect,
): Partial<PluginArgs> | undefined {
  if (!Object.hasOwn(READERS, name)) return undefined;
  const { kind } = asObject(args);
  if (kind !== undefined && kind !== `${name}Args`)
    throw new ConfigurationError(`${path}.kind`, `must be ${name}Args, or be left out`);
  return { [name]: READERS[name as keyof PluginArgs](args, path, dialect) };
}

/** A name that no resource can have would be ignored without a word. */
function requireQualified(section: Section, member: string, names: readonly string[]): void {
  for (const name of names) {
    const [problem] = qualifiedNameProblems(name);
    if (problem !== undefined) section.fail(member, `${JSON.stringify(name)}: ${problem}`);
  }
}

/** Args may be a typed object of their own. */
function open(args: unknown, path: string, dialect: Dialect, known: readonly string[]): Section {
  const section = new Section(args ?? {}, path, ['apiVersion', 'kind', ...known]);
  const version = section.text('apiVersion', '');
  const versions = configurationVersions(dialect);
  if (version !== '' && !versions.includes(version)) section.fail('apiVersion', `must be ${versions[0]}`);
  return section;
}

/** What RequestedToCapacityRatio scores by. */
export function readRatio(section: Section): PluginArgs['RequestedToCapacityRatio'] {
  return { shape: readShape(section), resources: readResources(section, ANY_WEIGHT) };
}

/** What is said of each resource that is scored. */
export const RESOURCE_MEMBERS = ['name', 'weight'] as const;

/** An empty list says as little as none. */
function readResources(section: Section, bounds = WEIGHT): readonly WeightedResource[] {
  const resources = section.sections('resources', RESOURCE_MEMBERS);
  if (resources.length === 0) return CPU_AND_MEMORY;
  return resources.map((each) => ({ name: each.requiredText('name'), weight: each.number('weight', bounds, 1) }));
}

function readShape(section: Section): readonly ShapePoint[] {
  const shape = section.sections('shape', ['utilization', 'score']).map((point) => ({
    utilization: point.number('utilization', PERCENT, 0),
    score: point.number('score', { least: 0, most: 10 }, 0),
  }));
  if (shape.length === 0) section.fail('shape', 'must have a point at least');
  shape.forEach(({ utilization }, at) => {
    if (at > 0 && utilization <= shape[at - 1]!.utilization) {
      throw new ConfigurationError(
        `${section.at('shape')}[${at}].utilization`,
        'must be more than that of the point before',
      );
    }
  });
  return shape;
}

function readConstraints(section: Section): readonly DefaultConstraint[] {
  const known = ['maxSkew', 'topologyKey', 'whenUnsatisfiable', 'labelSelector'];
  const seen = new Set<string>();
  return section.sections('defaultConstraints', known).map((each) => {
    if (each.has('labelSelector'))
      each.fail('labelSelector', 'is not for default constraints: it follows from what owns the pod');
    const topologyKey = each.requiredText('topologyKey');
    requireQualified(each, 'topologyKey', [topologyKey]);
    each.requiredText('whenUnsatisfiable');
    const when = each.choice('whenUnsatisfiable', ['DoNotSchedule', 'ScheduleAnyway'] as const, 'DoNotSchedule');
    if (seen.has(`${topologyKey} ${when}`)) each.fail('topologyKey', `${topologyKey} with ${when} is there already`);
    seen.add(`${topologyKey} ${when}`);
    return {
      topologyKey,
      maxSkew: each.number('maxSkew', { least: 1, most: 2 ** 31 - 1 }, 0),
      required: when === 'DoNotSchedule',
    };
  });
}
