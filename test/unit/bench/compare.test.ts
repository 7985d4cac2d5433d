// Goal: a comparison is of two placements or more under one load, and its table puts what is to be compared together.
import test from 'ava';
import { comparison, comparisonTable } from '../../../bench/compare.ts';
import { figuresOf } from '../../../bench/figures/report.ts';

test('the workloads are the usual ones unless they are named', (t) => {
  const usual = comparison(['single', 'wide', '--seconds', '2']);
  t.deepEqual(usual.placements, ['single', 'wide']);
  t.deepEqual(usual.workloads, ['get', 'create', 'watch']);
  t.like(usual.options, { seconds: 2, floor: 'no' });
  t.deepEqual(comparison(['single', 'wide', '--workload', 'list,get']).workloads, ['list', 'get']);
});

for (const [argv, says] of [
  [['single'], /^two placements at least are needed/],
  [['single', 'wide', '--workload', 'dance'], /no workload "dance"/],
  [['single', 'nosuch'], /^the placement "nosuch" cannot be read/],
  [['single', 'wide', '--url', 'https://127.0.0.1:1'], /a running server has one placement/],
  [['single', 'wide', '--rows', 'get'], /does not heed --rows/],
] as const) {
  test(`refuses ${argv.join(' ')}`, (t) => {
    t.throws(() => comparison(argv), { message: says });
  });
}

test('rows of one workload stand together, with a dash for what is not known', (t) => {
  const result = { operations: 100, writes: 100, seconds: 1, bodyBytes: 1, errors: 0 };
  const figures = (workload: string, p99Ms: number) =>
    figuresOf({
      workload,
      parameters: {},
      unit: 'requests',
      result: { ...result, latency: { p50Ms: 1, p99Ms, maxMs: 9 } },
      floor: undefined,
    });
  const table = comparisonTable([
    { placement: 'single', figures: figures('get', 2) },
    { placement: 'single', figures: figures('create', 3) },
    { placement: 'wide', figures: figures('get', 4) },
  ]);
  const rows = table.split('\n').map((row) => row.split(/\s{2,}/));
  t.deepEqual(rows[0], [
    'workload',
    'placement',
    'a second',
    'CPU s/1,000',
    'p50 ms',
    'p99 ms',
    'cores',
    'RSS MiB',
    'errors',
  ]);
  t.deepEqual(
    rows.slice(1).map(([workload, placement, , cpu, , p99]) => [workload, placement, cpu, p99]),
    [
      ['get', 'single', '–', '2.00'],
      ['get', 'wide', '–', '4.00'],
      ['create', 'single', '–', '3.00'],
    ],
  );
});
