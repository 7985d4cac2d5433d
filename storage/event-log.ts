// The event log's records: one per committed batch, dense in revisions, each carrying the checksum of the one before. An
// event holds what it replaced, not what it wrote: the latest values lie in the engine, and the way back from them gives
// every state of the window, at half the bytes written. The log also says how many objects there must be and a digest of
// their keys and revisions, so that a value an engine lost without a word is noticed.
//
//   0 u32 crc32 of bytes 4…   4 u32 crc32 of the previous record (its bytes 0-3)   8 f64 first revision  16 f64 last revision
//  24 f64 wall time ms  32 u32 event count  36 u32 live objects  40 u32 digest of live objects  44 events
// An event:
//   0 f64 revision  8 u8 type  9 u24 key bytes  12 u32 previous value bytes  16 u32 checksum of the value written
//  20 key, previous stored value (as storage/stored-value.ts wrote it)
// What an object was before it was marked for deletion, and what it was last, are nearly the same. Where the type has SHARES,
// the previous value ends as that of the event before, which is of the same key: u32 in how many bytes, then what comes before
// those.
import { crc32 } from 'node:zlib';
import { mixedWord } from './mixed-word.ts';
import type { RecordType } from './slab-record.ts';

const RECORD_HEAD_BYTES = 44;
const EVENT_HEAD_BYTES = 20;
const SHARES = 0x80;
const SHARED_LENGTH_BYTES = 4;
/** Fewer are not worth looking for. */
const SHARED_BYTES_MIN = 64;
const NOTHING = Buffer.alloc(0);

export interface LoggedEvent {
  readonly revision: number;
  readonly type: RecordType;
  readonly key: string;
  /** The stored form it replaced; empty for a creation. */
  readonly previous: Uint8Array;
  /** Checksum of the stored form it wrote; 0 for a removal. */
  readonly valueChecksum: number;
}

/** What a record says of its batch. */
export interface EventRecordHead {
  readonly checksum: number;
  readonly previousChecksum: number;
  readonly firstRevision: number;
  readonly lastRevision: number;
  readonly wallMs: number;
  readonly liveObjects: number;
  readonly liveDigest: number;
}

export interface EventRecord extends EventRecordHead {
  readonly events: readonly LoggedEvent[];
}

/** What of a key and its revision goes into the digest of live objects; digests are summed modulo 2^32. */
export function liveDigestOf(keyChecksum: number, revision: number): number {
  const low = revision % 4294967296;
  const high = Math.floor(revision / 4294967296);
  // The key is multiplied before the revision joins it: two objects that exchange revisions must not look the same.
  return mixedWord((Math.imul(keyChecksum, 0x9e3779b1) + low) ^ Math.imul(high, 0x7f4a7c15));
}

/** Gathers the events of one batch into a growing buffer. Reused from batch to batch: the bytes are valid until `begin`. */
export class EventRecordWriter {
  #buffer = Buffer.allocUnsafeSlow(64 * 1024);
  #end = RECORD_HEAD_BYTES;
  #count = 0;
  /** The key of the event added last, where its previous value is there whole; and where that begins. */
  #wholeKey: string | undefined;
  #wholeStart = 0;

  begin(): void {
    this.#end = RECORD_HEAD_BYTES;
    this.#count = 0;
    this.#wholeKey = undefined;
  }

