// The bytes of a job on their way from the pool's thread to who asked for it: through a few slots of shared memory that go
// round, so that a job waits for its reader, and holds no more than these however much it makes. Both ends are here.
import type { MessagePort } from 'node:worker_threads';
import { copyBytes } from '../../values/copy-bytes.ts';

/** Bytes of one piece, at most. */
const SLOT_BYTES = 256 * 1024;
/** One is read while the next is written. */
const SLOTS = 2;
/** Slots kept for the next jobs of a thread. */
const SPARE_MAX = 2;
const NEWLINE = 0x0a;

/** What the reader tells the writer in place of a slot that is free again. */
const GONE = -1;

/** What the writer tells the reader: first the memory, then pieces in it. */
interface PieceMessage {
  readonly memory?: SharedArrayBuffer;
  readonly slot: number;
  readonly length: number;
}

/** What a job that writes pieces is called with, besides its input. */
export type JobOutput = MessagePort;

/** Takes one piece. False when no more is wanted. */
export type TakePiece = (piece: Uint8Array) => Promise<boolean>;

export interface ReceivedPieces {
  /** Resolves when every piece that came has been taken. */
  taken(): Promise<void>;
  /** Throws what `take` threw. */
  throwIfFailed(): void;
}

/** The reader's end. */
export function receivePieces(port: MessagePort, take: TakePiece): ReceivedPieces {
  let memory: SharedArrayBuffer | undefined;
  let failure: { readonly error: unknown } | undefined;
  let isGone = false;
  let turn = Promise.resolve();
  const takeOne = async ({ slot, length }: PieceMessage): Promise<void> => {
    if (isGone) return;
    try {
      if (await take(new Uint8Array(memory!, slot * SLOT_BYTES, length))) {
        port.postMessage(slot);
        return;
      }
    } catch (error) {
      failure = { error };
    }
    isGone = true;
    port.postMessage(GONE);
  };
  port.on('message', (message: PieceMessage) => {
    memory ??= message.memory;
    turn = turn.then(() => takeOne(message));
  });
  return {
    taken: () => turn,
    throwIfFailed: () => {
      if (failure !== undefined) throw failure.error;
    },
  };
}

const spare: SharedArrayBuffer[] = [];

/** The writer's end. */
export class PieceWriter {
  readonly #port: MessagePort;
  readonly #memory: SharedArrayBuffer;
  readonly #bytes: Buffer;
  readonly #free = Array.from({ length: SLOTS }, (_, slot) => slot);
  #slot = -1;
  #length = 0;
  #isGone = false;
  #isKnown = false;
  #wake: () => void = () => {};

  constructor(port: MessagePort) {
    this.#port = port;
    this.#memory = spare.pop() ?? new SharedArrayBuffer(SLOTS * SLOT_BYTES);
    this.#bytes = Buffer.from(this.#memory);
    port.on('message', (slot: number) => {
      if (slot === GONE) this.#isGone = true;
      else this.#free.push(slot);
      this.#wake();
    });
    // The reader's thread, or its pool, has ended.
    port.on('close', () => {
      this.#isGone = true;
      this.#wake();
    });
  }

  /**
   * Writes what a job makes, and lets the thread's other jobs have their turn after each piece of it. Resolves when the
   * reader has taken all of it, or wants no more of it.
   */
  async writeAll(pieces: Iterable<Uint8Array>): Promise<void> {
    try {
      for (const piece of pieces) {
        for (let at = 0; at < piece.length && !this.#isGone; ) at += await this.#put(piece.subarray(at));
        await new Promise((resolve) => setImmediate(resolve));
        if (this.#isGone) return;
      }
      if (this.#length > 0) this.#send();
      while (this.#free.length + (this.#slot < 0 ? 0 : 1) < SLOTS && !this.#isGone) await this.#message();
      if (spare.length < SPARE_MAX && !this.#isGone) spare.push(this.#memory);
    } finally {
      this.#port.close();
    }
  }

  /** Puts what fits into the slot at hand; returns how much that was. */
  async #put(bytes: Uint8Array): Promise<number> {
    if (this.#slot < 0) {
      while (this.#free.length === 0 && !this.#isGone) await this.#message();
      if (this.#isGone) return 0;
      this.#slot = this.#free.pop()!;
    }
    let taken = Math.min(bytes.length, SLOT_BYTES - this.#length);
    const isFull = this.#length + taken === SLOT_BYTES;
    // A line end waits for what comes behind it: listeners add a blank to a piece that ends in one, as they do to events.
    if (isFull && bytes[taken - 1] === NEWLINE) taken--;
    copyBytes(this.#bytes, this.#slot * SLOT_BYTES + this.#length, bytes.subarray(0, taken));
    this.#length += taken;
    if (isFull) this.#send();
    return taken;
  }

  #send(): void {
    const message: PieceMessage = { slot: this.#slot, length: this.#length };
    this.#port.postMessage(this.#isKnown ? message : { ...message, memory: this.#memory });
    this.#isKnown = true;
    this.#slot = -1;
    this.#length = 0;
  }

  #message(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
