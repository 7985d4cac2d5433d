// Whether the store's disk answers.
import type { Timers } from '../../runtime/environment.ts';
import type { StorageEngine } from '../../storage/engine.ts';

/** Reads something back from the disk. Resolves with what is wrong, empty when nothing is; never rejects. */
export function diskProblem(engine: StorageEngine, timers: Timers, timeoutMs: number): Promise<string> {
  return new Promise((resolve) => {
    const timer = timers.after(timeoutMs, () => resolve(`the disk did not answer within ${timeoutMs} ms`));
    const settle = (problem: string): void => {
      timer.cancel();
      resolve(problem);
    };
    engine.probe().then(
      () => settle(''),
      (error: unknown) => settle(String(error)),
    );
  });
}
