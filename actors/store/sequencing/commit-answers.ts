// The results of commits that were accepted, until each of a message is known and the message is answered with all of them.

import type { TransactionResult } from '../protocol.ts';
import type { PendingCommit } from './pending-commits.ts';

interface Answering {
  readonly results: (TransactionResult | undefined)[];
  left: number;
}

export class CommitAnswers {
  readonly #answering = new Map<PendingCommit, Answering>();

  /** A message whose transactions wait from now on. */
  begin(commit: PendingCommit): void {
    const { transactions } = commit.message;
    this.#answering.set(commit, { results: transactions.map(() => undefined), left: transactions.length });
  }

  /** One result; the last of a message answers it. */
  give(commit: PendingCommit, index: number, result: TransactionResult): void {
    const answering = this.#answering.get(commit);
    if (answering === undefined) return;
    answering.results[index] = result;
    if (--answering.left > 0) return;
    this.#answering.delete(commit);
    commit.reply.send({ results: answering.results });
  }

  /** Nothing of a message is tried any more. */
  fail(commit: PendingCommit, error: unknown): void {
    if (this.#answering.delete(commit)) commit.reply.fail(error);
  }
}
