// Entry of the bare scan's process: LevelDB, every value of a data directory read once. No server that starts with its objects
// in memory can do without it, so it is the floor of starts.
import { Level } from 'level';
import { Measurement } from '../load/measurement.ts';
import type { LoadReply, LoadResult, ScanJob } from '../load-protocol.ts';

async function scan({ directory }: ScanJob): Promise<LoadResult> {
  const startedMs = performance.now();
  const measurement = new Measurement(process.pid);
  measurement.begin(startedMs);
  const database = new Level<string, Uint8Array>(directory, { keyEncoding: 'utf8', valueEncoding: 'view' });
  await database.open();
  let bodyBytes = 0;
  try {
    for await (const value of database.values()) bodyBytes += value.byteLength;
  } finally {
    await database.close();
  }
  const elapsedMs = performance.now() - startedMs;
  const { generatorCpuSeconds: _own, ...measured } = measurement.end(performance.now());
  const latency = { p50Ms: elapsedMs, p99Ms: elapsedMs, maxMs: elapsedMs };
  return { operations: 1, writes: 0, latency, bodyBytes, errors: 0, ...measured };
}

function answer(reply: LoadReply): void {
  process.send!(reply, () => process.exit(0));
}

process.once('disconnect', () => process.exit(1));
process.once('message', (job: ScanJob) => {
  scan(job).then(
    (ok) => answer({ ok }),
    (error: Error) => answer({ failed: error.message }),
  );
});
