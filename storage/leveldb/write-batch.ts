// What one record of a write-ahead log holds: a batch of writes under consecutive sequence numbers.
//
//   0 u64 sequence  8 u32 count  12 writes: u8 type, key, and for a value its bytes, each after its length
import type { Entry } from './damage.ts';
import { readBytes } from './varint.ts';

const HEADER_BYTES = 12;
const REMOVAL = 0;
const VALUE = 1;

/** The writes of a batch; undefined when it is none. */
export function readWriteBatch(record: Buffer): Entry[] | undefined {
  if (record.length < HEADER_BYTES) return undefined;
  const first = Number(record.readBigUInt64LE(0));
  const entries: Entry[] = [];
  let at = HEADER_BYTES;
  for (let left = record.readUInt32LE(8); left > 0; left--) {
    const type = record[at];
    const key = readBytes(record, at + 1);
    if (key === undefined || (type !== REMOVAL && type !== VALUE)) return undefined;
    const value = type === VALUE ? readBytes(record, key[1]) : undefined;
    if (type === VALUE && value === undefined) return undefined;
    entries.push({ key: key[0].toString('utf8'), sequence: first + entries.length, value: value?.[0] });
    at = value?.[1] ?? key[1];
  }
  return at === record.length ? entries : undefined;
}

/** The key of a batch's first write, which is all that is read of it; undefined where that is no value. */
export function firstPut(record: Buffer): string | undefined {
  if (record[HEADER_BYTES] !== VALUE) return undefined;
  return readBytes(record, HEADER_BYTES + 1)?.[0].toString('utf8');
}
