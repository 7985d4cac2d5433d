// Which metrics a scrape shows, and with which labels (SPEC.md "Metrics options", "Deprecation policy"): the operator's wishes and
// the lives of deprecated metrics, applied to readings. What is counted does not change, so that nothing costs more meanwhile.
import type { FamilyReading, MetricsReading } from './metrics.ts';

/** What the options come to. Plain data, since it crosses threads. */
export interface MetricsRules {
  /** Full names that are not shown. */
  readonly disabled: readonly string[];
  /** The values that a label of a metric shows as they are. */
  readonly allowed: readonly AllowedLabel[];
  /** The release that is served. */
  readonly release: string;
  /** The release before, where what is hidden since is to be shown; else empty. */
  readonly showHiddenFor: string;
}

interface AllowedLabel {
  readonly metric: string;
  readonly label: string;
  readonly values: readonly string[];
}

/** The options of metrics as config/ has them. */
interface MetricsOptions {
  readonly disabledMetrics: readonly string[];
  readonly allowMetricLabels: readonly string[];
  readonly showHiddenMetricsForVersion: string;
}

/** What any other value of such a label is shown as. */
const UNEXPECTED = 'unexpected';
/** So many releases after its deprecation a metric is hidden; one later it is gone. */
const HIDDEN_AFTER = 3;

/** Metrics that are deprecated, by the release that says so. */
const DEPRECATED_SINCE: Readonly<Record<string, string>> = {
  scheduler_binding_duration_seconds: '1.20',
  etcd_object_counts: '1.22',
  apiserver_longrunning_gauge: '1.23',
  apiserver_registered_watchers: '1.23',
  scheduler_e2e_scheduling_duration_seconds: '1.23',
  kube_apiserver_pod_logs_pods_logs_backend_tls_failure_total: '1.27',
  kube_apiserver_pod_logs_pods_logs_insecure_backend_total: '1.27',
};

/** `release`: the one that is served. */
export function metricsRules(options: MetricsOptions, release: string): MetricsRules {
  return {
    disabled: options.disabledMetrics,
    allowed: options.allowMetricLabels.map(allowedLabel),
    release,
    showHiddenFor: options.showHiddenMetricsForVersion,
  };
}

/** `metric,label=a,b`; the values may stand in single quotes, as the original's help has them. */
function allowedLabel(text: string): AllowedLabel {
  const [, metric = '', label = '', values = ''] = /^([^=,]+),([^=,]+)=(.*)$/s.exec(text) ?? [];
  const bare = /^'.*'$/s.test(values) ? values.slice(1, -1) : values;
  return { metric: metric.trim(), label: label.trim(), values: bare.split(',').map((value) => value.trim()) };
}

/** The readings as they are shown. Series that show the same labels from then on are one where they are rendered. */
export function shownReadings(readings: readonly MetricsReading[], rules: MetricsRules): readonly MetricsReading[] {
  const disabled = new Set(rules.disabled);
  const family = (one: FamilyReading): readonly FamilyReading[] => {
    const age = ageOf(one.name, rules.release);
    const isHidden = age >= HIDDEN_AFTER && !(age === HIDDEN_AFTER && rules.showHiddenFor !== '');
    if (isHidden || disabled.has(one.name)) return [];
    return [withAllowedLabels(age < 0 ? one : { ...one, help: deprecatedHelp(one) }, rules.allowed)];
  };
  return readings.map((reading) => reading.flatMap(family));
}

/** How many releases ago a metric was deprecated; below 0: it is not. */
function ageOf(name: string, release: string): number {
  const since = Object.hasOwn(DEPRECATED_SINCE, name) ? DEPRECATED_SINCE[name]! : undefined;
  return since === undefined ? -1 : minorOf(release) - minorOf(since);
}

function minorOf(release: string): number {
  return Number(release.slice(release.indexOf('.') + 1));
}

function deprecatedHelp({ name, help }: FamilyReading): string {
  return `(Deprecated from ${DEPRECATED_SINCE[name]}) ${help}`;
}

function withAllowedLabels(family: FamilyReading, allowed: readonly AllowedLabel[]): FamilyReading {
  const rules = allowed.filter(({ metric }) => metric === family.name);
  if (rules.length === 0) return family;
  const series = family.series.map((one) => {
    const labels: Record<string, string> = { ...one.labels };
    for (const { label, values } of rules) {
      const value = labels[label];
      if (value !== undefined && !values.includes(value)) labels[label] = UNEXPECTED;
    }
    return { ...one, labels };
  });
  return { ...family, series };
}
