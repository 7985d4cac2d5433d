// Jobs for tests of the pool, as they run in its thread.
import { getPriority } from 'node:os';
import { type JobOutput, PieceWriter } from '../../../runtime/jobs/job-pieces.ts';

export function double(number: number): number {
  return number * 2;
}

/** How nice the thread is. */
export function niceness(): number {
  return getPriority();
}

export function fail(message: string): never {
  throw new RangeError(message);
}

export function endThread(): never {
  process.exit(3);
}

/** Counts what was asked of it in shared memory: so many pieces of so many bytes, each filled with its number. */
export async function pieces({
  input,
  output,
}: {
  readonly input: { readonly count: number; readonly bytes: number; readonly made: SharedArrayBuffer };
  readonly output: JobOutput;
}): Promise<void> {
  const made = new Int32Array(input.made);
  function* source(): Generator<Uint8Array> {
    for (let i = 0; i < input.count; i++) {
      Atomics.add(made, 0, 1);
      yield new Uint8Array(input.bytes).fill(i);
    }
  }
  await new PieceWriter(output).writeAll(source());
}

/** Writes a text. */
export async function text({ input, output }: { readonly input: string; readonly output: JobOutput }): Promise<void> {
  await new PieceWriter(output).writeAll([Buffer.from(input)]);
}

/** Writes one piece and fails. */
export async function breakOff({ output }: { readonly output: JobOutput }): Promise<void> {
  function* source(): Generator<Uint8Array> {
    yield new Uint8Array(300_000);
    throw new RangeError('broken off');
  }
  await new PieceWriter(output).writeAll(source());
}

export function never(): Promise<void> {
  return new Promise(() => {});
}
