// Entry of the process that outlives the bench, should that be killed: then it ends the servers that the bench has started, which
// would go on for ever. They know nothing of it, so that what is measured is what is shipped.
import type { WatchedServer } from '../load-protocol.ts';

/** The first comes with the start: what is told before this is loaded is lost where the bench is killed by then. */
const running = new Set([Number(process.argv[2])]);

process.on('message', ({ pid, isRunning }: WatchedServer) => {
  if (isRunning) running.add(pid);
  else running.delete(pid);
});

function end(): void {
  for (const pid of running) {
    try {
      process.kill(pid, 'SIGTERM');
    } catch {
      // It has ended by itself.
    }
  }
  process.exit(0);
}

process.once('disconnect', end);
if (!process.connected) end();
