// A file of lines that begins anew with each start and ends where it is full: what is kept of a beginning, where a log would keep
// the end. Lines are gathered and written at once, synchronously.
import { closeSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../../runtime/files/make-folder.ts';

const FILE_MODE = 0o600;
const GATHERED_MAX = 64 * 1024;

export class BoundedFile {
  readonly #bytesMax: number;
  readonly #onEnd: (reason: 'full' | Error) => void;
  #descriptor: number | undefined;
  #gathered: string[] = [];
  #gatheredBytes = 0;
  #bytes = 0;

  /** Throws what the file system says. `onEnd` hears once why nothing more is written. */
  constructor(path: string, bytesMax: number, onEnd: (reason: 'full' | Error) => void) {
    this.#bytesMax = bytesMax;
    this.#onEnd = onEnd;
    makeFolder(dirname(path));
    this.#descriptor = openSync(path, 'w', FILE_MODE);
  }

  /** Takes a line, whole or, when the file is full, not at all. */
  append(line: string): void {
    if (this.#descriptor === undefined) return;
    const bytes = Buffer.byteLength(line) + 1;
    if (this.#bytes + this.#gatheredBytes + bytes > this.#bytesMax) {
      this.#end('full');
      return;
    }
    this.#gathered.push(line, '\n');
    this.#gatheredBytes += bytes;
    if (this.#gatheredBytes >= GATHERED_MAX) this.flush();
  }

  /** What has been taken is with the operating system. */
  flush(): void {
    if (this.#descriptor === undefined || this.#gatheredBytes === 0) return;
    const bytes = Buffer.from(this.#gathered.join(''));
    this.#gathered = [];
    this.#gatheredBytes = 0;
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at);
      this.#bytes += bytes.length;
    } catch (error) {
      this.#end(error as Error);
    }
  }

  close(): void {
    this.flush();
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #end(reason: 'full' | Error): void {
    if (reason === 'full') this.flush();
    if (this.#descriptor === undefined) return;
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
    this.#onEnd(reason);
  }
}
