// Goal: the average batch between two pages of metrics, over all threads. Method: pages.
import test from 'ava';
import { averageBatch, batchTotalsText, parseBatchTotals } from '../../../bench/server/store-batches.ts';

const page = [
  '# TYPE orch_store_batch_transactions histogram',
  'orch_store_batch_transactions_bucket{le="1"} 3',
  'orch_store_batch_transactions_bucket{thread="a",le="+Inf"} 10',
  'orch_store_batch_transactions_sum 40',
  'orch_store_batch_transactions_count 10',
  'orch_store_batch_transactions_sum{thread="b"} 2.5e1',
  'orch_store_batch_transactions_count{thread="b"} 5',
  'other_orch_store_batch_transactions_sum 1000',
  '',
].join('\n');

test('totals are summed over the series of the histogram', (t) => {
  t.deepEqual(parseBatchTotals(page), { transactions: 65, batches: 15 });
  t.deepEqual(parseBatchTotals(''), { transactions: 0, batches: 0 });
  const totals = { transactions: 29, batches: 2 };
  t.deepEqual(parseBatchTotals(batchTotalsText(totals)), totals);
});

test('the average is of what came in between, or the given one when nothing did', (t) => {
  const totals = (transactions: number, batches: number) => ({ transactions, batches });
  t.is(averageBatch(totals(40, 10), totals(200, 20), 9), 16);
  t.is(averageBatch(totals(0, 0), totals(0, 0), 9), 9);
  t.is(averageBatch(totals(5, 5), totals(5, 6), 9), 1);
});
