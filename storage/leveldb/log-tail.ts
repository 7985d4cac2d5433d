// The end of LevelDB's own log, for when a batch could not be written to it: what of the batch is there is cut off, so
// that it is not found at the next start, having been refused. Only for a database that is closed.
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLogFile } from './log-file.ts';
import { firstPut } from './write-batch.ts';

const LOG_FILE = /^\d+\.log$/;

/**
 * Removes from the newest log of the database in `directory` the batch whose first operation puts `firstKey`, and a
 * record that was cut off. What is left is on disk when it returns. Throws what the file system throws.
 */
function cutFromLog(directory: string, firstKey: string): void {
  const newest = readdirSync(directory)
    .filter((name) => LOG_FILE.test(name))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .at(-1);
  if (newest === undefined) return;
  const path = join(directory, newest);
  const end = logEndBefore(readFileSync(path), firstKey);
  const file = openSync(path, 'r+');
  try {
    if (fstatSync(file).size > end) ftruncateSync(file, end);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** What of a batch that failed may lie in the log: cut off when the file system allows it. */
export class RefusedTail {
  readonly #directory: string;
  #firstKey: string | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Cuts a batch off, by default the one that was left. Returns why it is left; undefined: it is gone. See cutFromLog. */
  cut(firstKey = this.#firstKey): unknown {
    if (firstKey === undefined) return undefined;
    this.#firstKey = firstKey;
    try {
      cutFromLog(this.#directory, firstKey);
    } catch (error) {
      return error;
    }
    this.#firstKey = undefined;
    return undefined;
  }
}

/** Where in a log the batch of `firstKey` begins, or a record that is not whole; else where the log ends. */
export function logEndBefore(log: Buffer, firstKey: string): number {
  const { records, starts, end } = readLogFile(log);
  const found = records.findIndex((record) => firstPut(record) === firstKey);
  return Math.min(end, starts[found] ?? log.length);
}
