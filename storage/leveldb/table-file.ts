// LevelDB's sorted tables: blocks of entries one after the other, an index of them, a footer. Reads every block that
// matches its checksum. Without a sound index the blocks are found by their checksums, since they lie end to end.
//
// A block: contents, u8 compression, u32 masked crc32c of both.
import { crc32c, masked } from './crc32c.ts';
import type { Entry, FileDamage } from './damage.ts';
import { uncompress } from './snappy.ts';
import { readVarint } from './varint.ts';

const FOOTER_BYTES = 48;
const MAGIC = 0xdb4775248b80fb57n;
const FILTER_KEY = 'filter.';
const TRAILER_BYTES = 5;
const RAW = 0;
const SNAPPY = 1;
/** Behind each key: its sequence number and, in the lowest byte, whether it is a value. */
const KEY_TRAILER_BYTES = 8;

const BLOCK_DAMAGE = 'a block does not match its checksum';

export interface TableContents {
  readonly entries: readonly Entry[];
  readonly damages: readonly FileDamage[];
}

interface BlockHandle {
  readonly offset: number;
  readonly bytes: number;
}

/** Reads a table. Values are views of the file or of its uncompressed blocks. */
export function readTableFile(file: Buffer): TableContents {
  const damages: FileDamage[] = [];
  const entries: Entry[] = [];
  const handles = blocksByIndex(file, damages) ?? blocksByChecksum(file);
  for (const handle of handles) {
    const block = readBlock(file, handle);
    const isSound = block !== undefined && addEntries(block, entries);
    if (!isSound) damages.push({ offset: handle.offset, what: BLOCK_DAMAGE });
  }
  return { entries, damages };
}

/** What is wrong with a table, found without looking into its blocks. */
export function verifyTableFile(file: Buffer): readonly FileDamage[] {
  const damages: FileDamage[] = [];
  for (const handle of blocksByIndex(file, damages) ?? []) {
    if (!matchesChecksum(file, handle)) damages.push({ offset: handle.offset, what: BLOCK_DAMAGE });
  }
  return damages;
}

/** The data blocks by the index; undefined, and why, when there is no sound one. */
function blocksByIndex(file: Buffer, damages: FileDamage[]): BlockHandle[] | undefined {
  const footer = file.length - FOOTER_BYTES;
  if (footer < 0 || file.readBigUInt64LE(file.length - 8) !== MAGIC) {
    damages.push({ offset: Math.max(0, footer), what: 'the table has no footer' });
    return undefined;
  }
  const metaIndex = readHandle(file, footer);
  const index = readHandle(file, metaIndex.end);
  const block = readBlock(file, index);
  const handles: BlockHandle[] = [];
  const isSound = block !== undefined && forEachEntryAt(block, (at) => handles.push(readHandle(block, at.value)));
  if (!isSound) {
    damages.push({ offset: footer, what: 'the index does not match its checksum' });
    return undefined;
  }
  checkFilter(file, metaIndex, damages);
  return handles;
}

/** The filter holds no data, but a damaged one hides keys from LevelDB. */
function checkFilter(file: Buffer, metaIndex: BlockHandle, damages: FileDamage[]): void {
  const block = readBlock(file, metaIndex);
  let isSound = block !== undefined;
  if (block !== undefined) {
    forEachEntryAt(block, (at) => {
      isSound &&= matchesChecksum(file, readHandle(block, at.value));
    });
  }
  if (!isSound) damages.push({ offset: metaIndex.offset, what: 'the filter does not match its checksum' });
}

