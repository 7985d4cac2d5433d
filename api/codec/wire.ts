// The Protobuf wire format: tags, varints, lengths. The writer runs backwards, so that a message is in place before
// its length is written and nothing is measured twice. Knows no schema.
import { DecodeError } from './decode-error.ts';

export const WIRE_VARINT = 0;
export const WIRE_FIXED64 = 1;
export const WIRE_BYTES = 2;
/** Fields that come between two tags, which Protobuf has given up; no message of ours has any. */
const WIRE_GROUP = 3;
const WIRE_GROUP_END = 4;
const WIRE_FIXED32 = 5;

export const tagOf = (number: number, wireType: number): number => (number << 3) | wireType;

const INITIAL_BYTES = 64 * 1024;
/** A buffer that one large object has grown is not kept beyond this. */
const KEPT_BYTES_MAX = 1024 * 1024;
const TWO_32 = 2 ** 32;
/** What integers of 64 bits are below. */
export const INT64_BOUND = 2 ** 63;
const SHORT_TEXT_MAX = 48;

/** Bytes that a varint below 2^32 takes. */
export function varintBytes(value: number): number {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5;
}

/** Puts a varint below 2^32 at a place in a buffer; returns where it ends. */
export function putVarint(target: Uint8Array, at: number, value: number): number {
  let end = at;
  let rest = value >>> 0;
  for (; rest >= 0x80; rest >>>= 7) target[end++] = (rest & 0x7f) | 0x80;
  target[end++] = rest;
  return end;
}

/** Writes from the end of a buffer towards its start. */
export class BackwardWriter {
  #buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  #at = INITIAL_BYTES;

  /** The bytes written so far: a position to give to `lengthSince`. */
  get size(): number {
    return this.#buffer.length - this.#at;
  }

  /** A copy of everything written; the writer is empty again afterwards. */
  take(): Buffer {
    const bytes = Buffer.allocUnsafeSlow(this.size);
    this.#buffer.copy(bytes, 0, this.#at);
    this.reset();
    return bytes;
  }

