// The little of DER (ITU-T X.690) that certificates and requests for them need: one writer, one reader. Knows no
// certificate; what is read is only as far believed as its lengths fit.

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** The first year that UTCTime, with its two digits, cannot say (RFC 5280 4.1.2.5). */
const GENERALIZED_TIME_FROM = 2050;

/** One value: its tag, the length of its content, the content. */
function derValue(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  if (content.length < 0x80) return Buffer.concat([Buffer.from([tag, content.length]), content]);
  const length = bigEndian(content.length);
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, content]);
}

export const derSequence = (...items: readonly Uint8Array[]): Buffer => derValue(TAG.sequence, ...items);
export const derSet = (...items: readonly Uint8Array[]): Buffer => derValue(TAG.set, ...items);
export const derOctets = (content: Uint8Array): Buffer => derValue(TAG.octetString, content);
export const derText = (text: string): Buffer => derValue(TAG.utf8String, Buffer.from(text));
export const derNull = (): Buffer => derValue(TAG.null);
export const derTrue = (): Buffer => derValue(TAG.boolean, Buffer.from([0xff]));

/** A tag of the surrounding type's own: `[number]`. */
export function derTagged(number: number, isConstructed: boolean, ...contents: readonly Uint8Array[]): Buffer {
  return derValue((isConstructed ? 0xa0 : 0x80) | number, ...contents);
}

/** A non-negative integer from its big-endian bytes. */
export function derInteger(bytes: Uint8Array): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  const minimal = start < 0 ? Buffer.from([0]) : Buffer.from(bytes.subarray(start));
  return derValue(TAG.integer, minimal[0]! >= 0x80 ? Buffer.concat([Buffer.from([0]), minimal]) : minimal);
}

/** An object identifier from its dotted form. */
export function derObjectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return derValue(TAG.objectIdentifier, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** Bits, of which the last `unused` of the last byte do not count. */
export function derBits(content: Uint8Array, unused = 0): Buffer {
  return derValue(TAG.bitString, Buffer.from([unused]), content);
}

/** A point in time, to the second. */
export function derTime(time: Date): Buffer {
  const digits = time
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(/[-:T]/g, '');
  if (time.getUTCFullYear() >= GENERALIZED_TIME_FROM) return derValue(TAG.generalizedTime, Buffer.from(digits));
  return derValue(TAG.utcTime, Buffer.from(digits.slice(2)));
}

function bigEndian(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.from(bytes);
}

function base128(value: number): number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift((rest % 128) | 0x80);
  return bytes;
}

/** One value that was read; both are parts of the bytes it was read from. */
export interface DerNode {
  readonly tag: number;
  readonly whole: Buffer;
  readonly content: Buffer;
}

/** Length fields of more bytes are of nothing that fits memory. */
const LENGTH_BYTES_MAX = 4;

/** The value that bytes begin with; what follows it is not looked at. @throws {RangeError} it is cut off or has no length */
export function readDer(bytes: Buffer): DerNode {
  if (bytes.length < 2) throw new RangeError('cut off');
  const first = bytes[1]!;
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  const start = 2 + lengthBytes;
  const isIndefinite = first === 0x80;
  if (isIndefinite || lengthBytes > LENGTH_BYTES_MAX || start > bytes.length) throw new RangeError('no length');
  const end = start + (lengthBytes === 0 ? first : bytes.readUIntBE(2, lengthBytes));
  if (end > bytes.length) throw new RangeError('cut off');
  return { tag: bytes[0]!, whole: bytes.subarray(0, end), content: bytes.subarray(start, end) };
}

/** The values one after another in another's content. @throws {RangeError} one of them is broken */
export function derParts({ content }: DerNode): readonly DerNode[] {
  const parts: DerNode[] = [];
  for (let rest = content; rest.length > 0; ) {
    const part = readDer(rest);
    parts.push(part);
    rest = rest.subarray(part.whole.length);
  }
  return parts;
}

/** The part at a position. @throws {RangeError} there is none */
export function derPart(node: DerNode, index: number): DerNode {
  const part = derParts(node)[index];
  if (part === undefined) throw new RangeError('a part is missing');
  return part;
}

/** An object identifier in dotted form; empty for a value of another type. */
export function objectIdOf(node: DerNode | undefined): string {
  if (node?.tag !== TAG.objectIdentifier || node.content.length === 0) return '';
  const numbers: number[] = [];
  let number = 0;
  for (const byte of node.content) {
    number = number * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    numbers.push(number);
    number = 0;
  }
  const [first = 0, ...rest] = numbers;
  const root = Math.min(2, Math.floor(first / 40));
  return [root, first - root * 40, ...rest].join('.');
}

export const isDerSequence = (node: DerNode): boolean => node.tag === TAG.sequence;
