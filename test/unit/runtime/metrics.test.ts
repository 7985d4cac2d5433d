import test from 'ava';
import type { MetricsReading } from '../../../runtime/metrics/metrics.ts';
import { MetricsRegistry } from '../../../runtime/metrics/metrics-registry.ts';
import { METRICS_CONTENT_TYPE, metricsPieces, renderMetrics } from '../../../transport/metrics-text.ts';
import { MetricsText } from '../../server/metrics-text.ts';

function sampled(thread: string, requests: number): MetricsReading {
  const metrics = new MetricsRegistry();
  metrics.counter('requests_total', 'Requests.', { verb: 'get' }).add(requests);
  metrics.gauge('depth', 'Depth.', { thread }).set(requests);
  const seconds = metrics.histogram('seconds', 'Seconds.', [0.1, 1]);
  for (const value of [0.05, 0.1, 0.5, 2]) seconds.observe(value);
  return metrics.reading();
}

test('the same name and labels give the same series, in any order of labels', (t) => {
  const metrics = new MetricsRegistry();
  metrics.counter('c', 'help', { a: '1', b: '2' }).add(1);
  metrics.counter('c', 'help', { b: '2', a: '1' }).add(2);
  metrics.counter('c', 'help', { a: '1,"b":2' }).add(4);
  t.deepEqual(
    metrics.reading()[0]!.series.map(({ value }) => value),
    [3, 4],
  );
});

test('declaring a name again as something else throws', (t) => {
  const metrics = new MetricsRegistry();
  metrics.counter('c', 'help');
  metrics.histogram('h', 'help', [1, 2]);
  t.throws(() => metrics.gauge('c', 'help'), { message: /metric c is declared twice/ });
  t.throws(() => metrics.histogram('h', 'help', [1, 3]), { message: /metric h is declared twice/ });
});

test('collectors run before each reading', (t) => {
  const metrics = new MetricsRegistry();
  const gauge = metrics.gauge('g', 'help');
  let reads = 0;
  metrics.beforeReading(() => gauge.set(++reads));
  t.is(metrics.reading()[0]!.series[0]!.value, 1);
  t.is(metrics.reading()[0]!.series[0]!.value, 2);
});

test('an observation falls in the first bucket that reaches it, else in the last', (t) => {
  const [, , seconds] = sampled('front', 1);
  t.deepEqual(seconds?.series, [{ labels: {}, value: 2.65, counts: [2, 1, 1] }]);
});

test('the text form has help, type, labels and cumulative buckets, summed over threads', async (t) => {
  const text = await renderMetrics([sampled('front', 2), sampled('st"ore\\\n', 3)]);
  t.deepEqual(text.trimEnd().split('\n'), [
    '# HELP requests_total Requests.',
    '# TYPE requests_total counter',
    'requests_total{verb="get"} 5',
    '',
    '# HELP depth Depth.',
    '# TYPE depth gauge',
    'depth{thread="front"} 2',
    'depth{thread="st\\"ore\\\\\\n"} 3',
    '',
    '# HELP seconds Seconds.',
    '# TYPE seconds histogram',
    'seconds_bucket{le="0.1"} 4',
    'seconds_bucket{le="1"} 6',
    'seconds_bucket{le="+Inf"} 8',
    'seconds_sum 5.3',
    'seconds_count 8',
  ]);
  t.is(METRICS_CONTENT_TYPE, 'text/plain; version=0.0.4; charset=utf-8');
});

test('very many series come in short pieces, which are one text: a family has one header, and threads are summed', async (t) => {
  const readings = [1, 2].map((amount) => {
    const metrics = new MetricsRegistry();
    metrics.counter('before', 'Before.').add(amount);
    const upTo = Array.from({ length: 40 }, (_, bucket) => bucket);
    for (let i = 0; i < 500; i++) {
      metrics.histogram('seconds', 'Seconds.', upTo, { resource: `type${i}` }).observe(amount);
      metrics.counter('requests_total', 'Requests.', { resource: `type${i}` }).add(amount);
    }
    return metrics.reading();
  });
  const pieces: string[] = [];
  for await (const piece of metricsPieces(readings)) pieces.push(piece);
  const longest = Math.max(...pieces.map((piece) => piece.split('\n').length));
  t.true(longest <= 1200, `${longest} lines in one piece`);
  const whole = pieces.join('');
  t.is(whole.match(/^# HELP/gm)?.length, 3);
  t.deepEqual(whole.match(/^$/gm)?.length, 3, 'a blank line between families, and the end');
  const text = new MetricsText(whole);
  t.is(text.matching('seconds_bucket').length, 500 * 41);
  t.is(text.matching('seconds_count', { resource: 'type499' })[0]!.value, 2);
  t.is(text.sum('seconds_sum'), 1500);
  t.is(text.matching('requests_total').length, 500);
  t.is(text.sum('requests_total'), 1500);
});

const SHAPE = { quantiles: [0.5, 0.99], ageMs: 5000 };

test('a summary tells quantiles of what all threads have seen lately, and sum and number of all there was', async (t) => {
  const threads = [new MetricsRegistry(), new MetricsRegistry()];
  const series = threads.map((metrics) => metrics.summary('took', 'Took.', SHAPE, { verb: 'get' }));
  for (let value = 1; value <= 1000; value++) series[value % 2]!.observe(value / 1000, value);
  const read = async (): Promise<MetricsText> =>
    new MetricsText(await renderMetrics(threads.map((metrics) => metrics.reading())));
  const near = (text: MetricsText, quantile: string, wanted: number): void => {
    const [found] = text.matching('took', { verb: 'get', quantile });
    t.true(Math.abs(found!.value / wanted - 1) < 0.025, `${found!.value} for ${wanted}`);
  };
  const text = await read();
  t.is(text.kinds.get('took'), 'summary');
  near(text, '0.5', 0.5);
  near(text, '0.99', 0.99);
  t.is(text.sum('took_count'), 1000);
  t.is(Math.round(text.sum('took_sum')), 501);
  series[0]!.observe(7, 6500);
  for (const one of series) one.turn(6500);
  near(await read(), '0.5', 7);
  for (const one of series) one.turn(1e9);
  const later = await read();
  t.is(later.matching('took', { quantile: '0.5' })[0]!.value, Number.NaN);
  t.is(later.sum('took_count'), 1001);
});

test('a summary takes what is nothing and what is beyond all measure', async (t) => {
  const metrics = new MetricsRegistry();
  const series = metrics.summary('took', 'Took.', SHAPE);
  for (const value of [0, -1, 1e12]) series.observe(value, 0);
  const text = new MetricsText(await renderMetrics([metrics.reading()]));
  t.is(text.sum('took', { quantile: '0.5' }), 0);
  t.true(text.sum('took', { quantile: '0.99' }) > 9000);
});
