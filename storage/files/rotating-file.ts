// A log of lines in a file that is put aside when it is full, with the old ones deleted by number and age and compressed if wanted.
// Owns the file and those beside it that carry its name and a time, or shares them with its like on other threads of the process. Writes
// synchronously: what has been appended is with the operating system.
import {
  closeSync,
  createReadStream,
  createWriteStream,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as after } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { makeFolder } from '../../runtime/files/make-folder.ts';

export interface RotatingFileLimits {
  /** The file is put aside before it grows beyond this. */
  readonly bytesMax: number;
  /** Files put aside are deleted after these days; 0: never. */
  readonly daysMax: number;
  /** At most so many are kept; 0: all. */
  readonly backupsMax: number;
  readonly compresses: boolean;
}

/** Which of those that write to one file. */
export interface FileWriter {
  readonly index: number;
  readonly count: number;
}

const ALONE: FileWriter = { index: 0, count: 1 };
/** What another has just put aside may be written to by who looked for it before. */
const SHARED_REST_MS = 1000;

/** Where texts of usual length become bytes, one after the other: memory of its own for each would cost more than the write. */
const SPACE_BYTES = 256 * 1024;
/** The most that UTF-8 makes of one unit of a text. */
const UNIT_BYTES_MAX = 3;

const DAY_MS = 24 * 3600 * 1000;
const FILE_MODE = 0o600;
const GZIP = '.gz';
const LINE_END = 0x0a;
/** `2006-01-02T15-04-05.000`, in UTC. */
const STAMP = /^(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2}\.\d{3})$/;

export class RotatingFile {
  readonly #path: string;
  readonly #limits: RotatingFileLimits;
  readonly #nowMs: () => number;
  readonly #onProblem: (error: unknown) => void;
  readonly #writer: FileWriter;
  #descriptor: number | undefined;
  #bytes = 0;
  #bytesMax = 0;
  #space: Buffer | undefined;
  #compressing: Promise<void> = Promise.resolve();

  /**
   * `onProblem` hears of old files that could not be deleted or compressed. `writer`: each of several has times of its own to name files by, so
   * that none puts one aside over another's, and compresses those alone.
   */
  constructor(
    path: string,
    limits: RotatingFileLimits,
    nowMs: () => number,
    onProblem: (error: unknown) => void,
    writer = ALONE,
  ) {
    this.#writer = writer;
    this.#path = path;
    this.#limits = limits;
    this.#nowMs = nowMs;
    this.#onProblem = onProblem;
  }

  /** Appends whole lines. Throws what the file system says, and leaves nothing of them then. */
  append(text: string): void {
    const bytes = this.#bytesOf(text);
    let descriptor = this.#descriptor === undefined ? this.#open() : this.#present(this.#descriptor);
    if (this.#bytes > 0 && this.#bytes + bytes.length > this.#bytesMax) descriptor = this.#rotate();
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(descriptor, bytes, written);
    } catch (error) {
      this.#takeBack(descriptor, written);
      throw error;
    }
    this.#bytes += written;
  }

  /** Resolves when what was put aside has been compressed. The next `append` opens the file again. */
  async close(): Promise<void> {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
    await this.#compressing;
  }

  /** Of the file that is at the path now, as long as it is now: others may have put this one aside, and write to it. */
  #present(descriptor: number): number {
    if (this.#writer.count === 1) return descriptor;
    const found = statSync(this.#path, { throwIfNoEntry: false });
    const { ino, dev } = fstatSync(descriptor);
    if (found?.ino === ino && found.dev === dev) {
      this.#bytes = found.size;
      return descriptor;
    }
    closeSync(descriptor);
    this.#descriptor = undefined;
    return this.#open(false);
  }

  /** A full disk takes the beginning of a line, and the next one would stand behind it. */
  #takeBack(descriptor: number, written: number): void {
    if (written === 0) return;
    try {
      // The file's own length: somebody else may have cut it.
      const found = fstatSync(descriptor);
      if (found.isFile()) ftruncateSync(descriptor, Math.max(0, found.size - written));
    } catch {
      // Where a file may only grow: the next text opens it anew, and finds what is left there.
      closeSync(descriptor);
      this.#descriptor = undefined;
    }
  }

