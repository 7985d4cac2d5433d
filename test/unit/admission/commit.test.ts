import test from 'ava';
import { type CommitContext, commitEach } from '../../../actors/admission/commits/commit.ts';
import type { CommitTimes } from '../../../actors/admission/commits/commit-times.ts';
import { type Draft, type Put, requireSize } from '../../../actors/admission/commits/draft.ts';
import { Patience } from '../../../actors/admission/patience.ts';
import type { Transaction } from '../../../actors/store/protocol.ts';
import { OBJECT_BYTES_MAX } from '../../../api/status/failures.ts';
import { isStatusError } from '../../../api/status/status.ts';

const GUARDS = [{ key: 'core/namespaces//a', expect: 7 }];

function draft(name: string, more: Partial<Draft> = {}): Draft {
  const key = `core/pods/a/${name}`;
  return { key, expect: 3, put: undefined, also: [], guards: [], isLast: false, isBehindFirst: false, ...more };
}

/** What the store is asked to commit. */
async function transactionsOf(drafts: readonly Draft[]): Promise<readonly Transaction[]> {
  let asked: readonly Transaction[] = [];
  const store = {
    ask: (message: { readonly transactions: readonly Transaction[] }) => {
      asked = message.transactions;
      return Promise.resolve({ results: [] });
    },
  } as unknown as CommitContext['store'];
  await commitEach(contextOf(store, 0), drafts);
  return asked;
}

/** Of a write whose time is over at 1000 ms. */
function contextOf(store: CommitContext['store'], nowMs: number): CommitContext {
  const commitTimes = { nowMs: () => nowMs, observe: () => {} } as unknown as CommitTimes;
  const patience = new Patience({ monotonicMs: () => nowMs }, 1000 - nowMs);
  return { store, requestTimeoutMs: 60_000, requestNumber: 0, patience, commitTimes };
}

test('the store has no longer for a commit than the request has left', async (t) => {
  const given: number[] = [];
  const store = {
    ask: (_message: unknown, { deadlineMs }: { readonly deadlineMs: number }) => {
      given.push(deadlineMs);
      return Promise.resolve({ results: [] });
    },
  } as unknown as CommitContext['store'];
  await commitEach(contextOf(store, 400), [draft('a')]);
  await t.throwsAsync(commitEach(contextOf(store, 1000), [draft('a')]), { code: 'DeadlineExceeded' });
  t.deepEqual(given, [600]);
});

test('whatever else a draft says, its guards and what commits with it are in its transaction', async (t) => {
  const also = [draft('other')];
  for (const isLast of [false, true]) {
    for (const isBehindFirst of [false, true]) {
      const [transaction] = await transactionsOf([draft('o', { also, guards: GUARDS, isLast, isBehindFirst })]);
      t.deepEqual(transaction, {
        operations: ['o', 'other'].map((name) => ({ key: `core/pods/a/${name}`, expect: 3, delete: true as const })),
        guards: GUARDS,
        ...(isLast && { thenRemoves: ['core/pods/a/o'] }),
        ...(isBehindFirst && { isBehindFirst }),
      });
    }
  }
});

test('an object that was stored larger than one may be now is written again as long as it does not grow', (t) => {
  const most = OBJECT_BYTES_MAX;
  const isTaken = (bytes: number, storedBytes?: number): boolean => {
    try {
      requireSize(draft('a', { put: { bytes } as Put }), storedBytes);
      return true;
    } catch (error) {
      if (!isStatusError(error)) throw error;
      return false;
    }
  };
  t.deepEqual([isTaken(most), isTaken(most + 1), isTaken(most + 1, most)], [true, false, false]);
  t.deepEqual(
    [isTaken(most + 9, most + 9), isTaken(most + 8, most + 9), isTaken(most + 10, most + 9)],
    [true, true, false],
  );
});
