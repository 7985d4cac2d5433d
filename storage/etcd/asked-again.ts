// Asks an etcd cluster again what nobody answered: for commands, which have somebody waiting for their end. A server's own
// patience is in etcd-engine.ts.
import type { Timers } from '../../runtime/environment.ts';
import { OrchError } from '../../runtime/errors.ts';
import { EtcdError } from './etcd-cluster.ts';

const TRIES_MAX = 12;
const RETRY_FIRST_MS = 20;
const RETRY_MAX_MS = 1000;

/** The answer to a question that may be asked twice. Rejects with OrchError StoreUnusable when there is none. */
export async function askedAgain<T>(timers: Timers, question: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await question();
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      if (error.kind !== 'unknown' || tries >= TRIES_MAX) throw new OrchError('StoreUnusable', error.message);
    }
    const delayMs = Math.min(RETRY_FIRST_MS * 2 ** tries, RETRY_MAX_MS);
    await new Promise<void>((resolve) => void timers.after(delayMs, resolve));
  }
}
