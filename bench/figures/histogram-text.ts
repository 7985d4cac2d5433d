// A distribution of delays as lines of a terminal: a row for each doubling, a bar as long as its share. Pure.
import type { LatencyBuckets } from '../load-protocol.ts';

const BAR_COLUMNS = 40;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** No lines when there are no values. */
export function histogramLines(buckets: LatencyBuckets): readonly string[] {
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  const most = Math.max(...buckets.map(([, count]) => count));
  return buckets.map(([upToMs, count]) => {
    const share = ((100 * count) / total).toFixed(1).padStart(5);
    return `  ≤ ${milliseconds(upToMs).padStart(8)} ms ${share} % ${bar(count / most)}`;
  });
}

function milliseconds(value: number): string {
  return value < 10 ? value.toFixed(2) : Math.round(value).toLocaleString('en-US');
}

function bar(share: number): string {
  const eighths = Math.round(share * BAR_COLUMNS * EIGHTHS.length);
  const whole = Math.floor(eighths / EIGHTHS.length);
  return '█'.repeat(whole) + EIGHTHS[eighths % EIGHTHS.length]!;
}
