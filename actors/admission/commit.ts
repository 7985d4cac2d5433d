// The last step of a write: drafts become transactions of the store.
import type { Ref } from '../../runtime/actor.ts';
import type { Operation, StoreProtocol, Transaction, TransactionResult } from '../store/protocol.ts';
import type { CommitTimes } from './commit-times.ts';
import type { Draft } from './draft.ts';

/** What a commit takes of the context of its write. */
export interface CommitContext {
  readonly store: Ref<StoreProtocol>;
  readonly requestTimeoutMs: number;
  readonly requestNumber: number;
  readonly commitTimes: CommitTimes;
}

/** Commits drafts, each its own transaction, in one message. Results in the same order. */
export async function commitEach(
  write: CommitContext,
  drafts: readonly Draft[],
): Promise<readonly TransactionResult[]> {
  let total = 0;
  for (const draft of drafts) {
    total += bytesOf(draft);
    for (const other of draft.also) total += bytesOf(other);
  }
  const payload = Buffer.allocUnsafe(total);
  let at = 0;
  const operationOf = (draft: Draft): Operation => {
    const { key, expect, put } = draft;
    if (put === undefined) return { key, expect, delete: true };
    const { text, bytes, revisionOffset, itemOffset, attributes, schemaGeneration } = put;
    payload.write(text, at, bytes, 'utf8');
    const valueOffset = at;
    at += bytes;
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
  };
  const transactions = drafts.map((draft): Transaction => {
    const { key, also, guards, isLast, isBehindFirst } = draft;
    const operations = [operationOf(draft)];
    for (const other of also) operations.push(operationOf(other));
    if (!isLast && guards.length === 0 && !isBehindFirst) return { operations };
    if (!isLast && !isBehindFirst) return { operations, guards };
    return {
      operations,
      ...(guards.length > 0 && { guards }),
      ...(isLast && { thenRemoves: [key] }),
      ...(isBehindFirst && { isBehindFirst }),
    };
  });
  const beganMs = write.commitTimes.nowMs();
  const { results } = await write.store.ask(
    { type: 'commit', transactions, payload },
    { deadlineMs: write.requestTimeoutMs, requestNumber: write.requestNumber },
  );
  write.commitTimes.observe(drafts, beganMs);
  return results;
}

function bytesOf({ put }: Draft): number {
  return put === undefined ? 0 : put.bytes;
}

/** Commits one draft. */
export function commitOne(write: CommitContext, draft: Draft): Promise<TransactionResult> {
  return commitEach(write, [draft]).then(([result]) => result!);
}
