// What a server keeps in its data directory besides the store: the admin's token and other secrets that are made once. (The admin's
// kubeconfig: admin-kubeconfig.ts.) Files with secrets have mode 0600.
import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { OrchError } from '../../runtime/errors.ts';
import { makeFolder } from '../../runtime/files/make-folder.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { unwritable } from './directory-claim.ts';

const TOKEN_FILE = 'admin.token';
const TOKEN_BYTES = 32;

/** Makes the directory if needed. Throws BadConfiguration when it cannot be written to. */
export function openDataDirectory(directory: string): string {
  const path = resolve(directory);
  try {
    makeFolder(path, 0o700);
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw unwritable(path, error);
  }
  return path;
}

/**
 * True when one of the entries is in the directory. Throws BadConfiguration where that cannot be told: the directory is its owner's
 * alone, and whoever may not look into it is not told that nothing is there.
 */
export function holdsOneOf(directory: string, names: readonly string[]): boolean {
  try {
    return readdirSync(directory).some((name) => names.includes(name));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw new OrchError('BadConfiguration', `the data directory ${directory} cannot be read (${code})`);
  }
}

/** The admin's token, kept from start to start. */
export function adminToken(directory: string): Promise<string> {
  return keptSecret(directory, TOKEN_FILE, () => `${randomBytes(TOKEN_BYTES).toString('base64url')}\n`);
}

/**
 * A secret that is made once and kept from start to start, readable by its owner only: on disk before anyone is told. An
 * empty file holds none. The text without blanks around it. Rejects with BadConfiguration.
 */
export async function keptSecret(directory: string, fileName: string, make: () => string): Promise<string> {
  const path = join(directory, fileName);
  const kept = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  if (kept !== '') return kept;
  const secret = make();
  try {
    await realEnvironment.disk.writeFileAtomic(path, Buffer.from(secret), 0o600);
  } catch (error) {
    throw unwritable(directory, error);
  }
  return secret.trim();
}
