// The original's metrics on a server that has written, listed and watched: names, labels and values.
import test from 'ava';
import { MetricsText } from '../server/metrics-text.ts';
import { sharedServer } from '../server/server-process.ts';
import { eventually } from './objects.ts';

const SERVER = sharedServer(test, { args: ['--store-count-metric-poll-period', '100ms'] });
const PATH = '/api/v1/namespaces/default/configmaps';

const WATCHED = { group: '', version: 'v1', kind: 'ConfigMap' };
const READ = { verb: 'LIST', group: '', version: 'v1', resource: 'configmaps', subresource: '', scope: 'namespace' };

test('reads, watches, admission and commits are measured under the names that dashboards ask for', async (t) => {
  const { client } = SERVER();
  const watch = await client.watch(`${PATH}?watch=true`);
  const made = await client.request('POST', PATH, { body: { metadata: { name: 'measured' }, data: { a: 'b' } } });
  t.is(made.status, 201);
  t.is(
    (await client.request('POST', `${PATH}`, { body: { metadata: { name: 'x', namespace: 'other' } } })).status,
    400,
  );
  t.is(
    (await client.request('POST', '/api/v1/namespaces/gone/configmaps', { body: { metadata: { name: 'x' } } })).status,
    404,
  );
  t.is((await client.request('DELETE', `${PATH}/measured`)).status, 200);
  await client.get(PATH);
  const metrics = await eventually(
    async () => new MetricsText((await client.get('/metrics')).text),
    (now) =>
      now.sum('apiserver_watch_events_total', WATCHED) >= 2 &&
      now.sum('store_object_counts', { resource: 'namespaces' }) >= 3,
  );
  t.is(metrics.sum('apiserver_registered_watchers', WATCHED), 1);
  t.true(metrics.sum('apiserver_watch_events_sizes_sum', WATCHED) > 100);
  t.true(metrics.sum('apiserver_response_sizes_sum', READ) > 50);
  t.is(metrics.sum('apiserver_response_sizes_count', { ...READ, verb: 'POST' }), 0);
  t.true(metrics.sum('store_request_duration_seconds_count', { operation: 'create', type: 'configmaps' }) >= 1);
  t.true(metrics.sum('store_request_duration_seconds_count', { operation: 'delete', type: 'configmaps' }) >= 1);
  const admitted = { name: 'NamespaceLifecycle', type: 'admit', operation: 'CREATE' };
  const plugin = 'apiserver_admission_controller_admission_duration_seconds_count';
  t.true(metrics.sum(plugin, { ...admitted, rejected: 'false' }) >= 1);
  t.true(metrics.sum(plugin, { ...admitted, rejected: 'true' }) >= 1);
  const step = 'apiserver_admission_step_admission_duration_seconds_count';
  t.true(metrics.sum(step, { type: 'admit', operation: 'DELETE', rejected: 'false' }) >= 1);
  const summary = 'apiserver_admission_step_admission_duration_seconds_summary';
  const created = { type: 'admit', operation: 'CREATE', rejected: 'false' };
  t.is(metrics.kinds.get(summary), 'summary');
  t.true(metrics.sum(`${summary}_count`, created) >= 1);
  const quantiles = metrics.matching(summary, created).map(({ labels, value }) => [labels.quantile, value > 0]);
  t.deepEqual(quantiles, [
    ['0.5', true],
    ['0.9', true],
    ['0.99', true],
  ]);
  const flow = 'apiserver_flowcontrol_';
  for (const phase of ['executing', 'waiting']) {
    for (const kind of ['readOnly', 'mutating']) {
      const labels = { phase, request_kind: kind };
      const samples = metrics.sum(`${flow}read_vs_write_request_count_samples_count`, labels);
      t.true(samples > 100);
      for (const mark of ['low', 'high'])
        t.is(metrics.sum(`${flow}read_vs_write_request_count_watermarks_count`, { ...labels, mark }), samples);
    }
    const level = { phase, priority_level: 'catch-all' };
    t.true(metrics.sum(`${flow}priority_level_request_count_samples_count`, level) > 100);
    t.true(metrics.sum(`${flow}priority_level_request_count_watermarks_count`, level) > 200);
  }
  t.true(
    metrics.sum(`${flow}read_vs_write_request_count_watermarks_sum`, { mark: 'high', request_kind: 'mutating' }) > 0,
  );
  for (const filter of ['authentication', 'authorization', 'priorityandfairness'])
    t.true(metrics.sum('apiserver_request_filter_duration_seconds_count', { filter }) >= 5, filter);
  t.is(metrics.sum('apiserver_request_filter_duration_seconds_count', { filter: 'audit' }), 0, 'nothing is recorded');
  await watch.close();
  await eventually(
    async () => new MetricsText((await client.get('/metrics')).text),
    (now) => now.sum('apiserver_registered_watchers', WATCHED) === 0,
  );
});
