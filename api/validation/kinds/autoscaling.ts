// Rules of horizontal pod autoscalers. The versions say the same of a metric in different places: their differences are
// one table.

import { nanoOf } from '../../../values/quantity.ts';
import type { JsonObject } from '../../json-value.ts';
import { isSet } from '../../object-fields.ts';
import { pathSegmentProblems } from '../formats.ts';
import type { Report } from '../report.ts';
import type { Rule, RuleTable } from '../rule.ts';

interface AutoscalerSpec {
  readonly minReplicas?: number | null;
  readonly maxReplicas?: number;
  readonly metrics?: readonly { readonly type?: string }[];
}

const replicaRange: Rule<AutoscalerSpec> = ({ minReplicas, maxReplicas = 0 }, at) => {
  const min = minReplicas ?? undefined;
  const least = at.settings.gate('HPAScaleToZero') ? 0 : 1;
  if (min !== undefined && min < least) at.invalid('minReplicas', min, `must be greater than or equal to ${least}`);
  if (maxReplicas < 1) at.invalid('maxReplicas', maxReplicas, 'must be greater than 0');
  if (min !== undefined && maxReplicas < min) {
    at.invalid('maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`');
  }
};

const metricForZero: Rule<AutoscalerSpec> = ({ minReplicas, metrics = [] }, at) => {
  if (minReplicas !== 0 || !at.settings.gate('HPAScaleToZero')) return;
  if (!metrics.some(({ type }) => type === 'Object' || type === 'External')) {
    at.forbidden('metrics', 'must specify at least one Object or External metric to support scaling to zero replicas');
  }
};

/** The member that goes with a metric's type. */
const SOURCES: Readonly<Record<string, string>> = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
};

const metricSource: Rule<JsonObject> = (metric, at) => {
  const { type = '' } = metric as { type?: string };
  const wanted = Object.hasOwn(SOURCES, type) ? SOURCES[type] : undefined;
  if (wanted === undefined) return;
  if (!metric[wanted]) at.required(wanted, 'must populate information for the given metric source');
  for (const member of Object.values(SOURCES)) {
    if (member !== wanted && metric[member]) at.forbidden(member, 'must populate the given metric source only');
  }
};

interface MetricTarget {
  readonly type?: string;
  readonly value?: string | null;
  readonly averageValue?: string | null;
  readonly averageUtilization?: number | null;
}

function isPositive(amount: string): boolean {
  return nanoOf(amount) > 0n;
}

const metricTarget: Rule<MetricTarget> = ({ value, averageValue, averageUtilization }, at) => {
  if (isSet(value) && !isPositive(value)) at.invalid('value', value, 'must be positive');
  if (isSet(averageValue) && !isPositive(averageValue)) at.invalid('averageValue', averageValue, 'must be positive');
  if (isSet(averageUtilization) && averageUtilization < 1) {
    at.invalid('averageUtilization', averageUtilization, 'must be greater than 0');
  }
};

type Source = { readonly target?: MetricTarget };

const resourceTarget: Rule<Source> = ({ target = {} }, at) => {
  const { averageUtilization, averageValue } = target;
  if (isSet(averageUtilization) === isSet(averageValue)) {
    const none = !isSet(averageUtilization);
    if (none) at.required('target.averageUtilization', 'must set either a target raw value or a target utilization');
    else at.forbidden('target.averageValue', 'may not set both a target raw value and a target utilization');
  }
};

const podsTarget: Rule<Source> = ({ target }, at) => {
  if (!isSet(target?.averageValue)) at.required('target.averageValue', 'must specify a positive target averageValue');
};

const objectTarget: Rule<Source> = ({ target }, at) => {
  if (!isSet(target?.value) && !isSet(target?.averageValue)) {
    at.required('target.averageValue', 'must set either a target value or averageValue');
  }
};

const externalTarget: Rule<Source> = ({ target }, at) => {
  const { value, averageValue } = target ?? {};
  if (!isSet(value) && !isSet(averageValue)) {
    at.required('target.averageValue', 'must set either a target value for metric or a per-pod target');
  }
  if (isSet(value) && isSet(averageValue)) {
    at.forbidden('target.value', 'may not set both a target value for metric and a per-pod target');
  }
};

interface OlderSource {
  readonly targetAverageUtilization?: number | null;
  readonly targetAverageValue?: string | null;
  readonly targetValue?: string | null;
  readonly averageValue?: string | null;
}

/** The targets of v2beta1 are members of the sources. */
const olderResource: Rule<OlderSource> = ({ targetAverageUtilization: share, targetAverageValue: value }, at) => {
  if (isSet(share) && share < 1) at.invalid('targetAverageUtilization', share, 'must be greater than 0');
  checkOlderAmounts({ targetAverageValue: value ?? null }, at);
  if (isSet(share) && isSet(value))
    at.forbidden('targetAverageValue', 'may not set both a target raw value and a target utilization');
  if (!isSet(share) && !isSet(value))
    at.required('targetAverageUtilization', 'must set either a target raw value or a target utilization');
};

