// What the histograms of samples and watermarks say of how many requests there were, in virtual time.
import test from 'ava';
import { countOut, RequestCounts } from '../../../../actors/ingress/fairness/request-counts.ts';
import { LevelSamples, sampledCount } from '../../../../actors/ingress/fairness/sampled-count.ts';
import type { LevelSpec } from '../../../../api/flow-control/configuration.ts';
import { MetricsRegistry } from '../../../../runtime/metrics/metrics-registry.ts';
import { VirtualTime } from '../../../../runtime/simulation/virtual-time.ts';
import { exchangeOver } from '../exchanges.ts';

/** How many observations a histogram has in each bucket that has any, by the bucket's upper end. */
function observed(metrics: MetricsRegistry, name: string, labels: Readonly<Record<string, string>>): object {
  const family = metrics.reading().find((one) => one.name === `apiserver_flowcontrol_${name}`)!;
  const wanted = Object.entries(labels);
  const series = family.series.find((one) => wanted.every(([key, value]) => one.labels[key] === value))!;
  const ends = [...family.bucketsUpTo!.map(String), '+Inf'];
  return Object.fromEntries(ends.map((end, at) => [end, series.counts![at]!]).filter(([, count]) => count !== 0));
}

test('each millisecond is one sample, and one of the least and one of the most in it', (t) => {
  const metrics = new MetricsRegistry();
  const labels = { priority_level: 'one' };
  const count = sampledCount(metrics, 'priority_level', labels, { phase: 'executing', limit: 10, nowMs: 0.5 });
  const of = (name: string, more: object = {}): object =>
    observed(metrics, `priority_level_request_count_${name}`, { ...labels, phase: 'executing', ...more });
  count.set(3, 0.6);
  count.set(1, 0.9);
  t.deepEqual(of('samples'), {});
  count.set(7, 1.1);
  t.deepEqual(of('samples'), { 0.1: 1 });
  t.deepEqual(of('watermarks', { mark: 'low' }), { 0: 1 });
  t.deepEqual(of('watermarks', { mark: 'high' }), { 0.3: 1 });
  count.settle(5.99);
  t.deepEqual(of('samples'), { 0.1: 1, 0.7: 4 });
  t.deepEqual(of('watermarks', { mark: 'low' }), { 0: 1, 0.1: 1, 0.7: 3 });
  t.deepEqual(of('watermarks', { mark: 'high' }), { 0.3: 1, 0.7: 4 });
});

test('a limit that changes changes what is a part of it from then on', (t) => {
  const metrics = new MetricsRegistry();
  const spec = { name: 'one', queuing: { queueLengthLimit: 50 } } as LevelSpec;
  const samples = new LevelSamples(metrics, spec, 4, 0);
  const of = (phase: string): object => observed(metrics, 'priority_level_request_count_samples', { phase });
  samples.running(4, 0);
  samples.waiting(25, 0);
  samples.setLimits({ ...spec, queuing: undefined }, 8, 10);
  samples.settle(30);
  t.deepEqual(of('executing'), { 1: 10, 0.5: 20 });
  t.deepEqual(of('waiting'), { 0.5: 10, '+Inf': 20 });
  const none = new LevelSamples(metrics, { ...spec, name: 'none', queuing: undefined }, 0, 0);
  none.settle(10);
  const [, ...rest] = [...metrics.reading().flatMap(({ series }) => series.map(({ value }) => value))];
  t.true(rest.every(Number.isFinite));
});

test('reads and writes that run and wait are sampled apart, whenever the metrics are read', async (t) => {
  const metrics = new MetricsRegistry();
  const time = new VirtualTime();
  const counts = new RequestCounts(metrics, time, { readOnly: 1, mutating: 4 });
  const of = (kind: string, phase: string): object =>
    observed(metrics, 'read_vs_write_request_count_samples', { request_kind: kind, phase });
  const read = counts.begin(exchangeOver({}, { verb: 'get' }), time.monotonicMs());
  const write = counts.begin(exchangeOver({}, { verb: 'create' }), time.monotonicMs());
  const waits = counts.wait(exchangeOver({}, { verb: 'list' }), time.monotonicMs());
  t.is(counts.count, 3);
  await time.advance(5);
  countOut(read, time.monotonicMs());
  countOut(waits, time.monotonicMs());
  await time.advance(5);
  countOut(write, time.monotonicMs());
  t.is(counts.count, 0);
  t.deepEqual(of('readOnly', 'executing'), { 0: 5, 1: 5 });
  t.deepEqual(of('readOnly', 'waiting'), { 0: 5, 1: 5 });
  t.deepEqual(of('mutating', 'executing'), { 0.3: 10 });
  await time.advance(7);
  t.deepEqual(of('mutating', 'executing'), { 0: 7, 0.3: 10 });
});
