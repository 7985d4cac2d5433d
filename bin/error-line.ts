// How an error is told to whoever ran a command: always one line.
import { UsageError } from '../config/usage-error.ts';
import { isOrchError } from '../runtime/errors.ts';

/** An error as one line, whatever is in it. One that nobody foresaw may go on with a stack, which is left out. */
export function errorLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const isForeseen = error instanceof UsageError || isOrchError(error);
  return isForeseen ? message.replace(/\s*[\r\n]\s*/g, ' ') : message.split('\n', 1)[0]!;
}
