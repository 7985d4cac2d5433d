// Just enough DER (ITU-T X.690) to write one self-signed certificate: values in, bytes out. Reads nothing.

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** One value: its tag, its length, its content. */
export function tagged(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = length < 0x100 ? [length] : [length >>> 8, length & 0xff];
  if (length > 0xffff) throw new RangeError('a certificate of ours is never this long');
  return Buffer.concat([Buffer.from([tag, 0x80 | bytes.length, ...bytes]), content]);
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => tagged(TAG.sequence, ...parts);
export const setOf = (...parts: readonly Uint8Array[]): Buffer => tagged(TAG.set, ...parts);
export const octetString = (content: Uint8Array): Buffer => tagged(TAG.octetString, content);
export const utf8String = (text: string): Buffer => tagged(TAG.utf8, Buffer.from(text));
export const booleanTrue = (): Buffer => tagged(TAG.boolean, Buffer.from([0xff]));

/** A positive integer from its big-endian bytes. */
export function integer(bytes: Uint8Array): Buffer {
  const isNegative = (bytes[0] ?? 0) >= 0x80;
  return tagged(TAG.integer, isNegative ? Buffer.from([0]) : Buffer.alloc(0), bytes);
}

/** Bits, the last `unused` of which do not count. */
export function bitString(bytes: Uint8Array, unused = 0): Buffer {
  return tagged(TAG.bitString, Buffer.from([unused]), bytes);
}

/** `1.2.840.10045.4.3.2`. */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return tagged(TAG.oid, Buffer.from(bytes));
}

/** A moment in UTC, whole seconds. */
export function generalizedTime(atMs: number): Buffer {
  const text = new Date(atMs)
    .toISOString()
    .replace(/[-:T]/g, '')
    .replace(/\.\d+Z$/, 'Z');
  return tagged(TAG.generalizedTime, Buffer.from(text));
}
