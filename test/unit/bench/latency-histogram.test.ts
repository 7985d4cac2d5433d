// Goal: a percentile is within 1.6 % of the exact one (or a microsecond), whatever the values. Method: distributions
// beside a sorted array.
import test from 'ava';
import { LatencyHistogram } from '../../../bench/load/latency-histogram.ts';

const distributions: Readonly<Record<string, readonly number[]>> = {
  'all the same': Array.from({ length: 100 }, () => 1.234),
  microseconds: Array.from({ length: 60 }, (_, index) => index / 1000),
  'evenly spread': Array.from({ length: 10_000 }, (_, index) => index / 10),
  'over many magnitudes': Array.from({ length: 5_000 }, (_, index) => 1.003 ** index / 1000),
  'one far out': [...Array.from({ length: 999 }, () => 2), 90_000],
  'a single value': [17.5],
};

for (const [name, values] of Object.entries(distributions)) {
  test(`percentiles are close to exact: ${name}`, (t) => {
    const histogram = new LatencyHistogram();
    for (const value of values) histogram.record(value);
    const sorted = [...values].sort((a, b) => a - b);
    for (const share of [0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1]) {
      const exact = sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1]!;
      const close = Math.abs(histogram.percentileMs(share) - exact) <= exact / 64 + 0.0011;
      t.true(close, `${share}: ${histogram.percentileMs(share)} for ${exact}`);
    }
    t.is(histogram.summary().maxMs, sorted.at(-1)!);
    t.is(histogram.count, values.length);
  });
}

test('times outside any range count as the nearest there is', (t) => {
  const histogram = new LatencyHistogram();
  histogram.record(-1);
  t.is(histogram.percentileMs(0.5), 0);
  histogram.record(1e12);
  t.is(histogram.count, 2);
  t.true(histogram.percentileMs(1) > 1_000_000);
});

test('a cleared histogram holds nothing', (t) => {
  const histogram = new LatencyHistogram();
  histogram.record(5);
  histogram.clear();
  t.deepEqual(histogram.summary(), { p50Ms: 0, p99Ms: 0, maxMs: 0 });
});
