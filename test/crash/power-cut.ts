// What a disk holds after the power went, worked out from what it held before and the journal of what was done since.
//
// Modelled: what was written to a file and not synced is lost, kept, kept up to some byte (a write within one sector whole or
// not at all), or kept in some 512-byte sectors and zero in others, each file for itself. Names (creations, renames, removals,
// directories) change in the order in which they were asked for, as on a file system with a metadata journal: a sync of a
// directory makes all name changes so far durable, a sync of a file those up to the file's own last change of name or length;
// of the others the first few are kept.
// Not modelled: file systems that reorder name changes, disks that lie about a sync, damage to what was synced.
import type { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import type { Operation } from './journal.ts';

/** Contents by path; a directory is null. */
export type Tree = ReadonlyMap<string, Buffer | null>;

/** How much of what was not synced is there: `all`: as after the process alone died; `none`: as little as can be. */
export type Fate = 'all' | 'none' | SeededRandom;

const SECTOR_BYTES = 512;

type Change = Extract<Operation, { kind: 'write' | 'truncate' }>;
type Naming = Extract<
  Operation,
  { kind: 'create' | 'rename' | 'link' | 'unlink' | 'makeDirectory' | 'removeDirectory' }
>;

interface File {
  readonly base: Buffer;
  readonly changes: Change[];
  /** Changes before this record are durable. */
  syncedBefore: number;
  /** The last record that changed its name or its length. */
  shaped: number;
  size: number;
}

/** The tree after the operations and a power cut. */
export function afterPowerCut(before: Tree, operations: readonly Operation[], fate: Fate): Map<string, Buffer | null> {
  return new Disk(before, operations).after(fate);
}

class Disk {
  readonly #before: Tree;
  /** The names as the process saw them at the end. */
  readonly #names = new Map<string, File | null>();
  readonly #files = new Map<number, File>();
  readonly #namings: Naming[] = [];
  /** The file that each creation made. */
  readonly #created = new Map<Naming, File>();
  readonly #baseFiles = new Map<string, File>();
  /** Name changes before this record are durable. */
  #namesBefore = 0;

  constructor(before: Tree, operations: readonly Operation[]) {
    this.#before = before;
    for (const [path, bytes] of before) {
      const file = bytes === null ? null : newFile(bytes);
      if (file !== null) this.#baseFiles.set(path, file);
      this.#names.set(path, file);
    }
    for (const operation of operations) this.#do(operation);
  }

  after(fate: Fate): Map<string, Buffer | null> {
    const names = new Map<string, File | null>();
    for (const [path, bytes] of this.#before) names.set(path, bytes === null ? null : this.#baseFiles.get(path)!);
    for (const naming of this.#keptNamings(fate)) doNaming(names, naming, this.#created.get(naming));
    return new Map([...names].map(([path, file]) => [path, file === null ? null : contentOf(file, fate)]));
  }

  #do(operation: Operation): void {
    switch (operation.kind) {
      case 'bind':
        this.#files.set(operation.file, this.#named(operation.path));
        return;
      case 'write':
      case 'truncate':
        this.#change(this.#file(operation.file), operation);
        return;
      case 'sync': {
        const file = this.#file(operation.file);
        file.syncedBefore = Math.max(file.syncedBefore, operation.before);
        if (file.shaped < operation.before) this.#namesBefore = Math.max(this.#namesBefore, file.shaped + 1);
        return;
      }
      case 'syncDirectory':
        this.#namesBefore = Math.max(this.#namesBefore, operation.before);
        return;
      default:
        this.#name(operation);
    }
  }

  #name(naming: Naming): void {
    this.#namings.push(naming);
    const file = naming.kind === 'create' ? newFile(Buffer.alloc(0)) : undefined;
    if (naming.kind === 'create' && file !== undefined) {
      this.#created.set(naming, file);
      this.#files.set(naming.file, file);
    }
    const named = file ?? ('to' in naming ? this.#names.get(naming.path) : undefined);
    if (named) named.shaped = naming.number;
    doNaming(this.#names, naming, file);
  }

  #change(file: File, change: Change): void {
    file.changes.push(change);
    const size = change.kind === 'truncate' ? change.size : Math.max(file.size, change.offset + change.bytes.length);
    if (size !== file.size) file.shaped = change.number;
    file.size = size;
  }

  #keptNamings(fate: Fate): Naming[] {
    const durable = this.#namings.filter(({ number }) => number < this.#namesBefore).length;
    const others = this.#namings.length - durable;
    const kept = fate === 'all' ? others : fate === 'none' ? 0 : fate.below(others + 1);
    return this.#namings.slice(0, durable + kept);
  }

  #file(number: number): File {
    const file = this.#files.get(number);
    if (file === undefined) throw new Error(`the journal names file ${number} before it was opened`);
    return file;
  }

  #named(path: string): File {
    const file = this.#names.get(path);
    if (file === undefined || file === null) throw new Error(`the journal names ${path}, which was not there`);
    return file;
  }
}

