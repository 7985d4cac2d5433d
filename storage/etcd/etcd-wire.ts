// The Protobuf wire format as etcd's messages use it: fields written one after the other, read by number. Knows no message.

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
const VARINT_BYTES_MAX = 10;
const TWO_28 = 2 ** 28;

/** Writes one message. A field of the default value is left out, as etcd expects. */
export class WireWriter {
  #buffer = Buffer.allocUnsafe(1024);
  #end: number;

  /** `headBytes`: room before the message, for who frames it. */
  constructor(headBytes = 0) {
    this.#end = headBytes;
  }

  integer(field: number, value: number | boolean | undefined): this {
    if (value === undefined || value === 0 || value === false) return this;
    this.#reserve(2 * VARINT_BYTES_MAX);
    this.#varint(field * 8 + VARINT);
    this.#varint(Number(value));
    return this;
  }

  bytes(field: number, value: Uint8Array | string | undefined): this {
    if (value === undefined || value.length === 0) return this;
    const length = typeof value === 'string' ? Buffer.byteLength(value) : value.byteLength;
    this.#reserve(2 * VARINT_BYTES_MAX + length);
    this.#varint(field * 8 + BYTES);
    this.#varint(length);
    if (typeof value === 'string') this.#buffer.write(value, this.#end, 'utf8');
    else this.#buffer.set(value, this.#end);
    this.#end += length;
    return this;
  }

  /** A message within, written also when it is empty. */
  message(field: number, write: (inner: WireWriter) => void): this {
    const inner = new WireWriter();
    write(inner);
    const bytes = inner.finish();
    this.#reserve(2 * VARINT_BYTES_MAX + bytes.length);
    this.#varint(field * 8 + BYTES);
    this.#varint(bytes.length);
    this.#buffer.set(bytes, this.#end);
    this.#end += bytes.length;
    return this;
  }

  finish(): Buffer {
    return this.#buffer.subarray(0, this.#end);
  }

  #varint(value: number): void {
    let left = value;
    while (left >= TWO_28) {
      this.#buffer[this.#end++] = (left % 128) | 0x80;
      left = Math.floor(left / 128);
    }
    while (left >= 0x80) {
      this.#buffer[this.#end++] = (left & 0x7f) | 0x80;
      left >>>= 7;
    }
    this.#buffer[this.#end++] = left;
  }

  #reserve(bytes: number): void {
    if (this.#end + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#end + bytes));
    this.#buffer.copy(larger, 0, 0, this.#end);
    this.#buffer = larger;
  }
}

/** Hears the fields of a message in order: integers as numbers, the rest as views of its bytes. */
export interface FieldReader {
  integer?(field: number, value: number): void;
  bytes?(field: number, value: Buffer): void;
}

/** Reads a message. Throws Error when it is cut or of no known form. */
export function readFields(message: Buffer, reader: FieldReader): void {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1, read = 0; read < VARINT_BYTES_MAX; read++, scale *= 128) {
      const byte = message[at++];
      if (byte === undefined) break;
      // An id of the cluster may be larger than a number holds exactly; nobody reads those.
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw new Error('a message of etcd is cut');
  };
  while (at < message.length) {
    const tag = varint();
    const field = Math.floor(tag / 8);
    const form = tag % 8;
    if (form === VARINT) reader.integer?.(field, varint());
    else if (form === FIXED64) at += 8;
    else if (form === FIXED32) at += 4;
    else if (form === BYTES) {
      const end = varint() + at;
      if (end > message.length) throw new Error('a message of etcd is cut');
      reader.bytes?.(field, message.subarray(at, end));
      at = end;
    } else throw new Error('a message of etcd is of an unknown form');
  }
}
