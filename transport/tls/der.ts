// Writes the few ASN.1 types of a certificate in DER (ITU-T X.690). Pure; reads nothing.

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
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
export function derValue(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  if (content.length < 0x80) return Buffer.concat([Buffer.from([tag, content.length]), content]);
  const length = bigEndian(content.length);
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, content]);
}

export const derSequence = (...items: readonly Uint8Array[]): Buffer => derValue(TAG.sequence, ...items);
export const derSet = (...items: readonly Uint8Array[]): Buffer => derValue(TAG.set, ...items);
export const derOctets = (content: Uint8Array): Buffer => derValue(TAG.octetString, content);
export const derText = (text: string): Buffer => derValue(TAG.utf8String, Buffer.from(text));
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
