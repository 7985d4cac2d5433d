// Makes a sound store of what is whole in a damaged one. The damaged files are kept beside it, and nothing is taken away
// before the new store is complete on the disk.
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { syncDirectory } from '../files/sync-directory.ts';
import { finishPuttingBack } from '../level/found-files.ts';
import { HeadMarker } from '../level/head-marker.ts';
import { DATABASE_DIRECTORY, HEAD_FILE, TOKEN_KEY_BYTES } from '../level/level-layout.ts';
import { LevelStoreWriter, type NewStore } from '../level/level-store-writer.ts';
import { REPAIRED_DIRECTORY } from '../level/unfinished-store.ts';
import { agreedAddresses } from './agreed-addresses.ts';
import { type Inspection, inspectStore } from './inspection.ts';

/**
 * Revisions skipped after the last one that can be told: the head marker may lag behind what was acknowledged by what the
 * system had not written when the machine lost power, at most half a minute of commits.
 */
const REVISIONS_SKIPPED = 1_000_000;

export interface Repair {
  /** Where the damaged files are kept. */
  readonly keptIn: string;
  /** The revision the repaired store begins at. */
  readonly revision: number;
  readonly objects: number;
  /** What was changed so that services and the records of their addresses agree, one line each. */
  readonly changes: readonly string[];
}

/**
 * What the files of a data directory are the best evidence of: as LevelDB sees them, or all that lie there. No process uses it: where
 * an earlier one ended with the database under another name, it has its own again. It has no problems where a start finds none.
 */
export function inspectForRepair(directory: string): Inspection {
  finishPuttingBack(join(directory, DATABASE_DIRECTORY));
  finishRepair(directory);
  const named = inspectStore(directory, 'manifest');
  if (named.problems.length === 0) return named;
  const all = inspectStore(directory, 'all');
  if (completeness(all) <= completeness(named)) return named;
  // Nothing may be wrong with what lies there; LevelDB goes by the manifest all the same.
  return all.problems.length > 0 ? all : { ...all, problems: named.problems };
}

/**
 * Repairs the store in a data directory that no process uses. `dialect` and `prefix`: what is not told by the store itself.
 * Throws OrchError StorageFull or StorageFailed, and the file system's errors; the store is then as it was.
 */
export async function repairStore(
  directory: string,
  found: Inspection,
  identity: { readonly dialect: string; readonly prefix: string },
  wallMs: number,
): Promise<Repair> {
  const database = join(directory, DATABASE_DIRECTORY);
  const head = join(directory, HEAD_FILE);
  const unfinished = join(directory, REPAIRED_DIRECTORY);
  const compactedRevision = found.reachedRevision + REVISIONS_SKIPPED;
  const { objects, changes } = agreedAddresses(found.objects, compactedRevision);
  const store = { ...identity, tokenKey: found.tokenKey ?? randomBytes(TOKEN_KEY_BYTES), compactedRevision, wallMs };
  const revision = await writeRepaired(unfinished, objects, store);
  const keptIn = freshDirectory(directory);
  if (existsSync(head)) copyFileSync(head, join(keptIn, HEAD_FILE));
  if (existsSync(database)) renameSync(database, join(keptIn, DATABASE_DIRECTORY));
  renameSync(unfinished, database);
  const marker = new HeadMarker(head);
  marker.advance(revision);
  marker.close();
  syncDirectory(keptIn);
  syncDirectory(directory);
  return { keptIn, revision, objects: objects.size, changes };
}

/** In the place of what an earlier try left. One that fails leaves nothing: the disk may be full. */
async function writeRepaired(path: string, objects: Inspection['objects'], store: NewStore): Promise<number> {
  rmSync(path, { recursive: true, force: true });
  let writer: LevelStoreWriter | undefined;
  try {
    writer = await LevelStoreWriter.create(path, store);
    for (const [key, bytes] of objects) await writer.add(key, bytes);
    return await writer.finish();
  } catch (error) {
    await writer?.close();
    rmSync(path, { recursive: true, force: true });
    throw error;
  }
}

/** A repair takes the damaged database away only when the new one is whole. */
function finishRepair(directory: string): void {
  const database = join(directory, DATABASE_DIRECTORY);
  const unfinished = join(directory, REPAIRED_DIRECTORY);
  if (!existsSync(database) && existsSync(unfinished)) renameSync(unfinished, database);
}

function completeness(inspection: Inspection): number {
  return inspection.isComplete ? Number.POSITIVE_INFINITY : inspection.objects.size;
}

function freshDirectory(directory: string): string {
  for (let number = 1; ; number++) {
    const path = join(directory, `damaged-${number}`);
    if (existsSync(path)) continue;
    mkdirSync(path, { mode: 0o700 });
    return path;
  }
}
