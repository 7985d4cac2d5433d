import test from 'ava';
import { MetricsRegistry } from '../../../runtime/metrics/metrics-registry.ts';
import { metricsRules, shownReadings } from '../../../runtime/metrics/metrics-rules.ts';
import { renderMetrics } from '../../../transport/metrics-text.ts';
import { MetricsText } from '../../server/metrics-text.ts';

const NOTHING = { disabledMetrics: [], allowMetricLabels: [], showHiddenMetricsForVersion: '' };

/** What a scrape shows of `count`, by verb, and of a deprecated metric. */
async function shown(options: Partial<typeof NOTHING> | object, release = '1.21'): Promise<string> {
  const metrics = new MetricsRegistry();
  for (const [verb, times] of [
    ['get', 1],
    ['list', 2],
    ['made up', 4],
    ['odd', 8],
  ] as const)
    metrics.counter('count', 'Requests.', { verb, code: '200' }).add(times);
  metrics.histogram('lasting', 'How long.', [1, 2], { verb: 'odd' }).observe(1.5);
  metrics.histogram('lasting', 'How long.', [1, 2], { verb: 'even' }).observe(1.5);
  metrics.histogram('scheduler_binding_duration_seconds', 'Binding.', [1]).observe(0.5);
  return await renderMetrics(shownReadings([metrics.reading()], metricsRules({ ...NOTHING, ...options }, release)));
}

test('values of a label that are not among the allowed are one series, with their sum', async (t) => {
  const text = new MetricsText(await shown({ allowMetricLabels: ["count,verb='get,list'", 'lasting,verb='] }));
  const seen = text.matching('count').map(({ labels, value }) => [labels.verb, labels.code, value]);
  t.deepEqual(seen, [
    ['get', '200', 1],
    ['list', '200', 2],
    ['unexpected', '200', 12],
  ]);
  t.deepEqual(
    text.matching('lasting_bucket').map(({ labels, value }) => [labels.verb, labels.le, value]),
    [
      ['unexpected', '1', 0],
      ['unexpected', '2', 2],
      ['unexpected', '+Inf', 2],
    ],
  );
});

test('a disabled metric is not shown, whatever else is said of it', async (t) => {
  const text = await shown({ disabledMetrics: ['count', 'none'], allowMetricLabels: ['count,verb=get'] });
  t.false(/^count/m.test(text));
  t.regex(text, /^lasting_sum/m);
});

test('a deprecated metric says so, is hidden three releases later, shown once more on request, and then gone', async (t) => {
  const NAME = 'scheduler_binding_duration_seconds';
  t.true((await shown({})).includes(`# HELP ${NAME} (Deprecated from 1.20) Binding.`));
  t.true((await shown({}, '1.22')).includes(NAME));
  t.false((await shown({}, '1.23')).includes(NAME));
  t.true((await shown({ showHiddenMetricsForVersion: '1.22' }, '1.23')).includes(NAME));
  t.false((await shown({ showHiddenMetricsForVersion: '1.23' }, '1.24')).includes(NAME));
});
