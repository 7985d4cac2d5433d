// `orch top`: what the threads and actors of a running server do, as a table that is renewed, or printed once. It is made of what
// /metrics says twice, some time apart.
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { UsageError } from '../../config/usage-error.ts';
import { OrchError } from '../../runtime/errors.ts';
import { AdminPages, dataDirOf } from './admin-pages.ts';
import { type Look, samplesOf, table } from './top-table.ts';

const USAGE = 'usage: orch top [--once] [--data-dir DIR]';
const PERIOD_MS = 2000;
const ONCE_MS = 500;
const CLEAR = '\u001b[H\u001b[2J';
const HTTP_OK = 200;

/** Throws UsageError, and OrchError where the server does not answer. */
export async function top(argv: readonly string[]): Promise<void> {
  const { directory, rest } = dataDirOf(argv, USAGE);
  const isOnce = rest[0] === '--once';
  if (rest.length > (isOnce ? 1 : 0)) throw new UsageError(USAGE);
  const pages = new AdminPages(resolve(directory));
  try {
    let before = await look(pages);
    // Without a terminal there is nothing to renew.
    const isRenewed = !isOnce && process.stdout.isTTY;
    do {
      await pause(isRenewed ? PERIOD_MS : ONCE_MS);
      const now = await look(pages);
      process.stdout.write(`${isRenewed ? CLEAR : ''}${table(before, now)}`);
      before = now;
    } while (isRenewed);
  } finally {
    pages.close();
  }
}

async function look(pages: AdminPages): Promise<Look> {
  const { status, body } = await pages.page('/metrics');
  if (status !== HTTP_OK) throw new OrchError('Refused', `the server answered ${status} to /metrics`);
  return { atMs: performance.now(), samples: samplesOf(body.toString('utf8')) };
}
