// Entry of the load generator's process: takes one job from its parent, runs it, answers and ends. Ends at once when the
// parent goes away.
import type { LoadJob, LoadReply } from './load-protocol.ts';
import { runRequestLoad } from './request-load.ts';
import { runWatchLoad } from './watch-load.ts';

function answer(reply: LoadReply): void {
  process.send!(reply, () => process.exit(0));
}

process.once('disconnect', () => process.exit(1));
process.once('message', (job: LoadJob) => {
  const running =
    job.type === 'requests' ? runRequestLoad(job) : runWatchLoad(job, (progress) => process.send!(progress));
  running.then(
    (ok) => answer({ ok }),
    (error: Error) => answer({ failed: error.message }),
  );
});
