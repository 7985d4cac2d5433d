// Makes a data directory's store out of a snapshot file. Nothing has the store's name before all of it is read, its checksum
// holds, and it is on the disk. What it is filled under is there from the first moment: cut short whenever, every start refuses it.
import { createHash, randomBytes } from 'node:crypto';
import { accessSync, constants, createReadStream, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { OrchError } from '../../runtime/errors.ts';
import { makeFolder } from '../../runtime/files/make-folder.ts';
import { emptyFolder } from '../files/empty-folder.ts';
import { isFileSystems } from '../files/file-system-folder.ts';
import { syncDirectory } from '../files/sync-directory.ts';
import { HeadMarker } from '../level/head-marker.ts';
import { DATABASE_DIRECTORY, HEAD_FILE, TOKEN_KEY_BYTES } from '../level/level-layout.ts';
import { LevelStoreWriter } from '../level/level-store-writer.ts';
import { RESTORED_DIRECTORY } from '../level/unfinished-store.ts';
import { SNAPSHOT_CHECKSUM_BYTES, type SnapshotHeader, SnapshotReader } from './snapshot-file.ts';

/**
 * Revisions skipped after the snapshot's: the store went on after it was taken, and a revision that a client has seen there
 * must not be given again. Three days at four thousand writes a second.
 */
const REVISIONS_SKIPPED = 1_000_000_000;

export interface Restored {
  readonly header: SnapshotHeader;
  /** The revision the store begins at. */
  readonly revision: number;
}

/**
 * Makes the directory where there is none, in which no start makes a store from then on. Throws OrchError BadConfiguration where it
 * cannot be written, StoreUnusable where it is not empty but for what a file system has of its own. `isNobodys`: what else may be in it.
 */
export function openForRestore(directory: string, isNobodys: (name: string) => boolean = () => false): void {
  makeWritable(directory);
  const names = readdirSync(directory).filter((name) => !isNobodys(name) && !isFileSystems(directory, name));
  // What an earlier try left that was cut short is nobody's.
  const left = names.includes(RESTORED_DIRECTORY) ? [RESTORED_DIRECTORY, HEAD_FILE] : [];
  if (names.some((name) => !left.includes(name)))
    throw new OrchError('StoreUnusable', `the directory ${directory} is not empty`);
  makeWritable(join(directory, RESTORED_DIRECTORY));
}

/**
 * No other process restores into the directory. Throws as `openForRestore` does, and OrchError StoreUnusable for a file that is no whole
 * snapshot.
 */
export async function restoreSnapshot(
  file: string,
  directory: string,
  wallMs: number,
  isNobodys?: (name: string) => boolean,
): Promise<Restored> {
  openForRestore(directory, isNobodys);
  const unfinished = join(directory, RESTORED_DIRECTORY);
  emptyUnfinished(directory);
  try {
    const restored = await writeStore(file, unfinished, wallMs);
    const marker = new HeadMarker(join(directory, HEAD_FILE));
    marker.advance(restored.revision);
    marker.close();
    // Last: what has this name is whole, and is not made again.
    renameSync(unfinished, join(directory, DATABASE_DIRECTORY));
    syncDirectory(directory);
    return restored;
  } catch (error) {
    emptyUnfinished(directory);
    rmSync(unfinished, { recursive: true, force: true });
    throw error;
  }
}

/** Takes away what an earlier try has written, and leaves what keeps a start from the directory. */
function emptyUnfinished(directory: string): void {
  rmSync(join(directory, HEAD_FILE), { force: true });
  emptyFolder(join(directory, RESTORED_DIRECTORY));
}

function makeWritable(directory: string): void {
  try {
    makeFolder(directory, 0o700);
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OrchError('BadConfiguration', `the directory ${directory} cannot be written to (${code})`);
  }
}

async function writeStore(file: string, path: string, wallMs: number): Promise<Restored> {
  const reader = new SnapshotReader();
  let writer: LevelStoreWriter | undefined;
  try {
    for await (const piece of checkedPieces(file)) {
      const objects = reader.read(piece);
      const { header } = reader;
      if (header === undefined) continue;
      writer ??= await LevelStoreWriter.create(path, {
        dialect: header.dialect,
        prefix: header.prefix,
        tokenKey: randomBytes(TOKEN_KEY_BYTES),
        compactedRevision: header.revision + REVISIONS_SKIPPED,
        wallMs,
      });
      // Copied: the writer gathers several pieces into a batch.
      for (const [key, value] of objects) await writer.add(key, Buffer.from(value));
    }
    const header = reader.finish();
    return { header, revision: await writer!.finish() };
  } catch (error) {
    await writer?.close();
    throw error;
  }
}

/** The file without its checksum, which is checked at the end. */
async function* checkedPieces(file: string): AsyncGenerator<Buffer> {
  const end = statSync(file).size - SNAPSHOT_CHECKSUM_BYTES;
  if (end <= 0) throw new OrchError('StoreUnusable', `the file ${file} is no snapshot`);
  const hash = createHash('sha256');
  let read = 0;
  let checksum: Buffer = Buffer.alloc(0);
  for await (const piece of createReadStream(file) as AsyncIterable<Buffer>) {
    const content = piece.subarray(0, Math.max(0, end - read));
    read += piece.length;
    checksum = Buffer.concat([checksum, piece.subarray(content.length)]);
    hash.update(content);
    if (content.length > 0) yield content;
  }
  if (!hash.digest().equals(checksum)) {
    throw new OrchError('StoreUnusable', `the file ${file} does not match its checksum`);
  }
}