  add(revision: number, type: RecordType, key: string, previous: Uint8Array | undefined, valueChecksum: number): void {
    const given = previous?.byteLength ?? 0;
    this.#reserve(EVENT_HEAD_BYTES + key.length * 3 + given + SHARED_LENGTH_BYTES);
    const buffer = this.#buffer;
    const at = this.#end;
    const keyBytes = buffer.write(key, at + EVENT_HEAD_BYTES, 'utf8');
    const start = at + EVENT_HEAD_BYTES + keyBytes;
    const shared = previous !== undefined && key === this.#wholeKey ? this.#sharedWithLast(previous) : 0;
    buffer.writeDoubleLE(revision, at);
    buffer[at + 8] = shared === 0 ? type : type | SHARES;
    buffer.writeUIntLE(keyBytes, at + 9, 3);
    buffer.writeUInt32LE(valueChecksum, at + 16);
    let end = start;
    if (shared > 0) end = buffer.writeUInt32LE(shared, end);
    if (previous !== undefined) buffer.set(shared === 0 ? previous : previous.subarray(0, given - shared), end);
    this.#end = end + given - shared;
    buffer.writeUInt32LE(this.#end - start, at + 12);
    this.#count++;
    this.#wholeKey = shared === 0 ? key : undefined;
    this.#wholeStart = start;
  }

  /** In how many bytes a value ends as the previous value of the event added last; 0 for few. */
  #sharedWithLast(value: Uint8Array): number {
    const buffer = this.#buffer;
    const { byteLength } = value;
    const lastEnd = this.#end;
    let shared = 0;
    let max = Math.min(byteLength, lastEnd - this.#wholeStart);
    // By halves: a comparison of some kilobytes costs as much as a few steps of a loop.
    while (shared < max) {
      const more = (shared + max + 1) >>> 1;
      const isAlike =
        buffer.compare(value, byteLength - more, byteLength - shared, lastEnd - more, lastEnd - shared) === 0;
      if (isAlike) shared = more;
      else max = more - 1;
    }
    return shared < SHARED_BYTES_MIN ? 0 : shared;
  }

  /** Closes the record and returns its bytes and checksum. */
  finish(head: {
    previousChecksum: number;
    firstRevision: number;
    lastRevision: number;
    wallMs: number;
    liveObjects: number;
    liveDigest: number;
  }): { bytes: Buffer; checksum: number } {
    const buffer = this.#buffer;
    buffer.writeUInt32LE(head.previousChecksum, 4);
    buffer.writeDoubleLE(head.firstRevision, 8);
    buffer.writeDoubleLE(head.lastRevision, 16);
    buffer.writeDoubleLE(head.wallMs, 24);
    buffer.writeUInt32LE(this.#count, 32);
    buffer.writeUInt32LE(head.liveObjects, 36);
    buffer.writeUInt32LE(head.liveDigest, 40);
    const checksum = crc32(buffer.subarray(4, this.#end));
    buffer.writeUInt32LE(checksum, 0);
    return { bytes: buffer.subarray(0, this.#end), checksum };
  }

  #reserve(bytes: number): void {
    if (this.#end + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, this.#end + bytes));
    this.#buffer.copy(larger, 0, 0, this.#end);
    this.#buffer = larger;
  }
}

/** Reads a record back; undefined when its checksum or its lengths do not hold. */
export function readEventRecord(bytes: Uint8Array): EventRecord | undefined {
  const events: LoggedEvent[] = [];
  const head = readEventRecordHead(bytes, (source, at, before) => events.push(loggedEvent(source, at, before)));
  return head && { ...head, events };
}

/**
 * As `readEventRecord`, of events only where in the record they are: `visit` is called for each in order, with where the one before
 * it is (itself for the first).
 */
export function readEventRecordHead(
  bytes: Uint8Array,
  visit: (source: Buffer, at: number, before: number) => void,
): EventRecordHead | undefined {
  if (bytes.byteLength < RECORD_HEAD_BYTES) return undefined;
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const checksum = source.readUInt32LE(0);
  if (checksum !== crc32(source.subarray(4))) return undefined;
  let at = RECORD_HEAD_BYTES;
  let before = at;
  for (let left = source.readUInt32LE(32); left > 0; left--) {
    if (at + EVENT_HEAD_BYTES > source.length) return undefined;
    const end = previousStart(source, at) + source.readUInt32LE(at + 12);
    if (end > source.length || (shares(source, at) && !canShare(source, at, before))) return undefined;
    visit(source, at, before);
    before = at;
    at = end;
  }
  if (at !== source.length) return undefined;
  return {
    checksum,
    previousChecksum: source.readUInt32LE(4),
    firstRevision: source.readDoubleLE(8),
    lastRevision: source.readDoubleLE(16),
    wallMs: source.readDoubleLE(24),
    liveObjects: source.readUInt32LE(36),
    liveDigest: source.readUInt32LE(40),
  };
}

/** The event at a place that `readEventRecordHead` told, after the one at `before`. */
export function loggedEvent(source: Buffer, at: number, before: number): LoggedEvent {
  const start = previousStart(source, at);
  const length = source.readUInt32LE(at + 12);
  const previous = length === 0 ? NOTHING : source.subarray(start, start + length);
  return {
    revision: source.readDoubleLE(at),
    type: (source[at + 8]! & ~SHARES) as RecordType,
    key: source.toString('utf8', at + EVENT_HEAD_BYTES, start),
    previous: shares(source, at) ? joined(source, previous, before) : previous,
    valueChecksum: source.readUInt32LE(at + 16),
  };
}

export function loggedRevision(source: Buffer, at: number): number {
  return source.readDoubleLE(at);
}

function previousStart(source: Buffer, at: number): number {
  return at + EVENT_HEAD_BYTES + source.readUIntLE(at + 9, 3);
}

function shares(source: Buffer, at: number): boolean {
  return (source[at + 8]! & SHARES) !== 0;
}

function canShare(source: Buffer, at: number, before: number): boolean {
  if (before === at || shares(source, before) || source.readUInt32LE(at + 12) < SHARED_LENGTH_BYTES) return false;
  return source.readUInt32LE(previousStart(source, at)) <= source.readUInt32LE(before + 12);
}

/** A value of which `given` is the beginning, behind the length of what it shares with that of the event at `before`. */
function joined(source: Buffer, given: Buffer, before: number): Buffer {
  const whole = previousStart(source, before) + source.readUInt32LE(before + 12);
  return Buffer.concat([given.subarray(SHARED_LENGTH_BYTES), source.subarray(whole - given.readUInt32LE(0), whole)]);
}
