// Entry of the load generator's process: takes one job from its parent, runs it, answers and ends. Ends at once when the
// parent goes away.
import { runCrowdLoad } from '../load/crowd-load.ts';
import { runRequestLoad } from '../load/request-load.ts';
import { runWatchLoad } from '../load/watch-load.ts';
import type { LoadJob, LoadReply, LoadResult } from '../load-protocol.ts';

function answer(reply: LoadReply): void {
  process.send!(reply, () => process.exit(0));
}

function run(job: LoadJob): Promise<LoadResult> {
  if (job.type === 'requests') return runRequestLoad(job);
  if (job.type === 'crowd') return runCrowdLoad(job);
  return runWatchLoad(job, (progress) => process.send!(progress));
}

process.once('disconnect', () => process.exit(1));
process.once('message', (job: LoadJob) => {
  run(job).then(
    (ok) => answer({ ok }),
    (error: Error) => answer({ failed: error.message }),
  );
});
