// A folder whose disk loses power when the process that writes there is killed: what that process had not synced is gone, or
// there in part. Builds write-journal.c once a process, gives what the writing process is to be started with, and afterwards
// brings the folder into the state in which it would be found. Used for: `npm run crash -- --drop-unsynced`.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readJournal } from './journal.ts';
import { afterPowerCut, type Fate, type Tree } from './power-cut.ts';

/** Beside the sources: only what is compiled is in dist. */
const SOURCE = fileURLToPath(new URL('../../../test/crash/write-journal.c', import.meta.url));
const LIBRARY = 'write-journal.so';

let built: string | undefined;

/** The folder that the library is in. Throws with the compiler's words when it cannot be built. */
function libraryFolder(): string {
  if (built !== undefined) return built;
  const folder = mkdtempSync(join(tmpdir(), 'write-journal-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, LIBRARY);
  const cc = spawnSync('cc', ['-shared', '-fPIC', '-O2', '-o', path, SOURCE, '-ldl', '-lpthread'], {
    encoding: 'utf8',
  });
  if (cc.status !== 0) throw new Error(`the write journal cannot be compiled with cc: ${cc.error ?? cc.stderr}`);
  built = folder;
  return folder;
}

export class UnsyncedDisk {
  readonly #root: string;
  readonly #journal: string;
  readonly #syncUs: number;
  #before: Tree = new Map();

  /** `root`: the folder. `syncMs`: how long a sync takes; the longer, the more is unsynced at any moment. */
  constructor(root: string, syncMs: number) {
    this.#root = root;
    this.#journal = `${root}.journal`;
    this.#syncUs = Math.round(syncMs * 1000);
  }

  /** Call before each start of the writing process: notes what is there, and answers the environment to start it with. */
  arm(): Record<string, string> {
    this.#before = readTree(this.#root);
    rmSync(this.#journal, { force: true });
    return {
      // Looked for by its name: a path with a space in it would be taken for two.
      LD_PRELOAD: LIBRARY,
      LD_LIBRARY_PATH: [libraryFolder(), process.env.LD_LIBRARY_PATH ?? []].flat().join(delimiter),
      WRITE_JOURNAL_ROOT: this.#root,
      WRITE_JOURNAL_FILE: this.#journal,
      WRITE_JOURNAL_SYNC_US: String(this.#syncUs),
      // Writes by way of io_uring do not pass the C library.
      UV_USE_IO_URING: '0',
    };
  }

  /** Call when the process has been killed. Returns how many operations were journaled. Throws when the journal missed some. */
  cut(fate: Fate): number {
    const operations = existsSync(this.#journal) ? readJournal(readFileSync(this.#journal)) : [];
    const seen = readTree(this.#root);
    // The last operation may have been announced and not done.
    const complete = [operations, operations.slice(0, -1)].some(
      (some) => difference(afterPowerCut(this.#before, some, 'all'), seen) === undefined,
    );
    if (!complete) {
      const missed = difference(afterPowerCut(this.#before, operations, 'all'), seen);
      throw new Error(`the write journal does not explain ${missed} in ${this.#root}`);
    }
    const left = afterPowerCut(this.#before, operations, fate);
    rmSync(this.#root, { recursive: true, force: true });
    writeTree(this.#root, left);
    return operations.length;
  }

  dispose(): void {
    rmSync(this.#journal, { force: true });
  }
}

/** Everything below a folder, by absolute path. */
export function readTree(root: string): Map<string, Buffer | null> {
  const tree = new Map<string, Buffer | null>();
  if (!existsSync(root)) return tree;
  for (const entry of readdirSync(root, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    tree.set(path, entry.isDirectory() ? null : readFileSync(path));
  }
  return tree;
}

/** Writes a tree; files are readable by their owner alone. */
function writeTree(root: string, tree: Tree): void {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  for (const [path, bytes] of [...tree].sort(([one], [other]) => (one < other ? -1 : 1))) {
    if (bytes === null) mkdirSync(path, { recursive: true });
    else {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, bytes, { mode: 0o600 });
    }
  }
}

/** The first path in which two trees differ. */
function difference(one: Tree, other: Tree): string | undefined {
  for (const path of new Set([...one.keys(), ...other.keys()])) {
    const [left, right] = [one.get(path), other.get(path)];
    if (left === undefined || right === undefined) return path;
    if (left === null || right === null ? left !== right : !left.equals(right)) return path;
  }
  return undefined;
}
