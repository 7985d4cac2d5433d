// The line that tells how a load goes about while it runs, on a terminal; elsewhere nothing is shown. Results are report.ts.
import type { LoadProgress } from '../load-protocol.ts';

const CLEAR_LINE = '\r\x1b[K';

/** Shows where a load is, in place of what was shown before. */
export function showProgress(progress: LoadProgress['progress']): void {
  if (process.stderr.isTTY) process.stderr.write(`${CLEAR_LINE}${progressText(progress)}`);
}

export function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write(CLEAR_LINE);
}

/** `3 of 5 s: 1,234,567 done (411,522/s), 0 errors`. */
function progressText({ elapsedSeconds, totalSeconds, operations, errors }: LoadProgress['progress']): string {
  const grouped = (value: number): string => Math.round(value).toLocaleString('en-US');
  const perSecond = elapsedSeconds > 0 ? operations / elapsedSeconds : 0;
  const at = `${Math.min(elapsedSeconds, totalSeconds).toFixed(0)} of ${totalSeconds.toFixed(0)} s`;
  return `${at}: ${grouped(operations)} done (${grouped(perSecond)}/s), ${errors} errors`;
}
