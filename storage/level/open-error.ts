// What opening or reading the folder of a store failed with, in words for who runs it.
import { messageOf, OrchError } from '../../runtime/errors.ts';
import { storeDamage } from '../engines/store-damage.ts';
import { isLocked, usedElsewhere } from './database-lock.ts';

const UNWRITABLE_CODES: ReadonlySet<string> = new Set([
  'EACCES',
  'EEXIST',
  'EISDIR',
  'ENOSPC',
  'ENOTDIR',
  'EPERM',
  'EROFS',
]);

/** The error that a start ends with: of a folder that cannot be written to, is in use, is damaged, or cannot be opened. */
export function openError(directory: string, error: unknown): OrchError {
  if (error instanceof OrchError) return error;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = (cause as { code?: string }).code;
  const text = messageOf(cause);
  if (isLocked(error)) return usedElsewhere(directory);
  if ((code !== undefined && UNWRITABLE_CODES.has(code)) || /permission denied|not a directory/i.test(text)) {
    return new OrchError('BadConfiguration', `the data directory ${directory} is not writable: ${text}`);
  }
  if (code === 'LEVEL_CORRUPTION') return storeDamage(text, directory);
  return new OrchError('StoreUnusable', `the store in ${directory} cannot be opened: ${text}`);
}
