// The dashboard and the rules of docs/observability ask for series that a server has: each metric by its name, with the labels
// that are asked of it.
import test from 'ava';
import { parse } from 'yaml';
import { MetricsText } from '../server/metrics-text.ts';
import { startServer } from '../server/server-process.ts';
import { readText } from '../unit/source-tree.ts';
import { accountIn, eventually, POD_SPEC } from './objects.ts';

interface Dashboard {
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
}
interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[];
}

const folder = 'docs/observability';
const dashboard = JSON.parse(readText(`${folder}/dashboard.json`)) as Dashboard;
const rules = parse(readText(`${folder}/rules.yaml`)) as Rules;
const QUERIES: readonly string[] = [
  ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ...rules.groups.flatMap((group) => group.rules.map(({ expr }) => expr)),
];

const METRIC = /\b((?:apiserver|orch|scheduler|workqueue|process|actor)_[a-z_]+)(?:\{([^}]*)\})?/g;

/** What a query asks for: names, and the labels that each must have. */
function askedOf(query: string): readonly (readonly [name: string, labels: readonly string[]])[] {
  const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels]) => labels!.split(/,\s*/));
  return [...query.matchAll(METRIC)].map(([, name, matchers = '']) => {
    const matched = [...matchers.matchAll(/([a-z_]+)(?:=|!)/g)].map(([, label]) => label!);
    return [name!, [...new Set([...grouped, ...matched])]] as const;
  });
}

test('what the dashboard and the rules ask for is served, with the labels they group and choose by', async (t) => {
  const { client } = await startServer(t, { args: [] });
  const node = { metadata: { name: 'n1' }, status: { allocatable: { cpu: '4', memory: '4Gi', pods: '10' } } };
  t.is((await client.request('POST', '/api/v1/nodes', { body: node })).status, 201);
  await accountIn(client);
  const pod = { metadata: { name: 'p' }, spec: { ...POD_SPEC, tolerations: [{ operator: 'Exists' }] } };
  t.is((await client.request('POST', '/api/v1/namespaces/default/pods', { body: pod })).status, 201);
  const text = await eventually(
    async () => new MetricsText((await client.get('/metrics')).text),
    (metrics) => metrics.sum('scheduler_pod_scheduling_duration_seconds_count') > 0,
  );
  t.true(QUERIES.length > 30);
  for (const query of QUERIES) {
    const asked = askedOf(query);
    t.true(asked.length > 0, query);
    for (const [name, labels] of asked) {
      const samples = text.matching(name);
      t.true(samples.length > 0, `${name} is not served: ${query}`);
      for (const label of labels) {
        t.true(
          samples.some((sample) => Object.hasOwn(sample.labels, label)),
          `${name} has no label ${label}: ${query}`,
        );
      }
    }
  }
});
