// Makes files durable, and their names: that of a file just made or renamed is the directory's content, not the file's.
import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Returns when every name in the directory is on the disk. */
export function syncDirectory(path: string): void {
  syncFile(path);
}

/** Returns when the file's content is on the disk. */
export function syncFile(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
