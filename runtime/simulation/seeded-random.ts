// Randomness that a seed decides: the same seed gives the same numbers, uuids and bytes on every machine. Never for keys
// outside a simulation.
import type { Random } from '../environment.ts';

/** xoshiro128**, seeded through splitmix32. */
export class SeededRandom implements Random {
  private readonly state: Uint32Array;

  constructor(seed: number) {
    let mixed = seed >>> 0;
    this.state = Uint32Array.from({ length: 4 }, () => {
      mixed = (mixed + 0x9e3779b9) >>> 0;
      let word = mixed;
      word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
      word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
      return (word ^ (word >>> 15)) >>> 0;
    });
  }

  next(): number {
    return (this.word() >>> 0) / 2 ** 32;
  }

  /** A whole number in [0, below). */
  below(below: number): number {
    return Math.floor(this.next() * below);
  }

  bytes(count: number): Uint8Array {
    const bytes = new Uint8Array(count);
    for (let at = 0; at < count; at++) bytes[at] = this.word() >>> 24;
    return bytes;
  }

  uuid(): string {
    const bytes = this.bytes(16);
    bytes[6] = (bytes[6]! & 0x0f) | 0x40;
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    const hex = Buffer.from(bytes).toString('hex');
    return [0, 8, 12, 16, 20].map((from, part, starts) => hex.slice(from, starts[part + 1] ?? 32)).join('-');
  }

  private word(): number {
    const { state } = this;
    const word = Math.imul(rotated(Math.imul(state[1]!, 5), 7), 9);
    const shifted = state[1]! << 9;
    state[2]! ^= state[0]!;
    state[3]! ^= state[1]!;
    state[1]! ^= state[2]!;
    state[0]! ^= state[3]!;
    state[2]! ^= shifted;
    state[3] = rotated(state[3]!, 11);
    return word;
  }
}

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
