// The event log's records: one per committed batch, dense in revisions, each carrying the checksum of the one before. An
// event holds what it replaced, not what it wrote: the latest values lie in the engine, and the way back from them gives
// every state of the window, at half the bytes written. What an update replaced is told by what it wrote. The log also says how many objects there must be and a digest of
// their keys and revisions, so that a value an engine lost without a word is noticed.
//
//   0 u32 crc32 of bytes 4…   4 u32 crc32 of the previous record (its bytes 0-3)   8 f64 first revision  16 f64 last revision
//  24 f64 wall time ms  32 u32 event count  36 u32 live objects  40 u32 digest of live objects  44 events
// An event:
//   0 f64 revision  8 u8 type  9 u24 key bytes  12 u32 previous value bytes  16 u32 checksum of the value written
//  20 key, previous stored value (as storage/forms/stored-value.ts wrote it)
// Where the type has DELTA, the previous value is told by the one that the event wrote (storage/forms/value-delta.ts). That is the
// previous value of the key's next event, decrypted if need be, or lies in the engine. Before format 3 there was SHARES instead:
// the previous value ends as that of the event before, which is of the same key: u32 in how many bytes, then what comes before.
import { crc32 } from 'node:zlib';
import { storedValueChecksum } from '../forms/stored-value.ts';
import { deltaBytesMax, readDelta, writeDelta } from '../forms/value-delta.ts';
import { mixedWord } from '../mixed-word.ts';
import { CREATED, type RecordType } from './slab-record.ts';

const RECORD_HEAD_BYTES = 44;
const EVENT_HEAD_BYTES = 20;
const SHARES = 0x80;
const DELTA = 0x40;
const TYPE_MASK = 0x3f;
const SHARED_LENGTH_BYTES = 4;
const NOTHING = Buffer.alloc(0);

export interface LoggedEvent {
  readonly revision: number;
  readonly type: RecordType;
  readonly key: string;
  /** The stored form it replaced, or what tells it by the one it wrote (`EarlierForms`); empty for a creation. */
  readonly previous: Buffer;
  readonly isDelta: boolean;
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

  begin(): void {
    this.#end = RECORD_HEAD_BYTES;
    this.#count = 0;
  }

  /**
   * Adds an event. `previous`: the stored form it replaced. `written`: the one it wrote, where the other may be told by it: both
   * unencrypted, and in the next event of the key it will be, to the byte, what that one replaced.
   */
  add(
    revision: number,
    type: RecordType,
    key: string,
    previous: Buffer | undefined,
    valueChecksum: number,
    written?: Buffer,
  ): void {
    this.#reserve(EVENT_HEAD_BYTES + key.length * 3 + deltaBytesMax(previous?.length ?? 0));
    const buffer = this.#buffer;
    const at = this.#end;
    const keyBytes = buffer.write(key, at + EVENT_HEAD_BYTES, 'utf8');
    const start = at + EVENT_HEAD_BYTES + keyBytes;
    let end = start;
    let isDelta = false;
    if (previous !== undefined) {
      const deltaEnd = written === undefined ? -1 : writeDelta(buffer, start, previous, written);
      isDelta = deltaEnd >= 0;
      end = isDelta ? deltaEnd : start + previous.copy(buffer, start);
    }
    buffer.writeDoubleLE(revision, at);
    buffer[at + 8] = isDelta ? type | DELTA : type;
    buffer.writeUIntLE(keyBytes, at + 9, 3);
    buffer.writeUInt32LE(end - start, at + 12);
    buffer.writeUInt32LE(valueChecksum, at + 16);
    this.#end = end;
    this.#count++;
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
  const type = source[at + 8]!;
  return {
    revision: source.readDoubleLE(at),
    type: (type & TYPE_MASK) as RecordType,
    key: source.toString('utf8', at + EVENT_HEAD_BYTES, start),
    previous: shares(source, at) ? joined(source, previous, before) : previous,
    isDelta: (type & DELTA) !== 0,
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

/** What a delta tells by the form that an event wrote; undefined where that is not at hand. */
function told(delta: Buffer, written: Buffer | undefined, valueChecksum: number): Buffer | undefined {
  return written !== undefined && storedValueChecksum(written) === valueChecksum
    ? readDelta(delta, written)
    : undefined;
}

/** The stored forms of objects while events are walked through from the newest to the oldest. */
export class EarlierForms {
  readonly #forms: Map<string, Buffer>;

  /** `forms`: by key, decrypted, what the newest events wrote; changed by what is asked. */
  constructor(forms: Map<string, Buffer>) {
    this.#forms = forms;
  }

  /**
   * The stored form that an event replaced, empty for a creation; undefined where what the event wrote is not at hand. To be asked
   * about every event of a key, from the newest on, and to be told (`opened`) what an encrypted one is decrypted.
   */
  replacedBy({ key, type, previous, isDelta, valueChecksum }: LoggedEvent): Buffer | undefined {
    const replaced = isDelta ? told(previous, this.#forms.get(key), valueChecksum) : previous;
    if (replaced === undefined || type === CREATED) this.#forms.delete(key);
    else this.#forms.set(key, replaced);
    return replaced;
  }

  opened(key: string, form: Buffer): void {
    this.#forms.set(key, form);
  }
}
