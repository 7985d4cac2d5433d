// Where lines go: standard error, and files that all threads append to. A line is written at once and whole, so that the last
// one before a crash is there; what cannot be written is lost rather than the thread blocked, and the next line says so.
import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync, statSync, writeSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { isAtLeast, type LogFileOptions, type Severity } from './log-options.ts';

const STDERR = 2;
/** How often it is looked whether a file is still the one at its path: whoever rotates it moves it away. */
const LOOK_MS = 1000;
const OWNER_ONLY = 0o600;
/** No space, no quota, or a file as large as files may be. */
const FULL_CODES: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** A place that lines go to, and what is said of those that were lost. */
class Outlet {
  readonly #write: (text: string) => number;
  readonly #lostText: string;
  #hasLost = false;
  /** It was lost for want of room on the disk. */
  #isFull = false;
  /** The last line ends in its middle. */
  #isCut = false;

  /** `write`: answers how many bytes were taken, and throws where none were. */
  constructor(write: (text: string) => number, lostText: string) {
    this.#write = write;
    this.#lostText = lostText;
  }

  /** What a full disk or pipe took the beginning of is lost, and what follows is not to stand in the same line. */
  line(text: string): void {
    try {
      const whole = this.#hasLost ? `${this.#isCut ? '\n' : ''}${this.#lostText}${text}` : text;
      const bytes = this.#write(whole);
      this.#hasLost = bytes < Buffer.byteLength(whole);
      this.#isFull = false;
      if (bytes > 0) this.#isCut = this.#hasLost;
    } catch (error) {
      // A full pipe answers EAGAIN.
      this.#hasLost = true;
      this.#isFull = FULL_CODES.has((error as NodeJS.ErrnoException).code);
    }
  }

  /**
   * Whether lines go out. After one that did not, it is tried now whether it can be said that some are missing. A full disk is none of the
   * log's faults: who is restarted over it comes up no more where the store is on that disk, and what it served from memory is gone.
   */
  isWritable(): boolean {
    if (this.#hasLost) this.line('');
    return !this.#hasLost || this.#isFull;
  }
}

/** Brings what was written to a descriptor to the disk. Calls back in any case. */
export type SyncFile = (descriptor: number, callback: () => void) => void;

/** A file of the log, as one thread has it open. */
class LogFile {
  readonly #path: string;
  readonly #bytesMax: number;
  readonly #head: string;
  #descriptor: number | undefined;
  #lookedMs = Number.NEGATIVE_INFINITY;
  readonly #flushMs: number;
  readonly #sync: SyncFile;
  #flushDue = false;

  constructor(path: string, { bytesMax, head, flushMs }: LogFileOptions, sync: SyncFile) {
    this.#path = path;
    this.#bytesMax = bytesMax;
    this.#head = head;
    this.#flushMs = flushMs;
    this.#sync = sync;
  }

  /** Answers how many bytes were taken; throws what the file system says. */
  write(text: string): number {
    const descriptor = this.#open();
    if (this.#bytesMax > 0 && fstatSync(descriptor).size + Buffer.byteLength(text) > this.#bytesMax) {
      ftruncateSync(descriptor);
      writeSync(descriptor, this.#head);
    }
    const bytes = writeSync(descriptor, text);
    this.#flushLater();
    return bytes;
  }

  /** Once for all lines until then, and beside the thread, which a slow disk must not hold up. */
  #flushLater(): void {
    if (this.#flushDue || this.#flushMs === 0) return;
    this.#flushDue = true;
    setTimeout(() => {
      this.#flushDue = false;
      if (this.#descriptor !== undefined) this.#sync(this.#descriptor, () => {});
    }, this.#flushMs).unref();
  }

  #open(): number {
    const nowMs = performance.now();
    if (this.#descriptor !== undefined && nowMs - this.#lookedMs < LOOK_MS) return this.#descriptor;
    this.#lookedMs = nowMs;
    if (this.#descriptor !== undefined) {
      if (statSync(this.#path, { throwIfNoEntry: false })?.ino === fstatSync(this.#descriptor).ino)
        return this.#descriptor;
      closeSync(this.#descriptor);
      this.#descriptor = undefined;
    }
    const descriptor = openSync(this.#path, 'a', OWNER_ONLY);
    this.#descriptor = descriptor;
    if (fstatSync(descriptor).size === 0) writeSync(descriptor, this.#head);
    return descriptor;
  }
}

/** Everywhere that the lines of one thread go. */
export class LogOutlets {
  readonly #stderr: Outlet;
  readonly #stderrFrom: Severity | undefined;
  readonly #files: readonly (readonly [severity: Severity, outlet: Outlet])[];
  readonly #ownFileOnly: boolean;

  /** `lostText`: the line that says that lines were lost. */
  constructor(files: LogFileOptions | undefined, lostText: string, sync: SyncFile = fdatasync) {
    this.#stderr = new Outlet((text) => writeSync(STDERR, text), lostText);
    this.#stderrFrom = files === undefined ? 'I' : files.stderrFrom;
    this.#ownFileOnly = files?.ownFileOnly ?? false;
    this.#files = (files?.paths ?? []).map(([severity, path]) => {
      const file = new LogFile(path, files!, sync);
      return [severity, new Outlet((text) => file.write(text), lostText)];
    });
  }

  line(severity: Severity, text: string): void {
    if (this.#stderrFrom !== undefined && isAtLeast(severity, this.#stderrFrom)) this.#stderr.line(text);
    for (const [least, outlet] of this.#files) {
      if (this.#ownFileOnly && this.#files.length > 1 ? severity === least : isAtLeast(severity, least))
        outlet.line(text);
    }
  }

  /** Whether lines go out wherever they should, or would if there were room on the disk. */
  isWritable(): boolean {
    return [this.#stderr, ...this.#files.map(([, outlet]) => outlet)].every((outlet) => outlet.isWritable());
  }
}
