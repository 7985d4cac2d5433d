// The bench of the hub counts what its watchers got.
import test from 'ava';
import { Bench } from '../../../bench/bench.ts';
import type { Figures } from '../../../bench/figures/report.ts';
import { hub } from '../../../bench/workloads/hub.ts';

test('events that the hub holds back for a moment are no lost ones', async (t) => {
  const reports: Figures[] = [];
  const bench = new Bench({ objects: 2_000, count: 2_000 });
  t.teardown(() => bench.close());
  await hub.run(bench, (figures) => void reports.push(figures));
  t.deepEqual(
    reports.map(({ errors }) => errors),
    [0],
  );
});
