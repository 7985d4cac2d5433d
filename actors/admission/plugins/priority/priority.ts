// Priority: a pod's priority is the number of its class, which is there; one class at most is the default of all.

import { booleanAt, numberAt, partAt, textAt } from '../../../../api/json/object-fields.ts';
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import type { Attributes } from '../../attributes.ts';
import type { KindView } from '../../cluster.ts';
import { forbid } from '../forbid.ts';
import type { AdmissionPlugin, AdmissionPluginKind, PluginContext } from '../plugin.ts';

interface PriorityClass {
  readonly name: string;
  readonly value: number;
  /** Blank: a pod may have any. */
  readonly preemptionPolicy: string;
  readonly isDefault: boolean;
}

/** What pods have where no class is the default. */
const NO_CLASS: PriorityClass = { name: '', value: 0, preemptionPolicy: 'PreemptLowerPriority', isDefault: false };

class Priority implements AdmissionPlugin {
  readonly #classes: KindView<PriorityClass>;
  readonly #hasPolicies: boolean;
  #defaultAt = -1;
  #default: PriorityClass | undefined;

  constructor({ cluster, options }: PluginContext) {
    this.#hasPolicies = options.gate('NonPreemptingPriority');
    this.#classes = cluster.follow('scheduling.@group/v1/priorityclasses', (object, { name }) => ({
      name,
      value: numberAt(object, 'value'),
      preemptionPolicy: textAt(object, 'preemptionPolicy'),
      isDefault: booleanAt(object, 'globalDefault'),
    }));
  }

  readonly mutate = (attributes: Attributes): void => {
    if (attributes.type.plural !== 'pods') return;
    if (attributes.asked.operation === 'update') keepPriority(attributes);
    else this.#setPriority(attributes);
  };

  readonly validate = (attributes: Attributes): void => {
    const { type, asked } = attributes;
    if (type.plural === 'pods') return;
    const { object } = attributes;
    if (!booleanAt(object, 'globalDefault')) return;
    const other = this.#defaultClass();
    if (other === undefined) return;
    if (asked.operation === 'update' && other.name === metadataOf(object).name) return;
    throw forbid(attributes, `PriorityClass ${other.name} is already marked as default. Only one default can exist`);
  };

  #setPriority(attributes: Attributes): void {
    const spec = partAt(attributes.object, 'spec');
    const named = textAt(spec, 'priorityClassName');
    const priorityClass = named === '' ? (this.#defaultClass() ?? NO_CLASS) : this.#classes.get('', named);
    if (priorityClass === undefined) throw forbid(attributes, `no PriorityClass with name ${named} was found`);
    const { name, value, preemptionPolicy } = priorityClass;
    if (typeof spec.priority === 'number' && spec.priority !== value)
      throw forbid(
        attributes,
        `the integer value of priority (${spec.priority}) must not be provided in pod spec; ` +
          `priority admission controller computed ${value} from the given PriorityClass name`,
      );
    const policy = this.#hasPolicies ? preemptionPolicy : '';
    const own = spec.preemptionPolicy;
    if (policy !== '' && typeof own === 'string' && own !== policy)
      throw forbid(
        attributes,
        `the string value of PreemptionPolicy (${own}) must not be provided in pod spec; ` +
          `priority admission controller computed ${policy} from the given PriorityClass name`,
      );
    const given = attributes.ownSpec();
    if (name !== '') given.priorityClassName = name;
    given.priority = value;
    if (policy !== '') given.preemptionPolicy = policy;
  }

  /** Of several, which may come of a race: the one with the lowest value. */
  #defaultClass(): PriorityClass | undefined {
    if (this.#defaultAt === this.#classes.changes) return this.#default;
    let least: PriorityClass | undefined;
    for (const one of this.#classes.within('').values())
      if (one.isDefault && (least === undefined || one.value < least.value)) least = one;
    this.#defaultAt = this.#classes.changes;
    this.#default = least;
    return least;
  }
}

/** Who sends a pod back without what it was given has not meant to take it away. */
function keepPriority(attributes: Attributes): void {
  // Its spec is the stored one.
  if (attributes.isApart) return;
  const spec = partAt(attributes.object, 'spec');
  const old = partAt(attributes.old ?? {}, 'spec');
  for (const member of KEPT) {
    if (spec[member] === undefined && old[member] !== undefined) attributes.ownSpec()[member] = old[member];
  }
}

const KEPT = ['priority', 'preemptionPolicy'] as const;

export const priority: AdmissionPluginKind = {
  name: 'Priority',
  wants: [{ operations: ['create', 'update'], resources: ['core/pods', 'scheduling/priorityclasses'] }],
  isRepeatable: true,
  create: (context) => new Priority(context),
};
