// Mutation below any structure: of texts and of bytes. Keeps what it makes below a bound, whatever it repeats.
import type { Dice } from './dice.ts';
import { ODD_TEXTS } from './junk.ts';

const BYTES_MAX = 64 * 1024;
const ODD_BYTES: readonly number[] = [0x00, 0x09, 0x0a, 0x0d, 0x20, 0x22, 0x27, 0x2c, 0x3a, 0x5b, 0x5c, 0x7b, 0x7f];
const HIGH_BYTES: readonly number[] = [0x80, 0xbf, 0xc0, 0xc3, 0xed, 0xa0, 0xf4, 0xf8, 0xff];

/** The bytes with a few changes. */
export function mutatedBytes(bytes: Uint8Array, dice: Dice, dictionary: readonly string[] = ODD_TEXTS): Buffer {
  let result: Buffer = Buffer.from(bytes);
  for (let changes = 1 + dice.small(4); changes > 0; changes--) result = changedBytes(result, dice, dictionary);
  return result;
}

function changedBytes(bytes: Buffer, dice: Dice, dictionary: readonly string[]): Buffer {
  const at = dice.below(bytes.length + 1);
  const length = Math.min(1 + dice.small(24), bytes.length - at);
  switch (dice.below(8)) {
    case 0:
      if (at < bytes.length) bytes[at]! ^= 1 << dice.below(8);
      return bytes;
    case 1:
      if (at < bytes.length) bytes[at] = dice.pick(dice.oneIn(3) ? HIGH_BYTES : ODD_BYTES);
      return bytes;
    case 2:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
    case 3:
      return Buffer.concat([bytes.subarray(0, at), dice.bytes(1 + dice.small(4)), bytes.subarray(at)]);
    case 4:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from(dice.pick(dictionary)), bytes.subarray(at)]);
    case 5: {
      const chunk = bytes.subarray(at, at + length);
      const copies = Math.min(1 + dice.small(dice.oneIn(50) ? 2000 : 4), Math.floor(BYTES_MAX / (length + 1)));
      return Buffer.concat([bytes.subarray(0, at), ...new Array<Buffer>(copies).fill(chunk), bytes.subarray(at)]);
    }
    case 6: {
      const to = dice.below(bytes.length + 1);
      return Buffer.concat([bytes.subarray(0, to), bytes.subarray(at, at + length), bytes.subarray(to)]);
    }
    default:
      return dice.oneIn(4) ? bytes.subarray(0, at) : bytes;
  }
}

/** The text with a few changes. */
export function mutatedText(text: string, dice: Dice, dictionary: readonly string[] = ODD_TEXTS): string {
  let result = text;
  for (let changes = 1 + dice.small(3); changes > 0; changes--) result = changedText(result, dice, dictionary);
  return result;
}

function changedText(text: string, dice: Dice, dictionary: readonly string[]): string {
  const at = dice.below(text.length + 1);
  const length = Math.min(1 + dice.small(12), text.length - at);
  const [before, chunk, after] = [text.slice(0, at), text.slice(at, at + length), text.slice(at + length)];
  switch (dice.below(6)) {
    case 0:
      return before + after;
    case 1:
      return before + String.fromCharCode(dice.oneIn(4) ? dice.below(0x10000) : dice.between(0x20, 0x7e)) + after;
    case 2:
      return before + dice.pick(dictionary) + chunk + after;
    case 3:
      return before + dice.pick(dictionary) + after;
    case 4:
      return before + chunk.repeat(Math.min(1 + dice.small(dice.oneIn(50) ? 1000 : 4), 4096)) + after;
    default:
      return dice.oneIn(4) ? before : text;
  }
}

/** A text of one piece over and over between two others: what makes quadratic readers slow. */
export function repetition(dice: Dice, pieces: readonly string[], charactersMax: number): string {
  const piece = dice.pick(pieces) + (dice.oneIn(2) ? dice.pick(pieces) : '');
  const times = Math.floor(dice.between(charactersMax / 8, charactersMax) / Math.max(1, piece.length));
  return dice.pick(pieces) + piece.repeat(times) + dice.pick(pieces);
}
