// The desks of quotas: how many writes go in one message.
import test from 'ava';
import type { CommitContext } from '../../../actors/admission/commit.ts';
import type { Draft } from '../../../actors/admission/draft.ts';
import { Desks } from '../../../actors/admission/plugins/resource-quota/desks.ts';
import type { Transaction } from '../../../actors/store/protocol.ts';

const draft = (name: string, bytes: number): Draft => ({
  key: `core/pods/a/${name}`,
  expect: 0,
  put: { text: 'x'.repeat(bytes), bytes, revisionOffset: 0, itemOffset: 0, attributes: '', schemaGeneration: 1 },
  also: [],
  guards: [],
  isLast: false,
  isBehindFirst: false,
});

/** How many transactions each message has, where so many writes of so many bytes come at once. */
async function messagesOf(writes: number, bytes: number): Promise<number[]> {
  const sizes: number[] = [];
  const ask = async ({ transactions }: { readonly transactions: readonly Transaction[] }): Promise<object> => {
    sizes.push(transactions.length);
    await new Promise((resolve) => setImmediate(resolve));
    return { results: transactions.map(() => ({ ok: true, revision: 1, places: [] })) };
  };
  const commitTimes = { nowMs: () => 0, observe: () => {} };
  const write = { store: { ask }, requestTimeoutMs: 1000, requestNumber: 0, commitTimes } as unknown as CommitContext;
  const quota = draft('quota', 10);
  const desks = new Desks<number>(() =>
    Promise.resolve({ add: () => {}, drafts: () => [quota], corrections: () => [quota] }),
  );
  await Promise.all(Array.from({ length: writes }, (_, id) => desks.commit('a', id, write, draft(`${id}`, bytes))));
  return sizes;
}

test('what waits at a desk goes together, in messages that have room in one batch', async (t) => {
  // Whoever comes in one turn is served with the first; each message has the quota before them.
  t.deepEqual(await messagesOf(250, 100), [101, 101, 51]);
  t.deepEqual(await messagesOf(4, 300_000), [3, 3]);
  t.deepEqual(await messagesOf(1, 100), [1], 'who is alone is committed with what it uses');
});
