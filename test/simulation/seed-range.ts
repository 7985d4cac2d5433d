// Many seeds, in this process or split over several: each of N processes takes every Nth seed and sends its results to
// the one that started it.
import { fork } from 'node:child_process';
import { sharedServer } from './shared-server.ts';
import { type RunResult, simulate } from './simulate.ts';
import type { Server } from './world.ts';

export interface SeedRange {
  readonly first: number;
  readonly count: number;
  /** N: every Nth seed only. */
  readonly stride: number;
  /** So many servers on one cluster; absent: one with a disk. */
  readonly servers?: number;
  /** In the layout of the original. */
  readonly isOriginal?: boolean;
}

/** What a run came to, small enough to cross processes. */
export type RunSummary = Omit<RunResult, 'history'>;

/** What a run is to be given for so many servers on one cluster; nothing for one with a disk. */
export function serversFor(
  seed: number,
  servers: number | undefined,
  isOriginal = false,
): { readonly server?: Server } {
  return servers === undefined ? {} : { server: sharedServer(seed, { servers, isOriginal }) };
}

/** Runs the seeds one after another. `onResult` hears each, with its problems. */
export async function runSeeds(
  { first, count, stride, servers, isOriginal }: SeedRange,
  onResult: (result: RunSummary) => void | Promise<void>,
): Promise<void> {
  for (let seed = first; seed < first + count; seed += stride) {
    const { history: _history, ...summary } = await simulate({ seed, ...serversFor(seed, servers, isOriginal) });
    await onResult(summary);
  }
}

/** The same in several processes of the program `script`, which must call `workForParent` when it is given `--worker`. */
export async function runSeedsInProcesses(
  jobs: number,
  { first, count, ...rest }: Omit<SeedRange, 'stride'>,
  script: string,
  onResult: (result: RunSummary) => void,
): Promise<void> {
  const work = Array.from({ length: Math.min(jobs, count) }, (_, number) => {
    const range: SeedRange = { first: first + number, count: count - number, stride: jobs, ...rest };
    const child = fork(script, ['--worker', JSON.stringify(range)]);
    child.on('message', (result) => onResult(result as RunSummary));
    return new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      // Not 'exit': that may come while results still lie in the channel.
      child.once('close', (code, signal) => {
        if (code === 0) resolve();
        else
          reject(
            new Error(`the process of seeds ${range.first}, ${range.first + jobs}, … ended with ${signal ?? code}`),
          );
      });
    });
  });
  await Promise.all(work);
}

/** The part of a process that `runSeedsInProcesses` started. A parent that is gone ends it. */
export async function workForParent(range: string): Promise<void> {
  const send = (result: RunSummary): Promise<void> =>
    new Promise((resolve, reject) => {
      process.send!(result, (error: Error | null) => (error === null ? resolve() : reject(error)));
    });
  await runSeeds(JSON.parse(range) as SeedRange, send);
  process.disconnect();
}