  reset(): void {
    if (this.#buffer.length > KEPT_BYTES_MAX) this.#buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
    this.#at = this.#buffer.length;
  }

  byte(value: number): void {
    if (this.#at === 0) this.#grow(1);
    this.#at -= 1;
    this.#buffer[this.#at] = value;
  }

  /** An integer of up to 53 bits; a negative one takes ten bytes, as its 64-bit complement. */
  varint(value: number): void {
    if (value >= 0 && value < 0x80) {
      this.byte(value);
      return;
    }
    if (value < 0 || value >= TWO_32) {
      this.#longVarint(BigInt.asUintN(64, BigInt(value)));
      return;
    }
    let length = 2;
    for (let rest = value / 0x4000; rest >= 1; rest /= 0x80) length += 1;
    if (this.#at < length) this.#grow(length);
    this.#at -= length;
    const buffer = this.#buffer;
    let at = this.#at;
    let rest = value >>> 0;
    for (; rest >= 0x80; rest >>>= 7) {
      buffer[at] = (rest & 0x7f) | 0x80;
      at += 1;
    }
    buffer[at] = rest;
  }

  #longVarint(value: bigint): void {
    const groups: number[] = [];
    let rest = value;
    for (; rest >= 0x80n; rest >>= 7n) groups.push(Number(rest & 0x7fn) | 0x80);
    groups.push(Number(rest));
    for (let i = groups.length - 1; i >= 0; i--) this.byte(groups[i]!);
  }

  int64(value: bigint): void {
    this.#longVarint(BigInt.asUintN(64, value));
  }

  double(value: number): void {
    if (this.#at < 8) this.#grow(8);
    this.#at -= 8;
    this.#buffer.writeDoubleLE(value, this.#at);
  }

  /** UTF-8 without its length. */
  text(value: string): void {
    if (value.length <= SHORT_TEXT_MAX && this.#shortAscii(value)) return;
    const length = Buffer.byteLength(value);
    if (this.#at < length) this.#grow(length);
    this.#at -= length;
    this.#buffer.write(value, this.#at, length, 'utf8');
  }

  #shortAscii(value: string): boolean {
    const { length } = value;
    if (this.#at < length) this.#grow(length);
    const start = this.#at - length;
    const buffer = this.#buffer;
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code >= 0x80) return false;
      buffer[start + i] = code;
    }
    this.#at = start;
    return true;
  }

  bytes(value: Uint8Array): void {
    if (this.#at < value.length) this.#grow(value.length);
    this.#at -= value.length;
    this.#buffer.set(value, this.#at);
  }

  /** Writes before what was written since `from` its length and its tag. */
  lengthSince(from: number, tag: number): void {
    this.varint(this.size - from);
    this.varint(tag);
  }

  #grow(needed: number): void {
    const written = this.size;
    const bytes = Math.max(this.#buffer.length * 2, written + needed);
    const grown = Buffer.allocUnsafeSlow(bytes);
    this.#buffer.copy(grown, bytes - written, this.#at);
    this.#buffer = grown;
    this.#at = bytes - written;
  }
}

/** Reads a range of bytes. Every method throws DecodeError where the range ends too early. */
export class WireReader {
  readonly #bytes: Buffer;
  /** The two 32-bit halves of the varint read last. */
  #low = 0;
  #high = 0;
  at: number;
  end: number;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
    this.end = bytes.byteLength;
  }

  /** An unsigned varint: exact to 53 bits, the nearest double beyond. */
  varint(): number {
    const bytes = this.#bytes;
    if (this.at < this.end) {
      const first = bytes[this.at]!;
      if (first < 0x80) {
        this.at += 1;
        return first;
      }
    }
    this.#readHalves();
    return (this.#high >>> 0) * TWO_32 + (this.#low >>> 0);
  }

  /** A signed varint: exact to 53 bits, the nearest double beyond. */
  integer(): number {
    this.#readHalves();
    return this.#high * TWO_32 + (this.#low >>> 0);
  }

  /** As `integer`, of what a double does not hold exactly a bigint. */
  exactInteger(): number | bigint {
    this.#readHalves();
    const low = this.#low >>> 0;
    const value = this.#high * TWO_32 + low;
    return Number.isSafeInteger(value) ? value : (BigInt(this.#high) << 32n) + BigInt(low);
  }

  #readHalves(): void {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.at >= this.end) throw new DecodeError('cut off in the middle of a number');
      const byte = this.#bytes[this.at]!;
      this.at += 1;
      if (shift < 28) low |= (byte & 0x7f) << shift;
      else if (shift === 28) {
        low |= (byte & 0x0f) << 28;
        high = (byte & 0x70) >> 4;
      } else high |= (byte & 0x7f) << (shift - 32);
      if (byte < 0x80) {
        this.#low = low;
        this.#high = high;
        return;
      }
    }
    throw new DecodeError('a number is longer than ten bytes');
  }

  /** A varint as a signed 64-bit integer. */
  int64(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      if (this.at >= this.end) throw new DecodeError('cut off in the middle of a number');
      const byte = this.#bytes[this.at]!;
      this.at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw new DecodeError('a number is longer than ten bytes');
  }

  double(): number {
    const { at } = this;
    this.#skipTo(at + 8);
    return this.#bytes.readDoubleLE(at);
  }

  text(): string {
    const start = this.#takeLength();
    return this.#bytes.toString('utf8', start, this.at);
  }

  base64(): string {
    const start = this.#takeLength();
    return this.#bytes.toString('base64', start, this.at);
  }

  /** A view of the bytes, not a copy. */
  bytes(): Buffer {
    const start = this.#takeLength();
    return this.#bytes.subarray(start, this.at);
  }

  /** Narrows the range to the message that follows; give the result to `leave` when it has been read. */
  enter(): number {
    const length = this.varint();
    const outerEnd = this.end;
    if (length > outerEnd - this.at) throw new DecodeError('a length goes beyond its message');
    this.end = this.at + length;
    return outerEnd;
  }

  leave(outerEnd: number): void {
    this.at = this.end;
    this.end = outerEnd;
  }

  skip(wireType: number): void {
    if (wireType === WIRE_VARINT) this.varint();
    else if (wireType === WIRE_FIXED64) this.#skipTo(this.at + 8);
    else if (wireType === WIRE_FIXED32) this.#skipTo(this.at + 4);
    else if (wireType === WIRE_BYTES) this.#takeLength();
    else if (wireType === WIRE_GROUP) this.#skipGroup();
    else throw new DecodeError(`unknown wire type ${wireType}`);
  }

  /** Groups in groups are counted, not entered: there may be as many as bytes. */
  #skipGroup(): void {
    for (let open = 1; open > 0; ) {
      if (this.at >= this.end) throw new DecodeError('a group has no end');
      const wireType = this.varint() & 7;
      if (wireType === WIRE_GROUP) open += 1;
      else if (wireType === WIRE_GROUP_END) open -= 1;
      else this.skip(wireType);
    }
  }

  #takeLength(): number {
    const length = this.varint();
    const start = this.at;
    this.#skipTo(start + length);
    return start;
  }

  #skipTo(position: number): void {
    if (position > this.end) throw new DecodeError('a length goes beyond its message');
    this.at = position;
  }
}
