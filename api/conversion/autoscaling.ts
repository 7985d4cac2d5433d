// Autoscalers: v1 knows one metric, the share of CPU. What v1 and v2beta1 cannot say goes along in annotations, under the
// names and in the forms that clients of v1 know; what even those cannot say, in one of our own, which counts as long as
// the rest still is what it was written with. The hub, v2beta2, has none of them.

import {
  BEHAVIOR,
  CONDITIONS,
  CURRENT_METRICS,
  DEFAULT_CPU_PERCENT,
  EXACT,
  exactIn,
  METRICS,
} from '../codec/carried-metrics.ts';
import { decode } from '../codec/decode.ts';
import { DecodeError } from '../codec/decode-error.ts';
import { deepEqual } from '../json/deep-equal.ts';
import { jsonCopy } from '../json/json-copy.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { asObject } from '../json/object-fields.ts';
import { behaviorText, readBehavior } from './autoscaling-behavior.ts';
import { metricDown, metricStatusDown, metricStatusUp, metricUp } from './autoscaling-metrics.ts';
import type { StepContext, StepTable } from './step.ts';

const CARRIED = [METRICS, CURRENT_METRICS, CONDITIONS, BEHAVIOR, EXACT];

const HUB = 'autoscaling/v2beta2.HorizontalPodAutoscaler';
type List = readonly JsonObject[];

/** An autoscaler taken apart: the annotations that carry something from one version to another stand by themselves. */
interface Parts {
  readonly object: JsonObject;
  readonly carried: ReadonlyMap<string, string>;
  readonly spec: JsonObject;
  readonly status: JsonObject;
}

function partsOf(object: JsonObject, { dialect }: StepContext): Parts {
  const { annotations, ...metadata } = asObject(object.metadata);
  const others: Record<string, unknown> = { ...asObject(annotations) };
  const carried = new Map<string, string>();
  for (const name of CARRIED) {
    const key = dialect.spell(name);
    if (typeof others[key] === 'string') carried.set(name, others[key]);
    delete others[key];
  }
  const kept = Object.keys(others).length === 0 ? metadata : { ...metadata, annotations: others };
  return {
    object: { ...object, metadata: kept },
    carried,
    spec: asObject(object.spec),
    status: asObject(object.status),
  };
}

function withCarried(object: JsonObject, carried: Readonly<Record<string, string | undefined>>, context: StepContext) {
  const annotations: Record<string, unknown> = { ...asObject(asObject(object.metadata).annotations) };
  for (const [name, text] of Object.entries(carried)) {
    if (text !== undefined) annotations[context.dialect.spell(name)] = text;
  }
  if (Object.keys(annotations).length === 0) return object;
  return { ...object, metadata: { ...asObject(object.metadata), annotations } };
}

function listOf(value: unknown): List {
  return Array.isArray(value) ? (value as readonly unknown[]).filter(isJsonObject) : [];
}

/** A list out of an annotation, its elements of a type; undefined for anything else. */
function readList(text: string | undefined, typeName: string, context: StepContext): List | undefined {
  if (text === undefined) return undefined;
  try {
    return decodedList(JSON.parse(text), typeName, context);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof DecodeError) return undefined;
    throw error;
  }
}

function decodedList(value: unknown, typeName: string, { schema }: StepContext): List | undefined {
  if (!Array.isArray(value)) return undefined;
  const type = schema.type(typeName);
  return (value as readonly unknown[]).map((element) => decode(element, type).object);
}

/** The elements in canonical form, for comparing and for writing them down. */
function canonical(list: List, typeName: string, context: StepContext): List {
  return decodedList(jsonCopy(list), typeName, context) ?? [];
}

function listText(list: List): string | undefined {
  return list.length === 0 ? undefined : JSON.stringify(list);
}

const SPEC_TYPE = 'MetricSpec';
const STATUS_TYPE = 'MetricStatus';

/** The metrics of an autoscaler and their status. */
interface Metrics {
  readonly metrics: List;
  readonly current: List;
}

/** What v2beta1 can say of the hub's metrics: also the form in which the annotations of v1 hold them. */
function metricsDown({ metrics, current }: Metrics, context: StepContext): Metrics {
  return {
    metrics: canonical(metrics.map(metricDown), `autoscaling/v2beta1.${SPEC_TYPE}`, context),
    current: canonical(current.map(metricStatusDown), `autoscaling/v2beta1.${STATUS_TYPE}`, context),
  };
}

