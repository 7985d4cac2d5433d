// The targets of a horizontal autoscaler: for each metric what is measured and what is aimed at. Reads all the shapes the
// versions of that kind have had.
import type { Dialect } from '../../config/dialect.ts';
import { carriesMetrics } from '../codec/carried-metrics.ts';
import { conversionsOf } from '../conversion/conversion.ts';
import type { JsonObject } from '../json/json-value.ts';
import { partAt, partsAt, scalarTextAt, setNumberAt, textAt } from '../json/object-fields.ts';
import { schemaOf } from '../schema/schema.ts';
import { firstFew } from './first-few.ts';

const UNKNOWN = '<unknown>';
const SHOWN_MAX = 2;

const KIND = { group: 'autoscaling', kind: 'HorizontalPodAutoscaler' };

/** The text of `metricTargetsText`, also of what the first version only carries along. */
export function metricTargets(dialect: Dialect): (autoscaler: JsonObject) => string {
  const inFull = (autoscaler: JsonObject): JsonObject =>
    conversionsOf(schemaOf(dialect))
      .between({ ...KIND, version: 'v1' }, { ...KIND, version: 'v2beta2' })
      .convert(autoscaler);
  return (autoscaler) => {
    const isFirst = partsAt(partAt(autoscaler, 'spec'), 'metrics').length === 0;
    return metricTargetsText(isFirst && carriesMetrics(autoscaler, dialect) ? inFull(autoscaler) : autoscaler);
  };
}

/** `<current>/<target>` of the first two metrics and the number of further ones; `<none>` without metrics. */
function metricTargetsText(autoscaler: JsonObject): string {
  const spec = partAt(autoscaler, 'spec');
  const status = partAt(autoscaler, 'status');
  const metrics = partsAt(spec, 'metrics');
  if (metrics.length === 0) return cpuTarget(spec, status);
  const statuses = partsAt(status, 'currentMetrics');
  const texts = metrics.map((metric, index) => metricText(metric, statuses[index]));
  return firstFew(texts, SHOWN_MAX, ', ');
}

/** Version v1 knows only CPU utilization, in members of its own. */
function cpuTarget(spec: JsonObject, status: JsonObject): string {
  const target = setNumberAt(spec, 'targetCPUUtilizationPercentage');
  if (target === undefined) return '<none>';
  return `${percent(setNumberAt(status, 'currentCPUUtilizationPercentage'), UNKNOWN)}/${target}%`;
}

/** The member of a metric that holds its source, by the metric's type. */
const SOURCES: ReadonlyMap<string, string> = new Map([
  ['External', 'external'],
  ['Pods', 'pods'],
  ['Object', 'object'],
  ['Resource', 'resource'],
  ['ContainerResource', 'containerResource'],
]);
/** Types that can aim at a total or at an average, and say which. */
const SAYS_AVERAGE: ReadonlySet<string> = new Set(['External', 'Object']);

function metricText(metric: JsonObject, status: JsonObject | undefined): string {
  const type = textAt(metric, 'type');
  const member = SOURCES.get(type);
  if (member === undefined) return '<unknown type>';
  const aim = targetOf(partAt(metric, member), type);
  const found = status === undefined ? undefined : currentOf(partAt(status, member), type);
  if (aim.averageValue !== undefined) {
    const average = SAYS_AVERAGE.has(type) ? ' (avg)' : '';
    return `${found?.averageValue ?? UNKNOWN}/${aim.averageValue}${average}`;
  }
  if (type === 'Resource' || type === 'ContainerResource') {
    return `${percent(found?.utilization, UNKNOWN)}/${percent(aim.utilization, '<auto>')}`;
  }
  return `${found?.value ?? UNKNOWN}/${aim.value ?? '0'}`;
}

/** An amount measured or aimed at; which members are set depends on the metric. */
interface Amounts {
  readonly value: string | undefined;
  readonly averageValue: string | undefined;
  readonly utilization: number | undefined;
}

/** Later versions keep the target in an object of its own, earlier ones beside the metric's name. */
function targetOf(source: JsonObject, type: string): Amounts {
  const target = partAt(source, 'target');
  if (typeof target.type === 'string') return amountsOf(target, 'value', 'averageValue', 'averageUtilization');
  const average = type === 'Object' ? 'averageValue' : 'targetAverageValue';
  return amountsOf(source, 'targetValue', average, 'targetAverageUtilization');
}

function currentOf(source: JsonObject, type: string): Amounts {
  if (source.current !== undefined) {
    return amountsOf(partAt(source, 'current'), 'value', 'averageValue', 'averageUtilization');
  }
  const average = type === 'Object' ? 'averageValue' : 'currentAverageValue';
  return amountsOf(source, 'currentValue', average, 'currentAverageUtilization');
}

function amountsOf(holder: JsonObject, value: string, averageValue: string, utilization: string): Amounts {
  return {
    value: scalarTextAt(holder, value, '') || undefined,
    averageValue: scalarTextAt(holder, averageValue, '') || undefined,
    utilization: setNumberAt(holder, utilization),
  };
}

function percent(number: number | undefined, absent: string): string {
  return number === undefined ? absent : `${number}%`;
}
