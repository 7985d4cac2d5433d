// What an audit log holds, once nobody writes to it: whoever measures what recording costs measures nothing where nothing was recorded.
import { createReadStream, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { LoadResult } from '../load-protocol.ts';

const LOG_FILE = /^audit\b.*\.log$/;
const ANSWERED = '"stage":"ResponseComplete"';

/** How many answered requests the files of a log in a folder tell of, the ones that it was moved to among them. */
export async function answeredIn(folder: string): Promise<number> {
  let count = 0;
  for (const name of readdirSync(folder).filter((each) => LOG_FILE.test(each))) {
    const lines = createInterface({ input: createReadStream(join(folder, name)) });
    for await (const line of lines) if (line.includes(ANSWERED)) count++;
  }
  return count;
}

/** A load of which a log tells, each request that it does not tell of an error. */
export function withUnrecorded(result: LoadResult, recorded: number): LoadResult {
  const missing = result.operations - recorded;
  if (missing <= 0) return result;
  const firstError = result.firstError ?? `${missing} of ${result.operations} requests are not in the log`;
  return { ...result, errors: result.errors + missing, firstError };
}
