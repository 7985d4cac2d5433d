// Entry of the bare engine's process: LevelDB, one synced batch after another, each as large as the server's batches were: the floor
// of writes.
import { type BareEngine, openBareEngine } from '../floors/bare-engine.ts';
import { LatencyHistogram } from '../load/latency-histogram.ts';
import { Measurement } from '../load/measurement.ts';
import type { EngineJob, LoadReply, LoadResult } from '../load-protocol.ts';
import { fillerText } from '../objects.ts';
import { digitsOf } from '../request-template.ts';

async function writeBatches(job: EngineJob): Promise<LoadResult> {
  const database = await openBareEngine(job.directory);
  try {
    return await loop(database, job);
  } finally {
    await database.close();
  }
}

async function loop(database: BareEngine, job: EngineJob): Promise<LoadResult> {
  const { batchOperations, bounds, keys } = job;
  const value = Buffer.from(fillerText(job.valueBytes));
  const latency = new LatencyHistogram();
  const measurement = new Measurement(process.pid);
  const startMs = performance.now() + bounds.warmupSeconds * 1000;
  const endMs = startMs + bounds.seconds * 1000;
  let written = 0;
  let counted = 0;
  let nowMs = performance.now();
  while (nowMs < endMs && written < bounds.count) {
    if (nowMs >= startMs && !measurement.running) measurement.begin(nowMs);
    const batch = [];
    for (let index = 0; index < batchOperations; index += 1) {
      batch.push({ type: 'put' as const, key: `o/configmaps/bench/${digitsOf(written % keys)}`, value });
      written += 1;
    }
    const beganMs = nowMs;
    await database.batch(batch, { sync: true });
    nowMs = performance.now();
    if (!measurement.running) continue;
    latency.record(nowMs - beganMs);
    counted += batchOperations;
  }
  const bodyBytes = counted * job.valueBytes;
  const { generatorCpuSeconds: _own, ...measured } = measurement.end(nowMs);
  return {
    operations: counted,
    writes: counted,
    latency: latency.summary(),
    bodyBytes,
    errors: 0,
    ...measured,
  };
}

function answer(reply: LoadReply): void {
  process.send!(reply, () => process.exit(0));
}

process.once('disconnect', () => process.exit(1));
process.once('message', (job: EngineJob) => {
  writeBatches(job).then(
    (ok) => answer({ ok }),
    (error: Error) => answer({ failed: error.message }),
  );
});
