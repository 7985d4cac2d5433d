// Whether what the store depends on answers: the disk or the cluster it stands on, and the services that its keys are under.
import type { Timers } from '../../runtime/environment.ts';
import type { StoredEncryption } from '../../storage/encryption/stored-encryption.ts';
import type { StoreEngine } from '../../storage/engines/shared-engine.ts';

/**
 * What is wrong with the disk or the cluster, empty when nothing is. `waitedMs`: how long a commit has been waiting for it; else
 * something is read back. Never rejects.
 */
export async function storeProblem(
  engine: Pick<StoreEngine, 'probe'>,
  timers: Timers,
  timeoutMs: number,
  waitedMs: number,
): Promise<string> {
  const what = 'follow' in engine ? 'etcd' : 'the disk';
  return waitedMs > timeoutMs
    ? `a commit has been waiting for ${what} for more than ${timeoutMs} ms`
    : probeProblem(engine, what, timers, timeoutMs);
}

function probeProblem(
  engine: Pick<StoreEngine, 'probe'>,
  what: string,
  timers: Timers,
  timeoutMs: number,
): Promise<string> {
  return new Promise((resolve) => {
    const timer = timers.after(timeoutMs, () => resolve(`${what} did not answer within ${timeoutMs} ms`));
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

/** What is wrong with a key management service, by its number in the configuration; empty when nothing is. Never rejects. */
export async function keyServiceProblem(encryption: StoredEncryption | undefined, number: number): Promise<string> {
  const envelope = encryption?.envelopes[number];
  return envelope === undefined ? 'there is no such service' : envelope.problem();
}