function metricsUp({ metrics, current }: Metrics, context: StepContext): Metrics {
  return {
    metrics: canonical(metrics.map(metricUp), `autoscaling/v2beta2.${SPEC_TYPE}`, context),
    current: canonical(current.map(metricStatusUp), `autoscaling/v2beta2.${STATUS_TYPE}`, context),
  };
}

/** Undefined when the shown form leads back to the metrics by itself. */
function exactText(exact: Metrics, readBack: Metrics): string | undefined {
  return deepEqual(exact, readBack) ? undefined : JSON.stringify(exact);
}

/** Of the exact metrics those of the spec, and those of the status, if they still are what is shown of them; else what can be read from that. */
function exactOr(
  readBack: Metrics,
  text: string | undefined,
  isShown: (metrics: Metrics, half: keyof Metrics) => boolean,
  context: StepContext,
): Metrics {
  if (text === undefined) return readBack;
  try {
    const given = exactIn(text);
    const metrics = decodedList(given.metrics, `autoscaling/v2beta2.${SPEC_TYPE}`, context);
    const current = decodedList(given.current, `autoscaling/v2beta2.${STATUS_TYPE}`, context);
    const exact = { metrics: metrics ?? readBack.metrics, current: current ?? readBack.current };
    const half = (name: keyof Metrics): List => (isShown(exact, name) ? exact : readBack)[name];
    return { metrics: half('metrics'), current: half('current') };
  } catch (error) {
    if (error instanceof DecodeError) return readBack;
    throw error;
  }
}

function withMetrics({ object, spec, status }: Parts, { metrics, current }: Metrics): JsonObject {
  return { ...object, spec: { ...spec, metrics }, status: { ...status, currentMetrics: current } };
}

function hubMetrics({ spec, status }: Parts): Metrics {
  return { metrics: listOf(spec.metrics), current: listOf(status.currentMetrics) };
}

function olderUp(object: JsonObject, context: StepContext): JsonObject {
  const parts = partsOf(object, context);
  const shown = hubMetrics(parts);
  const isShown = (exact: Metrics, half: keyof Metrics): boolean =>
    deepEqual(metricsDown(exact, context)[half], shown[half]);
  const metrics = exactOr(metricsUp(shown, context), parts.carried.get(EXACT), isShown, context);
  const behavior = readBehavior(parts.carried.get(BEHAVIOR), context.schema);
  return withMetrics({ ...parts, spec: { ...parts.spec, behavior } }, metrics);
}

function olderDown(object: JsonObject, context: StepContext): JsonObject {
  const parts = partsOf(object, context);
  const exact = hubMetrics(parts);
  const shown = metricsDown(exact, context);
  const { behavior, ...spec } = parts.spec;
  const carried = { [BEHAVIOR]: behaviorText(behavior), [EXACT]: exactText(exact, metricsUp(shown, context)) };
  return withCarried(withMetrics({ ...parts, spec }, shown), carried, context);
}

/** What v1 shows of metrics: the annotations, and the shares of CPU. */
interface Shown {
  readonly metrics: string | undefined;
  readonly current: string | undefined;
  readonly targetPercent: number | undefined;
  readonly currentPercent: number | undefined;
}

function isCpuShare(metric: JsonObject, source: 'target' | 'current'): boolean {
  const resource = asObject(metric.resource);
  return metric.type === 'Resource' && resource.name === 'cpu' && percentOf(metric, source) !== undefined;
}

function percentOf(metric: JsonObject | undefined, source: 'target' | 'current'): number | undefined {
  return asObject(asObject(metric?.resource)[source]).averageUtilization as number | undefined;
}

function shownInV1(exact: Metrics, context: StepContext): Shown {
  const others = exact.metrics.filter((metric) => !isCpuShare(metric, 'target'));
  const down = metricsDown({ metrics: others, current: exact.current }, context);
  return {
    metrics: listText(down.metrics),
    current: listText(down.current),
    targetPercent: percentOf(
      exact.metrics.find((metric) => isCpuShare(metric, 'target')),
      'target',
    ),
    currentPercent: percentOf(
      exact.current.find((status) => isCpuShare(status, 'current')),
      'current',
    ),
  };
}

