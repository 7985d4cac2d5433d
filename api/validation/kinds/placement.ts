// Rules of what a pod asks of the nodes it runs on: selectors of nodes, affinity to other pods, tolerations, spreading.
// Volumes and runtime classes use some of them.
import { qualifiedNameProblems, textProblems } from '../formats.ts';
import { eachRepeated } from '../repeats.ts';
import type { Rule, RuleTable } from '../rule.ts';
import { labels } from './labels.ts';

interface Requirement {
  readonly key?: string;
  readonly operator?: string;
  readonly values?: readonly string[];
}

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'];

const expressions: Rule<readonly Requirement[]> = (list, at) => {
  for (const [index, { key = '', operator = '', values = [] }] of list.entries()) {
    const path = `[${index}]`;
    at.problems(`${path}.key`, key, qualifiedNameProblems(key));
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) at.required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0) {
        at.forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      }
    } else if (operator === 'Gt' || operator === 'Lt') {
      if (values.length !== 1)
        at.required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'");
    } else at.invalid(`${path}.operator`, operator, `must be one of ${OPERATORS.join(', ')}`);
  }
};

const NODE_NAME = 'metadata.name';

const nodeFields: Rule<readonly Requirement[]> = (list, at) => {
  for (const [index, { key = '', operator = '', values = [] }] of list.entries()) {
    const path = `[${index}]`;
    if (operator !== 'In' && operator !== 'NotIn') {
      at.invalid(`${path}.operator`, operator, 'must be In or NotIn');
    } else if (values.length !== 1) {
      at.required(`${path}.values`, 'must be only one value when `operator` is In or NotIn for node field selector');
    }
    if (key !== NODE_NAME) {
      at.invalid(`${path}.key`, key, `must be ${NODE_NAME}`);
      continue;
    }
    for (const [value, name] of values.entries()) {
      at.problems(`${path}.values[${value}]`, name, textProblems('dns1123Subdomain', name));
    }
  }
};

interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number | null;
}

const toleration: Rule<Toleration> = ({ key = '', operator = '', value = '', effect = '', tolerationSeconds }, at) => {
  if (key === '' && operator !== 'Exists') {
    at.invalid(
      'operator',
      operator,
      'operator must be Exists when `key` is empty, which means "match all values and all keys"',
    );
  }
  const isTimed = tolerationSeconds !== undefined && tolerationSeconds !== null;
  if (isTimed && effect !== 'NoExecute') {
    at.invalid('effect', effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  if (operator === '' || operator === 'Equal') at.problems('operator', value, textProblems('labelValue', value));
  else if (operator === 'Exists') {
    if (value !== '') at.invalid('operator', operator, "value must be empty when `operator` is 'Exists'");
  } else at.notSupported('operator', operator, ['Equal', 'Exists']);
};

/** The tolerations of a runtime class: no two are the same but for their time. */
const distinctTolerations: Rule<readonly Toleration[]> = (list, at) =>
  eachRepeated(
    list,
    ({ key = '', operator = '', value = '', effect = '' }) => [key, operator, value, effect].join('\n'),
    (_key, index, report) => report.duplicate(`[${index}]`, list[index]),
    at,
  );

interface SpreadConstraint {
  readonly topologyKey?: string;
  readonly whenUnsatisfiable?: string;
}

const spreadConstraints: Rule<readonly SpreadConstraint[]> = (list, at) =>
  eachRepeated(
    list,
    ({ topologyKey, whenUnsatisfiable }) => `${topologyKey}, ${whenUnsatisfiable}`,
    (key, index, report) => report.duplicate(`[${index}].{topologyKey, whenUnsatisfiable}`, `{${key}}`),
    at,
  );

/** For the field `topologySpreadConstraints` of a pod spec. */
export const spreadList = { rules: [spreadConstraints] } as const;

const topologyTerms: Rule<readonly { readonly matchLabelExpressions?: readonly object[] }[]> = (terms, at) =>
  eachRepeated(
    terms,
    (term) => JSON.stringify(term),
    (_key, index, report) => report.duplicate(`[${index}].matchLabelExpressions`, ''),
    at,
  );

/** For the field `allowedTopologies` of a storage class. */
export const topologyTermList = { rules: [topologyTerms] } as const;

const WEIGHT = { min: 1, max: 100 } as const;

export const placementTypes: RuleTable = {
  'core/v1.NodeSelector': {
    fields: { nodeSelectorTerms: { required: 'must have at least one node selector term' } },
  },
  'core/v1.NodeSelectorTerm': {
    fields: { matchExpressions: { rules: [expressions] }, matchFields: { rules: [nodeFields] } },
  },
  'core/v1.PreferredSchedulingTerm': { fields: { weight: WEIGHT } },
  'core/v1.WeightedPodAffinityTerm': { fields: { weight: WEIGHT } },
  'core/v1.PodAffinityTerm': {
    fields: {
      topologyKey: { required: 'can not be empty', format: 'qualifiedName' },
      namespaces: { format: 'dns1123Label' },
    },
  },
  'core/v1.Toleration': {
    fields: { key: { format: 'qualifiedName' }, effect: { enum: true } },
    rules: [toleration],
  },
  'core/v1.TopologySpreadConstraint': {
    fields: {
      maxSkew: { min: 1 },
      topologyKey: { required: 'can not be empty' },
      whenUnsatisfiable: { required: true, enum: true },
      labelSelector: { opaque: true },
    },
  },
  'core/v1.TopologySelectorTerm': { fields: { matchLabelExpressions: { unique: 'key' } } },
  'core/v1.TopologySelectorLabelRequirement': {
    fields: { key: { required: true, format: 'qualifiedName' }, values: { required: true, unique: true } },
  },
  'node.Scheduling': {
    fields: { nodeSelector: { rules: [labels] }, tolerations: { rules: [distinctTolerations] } },
  },
};
