// Lines for whoever started the process, written past the streams of Node: they are out when the call returns.
import { writeSync } from 'node:fs';

const STANDARD_OUTPUT = 1;
/** A full pipe is looked at again after a millisecond, for so long. */
const LOOKS_MAX = 200;

const nobody = new Int32Array(new SharedArrayBuffer(4));

export const standardOutput = {
  /** Throws where nobody reads. */
  append(text: string): void {
    const bytes = Buffer.from(text);
    for (let written = 0, looks = 0; written < bytes.length; ) {
      try {
        written += writeSync(STANDARD_OUTPUT, bytes, written);
        looks = 0;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || ++looks > LOOKS_MAX) throw error;
        Atomics.wait(nobody, 0, 0, 1);
      }
    }
  },
  /** It is not ours to close. */
  close: (): Promise<void> => Promise.resolve(),
};
