// Folders and files that a program is to write, looked at before it does.
import { accessSync, closeSync, constants, existsSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { OrchError } from '../runtime/errors.ts';

/** Throws BadConfiguration unless a program could write there, in a folder that it may have to make first. */
export function requireFolder(folder: string, option: string): void {
  let path = resolve(folder);
  while (!existsSync(path)) path = dirname(path);
  writable(path, true, `${option} ${resolve(folder)}`);
}

/** The same of a file that may have to be made, its folder too. A blank path is no file. */
export function requireFile(path: string, option: string): void {
  if (path === '') return;
  const file = resolve(path);
  if (existsSync(file)) writable(file, false, `${option} ${file}`);
  else requireFolder(dirname(file), option);
}

/**
 * Makes the file where it is missing, and looks whether it can be added to. Throws what the system says: of a pipe that nobody reads
 * ENXIO, in place of waiting until somebody does.
 */
export function requireAppendable(path: string): void {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
  closeSync(openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o600));
}

function writable(path: string, isFolder: boolean, what: string): void {
  try {
    if (statSync(path).isDirectory() !== isFolder) {
      throw Object.assign(new Error(), { code: isFolder ? 'ENOTDIR' : 'EISDIR' });
    }
    accessSync(path, isFolder ? constants.W_OK | constants.X_OK : constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OrchError('BadConfiguration', `${what} cannot be written to (${code})`);
  }
}
