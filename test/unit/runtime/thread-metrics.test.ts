// The metrics of all threads: a thread that is too busy to answer takes nothing from the sums.
import test from 'ava';
import type { MetricsReading } from '../../../runtime/metrics/metrics.ts';
import { ThreadMetrics } from '../../../runtime/threads/thread-metrics.ts';

type Thread = ConstructorParameters<typeof ThreadMetrics>[0][number];

function readingCalled(name: string): MetricsReading {
  return [{ name, help: '', type: 'counter', series: [] }] as unknown as MetricsReading;
}

/** Answers each ask with the next of `answers`; nothing: too late. */
function threadOf(...answers: readonly (MetricsReading | undefined)[]): Thread {
  let asked = 0;
  const ask = (): Promise<unknown> => {
    const answer = answers[asked++];
    return answer === undefined ? Promise.reject(new Error('late')) : Promise.resolve(answer);
  };
  return { ask } as Thread;
}

const [A, B, C] = ['a', 'b', 'c'].map(readingCalled) as [MetricsReading, MetricsReading, MetricsReading];

test('of a thread that does not answer in time, what it said last counts', async (t) => {
  const metrics = new ThreadMetrics([threadOf(A, A, A), threadOf(B, undefined, C)]);
  t.deepEqual(await metrics.readings(), [A, B]);
  t.deepEqual(await metrics.readings(), [A, B]);
  t.deepEqual(await metrics.readings(), [A, C]);
});

test('a thread that has never answered is left out', async (t) => {
  const metrics = new ThreadMetrics([threadOf(undefined, B), threadOf(A, A)]);
  t.deepEqual(await metrics.readings(), [A]);
  t.deepEqual(await metrics.readings(), [B, A]);
});
