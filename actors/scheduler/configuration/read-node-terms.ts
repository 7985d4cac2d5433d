// Node selector terms in the arguments of plug-ins, held to what they are held to in pods: one that makes no sense would match no
// node, and nobody would be told why.
import { type LabelOperator, requirementProblem } from '../../../api/selectors/label-requirement.ts';
import type { Section } from '../../../config/configuration-section.ts';
import type { NodeRequirement, NodeTerm } from '../pods/node-terms.ts';

export const TERM_MEMBERS = ['matchExpressions', 'matchFields'];
const REQUIREMENT_MEMBERS = ['key', 'operator', 'values'];
const LABEL_OPERATORS: readonly LabelOperator[] = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'];
const FIELD_OPERATORS: readonly LabelOperator[] = ['In', 'NotIn'];
const NODE_NAME = 'metadata.name';

/** Throws ConfigurationError. */
export function readCheckedTerm(term: Section): NodeTerm {
  return {
    matchExpressions: term.sections('matchExpressions', REQUIREMENT_MEMBERS).map((each) => {
      const operator = readOperator(each, LABEL_OPERATORS);
      const requirement = { key: each.text('key', ''), operator, values: readValues(each) };
      const problem = requirementProblem(requirement.key, operator, requirement.values);
      return problem === undefined ? requirement : each.fail('key', problem);
    }),
    matchFields: term.sections('matchFields', REQUIREMENT_MEMBERS).map((each): NodeRequirement => {
      const requirement = {
        key: each.choice('key', [NODE_NAME], NODE_NAME),
        operator: readOperator(each, FIELD_OPERATORS),
        values: readValues(each),
      };
      return requirement.values.length === 1 ? requirement : each.fail('values', 'must be one value');
    }),
  };
}

function readOperator(requirement: Section, operators: readonly LabelOperator[]): LabelOperator {
  if (!requirement.has('operator')) requirement.fail('operator', 'is required');
  return requirement.choice('operator', operators, 'In');
}

function readValues(requirement: Section): readonly string[] {
  return requirement
    .list('values')
    .map((value) => (typeof value === 'string' ? value : requirement.fail('values', 'must be texts')));
}
