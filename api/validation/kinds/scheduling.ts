// Rules of priority classes, runtime classes and leases.
import type { JsonObject } from '../../json/json-value.ts';
import { textProblems } from '../../metadata/formats.ts';
import { metadataOf } from '../../metadata/object-meta.ts';
import type { ChangeTable, Rule, RuleTable } from '../rule.ts';
import { containerAmounts } from './resource-amounts.ts';

/** The highest priority of users' pods. */
const PRIORITY_MAX = 1_000_000_000;

interface PriorityClass extends JsonObject {
  readonly value?: number;
  readonly globalDefault?: boolean;
}

/** The classes of the system's own pods, and the value each must have. */
export const SYSTEM_CLASSES: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};
const SYSTEM_PREFIX = 'system-';

const RESERVED = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only.`;

/** Why a class with such a name is none of the system's. */
function systemProblem({ value = 0, globalDefault = false }: PriorityClass, name: string): string | undefined {
  const expected = Object.hasOwn(SYSTEM_CLASSES, name) ? SYSTEM_CLASSES[name] : undefined;
  if (expected === undefined) return `${name} is not a known system priority class`;
  if (value !== expected) return `value of ${name} PriorityClass must be ${expected}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

const priority: Rule<PriorityClass> = (object, at) => {
  const { value = 0 } = object;
  const { name = '' } = metadataOf(object);
  if (name.startsWith(SYSTEM_PREFIX)) {
    const problem = systemProblem(object, name);
    if (problem !== undefined) at.forbidden('metadata.name', `${RESERVED} error: ${problem}`);
  } else if (value > PRIORITY_MAX) {
    at.forbidden('value', `maximum allowed value of a user defined priority is ${PRIORITY_MAX}`);
  }
};

const emptyPolicy: Rule<{ readonly preemptionPolicy?: string }> = ({ preemptionPolicy }, at) => {
  if (preemptionPolicy === '') at.required('preemptionPolicy');
};

const handler: Rule<{ readonly handler?: string }> = ({ handler: name = '' }, at) =>
  at.problems('handler', name, textProblems('dns1123Label', name));

export const schedulingTypes: RuleTable = {
  'scheduling.PriorityClass': {
    fields: { preemptionPolicy: { enum: 'listed', mayBeEmpty: true } },
    rules: [priority, emptyPolicy, 'preemptionPolicy'],
  },
  'node.RuntimeClass': { rules: [handler, 'overhead', 'scheduling'] },
  // It is looked at in the form of v1.
  'node/v1alpha1.RuntimeClass': {},
  'node.Overhead': { fields: { podFixed: { rules: [containerAmounts] } } },
  'coordination.LeaseSpec': {
    fields: {
      leaseDurationSeconds: { min: 1, below: 'must be greater than 0' },
      leaseTransitions: { min: 0, below: 'must to greater or equal than 0' },
    },
  },
};

export const schedulingUpdates: ChangeTable = {
  'scheduling.PriorityClass': {
    fields: {
      value: { immutable: true, reason: 'forbidden', reportedAt: 'Value', text: 'may not be changed in an update.' },
      preemptionPolicy: { immutable: true },
    },
  },
  'node.RuntimeClass': { fields: { handler: { immutable: true } } },
};
