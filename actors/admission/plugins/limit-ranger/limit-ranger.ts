// LimitRanger: the limit ranges of a namespace give containers requests and limits that they do not name, and bound what containers,
// pods and claims may name.
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { partAt, partsAt, textAt } from '../../../../api/json/object-fields.ts';
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import type { Attributes } from '../../attributes.ts';
import type { KindView } from '../../cluster.ts';
import { forbid } from '../forbid.ts';
import type { AdmissionPlugin, AdmissionPluginKind, PluginContext } from '../plugin.ts';
import {
  type Amounts,
  isPodWithin,
  type Limits,
  type Needs,
  type PodNeeds,
  problemsOf,
  type Range,
  rangeOf,
  requestProblemsOf,
  type Standard,
  totalOf,
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
    for (const range of this.#rangesFor(attributes)) setDefaults(attributes, range, this.#annotation);
  };

  readonly validate = (attributes: Attributes): void => {
    const { object, old, type } = attributes;
    if (old !== undefined && metadataOf(old).deletionTimestamp) return;
    for (const { limits } of this.#rangesFor(attributes)) {
      const problems =
        type.plural === 'pods' ? podProblems(limits, object) : limits.flatMap((one) => claimProblems(one, object));
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

/** Gives the containers of a pod what they do not say. */
function setDefaults(attributes: Attributes, range: Range, annotation: string): void {
  const { object } = attributes;
  if (range.defaultRequest.names.length === 0 && range.defaultLimit.names.length === 0) return;
  const said: string[] = [];
  for (const [list, spoken] of CONTAINERS) {
    const before = partsAt(partAt(object, 'spec'), list);
    const after = before.map((container) => withDefaults(container, spoken, range, said));
    if (after.some((container, index) => container !== before[index])) attributes.ownSpec()[list] = after;
  }
  if (said.length === 0) return;
  const metadata = metadataOf(object);
  const annotations = { ...metadata.annotations, [annotation]: `LimitRanger plugin set: ${said.join('; ')}` };
  attributes.object = { ...attributes.object, metadata: { ...metadata, annotations } };
}

/** @param said takes what was given it. */
function withDefaults(container: JsonObject, spoken: string, range: Range, said: string[]): JsonObject {
  const resources = partAt(container, 'resources');
  const requests = partAt(resources, 'requests') as Amounts;
  const limits = partAt(resources, 'limits') as Amounts;
  const addedRequests = missing(requests, range.defaultRequest);
  const addedLimits = missing(limits, range.defaultLimit);
  if (addedRequests.length === 0 && addedLimits.length === 0) return container;
  const name = textAt(container, 'name');
  const given: Record<string, unknown> = { ...resources };
  if (addedRequests.length > 0) {
    given.requests = { ...range.defaultRequest.amounts, ...requests };
    said.push(`${addedRequests.join(', ')} request for ${spoken} ${name}`);
  }
  if (addedLimits.length > 0) {
    given.limits = { ...range.defaultLimit.amounts, ...limits };
    said.push(`${addedLimits.join(', ')} limit for ${spoken} ${name}`);
  }
  return { ...container, resources: given };
}

/** The resources of the standard that amounts leave open. */
function missing(own: Amounts, { names }: Standard): readonly string[] {
  return names.every((resource) => own[resource] !== undefined)
    ? NOTHING
    : names.filter((resource) => own[resource] === undefined);
}

const NOTHING: readonly string[] = [];

/** What is wrong with a pod by some of the limits of a range. */
function podProblems(all: readonly Limits[], pod: JsonObject): readonly string[] {
  const spec = partAt(pod, 'spec');
  const [containers, initial] = CONTAINERS.map(([list]) => partsAt(spec, list).map(needsOf)) as [Needs[], Needs[]];
  const together = (of: keyof Needs) => ({
    running: containers.map((one) => one[of]),
    initial: initial.map((one) => one[of]),
  });
  const needs: PodNeeds = { requests: together('requests'), limits: together('limits') };
  return all.flatMap((limits) => {
    if (limits.type === 'Container')
      return [...containers, ...initial].flatMap((one) => problemsOf(limits, one.requests, one.limits));
    if (limits.type !== 'Pod' || isPodWithin(limits, needs)) return NOTHING;
    return problemsOf(limits, totalOf(needs.requests), totalOf(needs.limits));
  });
}

function needsOf(container: JsonObject): Needs {
  const resources = partAt(container, 'resources');
  return { requests: partAt(resources, 'requests') as Amounts, limits: partAt(resources, 'limits') as Amounts };
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
