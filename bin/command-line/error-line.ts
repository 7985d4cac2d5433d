// How an error is told to whoever ran a command: always one line.
import { UsageError } from '../../config/usage-error.ts';
import { isOrchError, messageOf } from '../../runtime/errors.ts';

/** What a thread could not be started for, by the system's word, and which limit that is. */
const THREAD_LIMITS: Readonly<Record<string, string>> = {
  EAGAIN: 'the user or the service may have no more threads (ulimit -u, TasksMax)',
  EMFILE: 'the process may open no more files (ulimit -n)',
  ENFILE: 'the system may open no more files',
};

/** An error as one line, whatever is in it. One that nobody foresaw may go on with a stack, which is left out. */
export function errorLine(error: unknown): string {
  const message = messageOf(error);
  const isForeseen = error instanceof UsageError || isOrchError(error);
  if (isForeseen) return message.replace(/\s*[\r\n]\s*/g, ' ');
  const line = message.split('\n', 1)[0]!;
  return isThreadless(error) ? threadLine(line) : line;
}

function isThreadless(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_INIT_FAILED';
}

/** Of `EAGAIN` alone, or of a sentence that ends with it: Node says it in either way. */
function threadLine(line: string): string {
  const code = line.split(' ').at(-1)!;
  const limit = Object.hasOwn(THREAD_LIMITS, code) ? `: ${THREAD_LIMITS[code]}` : '';
  return `a thread could not be started (${code})${limit}`;
}
