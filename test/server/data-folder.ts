// What lies in a server's data folder, byte by byte, and how large its files may grow: a disk that is full, without one.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The files that hold a text as it is. The store compresses nothing that is encrypted. */
export function filesHolding(directory: string, text: string): string[] {
  return filesIn(directory).filter((path) => readFileSync(path).includes(text));
}

/** The largest file's bytes. */
export function largestFileBytes(directory: string): number {
  return Math.max(...filesIn(directory).map((path) => statSync(path).size));
}

/** Lets files of a process grow to so many bytes and no further (RLIMIT_FSIZE); undefined: as far as the disk goes. */
export function limitFileBytes(pid: number, bytesMax: number | undefined): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytesMax ?? 'unlimited'}:unlimited`]);
}

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
