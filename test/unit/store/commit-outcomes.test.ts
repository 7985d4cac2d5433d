// What becomes of commits that a store has accepted, and what it remembers of a disk that refuses them.
import test from 'ava';
import type { TransactionResult } from '../../../actors/store/protocol.ts';
import { CommitAnswers } from '../../../actors/store/sequencing/commit-answers.ts';
import type { PendingCommit } from '../../../actors/store/sequencing/pending-commits.ts';
import { isRefusedWrite, WriteRefusals } from '../../../actors/store/sequencing/write-refusals.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import { OrchError } from '../../../runtime/errors.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';

const result = (revision: number): TransactionResult => ({ ok: true, revision, places: [] });

/** A message of so many transactions, and what it is answered. */
function commitOf(transactions: number) {
  const answers: unknown[] = [];
  const reply = {
    isAwaited: true,
    send: (answer: unknown) => answers.push(answer),
    fail: (error: unknown) => answers.push(error),
  };
  const message = { transactions: Array.from({ length: transactions }, () => ({ operations: [] })) };
  return { answers, commit: { message, reply } as unknown as PendingCommit };
}

test('a message is answered once, with the results of all its transactions in their order', (t) => {
  const all = new CommitAnswers();
  const { answers, commit } = commitOf(2);
  all.begin(commit);
  all.give(commit, 1, result(8));
  t.deepEqual(answers, []);
  all.give(commit, 0, result(7));
  t.deepEqual(answers, [{ results: [result(7), result(8)] }]);
  all.fail(commit, new Error('too late'));
  all.give(commit, 0, result(9));
  t.is(answers.length, 1);
});

test('a message of which nothing is tried any more is answered once, whatever of it comes yet', (t) => {
  const all = new CommitAnswers();
  const { answers, commit } = commitOf(2);
  all.begin(commit);
  all.give(commit, 0, result(7));
  const error = new Error('others write the same objects');
  all.fail(commit, error);
  all.fail(commit, error);
  all.give(commit, 1, result(8));
  t.deepEqual(answers, [error]);
});

test('a disk that refused is left alone for a moment, and said to refuse once for each reason, until it stores again', async (t) => {
  const time = new VirtualTime();
  const lines: string[] = [];
  const log = {
    error: ({ err }: { err: Error }, text: string) => lines.push(`${text}: ${err.message}`),
    info: (_: object, text: string) => lines.push(text),
  };
  const refusals = new WriteRefusals({ clock: time, log } as unknown as ActorContext);
  refusals.written();
  t.deepEqual([refusals.isFresh, refusals.current, lines], [false, undefined, []]);
  const full = (message: string) => new OrchError('StorageFull', message);
  refusals.refused(full('no room'));
  t.true(refusals.isFresh);
  await time.advance(249);
  t.true(refusals.isFresh);
  await time.advance(1);
  t.false(refusals.isFresh);
  t.is(refusals.current?.message, 'no room', 'still');
  refusals.refused(full('no room'));
  t.true(refusals.isFresh);
  refusals.refused(full('read-only'));
  refusals.written();
  t.deepEqual([refusals.isFresh, refusals.current], [false, undefined]);
  refusals.written();
  t.deepEqual(lines, ['writes are refused: no room', 'writes are refused: read-only', 'writes are stored again']);
});

test('a write is refused by a disk that says so, and by nothing else', (t) => {
  for (const code of ['StorageFull', 'StorageFailed', 'StorageUnsure'] as const)
    t.true(isRefusedWrite(new OrchError(code, 'why')));
  for (const error of [new OrchError('StoreUnusable', 'why'), Object.assign(new Error('why'), { code: 'StorageFull' })])
    t.false(isRefusedWrite(error));
});
