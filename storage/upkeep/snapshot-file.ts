// A snapshot: all objects of a store at one revision, in their stored forms, as a server streams it and a file keeps it.
//
//   one line of JSON: SnapshotHeader
//   for each object: u32 key bytes, u32 value bytes, key, stored form
//   in a file, 32 bytes: SHA-256 of everything before
//
// Whoever reads one counts the objects and sums their digest, so that a stream which was cut off is not taken for a whole
// one.
import { crc32 } from 'node:zlib';
import { OrchError } from '../../runtime/errors.ts';
import { storedRevision } from '../forms/stored-value.ts';
import { liveDigestOf } from '../records/event-log.ts';

export const SNAPSHOT_FORMAT = 1;
export const SNAPSHOT_CHECKSUM_BYTES = 32;

export interface SnapshotHeader {
  readonly snapshotFormat: number;
  readonly dialect: string;
  readonly prefix: string;
  readonly revision: number;
  readonly objects: number;
  /** Of the objects' keys and revisions (storage/records/event-log.ts). */
  readonly digest: number;
  readonly wallMs: number;
}

const HEADER_BYTES_MAX = 4096;
const RECORD_HEAD_BYTES = 8;
const KEY_BYTES_MAX = 64 * 1024;
const VALUE_BYTES_MAX = 64 * 1024 * 1024;

/** The first line of a snapshot. */
export function snapshotHeader(header: SnapshotHeader): Buffer {
  return Buffer.from(`${JSON.stringify(header)}\n`);
}

/** The records of some objects, back to back. */
export function snapshotRecords(objects: readonly (readonly [key: string, value: Uint8Array])[]): Buffer {
  const keys = objects.map(([key]) => Buffer.from(key));
  const bytes = objects.reduce((sum, [, value], i) => sum + RECORD_HEAD_BYTES + keys[i]!.length + value.byteLength, 0);
  const records = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const [index, [, value]] of objects.entries()) {
    const key = keys[index]!;
    records.writeUInt32LE(key.length, at);
    records.writeUInt32LE(value.byteLength, at + 4);
    records.set(key, at + RECORD_HEAD_BYTES);
    records.set(value, at + RECORD_HEAD_BYTES + key.length);
    at += RECORD_HEAD_BYTES + key.length + value.byteLength;
  }
  return records;
}

/** Reads a snapshot piece by piece. Throws OrchError StoreUnusable for what is none, with one line. */
export class SnapshotReader {
  #rest: Buffer = Buffer.alloc(0);
  #header: SnapshotHeader | undefined;
  #objects = 0;
  #digest = 0;

  /** Known once the first pieces were read. */
  get header(): SnapshotHeader | undefined {
    return this.#header;
  }

  /** The objects that are whole now, each given once. Their bytes are valid until the next call. */
  read(piece: Buffer): [key: string, value: Buffer][] {
    this.#rest = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    if (this.#header === undefined && !this.#readHeader()) return [];
    const found: [string, Buffer][] = [];
    let at = 0;
    for (;;) {
      const next = this.#recordEnd(at);
      if (next === undefined) break;
      const keyEnd = at + RECORD_HEAD_BYTES + this.#rest.readUInt32LE(at);
      found.push(
        this.#count(this.#rest.toString('utf8', at + RECORD_HEAD_BYTES, keyEnd), this.#rest.subarray(keyEnd, next)),
      );
      at = next;
    }
    this.#rest = this.#rest.subarray(at);
    return found;
  }

  /** Throws when what was read is not a whole snapshot. */
  finish(): SnapshotHeader {
    const header = this.#header;
    if (header === undefined) throw unusable('it has no header');
    const isWhole = this.#rest.length === 0 && this.#objects === header.objects && this.#digest === header.digest;
    if (!isWhole) throw unusable(`it was cut off: it holds ${this.#objects} of ${header.objects} objects`);
    return header;
  }

  #readHeader(): boolean {
    const end = this.#rest.indexOf('\n');
    if (end < 0 && this.#rest.length <= HEADER_BYTES_MAX) return false;
    const header = end < 0 ? undefined : parseHeader(this.#rest.toString('utf8', 0, end));
    if (header === undefined) throw unusable('it has no header');
    if (header.snapshotFormat !== SNAPSHOT_FORMAT) {
      throw unusable(`it has format ${header.snapshotFormat}, this release reads format ${SNAPSHOT_FORMAT}`);
    }
    this.#header = header;
    this.#rest = this.#rest.subarray(end + 1);
    return true;
  }

  /** Where the record at `at` ends; undefined when it is not whole yet. */
  #recordEnd(at: number): number | undefined {
    if (at + RECORD_HEAD_BYTES > this.#rest.length) return undefined;
    const keyBytes = this.#rest.readUInt32LE(at);
    const valueBytes = this.#rest.readUInt32LE(at + 4);
    if (keyBytes > KEY_BYTES_MAX || valueBytes > VALUE_BYTES_MAX) throw unusable('a record has an impossible length');
    const end = at + RECORD_HEAD_BYTES + keyBytes + valueBytes;
    return end <= this.#rest.length ? end : undefined;
  }

  #count(key: string, value: Buffer): [string, Buffer] {
    const revision = storedRevision(key, value);
    if (revision === undefined) throw unusable(`the value of ${key} does not match its checksum`);
    this.#objects++;
    this.#digest = (this.#digest + liveDigestOf(crc32(key), revision)) >>> 0;
    return [key, value];
  }
}

function parseHeader(text: string): SnapshotHeader | undefined {
  try {
    const header = JSON.parse(text) as Partial<SnapshotHeader> | null;
    const numbers = [header?.snapshotFormat, header?.revision, header?.objects, header?.digest];
    const isHeader =
      numbers.every(Number.isSafeInteger) && typeof header?.dialect === 'string' && typeof header.prefix === 'string';
    return isHeader ? (header as SnapshotHeader) : undefined;
  } catch {
    return undefined;
  }
}

function unusable(why: string): OrchError {
  return new OrchError('StoreUnusable', `this is no snapshot that can be used: ${why}`);
}
