// Reads all entries under a prefix of the database: at a start, and for a view of one moment while commits go on. Changes nothing.
import type { EngineView } from '../engines/local-engine.ts';
import type { LevelDatabase } from './level-database.ts';

/** Read at once while everything is loaded: a slice is a turn of the thread pool, and with LevelDB's own 16 KB they cost as much as reading. */
const LOAD_BYTES = 1024 * 1024;
const LOAD_ENTRIES = 4096;
/** Read ahead for a view; the rest of the process goes on meanwhile. */
const SNAPSHOT_READ_BYTES = 128 * 1024;
const SNAPSHOT_READ_ENTRIES = 100;

/**
 * Visits every entry under a prefix, in order, by its key without the prefix; a visit that returns a promise is waited for. Returns the
 * bytes of the values. Rejects as LevelDB does.
 */
export async function visitAll(
  database: LevelDatabase,
  prefix: string,
  visit: (key: string, value: Uint8Array) => unknown,
): Promise<number> {
  const range = { gte: prefix, lt: endOf(prefix) };
  const iterator = database.iterator({ ...range, fillCache: false, highWaterMarkBytes: LOAD_BYTES });
  let bytes = 0;
  try {
    let reading = iterator.nextv(LOAD_ENTRIES);
    for (;;) {
      const entries = await reading;
      if (entries.length === 0) return bytes;
      // The thread pool reads on while these are visited.
      reading = iterator.nextv(LOAD_ENTRIES);
      reading.catch(() => {});
      for (const [key, value] of entries) {
        bytes += value.byteLength;
        const visited = visit(key.slice(prefix.length), value);
        if (visited instanceof Promise) await visited;
      }
    }
  } finally {
    await iterator.close();
  }
}

/** The entries under a prefix as they are now, whatever is written meanwhile. `failed` makes the error of a read that fails. */
export function viewOf(database: LevelDatabase, prefix: string, failed: (error: unknown) => Error): EngineView {
  // What an iterator sees is fixed when it is made.
  const iterator = database.iterator({
    gte: prefix,
    lt: endOf(prefix),
    fillCache: false,
    highWaterMarkBytes: SNAPSHOT_READ_BYTES,
  });
  return {
    next: async (bytesMax) => {
      const found: [string, Uint8Array][] = [];
      try {
        for (let bytes = 0; bytes < bytesMax; ) {
          const entries = await iterator.nextv(SNAPSHOT_READ_ENTRIES);
          if (entries.length === 0) break;
          for (const [key, value] of entries) {
            found.push([key.slice(prefix.length), value]);
            bytes += value.byteLength;
          }
        }
        return found;
      } catch (error) {
        throw failed(error);
      }
    },
    close: () => iterator.close(),
  };
}

/** The last key under a prefix, without it; undefined where there is none. */
export async function lastKey(database: LevelDatabase, prefix: string): Promise<string | undefined> {
  const [last] = await database.keys({ gt: prefix, lt: endOf(prefix), reverse: true, limit: 1 }).all();
  return last?.slice(prefix.length);
}

/** The first key after all that begin with a prefix: '0' is the character after its closing '/'. */
function endOf(prefix: string): string {
  return `${prefix.slice(0, -1)}0`;
}
