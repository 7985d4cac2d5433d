// Which history of the keyspace is followed: up to which revision, and what its newest batch was. An etcd that was restored from a backup
// has another behind the backup, which may have come as far or further: what was told of the one before is not to be gone on from.
import { OrchError } from '../../runtime/errors.ts';
import type { EtcdCluster, EtcdPair, RangeAnswer } from './etcd-cluster.ts';
import { readMark } from './etcd-outline.ts';

/** A batch, as it is told from one of another history. */
export interface NewestBatch {
  /** 0: there was none yet. */
  readonly revision: number;
  /** Whose it was; undefined where it does not say. */
  readonly mark: number | undefined;
}

/** Nobody has committed anything, or nobody says so. */
export const NO_BATCH: NewestBatch = { revision: 0, mark: undefined };

/** What the key of the outlines says. */
export function batchOf(pair: EtcdPair | undefined): NewestBatch {
  return pair === undefined ? NO_BATCH : { revision: pair.modRevision, mark: readMark(pair.value) };
}

export class EtcdHistory {
  /** The newest revision that is known to have been. */
  reached = 0;
  newest: NewestBatch = NO_BATCH;

  /** From here on, as read at this revision. */
  begin(revision: number, newest: NewestBatch): void {
    this.reached = revision;
    this.newest = newest;
  }

  /** A batch has come. */
  add(batch: NewestBatch): void {
    this.reached = batch.revision;
    this.newest = batch;
  }

  /** Something else has come, which is no batch of ours. */
  pass(revision: number): void {
    this.reached = revision;
  }

  /** Where it stands, to be compared with what is asked for from now on. */
  get position(): { readonly reached: number; readonly newest: NewestBatch } {
    return { reached: this.reached, newest: this.newest };
  }
}

/** What is wrong with a revision that etcd is at after a position; undefined: nothing. */
function wentBack({ reached }: Pick<EtcdHistory['position'], 'reached'>, revision: number): string | undefined {
  if (revision >= reached) return undefined;
  return `etcd went back from revision ${reached} to ${revision}, as after a restore from a backup`;
}

/** A commit comes behind all that had been told before it was sent. Throws StoreUnusable for one of another history. */
export function requireBehind(position: EtcdHistory['position'], revision: number): void {
  const problem = wentBack(position, revision - 1);
  if (problem !== undefined) throw new OrchError('StoreUnusable', problem);
}

/** What is wrong with a present state, read at `revision`, that comes after a position; undefined: nothing that it shows. */
export function breakBetween(
  position: EtcdHistory['position'],
  revision: number,
  present: NewestBatch,
): string | undefined {
  const { reached, newest } = position;
  const problem = wentBack(position, revision);
  if (problem !== undefined) return problem;
  const isOther =
    present.revision < newest.revision || (present.revision === newest.revision && present.mark !== newest.mark);
  return isOther ? otherHistory(reached) : undefined;
}

/** The same where more has happened since: looks back, as far as etcd remembers. Rejects with EtcdError. */
export async function breakBehind(
  cluster: EtcdCluster,
  outline: string,
  at: EtcdHistory['position'],
): Promise<string | undefined> {
  const { revision, pairs }: RangeAnswer = await cluster.range({ key: outline });
  const present = batchOf(pairs[0]);
  const problem = breakBetween(at, revision, present);
  if (problem !== undefined || present.revision === at.newest.revision) return problem;
  const past = await cluster.range({ key: outline, revision: at.reached });
  const then = batchOf(past.pairs[0]);
  return then.revision === at.newest.revision && then.mark === at.newest.mark ? undefined : otherHistory(at.reached);
}

function otherHistory(reached: number): string {
  return `etcd is of another history than was followed up to revision ${reached}, as after a restore from a backup`;
}
