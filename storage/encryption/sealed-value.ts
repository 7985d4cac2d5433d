// One encrypted object as it lies in the engine: what identifies the version in the clear, then the provider's prefix and
// what the provider made of the whole stored form (storage/forms/stored-value.ts), labels and all. The checksum is over what is
// encrypted: one over the value itself would let its text be guessed at.
//
//   0 u32 crc32 of key and of bytes 4…   4 u8 format 2   5 u8 0   6 u16 0   8 f64 revision   16 f64 revision of the creation
//  24 prefix, payload
import { crc32 } from 'node:zlib';
import { isOrchError, OrchError } from '../../runtime/errors.ts';
import { clearRevisions, readStoredValue, type StoredValue } from '../forms/stored-value.ts';
import { stampRevision } from '../records/slab-record.ts';
import { NOT_CONFIGURED } from './told-failures.ts';

const SEALED_FORMAT = 2;
const HEADER_BYTES = 24;
/** Of a stored form, sealed or not: where the format and the two revisions stand. */
const FORMAT_OFFSET = 4;
const REVISIONS_OFFSET = 8;
/** What a prefix looks like to a reader that does not have it among its own; they end at the fifth colon. */
const PREFIX = /^(?:[^:]{1,253}:){5}/;
const PREFIX_BYTES_MAX = 400;

/** True when a stored form is a sealed one. Says nothing about whether it is whole. */
export function isSealedValue(bytes: Uint8Array): boolean {
  return bytes.byteLength >= HEADER_BYTES && bytes[FORMAT_OFFSET] === SEALED_FORMAT;
}

/** The sealed form around a payload that `prefix` says how to open. `stored` is the form that was encrypted. */
export function writeSealedValue(key: string, stored: Uint8Array, prefix: Uint8Array, payload: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + prefix.length + payload.length);
  bytes.fill(0, FORMAT_OFFSET, REVISIONS_OFFSET);
  bytes[FORMAT_OFFSET] = SEALED_FORMAT;
  bytes.set(stored.subarray(REVISIONS_OFFSET, HEADER_BYTES), REVISIONS_OFFSET);
  bytes.set(prefix, HEADER_BYTES);
  bytes.set(payload, HEADER_BYTES + prefix.length);
  bytes.writeUInt32LE(crc32(bytes.subarray(FORMAT_OFFSET), crc32(key)), 0);
  return bytes;
}

/** Prefix and payload of a sealed form, a view of it; undefined when it does not match its checksum. */
export function sealedBody(key: string, bytes: Uint8Array): Buffer | undefined {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (source.readUInt32LE(0) !== crc32(source.subarray(FORMAT_OFFSET), crc32(key))) return undefined;
  return source.subarray(HEADER_BYTES);
}

/**
 * Reads what a stored form holds, `plain` being what was encrypted in it, or the form itself. The revisions are those in
 * the clear: a value that was moved to another engine has new ones there, while what is encrypted stays as it was.
 * Undefined when it is damaged. `ofKey`: the key's checksum, where it is known.
 */
export function readOpenedValue(
  key: string,
  stored: Uint8Array,
  plain: Uint8Array,
  ofKey?: number,
): StoredValue | undefined {
  const value = readStoredValue(key, plain, ofKey);
  if (value === undefined || !isSealedValue(stored)) return value;
  const { revision, bornRevision } = clearRevisions(stored);
  if (revision === value.revision && bornRevision === value.bornRevision) return value;
  const json = Buffer.from(value.json);
  stampRevision(json, value.revisionOffset, revision);
  return { ...value, revision, bornRevision, json };
}

/** What is said of a value that cannot be read, beside the log's line. */
interface Unreadable {
  /** To clients. */
  readonly told: string;
  /** Somebody was asked who may answer otherwise another time. */
  readonly mayPass: boolean;
}

/** The error for a stored value that cannot be read. `told`: where clients are not told `why`. */
export function unreadable(key: string, why: string, told = why, mayPass = false): OrchError {
  const details: Unreadable = { told, mayPass };
  return new OrchError('StoreUnusable', `the stored value of ${key} cannot be read: ${why}`, details);
}

/** What there is to say of a value where it is that which cannot be read. */
export function unreadableIn(error: unknown): Unreadable | undefined {
  const details = isOrchError(error, 'StoreUnusable') ? (error.details as Partial<Unreadable> | undefined) : undefined;
  return details?.told === undefined ? undefined : (details as Unreadable);
}

/** The error for a sealed form that no provider reads, of those configured for `resource` if there are any. */
export function noProvider(key: string, bytes: Uint8Array, resource?: string, told = NOT_CONFIGURED): OrchError {
  const body = sealedBody(key, bytes);
  if (body === undefined) return unreadable(key, 'it does not match its checksum');
  const whose = resource === undefined ? '' : ` among those of ${resource}`;
  const missing = `--encryption-provider-config has no such provider${whose}`;
  return unreadable(key, `it is encrypted with ${shownPrefix(body)}, and ${missing}`, told);
}

/** The prefix of a sealed body as far as it can be told without its provider. */
function shownPrefix(body: Buffer): string {
  const text = body.toString('latin1', 0, Math.min(body.length, PREFIX_BYTES_MAX));
  const prefix = PREFIX.exec(text)?.[0] ?? '';
  return /^[\x21-\x7e]+$/.test(prefix) ? prefix : 'an unknown provider';
}
