// Files that an operator names, read whole, whatever they turn out to be: a pipe that nobody writes to must not keep a start waiting
// without a word, and a device that never ends must not fill the memory.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

const PIECE_BYTES = 64 * 1024;
/** More is no file of options, and hardly a text that can be held. */
const BYTES_MAX = 256 * 1024 * 1024;
/** For whoever writes into a pipe (a shell's `<(…)`, say). */
const PIPE_PATIENCE_MS = 10_000;
const PIPE_LOOK_MS = 10;

/** Opened so, a pipe without a writer is open at once, and tells by its reads what there is. */
export const UNBLOCKED = constants.O_RDONLY | constants.O_NONBLOCK;

/** Why a file that could be opened cannot be read. */
export class UnreadableFile extends Error {
  constructor(why: string) {
    super(why);
    this.name = 'UnreadableFile';
  }
}

/** Blocks the thread, for a pipe ten seconds at most. Throws UnreadableFile, and what the system says. */
export function readWholeText(path: string, pipePatienceMs = PIPE_PATIENCE_MS): string {
  const file = openSync(path, UNBLOCKED);
  try {
    const isPipe = fstatSync(file).isFIFO();
    return readToEnd(file, isPipe ? performance.now() + pipePatienceMs : undefined);
  } finally {
    closeSync(file);
  }
}

/** In a few words, of what reading a file has thrown. */
export function whyUnread(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}

/** @param deadlineMs of a pipe: by then everything must have come. */
function readToEnd(file: number, deadlineMs: number | undefined): string {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    const read = readSome(file, piece);
    // A pipe is at its end before its first writer has come, and after its last has gone.
    const isWaiting = read === undefined || (read === 0 && bytes === 0 && deadlineMs !== undefined);
    if (isWaiting) waitForPipe(deadlineMs ?? 0);
    else if (read === 0) return Buffer.concat(pieces, bytes).toString('utf8');
    else {
      pieces.push(piece.subarray(0, read));
      bytes += read;
      if (bytes > BYTES_MAX) throw new UnreadableFile('it does not end within 256 MiB');
    }
  }
}

/** Undefined: not yet. */
function readSome(file: number, into: Buffer): number | undefined {
  try {
    return readSync(file, into);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}

function waitForPipe(deadlineMs: number): void {
  if (performance.now() >= deadlineMs) throw new UnreadableFile('nobody writes to this pipe, or not to its end');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PIPE_LOOK_MS);
}
