// Rules of what a pod asks of the nodes it runs on: selectors of nodes, affinity to other pods, tolerations, spreading.
// Volumes and runtime classes use some of them.
import { qualifiedNameProblems, textProblems } from '../../metadata/formats.ts';
import { eachRepeated } from '../repeats.ts';
import type { Rule, RuleTable } from '../rule.ts';
import { labels } from './labels.ts';

interface Requirement {
  readonly key?: string;
  readonly operator?: string;
  readonly values?: readonly string[];
}

const expressions: Rule<readonly Requirement[]> = (list, at) => {
  for (const [index, { key = '', operator = '', values = [] }] of list.entries()) {
    const path = `[${index}]`;
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) at.required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0) {
        at.forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      }
    } else if (operator === 'Gt' || operator === 'Lt') {
      if (values.length !== 1)
        at.required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'");
    } else at.invalid(`${path}.operator`, operator, 'not a valid selector operator');
    at.problems(`${path}.key`, key, qualifiedNameProblems(key));
  }
};

const NODE_NAME = 'metadata.name';

const nodeFields: Rule<readonly Requirement[]> = (list, at) => {
  for (const [index, { key = '', operator = '', values = [] }] of list.entries()) {
    const path = `[${index}]`;
    if (operator !== 'In' && operator !== 'NotIn') {
      at.invalid(`${path}.operator`, operator, 'not a valid selector operator');
    } else if (values.length !== 1) {
      at.required(
        `${path}.values`,
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
      );
    }
    if (key !== NODE_NAME) {
      at.invalid(`${path}.key`, key, 'not a valid field selector key');
      continue;
    }
    for (const [value, name] of values.entries()) {
      at.problems(`${path}.values[${value}]`, name, textProblems('dns1123Subdomain', name));
    }
  }
};

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number | null;
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** What a pod tolerates; also asked of one that an update adds. */
export const toleration: Rule<Toleration> = (
  { key = '', operator = '', value = '', effect = '', tolerationSeconds },
  at,
) => {
  if (key !== '') at.problems('key', key, qualifiedNameProblems(key));
  else if (operator !== 'Exists') {
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
  if (operator === '' || operator === 'Equal') {
    const problems = textProblems('labelValue', value);
    if (problems.length > 0) at.invalid('operator', value, problems.join(';'));
  } else if (operator === 'Exists') {
    if (value !== '') at.invalid('operator', value, "value must be empty when `operator` is 'Exists'");
  } else at.notSupported('operator', operator, ['Equal', 'Exists']);
  if (effect !== '' && !EFFECTS.includes(effect)) at.notSupported('effect', effect, EFFECTS);
};

/** The tolerations of a runtime class: no two are the same but for their time. */
const distinctTolerations: Rule<readonly Toleration[]> = (list, at) =>
  eachRepeated(
    list,
    ({ key = '', operator = '', value = '', effect = '' }) => [key, operator, value, effect].join('\n'),
    (_key, index, report) => report.duplicate(`[${index}]`, list[index]),
    at,
  );

const repeatedTolerations: Rule<{ readonly tolerations?: readonly Toleration[] }> = ({ tolerations = [] }, at) => {
  at.enter('tolerations');
  distinctTolerations(tolerations, at);
  at.leave();
};

interface SpreadConstraint {
  readonly topologyKey?: string;
  readonly whenUnsatisfiable?: string;
}

/** Said of each that stands again further on. */
const spreadConstraints: Rule<SpreadConstraint> = (constraint, at) => {
  const { list, index } = at;
  const last = at.metIn(list, spreadConstraints);
  if (last.size === 0) for (const [i, one] of list.entries()) last.set(spreadKey(one as SpreadConstraint), i);
  const key = spreadKey(constraint);
  if ((last.get(key) as number) > index) at.duplicate('{topologyKey, whenUnsatisfiable}', key);
};

const spreadKey = ({ topologyKey = '', whenUnsatisfiable = '' }: SpreadConstraint): string =>
  `{${topologyKey}, ${whenUnsatisfiable}}`;

interface TopologyTerm {
  readonly matchLabelExpressions?: readonly { readonly key?: string; readonly values?: readonly string[] }[];
}

/** The same for terms that ask the same; empty for one that asks nothing. */
function termKey({ matchLabelExpressions: list = [] }: TopologyTerm): string {
  if (list.length === 0) return '';
  const texts = list.map(({ key = '', values = [] }) => JSON.stringify([key, [...new Set(values)].sort()]));
  return texts.sort().join('\n');
}

/** One that asks nothing counts as a repeated one, wherever it is. */
const topologyTerms: Rule<readonly TopologyTerm[]> = (terms, at) => {
  const met = new Set(['']);
  for (const [index, term] of terms.entries()) {
    const key = termKey(term);
    if (met.has(key)) at.duplicate(`[${index}].matchLabelExpressions`, '');
    met.add(key);
  }
};

const topologyKey: Rule<{ readonly key?: string }> = ({ key = '' }, at) =>
  at.problems('key', key, qualifiedNameProblems(key));

/** For the field `allowedTopologies` of a storage class. */
export const topologyTermList = { rules: [topologyTerms] } as const;

/** Reported at one place, whichever it is. */
const namespaceNames: Rule<readonly string[]> = (names, at) => {
  for (const name of names) at.problems('', name, textProblems('dns1123Label', name));
};

const WEIGHT = { min: 1, max: 100, outside: 'must be in the range 1-100' } as const;

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
      namespaces: { rules: [namespaceNames], reportedAt: 'namespace' },
      topologyKey: { required: 'can not be empty', format: 'qualifiedName', emptyToo: true },
    },
    rules: ['labelSelector', 'namespaceSelector', 'namespaces', 'topologyKey'],
  },
  'core/v1.Toleration': { rules: [toleration] },
  'core/v1.TopologySpreadConstraint': {
    fields: {
      maxSkew: { min: 1, outside: 'must be greater than zero' },
      topologyKey: { required: 'can not be empty' },
      whenUnsatisfiable: { enum: true, emptyToo: true },
      labelSelector: { opaque: true },
    },
    rules: [spreadConstraints],
  },
  'core/v1.TopologySelectorTerm': { fields: { matchLabelExpressions: { unique: 'key' } } },
  'core/v1.TopologySelectorLabelRequirement': {
    fields: { values: { required: true, unique: true } },
    rules: ['values', topologyKey],
  },
  'node.Scheduling': {
    // Clients know them by this path.
    fields: { nodeSelector: { rules: [labels] }, tolerations: { reportedAt: 'tolerations.tolerations' } },
    rules: ['nodeSelector', 'tolerations', repeatedTolerations],
  },
};
