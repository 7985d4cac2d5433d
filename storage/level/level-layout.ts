// What lies where in the level engine's directory: the names of its files and keys, and the form of its metadata. Shared by
// the engine and by whoever reads or makes such a directory without it.
import { crc32 } from 'node:zlib';

/** In the data directory: LevelDB's own directory, and the head marker beside it (storage/level/head-marker.ts). */
export const DATABASE_DIRECTORY = 'store';
export const HEAD_FILE = 'head';

/** What is written. A directory of an earlier one is read, and is of this one from then on. */
export const FORMAT = 3;
/** Those before told what events replaced in other ways (storage/records/event-log.ts). */
const FORMATS_READ: readonly number[] = [1, 2, FORMAT];
export const META_FORMAT = 'm/format';
export const META_TOKEN_KEY = 'm/token-key';
export const META_COMPACTED = 'm/compacted';
export const TOKEN_KEY_BYTES = 32;

/** `<prefix>/o/<key>` holds the latest value of a key. */
export const VALUES = '/o/';
/** `<prefix>/e/<last revision>` holds an event record. */
export const EVENTS = '/e/';

const CHECKSUM_BYTES = 4;

/** Whose directory it is. */
export interface StoreIdentity {
  readonly format: number;
  readonly dialect: string;
  readonly prefix: string;
}

/** Fixed width, so that keys sort as revisions do. */
export function revisionKey(revision: number): string {
  return revision.toString(16).padStart(14, '0');
}

/** Metadata with the checksum of its bytes behind it. */
export function sealed(bytes: Uint8Array): Uint8Array {
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(bytes));
  return Buffer.concat([bytes, checksum]);
}

/** Metadata without its checksum; undefined when that does not match. */
export function unsealed(bytes: Uint8Array): Buffer | undefined {
  const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = value.length - CHECKSUM_BYTES;
  if (end < 0 || value.readUInt32LE(end) !== crc32(value.subarray(0, end))) return undefined;
  return value.subarray(0, end);
}

/** What is wrong with a directory's format; undefined for one that is read. */
export function formatProblem(format: number): string | undefined {
  if (FORMATS_READ.includes(format)) return undefined;
  const advice = 'run that, or restore a snapshot that was taken before the update';
  return `is of a newer release (${advice}): it has format ${format}, this release reads format ${FORMAT}`;
}

/** The metadata that says whose directory it is. */
export function formatValue(dialect: string, prefix: string): Uint8Array {
  return sealed(Buffer.from(JSON.stringify({ format: FORMAT, dialect, prefix } satisfies StoreIdentity)));
}

/** The metadata that says how far events were compacted. */
export function compactedValue(revision: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(revision);
  return sealed(bytes);
}
