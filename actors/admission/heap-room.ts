// How many writes of what is large are at work at a time. Each holds its object on the heap until it is answered, in turns between which
// the others go on; and a list of empty objects, two bytes each on the wire, comes to a hundred times as much there. Begun all
// together, thirty such bodies fill the heap of a thread, which ends the process.
import type { WriteRequest } from './protocol.ts';

/** To look through less costs more than it is worth: as many such bodies as are served at a time come to a fraction of a heap. */
const COUNTED_BYTES_MIN = 32 * 1024;
/**
 * What a value comes to for each byte that begins or parts one: as it was sent, in canonical form, with its defaults. An empty container of
 * a pod, of two such bytes, takes 330 in all.
 */
const VALUE_BYTES = 256;
/** A text, as long as it is there as sent, as stored and as answered. */
const TEXT_FACTOR = 4;

/** Bytes of JSON and YAML that begin a value, or part two: , { [ - and the end of a line. */
const SEPARATORS = new Uint8Array(256);
for (const separator of Buffer.from(',{[-\n')) SEPARATORS[separator] = 1;

/** About what a write takes of the heap at most; 0 where that is too little to be counted. */
export function heapBytesOf({ payload, contentType }: Pick<WriteRequest, 'payload' | 'contentType'>): number {
  if (payload.length < COUNTED_BYTES_MIN) return 0;
  // An empty message is two bytes, and those bytes may be any.
  const separators = contentType.endsWith('protobuf') ? payload.length / 2 : separatorsIn(payload);
  return payload.length * TEXT_FACTOR + separators * VALUE_BYTES;
}

function separatorsIn(text: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) count += SEPARATORS[text[at]!]!;
  return count;
}

type Work = () => Promise<void> | undefined;

interface Waiting {
  readonly bytes: number;
  readonly work: Work;
}

export class HeapRoom {
  readonly #bytesMax: number;
  readonly #waiting: Waiting[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /**
   * Begins work that takes so many bytes until it ends: at once, or when those that came before leave room for it. What takes more than
   * there is at all is at work alone. `work` never throws.
   */
  whenRoom(bytes: number, work: Work): void {
    this.#waiting.push({ bytes, work });
    this.#beginNext();
  }

  #beginNext(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#hasRoom(next); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#begin(next);
    }
  }

  #hasRoom({ bytes }: Waiting): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.#bytesMax;
  }

  #begin({ bytes, work }: Waiting): void {
    this.#bytes += bytes;
    const end = (): void => {
      this.#bytes -= bytes;
      this.#beginNext();
    };
    const working = work();
    if (working === undefined) end();
    else working.then(end, end);
  }
}