  /** They hold until the next text. */
  #bytesOf(text: string): Uint8Array {
    if (text.length * UNIT_BYTES_MAX > SPACE_BYTES) return Buffer.from(text);
    this.#space ??= Buffer.allocUnsafeSlow(SPACE_BYTES);
    return this.#space.subarray(0, this.#space.write(text));
  }

  /** `mayBeCut`: what is there may end within a line; behind a file that was put aside another is at most writing one. */
  #open(mayBeCut = true): number {
    makeFolder(dirname(this.#path));
    const descriptor = openSync(this.#path, 'a', FILE_MODE);
    try {
      const found = fstatSync(descriptor);
      const isFile = found.isFile();
      this.#bytes = found.size;
      if (isFile && mayBeCut && endsWithinLine(this.#path, found.size)) this.#bytes += writeSync(descriptor, '\n');
      // A device or a pipe, as /dev/stdout, is the system's: it never fills, and whoever renamed it would take it from all others.
      this.#bytesMax = isFile ? this.#limits.bytesMax : Number.POSITIVE_INFINITY;
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
    this.#descriptor = descriptor;
    return descriptor;
  }

  #rotate(): number {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
    this.#putAside();
    const opened = this.#open(false);
    this.#compressing = this.#compressing.then(() => this.#tidy()).catch(this.#onProblem);
    return opened;
  }

  #putAside(): void {
    try {
      renameSync(this.#path, this.#freeName());
    } catch (error) {
      // Another has done it, or somebody has taken it away, and its folder.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  #isOwnTime(ms: number): boolean {
    return ms % this.#writer.count === this.#writer.index;
  }

  /** Beside the file, with the time: one that nobody has yet, and none of the other writers takes. */
  #freeName(): string {
    const taken = new Set(readdirSync(dirname(this.#path)));
    for (let ms = this.#nowMs(); ; ms++) {
      if (!this.#isOwnTime(ms)) continue;
      const name = this.#nameAt(ms);
      if (!taken.has(name) && !taken.has(name + GZIP)) return join(dirname(this.#path), name);
    }
  }

  #nameAt(ms: number): string {
    const ending = extname(this.#path);
    const stamp = new Date(ms).toISOString().slice(0, -1).replaceAll(':', '-');
    return `${basename(this.#path, ending)}-${stamp}${ending}`;
  }

  /** When a file was put aside; undefined where it is none of ours. */
  #putAsideMs(name: string): number | undefined {
    const ending = extname(this.#path);
    const plain = name.endsWith(GZIP) ? name.slice(0, -GZIP.length) : name;
    const prefix = `${basename(this.#path, ending)}-`;
    if (!plain.startsWith(prefix) || !plain.endsWith(ending)) return undefined;
    const match = STAMP.exec(plain.slice(prefix.length, plain.length - ending.length));
    if (match === null) return undefined;
    const [, day, hours, minutes, seconds] = match;
    return Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`);
  }

  async #tidy(): Promise<void> {
    if (this.#writer.count > 1) await after(SHARED_REST_MS);
    const folder = dirname(this.#path);
    const { backupsMax, daysMax, compresses } = this.#limits;
    const names = readdirSync(folder);
    const plain = new Set(names);
    // One that was cut short: what it is of is there, counts once, and is compressed again.
    const isPart = (name: string): boolean => name.endsWith(GZIP) && plain.has(name.slice(0, -GZIP.length));
    const parts = names.filter((name) => this.#putAsideMs(name) !== undefined && isPart(name));
    const isOurs = (name: string): boolean => this.#isOwnTime(this.#putAsideMs(name)!);
    for (const name of parts.filter(isOurs)) rmSync(join(folder, name), { force: true });
    const old = names
      .filter((name) => !parts.includes(name))
      .flatMap((name) => {
        const atMs = this.#putAsideMs(name);
        return atMs === undefined ? [] : [{ path: join(folder, name), atMs, isOwn: this.#isOwnTime(atMs) }];
      })
      .sort((a, b) => b.atMs - a.atMs);
    const oldestMs = daysMax === 0 ? Number.NEGATIVE_INFINITY : this.#nowMs() - daysMax * DAY_MS;
    const isKept = ({ atMs }: { readonly atMs: number }, index: number): boolean =>
      atMs >= oldestMs && (backupsMax === 0 || index < backupsMax);
    const kept = old.filter(isKept);
    // First: a full disk that has no room for a gzip has some then.
    for (const one of old) if (!kept.includes(one)) rmSync(one.path, { force: true });
    for (const { path, isOwn } of kept) if (compresses && isOwn && !path.endsWith(GZIP)) await compress(path);
  }
}

/** True where a loss of power, or a full disk, has left a part of a line at the end: what comes next would be unreadable behind it. */
function endsWithinLine(path: string, size: number): boolean {
  if (size === 0) return false;
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'r');
    const last = Buffer.alloc(1);
    return readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] !== LINE_END;
  } catch {
    // Whoever may write to it need not be allowed to read it.
    return false;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Replaces a file by its gzip; leaves nothing of that where it fails, as on a full disk. */
async function compress(path: string): Promise<void> {
  try {
    await pipeline(createReadStream(path), createGzip(), createWriteStream(path + GZIP, { mode: FILE_MODE }));
  } catch (error) {
    await rm(path + GZIP, { force: true });
    throw error;
  }
  await rm(path, { force: true });
}
