// A LevelDB directory read file by file, without LevelDB and without changing anything: opening one writes to it, gives up
// what stands behind a damaged record without a word, and deletes the files it came from.
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry, FileDamage } from './damage.ts';
import { readLogFile } from './log-file.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { readTableFile, verifyTableFile } from './table-file.ts';
import { readWriteBatch } from './write-batch.ts';

/** Which files count: those the manifest names, as LevelDB sees it, or every one that lies there. */
export type FileChoice = 'manifest' | 'all';

export interface DatabaseFiles {
  /** The latest sound version of every key; removed keys are absent. */
  readonly values: ReadonlyMap<string, Buffer>;
  /** One line each, beginning with the file's name. */
  readonly damages: readonly string[];
  readonly bytes: number;
}

const TABLE_NAME = /^(\d+)\.(?:ldb|sst)$/;
const LOG_NAME = /^(\d+)\.log$/;
const MANIFEST_NAME = /^MANIFEST-\d+$/;

/** Reads a database. One that is not there has no values, and is damaged. */
export function readDatabaseFiles(path: string, choice: FileChoice): DatabaseFiles {
  return new DatabaseReader(path).read(choice);
}

/**
 * What is wrong with the manifest and the tables it names, empty when LevelDB can be trusted with them: it believes a
 * table's blocks without looking at their checksums, and ends the process over one that is not well formed. A log is
 * LevelDB's own to check. A directory that no database was ever made in is sound.
 */
export function tableDamages(path: string): readonly string[] {
  return new DatabaseReader(path).verify();
}

/**
 * The tables and manifests that lie beside those in use. LevelDB removes them when it opens the database, and may first write another
 * table or manifest under such a name, into the very file. Where a process has the database open, it may be making them.
 */
export function unusedFiles(path: string): readonly string[] {
  return new DatabaseReader(path).unused();
}

class DatabaseReader {
  readonly #path: string;
  readonly #names: readonly string[];
  /** Names of the tables that are there, by their number. */
  readonly #tables = new Map<number, string>();
  readonly #newest = new Map<string, Entry>();
  readonly #damages: string[] = [];
  #bytes = 0;
  #lastRoom = Buffer.alloc(0);

  constructor(path: string) {
    this.#path = path;
    this.#names = namesIn(path);
    for (const name of this.#names) {
      const number = TABLE_NAME.exec(name)?.[1];
      if (number !== undefined) this.#tables.set(Number(number), name);
    }
  }

  read(choice: FileChoice): DatabaseFiles {
    const manifest = this.#manifest();
    const named = choice === 'manifest' ? manifest : undefined;
    for (const [number, bytes] of named?.tables ?? []) {
      const name = this.#tableName(number);
      if (name !== undefined) this.#table(this.#tableFile(name, bytes), name);
    }
    for (const name of this.#names) {
      if (TABLE_NAME.test(name) && named === undefined) this.#table(this.#file(name), name);
      const log = Number(LOG_NAME.exec(name)?.[1] ?? Number.NaN);
      if (log >= (named?.logNumber ?? 0)) this.#log(name);
    }
    const values = new Map<string, Buffer>();
    for (const { key, value } of this.#newest.values()) if (value !== undefined) values.set(key, value);
    return { values, damages: this.#damages, bytes: this.#bytes };
  }

  verify(): readonly string[] {
    // The files of a database whose making was cut short: it never held anything.
    const isUnmade = !this.#names.some((name) => name === 'CURRENT' || TABLE_NAME.test(name) || LOG_NAME.test(name));
    if (isUnmade) return [];
    for (const [number, bytes] of this.#manifest()?.tables ?? []) {
      const name = this.#tableName(number);
      if (name !== undefined) this.#report(name, verifyTableFile(this.#tableFile(name, bytes, true)));
    }
    return this.#damages;
  }

  unused(): readonly string[] {
    const manifest = this.#manifest();
    if (manifest === undefined) return [];
    const current = this.#file('CURRENT').toString('latin1').slice(0, -1);
    return this.#names.filter((name) => {
      const table = TABLE_NAME.exec(name)?.[1];
      return table === undefined ? MANIFEST_NAME.test(name) && name !== current : !manifest.tables.has(Number(table));
    });
  }

  #manifest(): Manifest | undefined {
    if (!this.#names.includes('CURRENT')) {
      this.#damages.push('CURRENT: the file is missing');
      return undefined;
    }
    const current = this.#file('CURRENT').toString('latin1');
    const name = current.slice(0, -1);
    if (!current.endsWith('\n') || !MANIFEST_NAME.test(name) || !this.#names.includes(name)) {
      this.#damages.push('CURRENT: names no manifest that is there');
      return undefined;
    }
    const manifest = readManifest(this.#file(name));
    if (manifest === undefined) {
      this.#damages.push(`${name}: holds nothing that is sound`);
      return undefined;
    }
    this.#report(name, manifest.damages);
    return manifest;
  }

  #tableName(number: number): string | undefined {
    const name = this.#tables.get(number);
    if (name === undefined) this.#damages.push(`table ${number}: the file is missing`);
    return name;
  }

  /** Room for one table after another: of a buffer each, all would lie about until they are collected. */
  #room(bytes: number): Buffer {
    if (this.#lastRoom.length < bytes) this.#lastRoom = Buffer.allocUnsafeSlow(bytes);
    return this.#lastRoom;
  }

  /** `isPassing`: good until the next one is read. */
  #tableFile(name: string, bytesExpected: number, isPassing = false): Buffer {
    const file = this.#file(name, isPassing ? bytesExpected : undefined);
    if (file.length !== bytesExpected) this.#damages.push(`${name}: has ${file.length} bytes and not ${bytesExpected}`);
    return file;
  }

  #table(file: Buffer, name: string): void {
    const { entries, damages } = readTableFile(file);
    this.#report(name, damages);
    for (const entry of entries) this.#add(entry);
  }

  /** A log that ends within a record is no damage: LevelDB was writing it when the process ended. */
  #log(name: string): void {
    const { records, damages } = readLogFile(this.#file(name));
    this.#report(name, damages);
    for (const record of records) {
      const entries = readWriteBatch(record);
      if (entries === undefined) this.#damages.push(`${name}: a batch is not well formed`);
      else for (const entry of entries) this.#add(entry);
    }
  }

  #add(entry: Entry): void {
    const known = this.#newest.get(entry.key);
    if (known === undefined || known.sequence < entry.sequence) this.#newest.set(entry.key, entry);
  }

  #report(name: string, damages: readonly FileDamage[]): void {
    for (const { offset, what } of damages) this.#damages.push(`${name}: at byte ${offset}, ${what}`);
  }

  /** Into the room that there is, where the file has so many bytes. */
  #file(name: string, bytesExpected?: number): Buffer {
    const path = join(this.#path, name);
    const isSized = bytesExpected !== undefined && statSync(path).size === bytesExpected;
    const file = isSized ? readInto(this.#room(bytesExpected).subarray(0, bytesExpected), path) : readFileSync(path);
    this.#bytes += file.length;
    return file;
  }
}

/** A file of just so many bytes. */
function readInto(target: Buffer, path: string): Buffer {
  const descriptor = openSync(path, 'r');
  try {
    let end = 0;
    for (let read = 1; read > 0 && end < target.length; end += read)
      read = readSync(descriptor, target, end, target.length - end, null);
    return target.subarray(0, end);
  } finally {
    closeSync(descriptor);
  }
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
