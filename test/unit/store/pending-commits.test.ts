// Commits that wait for their batch: how many go together, and what becomes of those that nobody waits for.
import test from 'ava';
import { type PendingCommit, PendingCommits } from '../../../actors/store/sequencing/pending-commits.ts';
import type { Reply } from '../../../runtime/actor.ts';

/** A commit of so many transactions and bytes. */
const commit = (transactions: number, bytes: number, reply: Partial<Reply> = { isAwaited: true }): PendingCommit =>
  ({
    message: { transactions: new Array(transactions), payload: new Uint8Array(bytes) },
    reply,
  }) as unknown as PendingCommit;

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

test('while no batch is taken, what waits is bounded by what is waited for', (t) => {
  const pending = new PendingCommits(10, 100);
  let failed = 0;
  let awaited: { isAwaited: boolean; fail: () => number }[] = [];
  for (let round = 0; round < 100; round++) {
    for (const reply of awaited) reply.isAwaited = false;
    awaited = Array.from({ length: 50 }, () => ({ isAwaited: true, fail: () => ++failed }));
    for (const reply of awaited) pending.add(commit(1, 1, reply));
    t.true(pending.length <= 150);
  }
  t.is(pending.length + failed, 5000);
});

test('a write that was given up while it waited is not made, whoever came before it', (t) => {
  const pending = new PendingCommits(10, 100);
  const failures: unknown[] = [];
  const late = { isAwaited: true, fail: (error: unknown) => failures.push(error) };
  const kept = [commit(1, 2), commit(1, 3)];
  pending.add(kept[0]!);
  pending.add(commit(1, 1, late));
  pending.add(kept[1]!);
  late.isAwaited = false;
  t.deepEqual(pending.take(), kept);
  t.like(failures, [{ code: 'DeadlineExceeded' }]);
  t.is(pending.length, 0);
});
