// Every process of tests loads this first. When its tests are over it ends, if need be by force: ava waits for a process to end by
// itself, for ever where its own time limit is suspended, and Node keeps a process for a socket that was reset while it shut down.
import { registerCompletionHandler } from 'ava';

const LEFT_OPEN_MS = 20_000;

registerCompletionHandler(() => {
  const giveUp = (): void => {
    process.stderr.write(`ended by force: its tests left open ${process.getActiveResourcesInfo().join(', ')}\n`);
    process.exit();
  };
  setTimeout(giveUp, LEFT_OPEN_MS).unref();
});
