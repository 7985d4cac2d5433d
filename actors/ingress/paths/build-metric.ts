// What is served, as a metric, so that a cluster whose servers are of several builds can be seen where everything else is.
import type { MetricsReading } from '../../../runtime/metrics/metrics.ts';

/** The labels of the original, by the field of `/version` that each shows. */
const LABELS: readonly (readonly [label: string, field: string])[] = [
  ['major', 'major'],
  ['minor', 'minor'],
  ['git_version', 'gitVersion'],
  ['git_commit', 'gitCommit'],
  ['git_tree_state', 'gitTreeState'],
  ['build_date', 'buildDate'],
  ['go_version', 'goVersion'],
  ['compiler', 'compiler'],
  ['platform', 'platform'],
];

/** `<brand>_build_info`, always 1. `version`: the document at `/version`. */
export function buildMetric(brand: string, version: object): MetricsReading {
  const fields = version as Readonly<Record<string, string | undefined>>;
  const labels = Object.fromEntries(LABELS.map(([label, field]) => [label, fields[field] ?? '']));
  return [{ name: `${brand}_build_info`, help: 'What is served: 1.', kind: 'gauge', series: [{ labels, value: 1 }] }];
}
