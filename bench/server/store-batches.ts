// How many transactions the server's store commits at a time, from its metrics: the floor of writes commits as many.
import type { ApiClient } from './api-client.ts';

const HISTOGRAM = 'orch_store_batch_transactions';

export interface BatchTotals {
  readonly transactions: number;
  readonly batches: number;
}

/** Sums the histogram over all its series in a page of metrics (Prometheus text format 0.0.4). */
export function parseBatchTotals(metrics: string): BatchTotals {
  const sum = (suffix: string): number => {
    let total = 0;
    const series = new RegExp(`^${HISTOGRAM}_${suffix}(?:\\{[^}]*\\})? (\\S+)`, 'gm');
    for (const match of metrics.matchAll(series)) total += Number(match[1]);
    return total;
  };
  return { transactions: sum('sum'), batches: sum('count') };
}

/** The totals as a page of metrics that `parseBatchTotals` reads. */
export function batchTotalsText({ transactions, batches }: BatchTotals): string {
  return `${HISTOGRAM}_sum ${transactions}\n${HISTOGRAM}_count ${batches}\n`;
}

/** The totals now; zeros when the server has no such metric. */
export async function readBatchTotals(client: ApiClient): Promise<BatchTotals> {
  const { status, text } = await client.send('GET', '/metrics');
  return parseBatchTotals(status === 200 ? text : '');
}

/** The average size of the batches in between, at least 1; `otherwise` when none are known. */
export function averageBatch(before: BatchTotals, after: BatchTotals, otherwise: number): number {
  const batches = after.batches - before.batches;
  return batches > 0 ? Math.max(1, (after.transactions - before.transactions) / batches) : otherwise;
}