function newFile(base: Buffer): File {
  return { base, changes: [], syncedBefore: 0, shaped: -1, size: base.length };
}

function doNaming(names: Map<string, File | null>, naming: Naming, created: File | undefined): void {
  const { kind, path } = naming;
  if (kind === 'create') names.set(path, created!);
  else if (kind === 'makeDirectory') names.set(path, null);
  else if (kind === 'link') names.set(naming.to, names.get(path)!);
  else if (kind === 'rename') move(names, path, naming.to);
  else names.delete(path);
}

/** A folder moves with what is in it. */
function move(names: Map<string, File | null>, from: string, to: string): void {
  for (const [path, file] of [...names]) {
    if (path !== from && !path.startsWith(`${from}/`)) continue;
    names.delete(path);
    names.set(to + path.slice(from.length), file);
  }
}

function contentOf(file: File, fate: Fate): Buffer {
  const durable = file.changes.filter(({ number }) => number < file.syncedBefore);
  const others = file.changes.slice(durable.length);
  const content = new Content(file.base);
  for (const change of durable) content.apply(change);
  if (fate === 'all') for (const change of others) content.apply(change);
  else if (fate !== 'none' && others.length > 0) keepSome(content, others, fate);
  return content.bytes;
}

/** What may have reached the disk without a sync, one of four ways. */
function keepSome(content: Content, changes: readonly Change[], random: SeededRandom): void {
  const way = random.next();
  if (way < 0.4) return;
  if (way < 0.55) {
    for (const change of changes) content.apply(change);
  } else if (way < 0.8) {
    const whole = random.below(changes.length);
    for (const change of changes.slice(0, whole)) content.apply(change);
    const torn = changes[whole]!;
    if (torn.kind === 'write' && !isWithinOneSector(torn.offset, torn.bytes.length)) {
      content.write(torn.offset, torn.bytes.subarray(0, random.below(torn.bytes.length + 1)));
    }
  } else {
    for (const change of changes) {
      if (change.kind === 'write') keepSectors(content, change.offset, change.bytes, random);
      else if (random.next() < 0.5) content.apply(change);
    }
  }
}

/** Such a write is never torn: a disk writes a sector, and a file system tells a new length, whole or not at all. */
function isWithinOneSector(offset: number, length: number): boolean {
  return Math.floor(offset / SECTOR_BYTES) === Math.floor((offset + length - 1) / SECTOR_BYTES);
}

/** Sectors of a write, in no order: the file may be as long as if all were there, with zeros in between. */
function keepSectors(content: Content, offset: number, bytes: Buffer, random: SeededRandom): void {
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, (Math.floor((offset + at) / SECTOR_BYTES) + 1) * SECTOR_BYTES - offset);
    if (random.next() < 0.5) content.write(offset + at, bytes.subarray(at, end));
    at = end;
  }
}

/** A file's bytes while changes are made to them; grows as needed. */
class Content {
  #buffer: Buffer;
  #size: number;

  constructor(base: Buffer) {
    this.#buffer = Buffer.from(base);
    this.#size = base.length;
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#size);
  }

  apply(change: Change): void {
    if (change.kind === 'truncate') this.#resize(change.size);
    else this.write(change.offset, change.bytes);
  }

  write(offset: number, bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (offset + bytes.length > this.#size) this.#resize(offset + bytes.length);
    bytes.copy(this.#buffer, offset);
  }

  #resize(size: number): void {
    if (size > this.#buffer.length) {
      const larger = Buffer.alloc(Math.max(size, 2 * this.#buffer.length));
      this.#buffer.copy(larger, 0, 0, this.#size);
      this.#buffer = larger;
    }
    // What lies behind the end is zero, so that a file which grows again shows nothing of what it was.
    if (size < this.#size) this.#buffer.fill(0, size, this.#size);
    this.#size = size;
  }
}