/** Blocks from the beginning, as long as each is followed by its checksum. */
function blocksByChecksum(file: Buffer): BlockHandle[] {
  const handles: BlockHandle[] = [];
  let start = 0;
  let crc = 0;
  for (let at = 0; at + TRAILER_BYTES <= file.length; at++) {
    crc = crc32c(file, at, at + 1, crc);
    if (at === start || file.readUInt32LE(at + 1) !== masked(crc)) continue;
    handles.push({ offset: start, bytes: at - start });
    start = at + TRAILER_BYTES;
    at = start - 1;
    crc = 0;
  }
  // After the data come the filter, what names the filter, and the index, whose keys look like entries and are none.
  const naming = handles.findIndex((handle) => namesFilter(readBlock(file, handle)));
  return (naming < 0 ? handles : handles.slice(0, naming - 1)).filter((handle) => {
    const block = readBlock(file, handle);
    return block !== undefined && addEntries(block, []);
  });
}

function namesFilter(block: Buffer | undefined): boolean {
  let isNaming = false;
  if (block !== undefined) {
    forEachEntry(block, (key) => {
      isNaming = key.toString('latin1').startsWith(FILTER_KEY);
      return false;
    });
  }
  return isNaming;
}

function readHandle(source: Buffer, at: number): BlockHandle & { readonly end: number } {
  const [offset, middle] = readVarint(source, at);
  const [bytes, end] = readVarint(source, middle);
  return { offset, bytes, end };
}

/** A block's contents, uncompressed; undefined when they do not match their checksum. */
function readBlock(file: Buffer, handle: BlockHandle): Buffer | undefined {
  if (!matchesChecksum(file, handle)) return undefined;
  const { offset, bytes } = handle;
  const end = offset + bytes;
  const contents = file.subarray(offset, end);
  const compression = file[end];
  if (compression === RAW) return contents;
  return compression === SNAPPY ? uncompress(contents) : undefined;
}

function matchesChecksum(file: Buffer, { offset, bytes }: BlockHandle): boolean {
  const end = offset + bytes;
  return end + TRAILER_BYTES <= file.length && file.readUInt32LE(end + 1) === masked(crc32c(file, offset, end + 1));
}

/** Adds a data block's entries; false when they are none. */
function addEntries(block: Buffer, entries: Entry[]): boolean {
  const found: Entry[] = [];
  const isSound = forEachEntry(block, (key, value) => {
    const end = key.length - KEY_TRAILER_BYTES;
    const tag = end < 0 ? -1n : key.readBigUInt64LE(end);
    if (tag < 0n || (tag & 0xffn) > 1n) return false;
    const isValue = (tag & 0xffn) === 1n;
    found.push({
      key: key.toString('utf8', 0, end),
      sequence: Number(tag >> 8n),
      value: isValue ? value : undefined,
    });
    return true;
  });
  if (isSound) entries.push(...found);
  return isSound;
}

/** Where an entry of a block lies: so many bytes of the key before, and behind them its own from `key` to `value`. */
interface EntryAt {
  readonly shared: number;
  readonly key: number;
  readonly value: number;
  readonly end: number;
}

/** Visits the entries of a block, until one is refused; false when the block is not well formed or one was. */
function forEachEntryAt(block: Buffer, visit: (at: EntryAt) => unknown): boolean {
  if (block.length < 4) return false;
  // The restarts are behind the entries.
  const blockEnd = block.length - 4 - block.readUInt32LE(block.length - 4) * 4;
  let keyBytes = 0;
  let at = 0;
  while (at < blockEnd) {
    const [shared, afterShared] = readVarint(block, at);
    const [own, afterOwn] = readVarint(block, afterShared);
    const [valueBytes, key] = readVarint(block, afterOwn);
    const value = key + own;
    const end = value + valueBytes;
    if (!(shared <= keyBytes && end <= blockEnd)) return false;
    keyBytes = shared + own;
    if (visit({ shared, key, value, end }) === false) return false;
    at = end;
  }
  return at === blockEnd;
}

/** The same with the keys and values themselves. */
function forEachEntry(block: Buffer, visit: (key: Buffer, value: Buffer) => unknown): boolean {
  let key = Buffer.alloc(0);
  return forEachEntryAt(block, (at) => {
    key = Buffer.concat([key.subarray(0, at.shared), block.subarray(at.key, at.value)]);
    return visit(key, block.subarray(at.value, at.end));
  });
}
