// Moves a keyspace out of etcd into a folder. Writing the identity first ends every server that was overlooked, so that what is
// read then is all that was ever acknowledged. Nothing in etcd is removed; the folder's store has its name only when it is whole, and from
// before that first write on no start makes another there.
import { OrchError } from '../../runtime/errors.ts';
import { REVISION_STRIDE } from '../engines/shared-engine.ts';
import type { KeyspaceMove } from '../etcd/etcd-identity.ts';
import { valueAtRevision } from '../etcd/value-at-revision.ts';
import { storedRevision } from '../forms/stored-value.ts';
import type { Inspection } from '../upkeep/inspection.ts';
import type { FoundIdentity, MovedKeyspace } from './keyspace.ts';
import type { MoveFolder, StoreWriter } from './move-folder.ts';

const OBJECTS_A_LINE = 10_000;

export interface MoveOutParts {
  readonly keyspace: MovedKeyspace;
  readonly folder: MoveFolder;
  /** What stands before the keys of the folder's store. */
  readonly prefix: string;
  /** A value of this place or above is the last of an object that is gone. */
  readonly dyingPlace: number;
  /** The store that lies in the folder. */
  readonly inspect: () => Inspection;
  readonly run: string;
  readonly wallMs: number;
  readonly say: (line: string) => void;
}

export interface MovedOut {
  readonly objects: number;
  /** Where the folder's store begins. */
  readonly revision: number;
}

/** Throws OrchError StoreUnusable where the folder holds something else, or a server runs; both sides are then as they were. */
export async function moveOut(parts: MoveOutParts): Promise<MovedOut> {
  const { keyspace, folder, run, say } = parts;
  const found = await keyspace.identity();
  if (found === undefined) throw refused(`there is no store at ${keyspace.place}`);
  const before = refuseUnfit(parts, found);
  const move: KeyspaceMove = { direction: 'out', folder: folder.path, isDone: false, revision: 0, run };
  if (before === undefined && found.identity.move?.direction !== 'out') await keyspace.refuseInUse();
  // First: from the claim on the folder's store is the one that is served, and an empty one must not be in its place.
  if (before === undefined) folder.reserve();
  const version = await keyspace.claim({ ...found.identity, move }, found.version);
  const moved = before ?? (await write(parts, found));
  if (before === undefined) folder.name();
  else say(`${folder.path} has everything from an earlier try`);
  folder.mark(moved.revision);
  await keyspace.claim({ ...found.identity, move: { ...move, isDone: true, revision: moved.revision } }, version);
  return moved;
}

/** What an earlier try has finished but for saying so. Throws where the two do not belong together. */
function refuseUnfit({ keyspace, folder, inspect }: MoveOutParts, { identity }: FoundIdentity): MovedOut | undefined {
  const { move } = identity;
  const { place } = keyspace;
  if (move?.direction === 'in' && !move.isDone) {
    throw refused(`a move of ${move.folder} into ${place} is not finished: finish it first`);
  }
  if (move?.direction === 'out' && move.isDone) throw refused(`the objects of ${place} were moved to ${move.folder}`);
  if (!folder.hasStore()) {
    if (folder.hasHead()) throw refused(`${folder.path} has the marker of a store that is gone: name another folder`);
    return undefined;
  }
  const store = inspect();
  const isSame = store.tokenKey !== undefined && Buffer.from(identity.tokenKey, 'base64').equals(store.tokenKey);
  if (move?.direction !== 'out' || move.folder !== folder.path || !isSame || store.problems.length > 0) {
    throw refused(`${folder.path} holds a store: name another folder`);
  }
  return { objects: store.objects.size, revision: store.reachedRevision };
}

async function write(parts: MoveOutParts, { identity }: FoundIdentity): Promise<MovedOut> {
  const { keyspace, folder, prefix, wallMs } = parts;
  const { dialect, base } = identity;
  const compactedRevision = base + (await keyspace.newest()) * REVISION_STRIDE + REVISION_STRIDE - 1;
  const tokenKey = Buffer.from(identity.tokenKey, 'base64');
  const writer = await folder.begin({ dialect, prefix, tokenKey, compactedRevision, wallMs });
  try {
    const objects = await copy(parts, writer, base);
    return { objects, revision: await writer.finish() };
  } catch (error) {
    await writer.close();
    throw error;
  }
}

async function copy({ keyspace, say, dyingPlace }: MoveOutParts, writer: StoreWriter, base: number): Promise<number> {
  let objects = 0;
  for await (const page of keyspace.objects()) {
    for (const { key, modRevision, value } of page) {
      const place = storedRevision(key, value);
      if (place === undefined) throw refused(`the value of ${key} does not match its checksum`);
      if (place >= dyingPlace) continue;
      await writer.add(key, valueAtRevision(key, value, base + modRevision * REVISION_STRIDE + place));
      if (++objects % OBJECTS_A_LINE === 0) say(`${objects} objects`);
    }
  }
  return objects;
}

function refused(what: string): OrchError {
  return new OrchError('StoreUnusable', what);
}
