// A process whose threads open a database one after the other, have it compacted, which LevelDB does on a thread of its own, and end
// with the database open. Prints after each how many threads the process has.
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

const ROUNDS = 4;

async function openEach(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'opening-'));
  try {
    for (let round = 0; round < ROUNDS; round++) {
      await once(new Worker(fileURLToPath(import.meta.url), { workerData: join(directory, String(round)) }), 'exit');
      process.stdout.write(`${readdirSync('/proc/self/task').length}\n`);
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function open(path: string): Promise<never> {
  // Not in the main thread: what that has loaded stays.
  const { openLevelDatabase, rewriteFiles } = await import('../../../storage/level/level-database.ts');
  const database = openLevelDatabase(path);
  await database.open();
  await rewriteFiles(database, 'key', Buffer.from('value'));
  process.exit(0);
}

await (isMainThread ? openEach() : open(workerData as string));
