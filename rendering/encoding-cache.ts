// Encodings of records that were made once and may be asked for again, on one thread, within a bound of bytes. Bytes lie
// in pages; when the bound is reached the oldest page goes, and what was asked for since it was written moves to the
// newest. Knows neither what the encodings are nor how they are made.
//
// A slab is used again for other records: an encoding holds for the revision it was made at, and whoever learns that a
// record was moved to a place says so (`forget`), because a moved record keeps its revision.
import { recordRevision, type Slab } from '../storage/records/slab-record.ts';

/** Bytes of one page: what is dropped at once. */
const PAGE_BYTES = 256 * 1024;
/** What an encoding costs besides its bytes, about: the object that names it and its place in a map. */
const ENTRY_BYTES = 128;

const NOTHING = Buffer.alloc(0);

/** One kept encoding. Its bytes go away when its page does. */
export class KeptEncoding {
  readonly length: number;
  readonly revision: number;
  #page: Buffer | undefined;
  #at: number;
  /** Asked for since it was written. */
  used = false;

  constructor(page: Buffer, at: number, length: number, revision: number) {
    this.#page = page;
    this.#at = at;
    this.length = length;
    this.revision = revision;
  }

  get isKept(): boolean {
    return this.#page !== undefined;
  }

  /** Copies the encoding's first `length` bytes; returns where they end, or -1 when they are gone. */
  copy(target: Buffer, at: number, length: number): number {
    if (this.#page === undefined) return -1;
    return at + this.#page.copy(target, at, this.#at, this.#at + length);
  }

  /** The first `length` bytes as a view, which holds whatever becomes of the page; empty when they are gone. */
  view(length: number): Buffer {
    return this.#page === undefined ? NOTHING : this.#page.subarray(this.#at, this.#at + length);
  }

  /** Bytes of the message's first field, which is a message itself. */
  get firstFieldBytes(): number {
    const page = this.#page;
    if (page === undefined) return 0;
    let length = 0;
    let at = this.#at + 1;
    for (let shift = 0; ; shift += 7) {
      const byte = page[at++]!;
      length += (byte & 0x7f) << shift;
      if (byte < 0x80) return at - this.#at + length;
    }
  }

  move(page: Buffer, at: number): void {
    this.#page = page;
    this.#at = at;
    this.used = false;
  }

  drop(): void {
    this.#page = undefined;
  }
}

interface Page {
  readonly bytes: Buffer;
  end: number;
  readonly entries: {
    readonly kept: KeptEncoding;
    readonly offset: number;
    readonly home: Map<number, KeptEncoding>;
  }[];
}

/** The encodings of one kind that records have: one version in one encoding. */
export class EncodingSet {
  #bySlab = new WeakMap<Slab, Map<number, KeptEncoding>>();
  #lastSlab: Slab | undefined;
  #lastHome: Map<number, KeptEncoding> | undefined;

  /** What is kept of the record at a place. */
  find(slab: Slab, offset: number): KeptEncoding | undefined {
    const kept = this.#homeOf(slab)?.get(offset);
    if (kept === undefined || kept.revision !== recordRevision(slab, offset) || !kept.isKept) return undefined;
    kept.used = true;
    return kept;
  }

  forget(slab: Slab, offset: number): void {
    const home = this.#homeOf(slab);
    home?.get(offset)?.drop();
    home?.delete(offset);
  }

  clear(): void {
    this.#bySlab = new WeakMap();
    this.#lastSlab = undefined;
    this.#lastHome = undefined;
  }

  /** Where the encodings of a slab's records are found by offset. */
  home(slab: Slab): Map<number, KeptEncoding> {
    let home = this.#homeOf(slab);
    if (home === undefined) {
      home = new Map();
      this.#bySlab.set(slab, home);
      this.#lastHome = home;
    }
    return home;
  }

  #homeOf(slab: Slab): Map<number, KeptEncoding> | undefined {
    if (slab !== this.#lastSlab) {
      this.#lastSlab = slab;
      this.#lastHome = this.#bySlab.get(slab);
    }
    return this.#lastHome;
  }
}

export class EncodingCache {
  readonly #bytesMax: number;
  /** Oldest first; the last one is being filled. */
  #pages: Page[] = [];
  #bytes = 0;
  readonly #sets: EncodingSet[] = [];

  /** `bytesMax`: of pages and what names their contents; 0 keeps nothing. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A set of encodings that shares this cache's bound. */
  set(): EncodingSet {
    const set = new EncodingSet();
    this.#sets.push(set);
    return set;
  }

  /** Keeps a copy of a record's encoding; undefined when it is larger than what may be kept. */
  keep(set: EncodingSet, slab: Slab, offset: number, encoding: Uint8Array): KeptEncoding | undefined {
    if (encoding.length + ENTRY_BYTES > this.#bytesMax) return undefined;
    const page = this.#roomFor(encoding.length);
    page.bytes.set(encoding, page.end);
    const kept = new KeptEncoding(page.bytes, page.end, encoding.length, recordRevision(slab, offset));
    page.end += encoding.length;
    const home = set.home(slab);
    home.get(offset)?.drop();
    home.set(offset, kept);
    page.entries.push({ kept, offset, home });
    this.#bytes += ENTRY_BYTES;
    return kept;
  }

  /** A record was moved to this place: what was kept of the one before is void. */
  forget(slab: Slab, offset: number): void {
    for (const set of this.#sets) set.forget(slab, offset);
  }

  /** The store was read anew: nothing is known of where records lie. */
  clear(): void {
    for (const set of this.#sets) set.clear();
    for (const page of this.#pages) for (const { kept } of page.entries) kept.drop();
    this.#pages = [];
    this.#bytes = 0;
  }

  /** The page to write `length` bytes to. */
  #roomFor(length: number): Page {
    const open = this.#pages.at(-1);
    if (open !== undefined && open.end + length <= open.bytes.length && this.#bytes < this.#bytesMax) return open;
    const bytes = Math.max(length, Math.min(PAGE_BYTES, this.#bytesMax >>> 2));
    const survivors: Page['entries'] = [];
    while (this.#pages.length > 0 && this.#bytes + bytes > this.#bytesMax) this.#dropOldest(survivors);
    const page: Page = { bytes: Buffer.allocUnsafeSlow(bytes), end: 0, entries: [] };
    this.#pages.push(page);
    this.#bytes += bytes;
    // At most half of the new page: it is there for what is new.
    for (const { kept, offset, home } of survivors) {
      if (page.end + kept.length > bytes >>> 1 || page.end + kept.length + length > bytes) kept.drop();
      if (!kept.isKept) {
        if (home.get(offset) === kept) home.delete(offset);
        continue;
      }
      const at = page.end;
      page.end = kept.copy(page.bytes, at, kept.length);
      kept.move(page.bytes, at);
      page.entries.push({ kept, offset, home });
      this.#bytes += ENTRY_BYTES;
    }
    return page;
  }

  /** Takes the oldest page out; what is worth keeping is left to whoever makes the next one. */
  #dropOldest(survivors: Page['entries']): void {
    const page = this.#pages.shift()!;
    this.#bytes -= page.bytes.length + page.entries.length * ENTRY_BYTES;
    for (const entry of page.entries) {
      const { kept, offset, home } = entry;
      if (home.get(offset) !== kept) continue;
      if (kept.used && kept.isKept) survivors.push(entry);
      else {
        kept.drop();
        home.delete(offset);
      }
    }
  }
}
