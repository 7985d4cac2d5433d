// Node selector terms as objects hold them: in pods, volumes, storage classes and the arguments of plug-ins.
import { asList, asObject, asText } from '../../../api/json/object-fields.ts';

/** One requirement of a node selector term, as written. */
export interface NodeRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** All requirements of a term must hold. A term without any matches no node. */
export interface NodeTerm {
  readonly matchExpressions: readonly NodeRequirement[];
  readonly matchFields: readonly NodeRequirement[];
}

export interface WeightedNodeTerm {
  readonly weight: number;
  readonly term: NodeTerm;
}

/** Reads a NodeSelectorTerm. Total: what is missing or of another type counts as absent. */
export function readNodeTerm(value: unknown): NodeTerm {
  const term = asObject(value);
  return {
    matchExpressions: asList(term.matchExpressions).map(readRequirement),
    matchFields: asList(term.matchFields).map(readRequirement),
  };
}

function readRequirement(value: unknown): NodeRequirement {
  const requirement = asObject(value);
  return {
    key: asText(requirement.key),
    operator: asText(requirement.operator),
    values: asList(requirement.values).map(asText),
  };
}
