// The metrics of autoscalers: v2beta1 names the target in the source itself, v2beta2 (the hub) in objects of its own. Pure
// reshaping of one metric or one metric's status; which of them a version can hold at all is autoscaling.ts.

import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { asObject } from '../json/object-fields.ts';

type Reshape = (source: JsonObject) => JsonObject;
type Pair = readonly [up: Reshape, down: Reshape];

const ZERO = '0';

function identifier(name: unknown, selector: unknown): JsonObject {
  return { name, selector };
}

/** A target that is wanted for each pod, or else as a whole. */
function targetOf(value: unknown, averageValue: unknown): JsonObject {
  return averageValue === undefined ? { type: 'Value', value } : { type: 'AverageValue', value, averageValue };
}

const resource: Pair = [
  ({ targetAverageUtilization: averageUtilization, targetAverageValue: averageValue, ...rest }) => {
    const type = averageUtilization === undefined ? 'AverageValue' : 'Utilization';
    return { ...rest, target: { type, averageValue, averageUtilization } };
  },
  ({ target, ...rest }) => {
    const { averageUtilization, averageValue } = asObject(target);
    return { ...rest, targetAverageUtilization: averageUtilization, targetAverageValue: averageValue };
  },
];

const pods: Pair = [
  ({ metricName, selector, targetAverageValue: averageValue }) => ({
    metric: identifier(metricName, selector),
    target: { type: 'AverageValue', averageValue },
  }),
  ({ metric, target }) => {
    const { name, selector } = asObject(metric);
    return { metricName: name, selector, targetAverageValue: asObject(target).averageValue };
  },
];

const object: Pair = [
  ({ target, metricName, selector, targetValue, averageValue }) => ({
    describedObject: target,
    // v2beta1 must give a value even where only the average counts.
    target: targetOf(averageValue !== undefined && targetValue === ZERO ? undefined : targetValue, averageValue),
    metric: identifier(metricName, selector),
  }),
  ({ describedObject, target, metric }) => {
    const { name, selector } = asObject(metric);
    const { value, averageValue } = asObject(target);
    return { target: describedObject, metricName: name, selector, targetValue: value, averageValue };
  },
];

const external: Pair = [
  ({ metricName, metricSelector, targetValue, targetAverageValue }) => ({
    metric: identifier(metricName, metricSelector),
    target: targetOf(targetValue, targetAverageValue),
  }),
  ({ metric, target }) => {
    const { name, selector } = asObject(metric);
    const { value, averageValue } = asObject(target);
    return { metricName: name, metricSelector: selector, targetValue: value, targetAverageValue: averageValue };
  },
];

const resourceStatus: Pair = [
  ({ currentAverageUtilization: averageUtilization, currentAverageValue: averageValue, ...rest }) => ({
    ...rest,
    current: { averageValue, averageUtilization },
  }),
  ({ current, ...rest }) => {
    const { averageUtilization, averageValue } = asObject(current);
    return { ...rest, currentAverageUtilization: averageUtilization, currentAverageValue: averageValue };
  },
];

const podsStatus: Pair = [
  ({ metricName, selector, currentAverageValue: averageValue }) => ({
    metric: identifier(metricName, selector),
    current: { averageValue },
  }),
  ({ metric, current }) => {
    const { name, selector } = asObject(metric);
    return { metricName: name, selector, currentAverageValue: asObject(current).averageValue };
  },
];

const objectStatus: Pair = [
  ({ target, metricName, selector, currentValue: value, averageValue }) => ({
    metric: identifier(metricName, selector),
    current: { value, averageValue },
    describedObject: target,
  }),
  ({ metric, current, describedObject }) => {
    const { name, selector } = asObject(metric);
    const { value, averageValue } = asObject(current);
    return { target: describedObject, metricName: name, selector, currentValue: value, averageValue };
  },
];

const externalStatus: Pair = [
  ({ metricName, metricSelector, currentValue: value, currentAverageValue: averageValue }) => ({
    metric: identifier(metricName, metricSelector),
    current: { value, averageValue },
  }),
  ({ metric, current }) => {
    const { name, selector } = asObject(metric);
    const { value, averageValue } = asObject(current);
    return { metricName: name, metricSelector: selector, currentValue: value, currentAverageValue: averageValue };
  },
];

/** By the member of a metric that holds its source. */
const SPECS: Readonly<Record<string, Pair>> = { object, pods, resource, containerResource: resource, external };
const STATUSES: Readonly<Record<string, Pair>> = {
  object: objectStatus,
  pods: podsStatus,
  resource: resourceStatus,
  containerResource: resourceStatus,
  external: externalStatus,
};

function reshaped(metric: JsonObject, sources: Readonly<Record<string, Pair>>, way: 0 | 1): JsonObject {
  const result: Record<string, unknown> = { ...metric };
  for (const [member, pair] of Object.entries(sources)) {
    const source = metric[member];
    if (isJsonObject(source)) result[member] = pair[way](source);
  }
  return result;
}

/** A metric of v2beta1 as one of the hub. */
export const metricUp = (metric: JsonObject): JsonObject => reshaped(metric, SPECS, 0);
/** A metric of the hub as one of v2beta1, as well as it can be said there: a quantity that must be, and is not, is left to decoding. */
export const metricDown = (metric: JsonObject): JsonObject => reshaped(metric, SPECS, 1);
/** The status of a metric of v2beta1 as one of the hub. */
export const metricStatusUp = (status: JsonObject): JsonObject => reshaped(status, STATUSES, 0);
/** The status of a metric of the hub as one of v2beta1, as well as it can be said there. */
export const metricStatusDown = (status: JsonObject): JsonObject => reshaped(status, STATUSES, 1);