function cpuMetric(averageUtilization: number): JsonObject {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } };
}

function cpuStatus(averageUtilization: number): JsonObject {
  return { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization } } };
}

/** The metrics that the shown ones stand for. What cannot be read in an annotation counts as not there. */
function readFromV1({ metrics, current, targetPercent, currentPercent }: Shown, context: StepContext): Metrics {
  const given = readList(metrics, `autoscaling/v2beta1.${SPEC_TYPE}`, context);
  const statuses = readList(current, `autoscaling/v2beta1.${STATUS_TYPE}`, context);
  const up = metricsUp({ metrics: given ?? [], current: statuses ?? [] }, context);
  const all = targetPercent === undefined ? up.metrics : [...up.metrics, cpuMetric(targetPercent)];
  const onlyCpu = currentPercent === undefined ? [] : [cpuStatus(currentPercent)];
  return {
    metrics: all.length === 0 ? [cpuMetric(DEFAULT_CPU_PERCENT)] : all,
    current: statuses === undefined ? onlyCpu : up.current,
  };
}

function v1Up(object: JsonObject, context: StepContext): JsonObject {
  const parts = partsOf(object, context);
  const { targetCPUUtilizationPercentage, ...spec } = parts.spec;
  const { currentCPUUtilizationPercentage, ...status } = parts.status;
  const shown: Shown = {
    metrics: parts.carried.get(METRICS),
    current: parts.carried.get(CURRENT_METRICS),
    targetPercent: targetCPUUtilizationPercentage as number | undefined,
    currentPercent: currentCPUUtilizationPercentage as number | undefined,
  };
  const isShown = (exact: Metrics, half: keyof Metrics): boolean => {
    const [one, other] = [shownInV1(exact, context), shown].map(
      ({ metrics, current, targetPercent, currentPercent }) =>
        half === 'metrics' ? [metrics, targetPercent] : [current, currentPercent],
    );
    return deepEqual(one, other);
  };
  const metrics = exactOr(readFromV1(shown, context), parts.carried.get(EXACT), isShown, context);
  const conditions = readList(
    parts.carried.get(CONDITIONS),
    'autoscaling/v2beta2.HorizontalPodAutoscalerCondition',
    context,
  );
  const behavior = readBehavior(parts.carried.get(BEHAVIOR), context.schema);
  return withMetrics(
    { ...parts, spec: { ...spec, behavior }, status: conditions === undefined ? status : { ...status, conditions } },
    metrics,
  );
}

function v1Down(object: JsonObject, context: StepContext): JsonObject {
  const parts = partsOf(object, context);
  const { metrics: _metrics, behavior, ...spec } = parts.spec;
  const { currentMetrics: _current, conditions, ...status } = parts.status;
  const exact = hubMetrics(parts);
  const shown = shownInV1(exact, context);
  const readBack = metricsOfCanonical(readFromV1(shown, context), context);
  const carried = {
    [METRICS]: shown.metrics,
    [CURRENT_METRICS]: shown.current,
    [CONDITIONS]: listText(listOf(conditions)),
    [BEHAVIOR]: behaviorText(behavior),
    [EXACT]: exactText(exact, readBack),
  };
  const result = {
    ...parts.object,
    spec: { ...spec, targetCPUUtilizationPercentage: shown.targetPercent },
    status: { ...status, currentCPUUtilizationPercentage: shown.currentPercent },
  };
  return withCarried(result, carried, context);
}

function metricsOfCanonical({ metrics, current }: Metrics, context: StepContext): Metrics {
  return {
    metrics: canonical(metrics, `autoscaling/v2beta2.${SPEC_TYPE}`, context),
    current: canonical(current, `autoscaling/v2beta2.${STATUS_TYPE}`, context),
  };
}

export const autoscalingSteps: StepTable = {
  'autoscaling/v1.HorizontalPodAutoscaler': { hub: HUB, up: v1Up, down: v1Down },
  'autoscaling/v2beta1.HorizontalPodAutoscaler': { hub: HUB, up: olderUp, down: olderDown },
};
