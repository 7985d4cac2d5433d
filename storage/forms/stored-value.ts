// One object as it lies in the engine: a header with a checksum over everything that follows, the packed attributes (so
// that a restart parses no object), and the value in the storage media type.
//
//   0 u32 crc32 of key and of bytes 4…   4 u8 format  5 u8 media type  6 u16 0
//   8 f64 revision of the last change   16 f64 revision of the creation
//  24 u32 schema generation  28 u32 attributes length  32 u32 revision offset  36 u32 item offset  40 attributes, value
import { crc32 } from 'node:zlib';
import { copyBytes } from '../../values/copy-bytes.ts';
import { envelopeBytesMax, unwrapEnvelope, wrapEnvelope } from './envelope.ts';
import { keyChecksum } from './key-checksum.ts';

const FORMAT = 1;
const HEADER_BYTES = 40;
/** Up to here every form is the same. */
const REVISIONS_END = 24;

/** How the value is written: bare JSON, or the Protobuf envelope around it. Both are always read. */
export type StorageMedia = 'json' | 'protobuf';
const MEDIA_CODES: Readonly<Record<StorageMedia, number>> = { json: 0, protobuf: 1 };

export interface StoredValueHead {
  readonly revision: number;
  readonly bornRevision: number;
  readonly schemaGeneration: number;
  readonly revisionOffset: number;
  readonly itemOffset: number;
}

export interface StoredValue extends StoredValueHead {
  readonly attributes: string;
  /** The JSON text, with the revision stamped. */
  readonly json: Buffer;
}

/** The most bytes `writeStoredValue` may need for such an object. */
export function storedValueBytesMax(attributes: string, jsonBytes: number, itemOffset: number): number {
  return HEADER_BYTES + attributes.length * 3 + jsonBytes + envelopeBytesMax(itemOffset);
}

/** Writes an object's stored form into `target` and returns its length in bytes. */
export function writeStoredValue(
  target: Buffer,
  at: number,
  key: string,
  head: StoredValueHead,
  attributes: string,
  json: Uint8Array,
  media: StorageMedia,
): number {
  target[at + 4] = FORMAT;
  target[at + 5] = MEDIA_CODES[media];
  target.writeUInt16LE(0, at + 6);
  target.writeDoubleLE(head.revision, at + 8);
  target.writeDoubleLE(head.bornRevision, at + 16);
  target.writeUInt32LE(head.schemaGeneration, at + 24);
  target.writeUInt32LE(head.revisionOffset, at + 32);
  target.writeUInt32LE(head.itemOffset, at + 36);
  const attributesBytes = attributes === '' ? 0 : target.write(attributes, at + HEADER_BYTES, 'utf8');
  target.writeUInt32LE(attributesBytes, at + 28);
  let end = at + HEADER_BYTES + attributesBytes;
  if (media === 'protobuf') {
    end = wrapEnvelope(target, end, json, head.itemOffset);
  } else {
    end = copyBytes(target, end, json);
  }
  target.writeUInt32LE(crc32(target.subarray(at + 4, end), keyChecksum(key)), at);
  return end - at;
}

/**
 * Reads a stored form back; undefined when it is damaged (too short, wrong checksum for this key, unknown format).
 * The JSON is a view of `bytes`. `ofKey`: the key's checksum, where it is known.
 */
export function readStoredValue(key: string, bytes: Uint8Array, ofKey = keyChecksum(key)): StoredValue | undefined {
  if (bytes.byteLength < HEADER_BYTES) return undefined;
  const source = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (source.readUInt32LE(0) !== crc32(source.subarray(4), ofKey) || source[4] !== FORMAT) return undefined;
  const attributesEnd = HEADER_BYTES + source.readUInt32LE(28);
  const body = source.subarray(attributesEnd);
  const json = source[5] === MEDIA_CODES.json ? body : unwrapEnvelope(body);
  if (json === undefined) return undefined;
  return {
    revision: source.readDoubleLE(8),
    bornRevision: source.readDoubleLE(16),
    schemaGeneration: source.readUInt32LE(24),
    revisionOffset: source.readUInt32LE(32),
    itemOffset: source.readUInt32LE(36),
    attributes: attributesEnd === HEADER_BYTES ? '' : source.toString('utf8', HEADER_BYTES, attributesEnd),
    json,
  };
}

/** What can be told of a stored form without reading what is in it, encrypted or not; undefined when it is damaged. */
export function storedRevision(key: string, bytes: Uint8Array): number | undefined {
  if (bytes.byteLength < REVISIONS_END) return undefined;
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return source.readUInt32LE(0) === crc32(source.subarray(4), keyChecksum(key)) ? source.readDoubleLE(8) : undefined;
}

/** The revisions a stored form says in the clear, encrypted or not. Only of one that `storedRevision` reads. */
export function clearRevisions(bytes: Uint8Array): Pick<StoredValueHead, 'revision' | 'bornRevision'> {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { revision: source.readDoubleLE(8), bornRevision: source.readDoubleLE(16) };
}

/** A copy of a stored form, encrypted or not, that says other revisions in the clear. */
export function withClearRevisions(
  key: string,
  bytes: Uint8Array,
  { revision, bornRevision }: Pick<StoredValueHead, 'revision' | 'bornRevision'>,
): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeDoubleLE(revision, 8);
  copy.writeDoubleLE(bornRevision, 16);
  copy.writeUInt32LE(crc32(copy.subarray(4), keyChecksum(key)), 0);
  return copy;
}

/** True for a form that `readStoredValue` reads; others hold the same, encrypted. */
export function isPlainForm(bytes: Uint8Array): boolean {
  return bytes[4] === FORMAT;
}

/** The checksum a stored form begins with: what an event record says of the value it led to. */
export function storedValueChecksum(bytes: Uint8Array): number {
  return (bytes[0]! | (bytes[1]! << 8) | (bytes[2]! << 16) | (bytes[3]! << 24)) >>> 0;
}
