// Commits that wait for their batch: how many go together.
import test from 'ava';
import { type PendingCommit, PendingCommits } from '../../../actors/store/pending-commits.ts';

/** A commit of so many transactions and bytes. */
const commit = (transactions: number, bytes: number): PendingCommit =>
  ({ message: { transactions: new Array(transactions), payload: new Uint8Array(bytes) } }) as unknown as PendingCommit;

/** The sizes of the batches that commits make of which at most 10 transactions and 100 bytes go together. */
function batchesOf(...commits: readonly PendingCommit[]): readonly number[] {
  const pending = new PendingCommits(10, 100);
  for (const one of commits) pending.add(one);
  const sizes: number[] = [];
  while (pending.length > 0) sizes.push(pending.take().length);
  return sizes;
}

test('a batch is filled up to its bounds, and a commit that is larger by itself is one alone', (t) => {
  t.deepEqual(batchesOf(commit(1, 50), commit(1, 50), commit(1, 1)), [2, 1]);
  t.deepEqual(batchesOf(commit(1, 50), commit(1, 51)), [1, 1]);
  t.deepEqual(batchesOf(commit(1, 500), commit(1, 1), commit(1, 99)), [1, 2]);
  t.deepEqual(batchesOf(commit(5, 0), commit(5, 0), commit(1, 0)), [2, 1]);
  t.deepEqual(batchesOf(commit(20, 0), commit(1, 0)), [1, 1]);
  t.deepEqual(batchesOf(), []);
});
