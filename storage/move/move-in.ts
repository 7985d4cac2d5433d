// Moves a folder's store into etcd. The folder keeps everything until etcd has all of it and says so; only then is its store
// put aside. A move that was cut short begins anew: what it had brought is removed first, which no server can have read.
import { OrchError } from '../../runtime/errors.ts';
import { IDENTITY_FORMAT, type Identity, type KeyspaceMove } from '../etcd/etcd-identity.ts';
import { clearRevisions, storedRevision, withClearRevisions } from '../forms/stored-value.ts';
import type { Inspection } from '../upkeep/inspection.ts';
import type { FoundIdentity, MovedKeyspace } from './keyspace.ts';
import type { MoveFolder } from './move-folder.ts';

/** etcd takes 1.5 MiB a request, and 128 operations. */
const BATCH_BYTES = 1024 * 1024;
const BATCH_OBJECTS = 100;

export interface MoveInParts {
  readonly keyspace: MovedKeyspace;
  readonly folder: MoveFolder;
  /** Of the folder's store. */
  readonly found: Inspection;
  /** Of this try. */
  readonly run: string;
  readonly say: (line: string) => void;
}

export interface MovedIn {
  readonly keptIn: string;
  /** Every version that is given from now on is greater. */
  readonly revision: number;
}

/** Throws OrchError StoreUnusable where the target holds something else; both sides are then as they were. */
export async function moveIn(parts: MoveInParts): Promise<MovedIn> {
  const { keyspace, folder, found, run, say } = parts;
  const identity = await keyspace.identity();
  const { reachedRevision: revision, objects } = found;
  if (isDone(identity, found)) {
    say('etcd has everything from an earlier try');
  } else {
    await refuseOther(keyspace, identity, found);
    const move: KeyspaceMove = { direction: 'in', folder: folder.path, isDone: false, revision, run };
    const own = ownIdentity(found, revision);
    const version = await keyspace.claim({ ...own, move }, identity?.version ?? 0);
    await keyspace.clear(version);
    await fill(parts, version);
    await verify(keyspace, objects);
    await keyspace.claim({ ...own, move: { ...move, isDone: true } }, version);
  }
  return { keptIn: folder.putAside(), revision };
}

function ownIdentity({ identity, tokenKey }: Inspection, base: number): Identity {
  if (identity === undefined || tokenKey === undefined) {
    throw new OrchError('StoreUnusable', 'the store does not say whose it is: repair it first');
  }
  const { dialect } = identity;
  return { format: IDENTITY_FORMAT, dialect, tokenKey: Buffer.from(tokenKey).toString('base64'), base };
}

function isSame(identity: Identity, { tokenKey }: Inspection): boolean {
  return tokenKey !== undefined && Buffer.from(identity.tokenKey, 'base64').equals(tokenKey);
}

function isDone(found: FoundIdentity | undefined, store: Inspection): boolean {
  const move = found?.identity.move;
  if (found === undefined || move === undefined || !isSame(found.identity, store)) return false;
  return move.direction === 'in' && move.isDone && move.revision === store.reachedRevision;
}

async function refuseOther(
  keyspace: MovedKeyspace,
  found: FoundIdentity | undefined,
  store: Inspection,
): Promise<void> {
  const { place } = keyspace;
  if (found === undefined) {
    if (await keyspace.holdsObjects()) throw refused(`there are objects beside ${place}, and nothing says whose`);
    return;
  }
  const { identity } = found;
  const { move } = identity;
  if (!isSame(identity, store)) throw refused(`${place} belongs to another store; name another --store-prefix`);
  if (move?.direction === 'in' && !move.isDone) return;
  if (move?.direction === 'out' && move.isDone) {
    if (store.reachedRevision >= move.revision) return;
    throw refused(`the objects of ${place} were moved to ${move.folder}, and this store is older than that`);
  }
  if (move?.direction === 'out') {
    throw refused(`a move of ${place} to ${move.folder} is not finished: finish it first`);
  }
  throw refused(`${place} already holds this store, and may have gone on since`);
}

async function fill({ keyspace, found, say }: MoveInParts, version: number): Promise<void> {
  const { objects } = found;
  let batch: [key: string, value: Uint8Array][] = [];
  let bytes = 0;
  let moved = 0;
  let told = 0;
  const flush = async (): Promise<void> => {
    try {
      await keyspace.put(batch, version);
    } catch (error) {
      if (!(error instanceof OrchError)) throw error;
      throw refused(`${error.message} (at ${batch.map(([key]) => key).at(0)}, ${bytes} bytes)`);
    }
    moved += batch.length;
    batch = [];
    bytes = 0;
    const tenths = Math.floor((moved * 10) / objects.size);
    if (tenths > told) say(`${moved} of ${objects.size} objects`);
    told = tenths;
  };
  for (const [key, value] of objects) {
    if (batch.length > 0 && (batch.length >= BATCH_OBJECTS || bytes + value.byteLength > BATCH_BYTES)) await flush();
    batch.push([key, atPlace(key, value, batch.length)]);
    bytes += value.byteLength + key.length;
  }
  // Also where there are no objects: there must be a newest batch.
  await flush();
}

/** A value as etcd has it: it says its place in its batch, and when its object was made, which was before. */
function atPlace(key: string, value: Uint8Array, place: number): Buffer {
  return withClearRevisions(key, value, { revision: place, bornRevision: clearRevisions(value).bornRevision });
}

/** Reads back what was written. */
async function verify(keyspace: MovedKeyspace, objects: ReadonlyMap<string, Buffer>): Promise<void> {
  let read = 0;
  for await (const page of keyspace.objects()) {
    for (const { key, value } of page) {
      const length = objects.get(key)?.byteLength;
      if (storedRevision(key, value) === undefined || length !== value.byteLength) {
        throw refused(`${key} is not in etcd as it was written`);
      }
      read++;
    }
  }
  if (read !== objects.size) throw refused(`etcd holds ${read} of ${objects.size} objects`);
}

function refused(what: string): OrchError {
  return new OrchError('StoreUnusable', what);
}
