// What a keyspace was made with, and whether it is being moved. Made by whichever server comes first; a server of another
// dialect is refused, and so is every server while a move is under way or when the objects were moved away.
import { OrchError } from '../../runtime/errors.ts';
import { REVISION_STRIDE, type SharedContents } from '../engines/shared-engine.ts';
import type { EtcdCluster, EtcdPair } from './etcd-cluster.ts';
import { otherKeyspace, type ServedKeyspace } from './served-keyspace.ts';

export const IDENTITY_FORMAT = 1;
/** Of a keyspace in the original's layout, of which releases before it know nothing. */
const ORIGINAL_FORMAT = 2;

/** Transactions under way at once where each is a batch: more gave nothing more (docs/SCALING.md). */
const ORIGINAL_LANES = 32;

/** The last move of a keyspace. */
export interface KeyspaceMove {
  readonly direction: 'in' | 'out';
  /** The folder at the other end, as the operator named it. */
  readonly folder: string;
  readonly isDone: boolean;
  /** The revision of the folder's store: where it ended (in), or where it begins (out, once done). */
  readonly revision: number;
  /** Tells one try from another. */
  readonly run: string;
}

export interface Identity {
  readonly format: number;
  readonly dialect: string;
  readonly tokenKey: string;
  readonly base: number;
  /** Whose keys and values the objects have; absent: our own. */
  readonly layout?: 'original';
  readonly move?: KeyspaceMove;
}

export interface OpenedKeyspace {
  readonly contents: SharedContents;
  /** Etcd's own of when the identity was last written, which another etcd hardly has. */
  readonly writtenAt: number;
}

/** What a server opens a keyspace with. */
export interface OwnIdentity {
  /** For a keyspace that is made. */
  readonly tokenKey: Uint8Array;
  readonly dialect: string;
  readonly layout?: 'original';
  /** Where objects of ours lie; absent: they are not ours alone. */
  readonly objects?: { readonly key: string; readonly end: string };
  /** Undefined: whatever is there is served. */
  readonly served?: ServedKeyspace | undefined;
}

/** Opens the keyspace or makes it. Throws OrchError StoreUnusable when it is not one of ours, or another than this process has served. */
export async function openIdentity(cluster: EtcdCluster, key: string, own: OwnIdentity): Promise<OpenedKeyspace> {
  const made: Identity = {
    format: own.layout === undefined ? IDENTITY_FORMAT : ORIGINAL_FORMAT,
    dialect: own.dialect,
    tokenKey: Buffer.from(own.tokenKey).toString('base64'),
    base: 0,
    ...(own.layout && { layout: own.layout }),
  };
  const { pair, writtenAt } = await identityPair(cluster, key, made, own);
  const found = pair === undefined ? made : readIdentity(key, pair, own.layout);
  if (found.dialect !== own.dialect) {
    throw unusable(
      `${key} was made by a server of dialect ${found.dialect}; start with --api-dialect ${found.dialect}`,
    );
  }
  const unserved = unservedIn(key, found.move);
  if (unserved !== undefined) throw unserved;
  const tokenKey = Buffer.from(found.tokenKey, 'base64');
  own.served?.serve(key, tokenKey);
  return {
    contents: {
      tokenKey,
      base: found.base,
      ...(own.layout === undefined ? { stride: REVISION_STRIDE, lanes: 1 } : { stride: 1, lanes: ORIGINAL_LANES }),
    },
    writtenAt,
  };
}

/** What lies there, no pair where `made` does from now on; and when it was written. Read first: an etcd that is full refuses all that might write. */
async function identityPair(
  cluster: EtcdCluster,
  key: string,
  made: Identity,
  { served, objects }: OwnIdentity,
): Promise<{ readonly pair: EtcdPair | undefined; readonly writtenAt: number }> {
  const there = (pair: EtcdPair) => ({ pair, writtenAt: pair.modRevision });
  const { pairs, revision: lookedAt } = await cluster.range({ key });
  if (pairs[0] !== undefined) return there(pairs[0]);
  if (served?.isKnown === true) throw otherKeyspace(key);
  // At the same revision, since whoever makes the keyspace meanwhile writes to it. Under an identity of ours they would be of a dialect
  // that nobody knows, and of versions that were given before.
  const left = objects && (await cluster.range({ ...objects, revision: lookedAt, limit: 1 })).pairs[0];
  if (left !== undefined) throw unusable(`${key} is missing, and there are objects: restore a snapshot of etcd's`);
  const { results, revision } = await cluster.transact({
    compare: [{ key, target: 'version', value: 0 }],
    success: [{ put: { key, value: Buffer.from(JSON.stringify(made)) } }],
    failure: [{ range: { key } }],
  });
  const [result] = results;
  const other = result?.kind === 'range' ? result.pairs[0] : undefined;
  return other === undefined ? { pair: undefined, writtenAt: revision } : there(other);
}

/** Throws OrchError StoreUnusable when it cannot be read, or is of another format or layout. */
export function readIdentity(key: string, pair: EtcdPair | undefined, layout?: 'original'): Identity {
  let found: Identity;
  try {
    found = JSON.parse(Buffer.from(pair!.value).toString()) as Identity;
  } catch {
    throw unusable(`${key} cannot be read`);
  }
  if (found.layout !== layout) {
    const made = found.layout === undefined ? 'without' : 'with';
    throw unusable(`${key} was made ${made} --store-layout ${found.dialect}, and is served in no other way`);
  }
  if (found.format === (layout === undefined ? IDENTITY_FORMAT : ORIGINAL_FORMAT)) return found;
  throw unusable(`${key} is of format ${found.format}, which this release does not know`);
}

/** Why nothing is served where a move is under way, or the objects were moved away. */
export function unservedIn(key: string, move: KeyspaceMove | undefined): OrchError | undefined {
  if (move === undefined || (move.direction === 'in' && move.isDone)) return undefined;
  const { direction, folder, isDone } = move;
  if (isDone) return unusable(`${key} says that the objects were moved to ${folder}`);
  const way = direction === 'in' ? `from ${folder}` : `to ${folder}`;
  return unusable(`${key} says that a move ${way} is not finished; run orch store move again`);
}

function unusable(what: string): OrchError {
  return new OrchError('StoreUnusable', what);
}