const olderAmounts: Rule<OlderSource> = (source, at) => checkOlderAmounts(source, at);

const olderExternal: Rule<OlderSource> = (source, at) => {
  checkOlderAmounts(source, at);
  const { targetValue, targetAverageValue } = source;
  if (isSet(targetValue) && isSet(targetAverageValue)) {
    at.forbidden('targetValue', 'may not set both a target value for metric and a per-pod target');
  }
  if (!isSet(targetValue) && !isSet(targetAverageValue)) {
    at.required('targetAverageValue', 'must set either a target value for metric or a per-pod target');
  }
};

function checkOlderAmounts(source: OlderSource, at: Report): void {
  for (const member of ['targetValue', 'targetAverageValue'] as const) {
    const amount = source[member];
    if (isSet(amount) && !isPositive(amount)) at.invalid(member, amount, 'must be positive');
  }
}

const POLICIES_NEEDED = 'must specify at least one Policy';

interface ScalingRules {
  readonly policies?: readonly object[];
}

const scalingPolicies: Rule<ScalingRules> = ({ policies = [] }, at) => {
  if (policies.length === 0) at.required('policies', POLICIES_NEEDED);
};

const metricName: Rule<string> = (name, at) => at.problems('', name, pathSegmentProblems(name));

const REQUIRED_SEGMENT = { required: true, format: 'pathSegment' } as const;
const METRIC_NAME = { required: true, rules: [metricName] } as const;
const COUNT = { min: 0 } as const;
const CURRENT = { currentReplicas: COUNT, desiredReplicas: COUNT } as const;
const TYPE = { required: true, enum: true, emptyToo: true } as const;

export const autoscalingTypes: RuleTable = {
  'autoscaling.CrossVersionObjectReference': { fields: { kind: REQUIRED_SEGMENT, name: REQUIRED_SEGMENT } },
  'autoscaling.HorizontalPodAutoscalerSpec': { rules: [replicaRange, 'scaleTargetRef', 'metrics', metricForZero] },
  'autoscaling/v2beta2.HorizontalPodAutoscalerSpec': {
    rules: [replicaRange, 'scaleTargetRef', 'metrics', metricForZero, 'behavior'],
  },
  'autoscaling/v1.HorizontalPodAutoscalerSpec': {
    fields: { targetCPUUtilizationPercentage: { min: 1 } },
    rules: [replicaRange, 'scaleTargetRef', 'targetCPUUtilizationPercentage'],
  },
  'autoscaling/v1.HorizontalPodAutoscalerStatus': { fields: CURRENT },
  'autoscaling.HorizontalPodAutoscalerStatus': { fields: { ...CURRENT, currentMetrics: { opaque: true } } },
  'autoscaling.MetricSpec': {
    fields: { type: TYPE },
    rules: ['type', { choice: ['object', 'external', 'pods', 'resource', 'containerResource'] }, metricSource],
  },
  'autoscaling/v2beta2.MetricIdentifier': { fields: { name: METRIC_NAME } },
  'autoscaling/v2beta2.MetricTarget': {
    fields: { type: { required: true, enum: true, reason: 'invalid' } },
    rules: [metricTarget],
  },
  'autoscaling/v2beta2.ResourceMetricSource': { fields: { name: { required: true } }, rules: [resourceTarget] },
  'autoscaling/v2beta2.ContainerResourceMetricSource': {
    fields: { name: { required: true }, container: { required: true } },
    rules: [resourceTarget],
  },
  'autoscaling/v2beta2.PodsMetricSource': { rules: [podsTarget] },
  'autoscaling/v2beta2.ObjectMetricSource': { rules: ['describedObject', 'metric', 'target', objectTarget] },
  'autoscaling/v2beta2.ExternalMetricSource': { rules: [externalTarget] },
  'autoscaling/v2beta2.HPAScalingRules': {
    fields: {
      stabilizationWindowSeconds: { min: 0, max: 3600 },
      selectPolicy: { enum: true },
    },
    rules: ['stabilizationWindowSeconds', 'selectPolicy', scalingPolicies, 'policies'],
  },
  'autoscaling/v2beta2.HPAScalingPolicy': {
    fields: { type: { required: true, enum: true }, value: { min: 1 }, periodSeconds: { min: 1, max: 1800 } },
  },
  'autoscaling/v2beta1.ResourceMetricSource': { fields: { name: { required: true } }, rules: [olderResource] },
  'autoscaling/v2beta1.ContainerResourceMetricSource': {
    fields: { name: { required: true }, container: { required: true } },
    rules: [olderResource],
  },
  'autoscaling/v2beta1.PodsMetricSource': { fields: { metricName: METRIC_NAME }, rules: [olderAmounts] },
  'autoscaling/v2beta1.ObjectMetricSource': { fields: { metricName: METRIC_NAME }, rules: [olderAmounts] },
  'autoscaling/v2beta1.ExternalMetricSource': { fields: { metricName: METRIC_NAME }, rules: [olderExternal] },
};
