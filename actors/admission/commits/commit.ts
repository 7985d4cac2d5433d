// The last step of a write: drafts become transactions of the store.
import type { Ref } from '../../../runtime/actor.ts';
import { OrchError } from '../../../runtime/errors.ts';
import type { Operation, StoreProtocol, Transaction, TransactionResult } from '../../store/protocol.ts';
import type { Patience } from '../patience.ts';
import type { CommitTimes } from './commit-times.ts';
import type { Draft } from './draft.ts';

/** What a commit takes of the context of its write. */
export interface CommitContext {
  readonly store: Ref<StoreProtocol>;
  readonly requestTimeoutMs: number;
  readonly requestNumber: number;
  /** As StoreReader has it. */
  readonly patience: Patience;
  readonly commitTimes: CommitTimes;
}

/**
 * Commits drafts, each its own transaction, in one message. Results in the same order. Rejects, with nothing done, where nobody waits
 * any more; the store gives up for the same reason what it has not begun.
 */
export function commitEach(write: CommitContext, drafts: readonly Draft[]): Promise<readonly TransactionResult[]> {
  const beganMs = write.commitTimes.nowMs();
  const { leftMs } = write.patience;
  if (leftMs <= 0) return Promise.reject(tooLateToCommit());
  let total = 0;
  for (const draft of drafts) {
    total += bytesOf(draft);
    for (const other of draft.also) total += bytesOf(other);
  }
  const payload = new Payload(total);
  const transactions = drafts.map((draft) => payload.transactionOf(draft));
  return write.store
    .ask(
      { type: 'commit', transactions, payload: payload.bytes },
      { deadlineMs: leftMs, requestNumber: write.requestNumber, signal: write.patience },
    )
    .then(({ results }) => {
      write.commitTimes.observe(drafts, beganMs);
      return results;
    });
}

/** What becomes of a write that nobody waits for any more. */
export function tooLateToCommit(): OrchError {
  return new OrchError('DeadlineExceeded', 'the time of the request is over');
}

/** For what the server itself has to commit on account of a request, however little time that has left. */
export function inOwnTime(write: CommitContext): CommitContext {
  return { ...write, patience: write.patience.apart(write.requestTimeoutMs) };
}

/** The bytes of what is put, one value behind the other. */
class Payload {
  readonly bytes: Buffer;
  #at = 0;

  constructor(bytes: number) {
    this.bytes = Buffer.allocUnsafe(bytes);
  }

  transactionOf(draft: Draft): Transaction {
    const { key, also, guards, isLast, isBehindFirst } = draft;
    const operations = [this.#operationOf(draft)];
    for (const other of also) operations.push(this.#operationOf(other));
    if (!isLast && !isBehindFirst) return guards.length === 0 ? { operations } : { operations, guards };
    return {
      operations,
      ...(guards.length > 0 && { guards }),
      ...(isLast && { thenRemoves: [key] }),
      ...(isBehindFirst && { isBehindFirst }),
    };
  }

  #operationOf({ key, expect, put }: Draft): Operation {
    if (put === undefined) return { key, expect, delete: true };
    const { text, bytes, revisionOffset, itemOffset, attributes, schemaGeneration } = put;
    const valueOffset = this.#at;
    this.bytes.write(text, valueOffset, bytes, 'utf8');
    this.#at += bytes;
    return {
      key,
      expect,
      valueOffset,
      valueLength: bytes,
      revisionOffset,
      itemOffset,
      attributes,
      schemaGeneration,
    };
  }
}

function bytesOf({ put }: Draft): number {
  return put === undefined ? 0 : put.bytes;
}

/** Commits one draft. */
export function commitOne(write: CommitContext, draft: Draft): Promise<TransactionResult> {
  return commitEach(write, [draft]).then(([result]) => result!);
}
