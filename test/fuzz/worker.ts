// The thread that a slice of a run is run on: what hangs or runs out of memory here is ended from outside.
import { parentPort, workerData } from 'node:worker_threads';
import { runSlice, type Slice } from './engine.ts';
import { targetNamed } from './targets.ts';

export interface WorkerTask extends Slice {
  readonly targets: readonly string[];
  /** What the thread is at: target, input, inputs done. */
  readonly shared: SharedArrayBuffer;
}

const task = workerData as WorkerTask;
const counters = new Float64Array(task.shared);
const targets = task.targets.map(targetNamed);
for (const target of targets) await target.start?.();
const result = await runSlice(targets, task, {
  begin(targetAt, index) {
    counters[0] = targetAt;
    counters[1] = index;
  },
  done(inputs) {
    counters[2]! += inputs;
  },
});
for (const target of targets) await target.stop?.();
parentPort!.postMessage(result);
