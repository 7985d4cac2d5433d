// Follows files that an operator may replace while the server runs: certificates, keys, authorities. Reads them again and
// again, and hands on what has changed. Knows nothing of what is in them.
import type { Disk, Timer, Timers } from '../environment.ts';
import { OrchError } from '../errors.ts';
import { whyUnread } from './whole-file.ts';

const LOOK_EVERY_MS = 2000;
/** About a minute. */
const LOOKS_BEFORE_RETRY = 30;

export interface FollowedFilesParts {
  readonly disk: Pick<Disk, 'readFile'>;
  readonly timers: Pick<Timers, 'every'>;
  /** Absolute. */
  readonly paths: readonly string[];
  /** Puts what the files hold, in the order of `paths`, into force. Throws or rejects when it is of no use. */
  readonly take: (texts: readonly string[]) => void | Promise<void>;
  /** Told once of what `take` threw, or of what could not be read; what was in force before still is. */
  readonly onRefused: (error: unknown) => void;
}

export class FollowedFiles {
  readonly #parts: FollowedFilesParts;
  #timer: Timer | undefined;
  #isLooking = false;
  #taken: string | undefined;
  /** What was refused at the last look, and whether that has been told. */
  #refused: string | undefined;
  #isTold = false;
  /** Looks since what is refused was last tried. */
  #looksSinceTry = 0;

  constructor(parts: FollowedFilesParts) {
    this.#parts = parts;
  }

  /** Looks now, and from time to time until `stop`. Resolves after the first look. */
  start(): Promise<void> {
    if (this.#parts.paths.length === 0) return Promise.resolve();
    this.#timer ??= this.#parts.timers.every(LOOK_EVERY_MS, () => void this.#look());
    return this.#look();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    let found = '';
    try {
      const { texts, content } = await this.#read();
      found = content;
      if (found === this.#refused && this.#isTold && !this.#isRetryDue()) return;
      if (found !== this.#taken) await this.#parts.take(texts);
      this.#taken = found;
      this.#refused = undefined;
    } catch (error) {
      this.#onRefused(found, error);
    } finally {
      this.#isLooking = false;
    }
  }

  /** The machine may have refused it, as a full disk does, and not what the files hold: then it is of use later, unchanged. */
  #isRetryDue(): boolean {
    this.#looksSinceTry = (this.#looksSinceTry + 1) % LOOKS_BEFORE_RETRY;
    return this.#looksSinceTry === 0;
  }

  async #read(): Promise<{ readonly texts: readonly string[]; readonly content: string }> {
    const { disk, paths } = this.#parts;
    const files = await Promise.all(
      paths.map((path) => disk.readFile(path).catch((error: unknown) => unread(path, error))),
    );
    const texts = files.map((bytes) => Buffer.from(bytes).toString('utf8'));
    return { texts, content: JSON.stringify(texts) };
  }

  /** Files that belong together are replaced one after the other: what one look meets half done is whole at the next. */
  #onRefused(found: string, error: unknown): void {
    const isSecond = this.#refused === found;
    this.#looksSinceTry = 0;
    if (!isSecond) this.#isTold = false;
    this.#refused = found;
    if (!isSecond || this.#isTold) return;
    this.#isTold = true;
    this.#parts.onRefused(error);
  }
}

function unread(path: string, error: unknown): never {
  throw new OrchError('BadConfiguration', `${path} cannot be read (${whyUnread(error)})`);
}
