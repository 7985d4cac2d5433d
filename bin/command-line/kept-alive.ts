// Commands that wait by timers of the environment, which keep no process alive: without this one would end in the middle of its work,
// with exit code 0 and nothing said.
const PERIOD_MS = 60_000;

/** Does `work` in a process that lives as long as it takes. */
export async function keptAlive<Result>(work: () => Promise<Result>): Promise<Result> {
  const alive = setInterval(() => {}, PERIOD_MS);
  try {
    return await work();
  } finally {
    clearInterval(alive);
  }
}
