// A small file beside the engine that says up to which revision commits were acknowledged. The engine's own log can lose
// its tail without a word; this marker is how the next start notices. Written after a batch is durable and before it is
// acknowledged, without a sync of its own: after a power failure it may lag, but it never runs ahead.
//
// Two slots of 16 bytes, written in turn so that a torn write leaves the other: f64 revision, u32 crc32, u32 0.
import { closeSync, constants, existsSync, fsyncSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';

const SLOT_BYTES = 16;

export class HeadMarker {
  readonly #file: number;
  readonly #slot = Buffer.alloc(SLOT_BYTES);
  /** The slot that does not hold the highest revision. */
  #next: number;
  /** The highest revision found when opened; 0 for a new file. */
  readonly revision: number;

  constructor(path: string) {
    this.#file = openSync(path, openFlags(), 0o600);
    const slots = Buffer.alloc(2 * SLOT_BYTES);
    const highest = highestSlot(slots.subarray(0, readSync(this.#file, slots, 0, slots.length, 0)));
    this.revision = highest.revision;
    this.#next = highest.slot === 0 ? 1 : 0;
  }

  advance(revision: number): void {
    this.#slot.writeDoubleLE(revision, 0);
    this.#slot.writeUInt32LE(crc32(this.#slot.subarray(0, 8)), 8);
    writeSync(this.#file, this.#slot, 0, SLOT_BYTES, this.#next * SLOT_BYTES);
    this.#next = 1 - this.#next;
  }

  /** What was written stays even if the machine loses power from here on. */
  close(): void {
    try {
      fsyncSync(this.#file);
    } finally {
      closeSync(this.#file);
    }
  }
}

/** The revision a marker file says was acknowledged, read without changing it; 0 when there is none. */
export function markedRevision(path: string): number {
  return existsSync(path) ? highestSlot(readFileSync(path)).revision : 0;
}

/**
 * True where a marker file holds something, and no slot that was ever written: a write torn by a power failure leaves the other slot, or
 * the zeros of a new file.
 */
export function isMarkerDamaged(path: string): boolean {
  if (!existsSync(path)) return false;
  const slots = readFileSync(path);
  return !highestSlot(slots).isWhole && slots.some((byte) => byte !== 0);
}

interface HighestSlot {
  readonly revision: number;
  readonly slot: number;
  /** False where there is no whole slot. */
  readonly isWhole: boolean;
}

function highestSlot(slots: Buffer): HighestSlot {
  let highest: HighestSlot = { revision: 0, slot: 1, isWhole: false };
  for (let slot = 0; slot < 2 && (slot + 1) * SLOT_BYTES <= slots.length; slot++) {
    const at = slot * SLOT_BYTES;
    if (slots.readUInt32LE(at + 8) !== crc32(slots.subarray(at, at + 8))) continue;
    const revision = slots.readDoubleLE(at);
    if (revision >= highest.revision) highest = { revision, slot, isWhole: true };
  }
  return highest;
}

/** Read and write, created when missing, never truncated. */
function openFlags(): number {
  return constants.O_RDWR | constants.O_CREAT;
}
