// The folder of --cert-dir, which servers may share: those that start at once must not make a pair each, or one's certificate would lie
// beside the other's key. Whoever comes first makes it, and the others take what they find.
import { setTimeout as sleep } from 'node:timers/promises';
import type { SchedulerOptions, ServerOptions } from '../../config/options.ts';
import { isOrchError, OrchError } from '../../runtime/errors.ts';
import { makeFolder } from '../../runtime/files/make-folder.ts';
import { removeTemporaries } from '../../runtime/files/temporary-files.ts';
import { lockDirectory } from '../../storage/level/database-lock.ts';
import type { PairFiles } from '../../transport/tls/material-files.ts';
import { selfSignedPair } from '../../transport/tls/self-signed-pair.ts';
import { requireFolder } from '../writable-places.ts';

/** Stays when the pair is made: whoever removed it could take it from another. */
const LOCK_FILE = 'apiserver.lock';
const LOOK_EVERY_MS = 20;
/** A pair is made in some milliseconds. */
const PATIENCE_MS = 10_000;

/** Throws OrchError BadConfiguration where a pair is to be made and could not be kept. Makes nothing. */
export function checkCertificateFolder({
  certDir,
  tlsCertFile,
}: Pick<ServerOptions | SchedulerOptions, 'certDir' | 'tlsCertFile'>): void {
  if (tlsCertFile === '' && certDir !== '') requireFolder(certDir, '--cert-dir');
}

/** See selfSignedPair. */
export function sharedPair(folder: string, names: readonly string[]): Promise<PairFiles> {
  return selfSignedPair(folder, names, (work) => alone(folder, work));
}

async function alone(folder: string, work: () => Promise<void>): Promise<void> {
  const unlock = await locked(folder);
  try {
    removeTemporaries(folder);
    await work();
  } finally {
    await unlock();
  }
}

/** Waits for its turn. Where nothing can be locked, as in a folder that cannot be written to, it comes at once. */
async function locked(folder: string): Promise<() => Promise<void>> {
  try {
    makeFolder(folder);
  } catch {
    // Whoever writes there says why not.
  }
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await lockDirectory(folder, LOCK_FILE);
    } catch (error) {
      if (!isOrchError(error, 'StoreUnusable')) throw error;
      if (performance.now() < deadlineMs) await sleep(LOOK_EVERY_MS);
      else throw new OrchError('BadConfiguration', `another process does not end making a certificate in ${folder}`);
    }
  }
}
