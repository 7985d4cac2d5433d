// Nodes: the ranges that their pods have addresses of.
import type { JsonObject } from '../../json/json-value.ts';
import { asText } from '../../json/object-fields.ts';
import type { Strategy } from '../strategy.ts';
import { type FirstOfList, withFirstInStep } from './first-of-list.ts';

const RANGES: FirstOfList = {
  part: 'spec',
  field: 'podCIDR',
  list: 'podCIDRs',
  item: (text) => text,
  textOf: asText,
};

const inStep = (node: JsonObject): JsonObject => withFirstInStep(node, RANGES);

export const node: Strategy = { inStep };
