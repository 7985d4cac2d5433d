// Whether a transaction holds: guards, then expectations. Changes nothing.
import { EXPECT_ABSENT, EXPECT_ANY, type Operation, type Transaction, type TransactionResult } from '../protocol.ts';

/** Why a transaction does not hold, given every key's present revision (0: absent); undefined when it does. */
export function refusalOf(
  transaction: Transaction,
  revisionOf: (key: string) => number,
): Extract<TransactionResult, { ok: false }> | undefined {
  const { operations, guards } = transaction;
  if (guards !== undefined) {
    for (const { key, expect } of guards) {
      const currentRevision = revisionOf(key);
      if (expect === EXPECT_ANY || expect === currentRevision) continue;
      return { ok: false, reason: 'guard', key, currentRevision };
    }
  }
  const named = operations.length > 1 ? new Set<string>() : undefined;
  for (const operation of operations) {
    const { key } = operation;
    const currentRevision = revisionOf(key);
    const reason = named?.has(key) ? 'changed' : reasonAgainst(operation, currentRevision);
    if (reason !== undefined) return { ok: false, reason, key, currentRevision };
    named?.add(key);
  }
  return undefined;
}

function reasonAgainst(operation: Operation, revision: number): 'exists' | 'missing' | 'changed' | undefined {
  const { expect } = operation;
  if ('delete' in operation && revision === 0) return 'missing';
  if (expect === EXPECT_ANY || expect === revision) return undefined;
  return expect === EXPECT_ABSENT ? 'exists' : revision === 0 ? 'missing' : 'changed';
}
