// A small file beside the engine that says up to which revision commits were acknowledged. The engine's own log can lose
// its tail without a word; this marker is how the next start notices. Written after a batch is durable and before it is
// acknowledged, without a sync of its own: after a power failure it may lag, but it never runs ahead.
//
// Two slots of 16 bytes, written in turn so that a torn write leaves the other: f64 revision, u32 crc32, u32 0.
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';

const SLOT_BYTES = 16;

export class HeadMarker {
  readonly #file: number;
  readonly #slot = Buffer.alloc(SLOT_BYTES);
  /** The slot that does not hold the highest revision. */
  #next = 0;
  /** The highest revision found when opened; 0 for a new file. */
  readonly revision: number;

  constructor(path: string) {
    this.#file = openSync(path, openFlags(), 0o600);
    const slots = Buffer.alloc(2 * SLOT_BYTES);
    const bytes = readSync(this.#file, slots, 0, slots.length, 0);
    let revision = 0;
    for (let at = 0; at + SLOT_BYTES <= bytes; at += SLOT_BYTES) {
      if (slots.readUInt32LE(at + 8) !== crc32(slots.subarray(at, at + 8))) continue;
      if (slots.readDoubleLE(at) < revision) continue;
      revision = slots.readDoubleLE(at);
      this.#next = at === 0 ? 1 : 0;
    }
    this.revision = revision;
  }

  advance(revision: number): void {
    this.#slot.writeDoubleLE(revision, 0);
    this.#slot.writeUInt32LE(crc32(this.#slot.subarray(0, 8)), 8);
    writeSync(this.#file, this.#slot, 0, SLOT_BYTES, this.#next * SLOT_BYTES);
    this.#next = 1 - this.#next;
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** Read and write, created when missing, never truncated. */
function openFlags(): number {
  return constants.O_RDWR | constants.O_CREAT;
}
