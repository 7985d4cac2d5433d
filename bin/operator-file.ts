// Files that an operator names in options, as text. A file that cannot be read is the operator's error, in one line.
import { readFileSync } from 'node:fs';
import { OrchError } from '../runtime/errors.ts';

/** The text of the file. `what` it is, where the path does not say. Throws OrchError BadConfiguration, naming the file. */
export function operatorText(file: string, what = ''): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OrchError('BadConfiguration', `${what === '' ? '' : `${what} `}${file} cannot be read (${code})`);
  }
}
