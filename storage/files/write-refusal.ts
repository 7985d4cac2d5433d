// What a disk's refusal of a write is to those who wanted it written. The binding says what the system said as text only.
import { messageOf, OrchError } from '../../runtime/errors.ts';

/** No space, no quota, no inodes, or a file as large as files may be: what an operator can end. */
const FULL = /\bENOSPC\b|\bEDQUOT\b|\bEFBIG\b|no space left on device|quota exceeded|file too large/i;

/** The error for a write to a data folder that failed and left nothing behind. */
export function refusedWrite(directory: string, error: unknown): OrchError {
  const text = systemText(error);
  if (FULL.test(text)) {
    return new OrchError('StorageFull', `the disk under the data folder ${directory} is full: nothing was written`);
  }
  return new OrchError('StorageFailed', `the data folder ${directory} cannot be written to: ${text}`);
}

/** The error for a write that failed, where the file system did not even allow that what was left behind is removed. */
export function unsureWrite({ message }: OrchError): OrchError {
  return new OrchError('StorageUnsure', `${message}; whether this write is kept is not known`);
}

/** The innermost cause's text: the outer ones say that the database did not open. */
function systemText(error: unknown): string {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  return messageOf(inner);
}
