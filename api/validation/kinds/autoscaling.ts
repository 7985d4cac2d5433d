// Rules of horizontal pod autoscalers, as the hub version writes them.

import { nanoOf } from '../../../values/quantity.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { asObject, isSet } from '../../json/object-fields.ts';
import { pathSegmentProblems } from '../../metadata/formats.ts';
import type { Rule, RuleTable } from '../rule.ts';

interface AutoscalerSpec {
  readonly minReplicas?: number | null;
  readonly maxReplicas?: number;
  readonly metrics?: readonly { readonly type?: string }[];
}

const replicaRange: Rule<AutoscalerSpec> = ({ minReplicas, maxReplicas = 0 }, at) => {
  const min = minReplicas ?? undefined;
  const wasZero = asObject(at.stored?.spec).minReplicas === 0;
  const least = wasZero || at.settings.gate('HPAScaleToZero') ? 0 : 1;
  if (min !== undefined && min < least) at.invalid('minReplicas', min, `must be greater than or equal to ${least}`);
  if (maxReplicas < 1) at.invalid('maxReplicas', maxReplicas, 'must be greater than 0');
  if (min !== undefined && maxReplicas < min) {
    at.invalid('maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`');
  }
};

const metricForZero: Rule<AutoscalerSpec> = ({ minReplicas, metrics = [] }, at) => {
  if (minReplicas !== 0) return;
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

const NO_SOURCE = 'must populate information for the given metric source';

const metricSource: Rule<JsonObject> = (metric, at) => {
  const { type = '' } = metric as { type?: string };
  const wanted = Object.hasOwn(SOURCES, type) ? SOURCES[type] : undefined;
  if (wanted === undefined) at.notSupported('type', type, Object.keys(SOURCES));
  else if (!metric[wanted]) {
    const isGated = wanted === 'containerResource' && !at.settings.gate('HPAContainerMetrics');
    const detail = isGated ? `${NO_SOURCE} (only allowed when HPAContainerMetrics feature is enabled)` : NO_SOURCE;
    at.required(wanted, detail);
  }
  const given = Object.values(SOURCES).filter((member) => metric[member]);
  // One that stands alone, if in the wrong place, has been told of by the one that is missing.
  if (given.length === 1) return;
  for (const member of given) if (member !== wanted) at.forbidden(member, 'must populate the given metric source only');
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

const TARGETS = ['Utilization', 'Value', 'AverageValue'];

const metricTarget: Rule<MetricTarget> = ({ type = '', value, averageValue, averageUtilization }, at) => {
  if (type === '') at.required('type', 'must specify a metric target type');
  if (!TARGETS.includes(type)) at.invalid('type', type, 'must be either Utilization, Value, or AverageValue');
  if (isSet(value) && !isPositive(value)) at.invalid('value', value, 'must be positive');
  if (isSet(averageValue) && !isPositive(averageValue)) at.invalid('averageValue', averageValue, 'must be positive');
  if (isSet(averageUtilization) && averageUtilization < 1) {
    at.invalid('averageUtilization', averageUtilization, 'must be greater than 0');
  }
};

type Source = { readonly target?: MetricTarget };

/** A target that is missing is one of no type. */
const target: Rule<Source> = (source, at) => {
  at.enter('target');
  metricTarget(source.target ?? {}, at);
  at.leave();
};

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

const POLICIES_NEEDED = 'must specify at least one Policy';

interface ScalingRules {
  readonly policies?: readonly object[];
}

const scalingPolicies: Rule<ScalingRules> = ({ policies = [] }, at) => {
  if (policies.length === 0) at.required('policies', POLICIES_NEEDED);
};

const metricName: Rule<string> = (name, at) => at.problems('', name, pathSegmentProblems(name));

interface Window {
  readonly stabilizationWindowSeconds?: number | null;
}

const WINDOW_SECONDS_MAX = 3600;

const scalingWindow: Rule<Window> = ({ stabilizationWindowSeconds: seconds }, at) => {
  if (!isSet(seconds)) return;
  if (seconds < 0) at.invalid('stabilizationWindowSeconds', seconds, 'must be greater than or equal to zero');
  if (seconds > WINDOW_SECONDS_MAX) {
    at.invalid('stabilizationWindowSeconds', seconds, `must be less than or equal to ${WINDOW_SECONDS_MAX}`);
  }
};

interface ScalingPolicy {
  readonly type?: string;
  readonly value?: number;
  readonly periodSeconds?: number;
}

const POLICY_TYPES = ['Percent', 'Pods'];
const PERIOD_SECONDS_MAX = 1800;

const scalingPolicy: Rule<ScalingPolicy> = ({ type = '', value = 0, periodSeconds = 0 }, at) => {
  if (!POLICY_TYPES.includes(type)) at.notSupported('type', type, POLICY_TYPES);
  if (value <= 0) at.invalid('value', value, 'must be greater than zero');
  if (periodSeconds <= 0) at.invalid('periodSeconds', periodSeconds, 'must be greater than zero');
  if (periodSeconds > PERIOD_SECONDS_MAX) {
    at.invalid('periodSeconds', periodSeconds, `must be less than or equal to ${PERIOD_SECONDS_MAX}`);
  }
};

const REQUIRED_SEGMENT = { required: true, format: 'pathSegment' } as const;
const METRIC_NAME = { required: 'must specify a metric name', rules: [metricName] } as const;
const RESOURCE_NAME = 'must specify a resource name';
const COUNT = { min: 0 } as const;
const CURRENT = { currentReplicas: COUNT, desiredReplicas: COUNT } as const;
const TYPE = { required: 'must specify a metric source type', enum: true, emptyToo: true } as const;

/** The rules of the hub version: objects of the others are looked at in its form (`object-validation.ts`). */
export const autoscalingTypes: RuleTable = {
  'autoscaling.CrossVersionObjectReference': { fields: { kind: REQUIRED_SEGMENT, name: REQUIRED_SEGMENT } },
  'autoscaling/v2beta2.HorizontalPodAutoscalerSpec': {
    rules: [replicaRange, 'scaleTargetRef', 'metrics', metricForZero, 'behavior'],
  },
  'autoscaling/v2beta2.HorizontalPodAutoscalerStatus': { fields: { ...CURRENT, currentMetrics: { opaque: true } } },
  'autoscaling/v2beta2.MetricSpec': {
    fields: { type: TYPE },
    rules: ['type', { choice: ['object', 'external', 'pods', 'resource', 'containerResource'] }, metricSource],
  },
  // What a metric is of is not looked into beyond its name.
  'autoscaling/v2beta2.MetricIdentifier': { fields: { name: METRIC_NAME, selector: { opaque: true } } },
  'autoscaling/v2beta2.ResourceMetricSource': {
    fields: { name: { required: RESOURCE_NAME } },
    rules: ['name', target, resourceTarget],
  },
  'autoscaling/v2beta2.ContainerResourceMetricSource': {
    fields: {
      name: { required: RESOURCE_NAME },
      container: { required: 'must specify a container', format: 'dns1123Label' },
    },
    rules: ['name', 'container', target, resourceTarget],
  },
  'autoscaling/v2beta2.PodsMetricSource': { rules: ['metric', target, podsTarget] },
  'autoscaling/v2beta2.ObjectMetricSource': { rules: ['describedObject', 'metric', target, objectTarget] },
  'autoscaling/v2beta2.ExternalMetricSource': { rules: ['metric', target, externalTarget] },
  'autoscaling/v2beta2.HPAScalingRules': {
    fields: { selectPolicy: { enum: true } },
    rules: [scalingWindow, 'selectPolicy', scalingPolicies, 'policies'],
  },
  'autoscaling/v2beta2.HPAScalingPolicy': { rules: [scalingPolicy] },
};
