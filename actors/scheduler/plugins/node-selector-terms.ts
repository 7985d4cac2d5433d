// Node selector terms made into checks: the operators In, NotIn, Exists, DoesNotExist, Gt and Lt over labels, and
// metadata.name over fields. Made once per pod and attempt.
import { textProblems } from '../../../api/metadata/formats.ts';
import { parseInt64 } from '../../../values/int64.ts';
import type { NodeInfo } from '../nodes/node-info.ts';
import type { NodeRequirement, NodeTerm } from '../pods/node-terms.ts';

export type NodeCheck = (node: NodeInfo) => boolean;

const NEVER: NodeCheck = () => false;

/** All requirements of the term hold. A term without any, or with one that makes no sense, matches no node. */
export function termCheck(term: NodeTerm): NodeCheck {
  const checks = [...term.matchExpressions.map(labelCheck), ...term.matchFields.map(fieldCheck)];
  if (checks.length === 0 || checks.includes(NEVER)) return NEVER;
  if (checks.length === 1) return checks[0]!;
  return (node) => checks.every((check) => check(node));
}

/** One of the terms matches. */
export function anyTermCheck(terms: readonly NodeTerm[]): NodeCheck {
  const checks = terms.map(termCheck);
  if (checks.length === 1) return checks[0]!;
  return (node) => checks.some((check) => check(node));
}

/** By operator: the check of one label, given the requirement. */
const LABEL_CHECKS: Readonly<Record<string, (key: string, values: readonly string[]) => NodeCheck>> = {
  In(key, values) {
    const wanted = new Set(values);
    return ({ labels }) => wanted.has(labels.get(key) as string);
  },
  NotIn(key, values) {
    if (values.length === 0) return NEVER;
    const unwanted = new Set(values);
    return ({ labels }) => !unwanted.has(labels.get(key) as string);
  },
  Exists: (key, values) => (values.length > 0 ? NEVER : ({ labels }) => labels.has(key)),
  DoesNotExist: (key, values) => (values.length > 0 ? NEVER : ({ labels }) => !labels.has(key)),
  Gt: (key, values) => comparison(key, values, (label, bound) => label > bound),
  Lt: (key, values) => comparison(key, values, (label, bound) => label < bound),
};

/** A value that no label can have makes no sense of the term, whatever the operator: not even NotIn holds, and no bound is negative. */
function labelCheck({ key, operator, values }: NodeRequirement): NodeCheck {
  const make = Object.hasOwn(LABEL_CHECKS, operator) ? LABEL_CHECKS[operator] : undefined;
  const makesSense = make !== undefined && values.every((value) => textProblems('labelValue', value).length === 0);
  return makesSense ? make(key, values) : NEVER;
}

/** Both sides are 64-bit integers; where one is not, or the label is absent, the requirement does not hold. */
function comparison(
  key: string,
  values: readonly string[],
  holds: (label: bigint, bound: bigint) => boolean,
): NodeCheck {
  const bound = values.length === 1 ? parseInt64(values[0]!) : undefined;
  if (bound === undefined) return NEVER;
  return ({ labels }) => {
    const label = parseInt64(labels.get(key) ?? '');
    return label !== undefined && holds(label, bound);
  };
}

/** Fields take one value, and only the name is one. */
function fieldCheck({ key, operator, values }: NodeRequirement): NodeCheck {
  if (key !== 'metadata.name' || values.length !== 1) return NEVER;
  if (operator === 'In') return (node) => node.name === values[0];
  if (operator === 'NotIn') return (node) => node.name !== values[0];
  return NEVER;
}
