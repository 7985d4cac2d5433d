// The environment of a running server: Node's clock, timers, randomness and file system. The only file of the runtime
// that an actor's time and chance come from; simulation/ holds the virtual counterpart.
import { randomBytes } from 'node:crypto';
import { access, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
// The global of this name is made anew by a getter each time it is asked for.
import { performance } from 'node:perf_hooks';
import type { Clock, Disk, Environment, Random, Timer, Timers } from './environment.ts';
import { temporaryFor } from './files/temporary-files.ts';
import { UNBLOCKED, UnreadableFile } from './files/whole-file.ts';
import { randomUuid } from './random-uuid.ts';

/** Node fires a longer timeout at once, so longer delays are slept in pieces. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

const clock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

const random: Random = {
  next: () => Math.random(),
  uuid: () => randomUuid(),
  bytes: (count) => new Uint8Array(randomBytes(count)),
};

class Timeout implements Timer {
  #handle: NodeJS.Timeout | undefined;

  constructor(delayMs: number, callback: () => void) {
    this.#arm(Math.max(0, delayMs), callback);
  }

  cancel(): void {
    clearTimeout(this.#handle);
    this.#handle = undefined;
  }

  #arm(delayMs: number, callback: () => void): void {
    // Nearly every one is short, and there is one for each write: none has a closure of its own.
    this.#handle =
      delayMs <= TIMEOUT_MS_MAX
        ? setTimeout(callback, delayMs)
        : setTimeout(() => this.#arm(delayMs - TIMEOUT_MS_MAX, callback), TIMEOUT_MS_MAX);
    this.#handle.unref();
  }
}

const timers: Timers = {
  after: (delayMs, callback) => new Timeout(delayMs, callback),
  every(intervalMs, callback) {
    const handle = setInterval(callback, Math.min(Math.max(1, intervalMs), TIMEOUT_MS_MAX));
    handle.unref();
    return { cancel: () => clearInterval(handle) };
  },
  soon(callback) {
    setImmediate(callback);
  },
};

const disk: Disk = {
  async readFile(path) {
    // Waiting for a pipe's other end would keep one of the few threads that read files.
    const file = await open(path, UNBLOCKED);
    try {
      if ((await file.stat()).isFIFO())
        throw new UnreadableFile('a pipe can be read once, and this is read again and again');
      const bytes = await file.readFile();
      return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    } finally {
      await file.close();
    }
  },

  async writeFileAtomic(path, bytes, mode = 0o600) {
    const neighbour = temporaryFor(path);
    try {
      const file = await open(neighbour, 'wx', mode);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(neighbour, path);
    } catch (error) {
      await rm(neighbour, { force: true });
      throw error;
    }
    await syncDirectory(dirname(path));
  },

  exists: (path) =>
    access(path).then(
      () => true,
      () => false,
    ),

  async makeDirectory(path) {
    await mkdir(path, { recursive: true });
  },
};

/** Makes the rename itself durable; without it a power cut may bring the old file back. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** The environment that a server's threads run in. */
export const realEnvironment: Environment = { clock, random, timers, disk };
