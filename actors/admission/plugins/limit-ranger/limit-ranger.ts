// LimitRanger: the limit ranges of a namespace give containers requests and limits that they do not name, and bound what containers,
// pods and claims may name.
import type { JsonObject } from '../../../../api/json-value.ts';
import { partAt, partsAt, textAt } from '../../../../api/object-fields.ts';
import { metadataOf } from '../../../../api/object-meta.ts';
import type { Attributes } from '../../attributes.ts';
import type { KindView } from '../../cluster.ts';
import { forbid } from '../forbid.ts';
import type { AdmissionPlugin, AdmissionPluginKind, PluginContext } from '../plugin.ts';
import {
  type Amounts,
  type Limits,
  largerOf,
  problemsOf,
  type Range,
  rangeOf,
  requestProblemsOf,
  sumOf,
} from './bounds.ts';

/** The lists of containers that are given something, and what the annotation calls them. */
const CONTAINERS = [
  ['containers', 'container'],
  ['initContainers', 'init container'],
] as const;

class LimitRanger implements AdmissionPlugin {
  readonly #ranges: KindView<Range>;
  readonly #annotation: string;

  constructor({ cluster, dialect }: PluginContext) {
    this.#annotation = dialect.spell('@label/limit-ranger');
    this.#ranges = cluster.follow('v1/limitranges', rangeOf);
  }

  readonly mutate = (attributes: Attributes): void => {
    if (attributes.type.plural !== 'pods') return;
    for (const range of this.#rangesFor(attributes))
      attributes.object = withDefaults(attributes.object, range, this.#annotation);
  };

  readonly validate = (attributes: Attributes): void => {
    const { object, old, type } = attributes;
    if (old !== undefined && metadataOf(old).deletionTimestamp) return;
    for (const { limits } of this.#rangesFor(attributes)) {
      const problems = limits.flatMap((one) =>
        type.plural === 'pods' ? podProblems(one, object) : claimProblems(one, object),
      );
      if (problems.length > 0) throw forbid(attributes, aggregated(problems));
    }
  };

  /** By their names, so that every server does the same. */
  #rangesFor({ asked: { namespace } }: Attributes): readonly Range[] {
    const ranges = this.#ranges.within(namespace);
    if (ranges.size < 2) return [...ranges.values()];
    return [...ranges].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, range]) => range);
  }
}

function aggregated(problems: readonly string[]): string {
  const [first, ...others] = new Set(problems);
  return others.length === 0 ? first! : `[${[first, ...others].join(', ')}]`;
}

function withDefaults(pod: JsonObject, range: Range, annotation: string): JsonObject {
  const { defaultRequest, defaultLimit } = range;
  if (Object.keys(defaultRequest).length === 0 && Object.keys(defaultLimit).length === 0) return pod;
  const said: string[] = [];
  const spec: Record<string, unknown> = { ...partAt(pod, 'spec') };
  for (const [list, spoken] of CONTAINERS) {
    if (spec[list] === undefined) continue;
    spec[list] = partsAt(spec, list).map((container) => {
      const resources = partAt(container, 'resources');
      const requests = filled(partAt(resources, 'requests') as Amounts, defaultRequest);
      const limits = filled(partAt(resources, 'limits') as Amounts, defaultLimit);
      const name = textAt(container, 'name');
      if (requests.added.length > 0) said.push(`${requests.added.join(', ')} request for ${spoken} ${name}`);
      if (limits.added.length > 0) said.push(`${limits.added.join(', ')} limit for ${spoken} ${name}`);
      if (requests.added.length === 0 && limits.added.length === 0) return container;
      return {
        ...container,
        resources: {
          ...resources,
          ...(Object.keys(limits.amounts).length === 0 ? undefined : { limits: limits.amounts }),
          ...(Object.keys(requests.amounts).length === 0 ? undefined : { requests: requests.amounts }),
        },
      };
    });
  }
  if (said.length === 0) return pod;
  const metadata = metadataOf(pod);
  const annotations = { ...metadata.annotations, [annotation]: `LimitRanger plugin set: ${said.join('; ')}` };
  return { ...pod, metadata: { ...metadata, annotations }, spec };
}

/** The amounts with those of the standard that they leave open, and which those are. */
function filled(own: Amounts, standard: Amounts): { readonly amounts: Amounts; readonly added: readonly string[] } {
  const added = Object.keys(standard)
    .filter((resource) => own[resource] === undefined)
    .sort();
  return { amounts: added.length === 0 ? own : { ...standard, ...own }, added };
}

function podProblems(limits: Limits, pod: JsonObject): readonly string[] {
  const spec = partAt(pod, 'spec');
  const [containers, initial] = CONTAINERS.map(([list]) =>
    partsAt(spec, list).map((container) => {
      const resources = partAt(container, 'resources');
      return { requests: partAt(resources, 'requests') as Amounts, limits: partAt(resources, 'limits') as Amounts };
    }),
  ) as [Needs[], Needs[]];
  if (limits.type === 'Container')
    return [...containers, ...initial].flatMap((one) => problemsOf(limits, one.requests, one.limits));
  if (limits.type !== 'Pod') return [];
  // Containers run beside each other, after the initial ones have run one by one.
  const total = (of: keyof Needs): Amounts =>
    initial.map((one) => one[of]).reduce(largerOf, sumOf(containers.map((one) => one[of])));
  return problemsOf(limits, total('requests'), total('limits'));
}

interface Needs {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

function claimProblems(limits: Limits, claim: JsonObject): readonly string[] {
  if (limits.type !== 'PersistentVolumeClaim') return [];
  return requestProblemsOf(limits, partAt(partAt(partAt(claim, 'spec'), 'resources'), 'requests') as Amounts);
}

export const limitRanger: AdmissionPluginKind = {
  name: 'LimitRanger',
  wants: [
    { operations: ['create'], resources: ['core/pods'] },
    { operations: ['create', 'update'], resources: ['core/persistentvolumeclaims'] },
  ],
  create: (context) => new LimitRanger(context),
};
