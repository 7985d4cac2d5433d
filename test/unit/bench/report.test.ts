// Goal: rates and ratios follow from the counts, and what is not known is null rather than a number. Method: results with
// round figures.
import test from 'ava';
import { type Figures, failuresOf, figuresOf, floorFigures, lines } from '../../../bench/figures/report.ts';
import { sum, withErrorsOf } from '../../../bench/figures/slices.ts';
import type { LoadResult } from '../../../bench/load-protocol.ts';

const result: LoadResult = {
  operations: 20_000,
  writes: 20_000,
  seconds: 4,
  latency: { p50Ms: 1.5, p99Ms: 3, maxMs: 9 },
  bodyBytes: 1,
  errors: 0,
  generatorCpuSeconds: 3,
  serverCpuSeconds: 2,
  serverRssBytes: 200 * 1024 * 1024,
  machineCpuSeconds: 6,
};
const { generatorCpuSeconds: _none, ...engineResult }: LoadResult = {
  ...result,
  operations: 40_000,
  serverCpuSeconds: 1,
};
const floorResult: LoadResult = { ...result, operations: 40_000, serverCpuSeconds: 1 };

function figures(of: LoadResult, floor = true): Figures {
  return figuresOf({
    workload: 'get',
    parameters: { connections: 64 },
    unit: 'requests',
    result: of,
    floor: floor ? floorFigures('bare listener', floorResult) : undefined,
  });
}

test('rates, CPU and ratios are of the counted operations', (t) => {
  t.like(figures(result), {
    perSecond: 5000,
    cpuSecondsPer1000: 0.1,
    serverCores: 0.5,
    generatorCores: 0.75,
    otherCores: 0.25,
    ratioToFloor: 0.5,
    cpuToFloor: 4,
  });
});

test('an operation of several writes is that much slower at the floor', (t) => {
  t.like(floorFigures('bare engine', engineResult, 2), {
    perSecond: 5000,
    cpuSecondsPer1000: 0.05,
    generatorCores: null,
  });
});

test('without a process there are no CPU figures, without a floor no ratios', (t) => {
  const { serverCpuSeconds: _cpu, serverRssBytes: _rss, ...foreign } = result;
  const unknown = {
    cpuSecondsPer1000: null,
    serverCores: null,
    serverRssBytes: null,
    cpuToFloor: null,
    otherCores: null,
  };
  t.like(figures(foreign), { ...unknown, ratioToFloor: 0.5 });
  t.like(figures(result, false), { floor: null, ratioToFloor: null, cpuToFloor: null });
});

test('nothing done is a rate of 0 and no CPU figure', (t) => {
  const none = figures({ ...result, operations: 0, seconds: 0 });
  t.like(none, { perSecond: 0, cpuSecondsPer1000: null, serverCores: null, ratioToFloor: 0 });
});

test('slices that are put together tell the first error of any, and no CPU that is known of none', (t) => {
  const { serverCpuSeconds: _unknown, ...foreign } = result;
  const both = sum([{ ...foreign, errors: 2, firstError: '503 not now' }, foreign]);
  t.like(figures(both, false), { operations: 40_000, errors: 2, firstError: '503 not now' });
  t.like(figures(both, false), { cpuSecondsPer1000: null, serverCores: null, generatorCores: 0.75 });
  t.is(figures(sum([result, result]), false).cpuSecondsPer1000, 0.1);
});

test('what went wrong in a load that went on beside another makes its figures no result, and changes them in nothing else', (t) => {
  const beside = [result, { ...result, errors: 3, firstError: '503 not now' }];
  t.deepEqual(failuresOf([figures(withErrorsOf(result, beside))]), ['get: 3 errors: 503 not now']);
  t.deepEqual(withErrorsOf(result, [result]), result);
});

test('a record survives JSON', (t) => {
  const record = figures(result);
  t.deepEqual(JSON.parse(JSON.stringify(record)), record);
});

test('the lines for a reader name the load, the floor, the ratios and the first error', (t) => {
  const text = lines(figures({ ...result, errors: 2, firstError: '409 Conflict' }));
  for (const words of ['get', '5,000/s', 'bare listener', '0.50 of its rate', '4.00 times its CPU', '409 Conflict']) {
    t.true(text.includes(words), `${words} in ${text}`);
  }
  t.false(lines(figures(result, false)).includes('bare listener'));
});

test('figures of a load that met errors, or did nothing, are no result; a load that is to do nothing is one', (t) => {
  const good = figures(result);
  t.deepEqual(failuresOf([good, { ...good, perSecond: 0, parameters: { rate: 0 } }]), []);
  const failed = { ...good, errors: 3, firstError: '500 no\n' };
  t.deepEqual(failuresOf([failed, good, { ...good, perSecond: 0 }]), [
    'get: 3 errors: 500 no',
    'get: nothing was done',
  ]);
});
