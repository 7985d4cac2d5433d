// The desks of quotas: how many writes go in one message.
import test from 'ava';
import type { CommitContext } from '../../../actors/admission/commits/commit.ts';
import type { Draft } from '../../../actors/admission/commits/draft.ts';
import { Patience } from '../../../actors/admission/patience.ts';
import { Desks } from '../../../actors/admission/plugins/resource-quota/desks.ts';
import type { Transaction } from '../../../actors/store/protocol.ts';
import type { AskOptions } from '../../../runtime/actor.ts';

const draft = (name: string, bytes: number): Draft => ({
  key: `core/pods/a/${name}`,
  expect: 0,
  put: { text: 'x'.repeat(bytes), bytes, revisionOffset: 0, itemOffset: 0, attributes: '', schemaGeneration: 1 },
  also: [],
  guards: [],
  isLast: false,
  isBehindFirst: false,
});

/**
 * How many transactions each message has, and how long it may take, where so many writes of so many bytes come at once, with so much
 * time each.
 */
async function messages(writes: number, bytes: number, leftMs: (id: number) => number): Promise<[number, number][]> {
  const sizes: [number, number][] = [];
  const ask = async (
    { transactions }: { readonly transactions: readonly Transaction[] },
    { deadlineMs }: { readonly deadlineMs: number },
  ): Promise<object> => {
    sizes.push([transactions.length, deadlineMs]);
    await new Promise((resolve) => setImmediate(resolve));
    return { results: transactions.map(() => ({ ok: true, revision: 1, places: [] })) };
  };
  const commitTimes = { nowMs: () => 0, observe: () => {} };
  const write = { store: { ask }, requestTimeoutMs: 1000, requestNumber: 0, commitTimes };
  const writeOf = (id: number) =>
    ({ ...write, patience: new Patience({ monotonicMs: () => 0 }, leftMs(id)) }) as unknown as CommitContext;
  const quota = draft('quota', 10);
  const desks = new Desks<number>(() =>
    Promise.resolve({ add: () => {}, drafts: () => [quota], corrections: () => [quota] }),
  );
  const ids = Array.from({ length: writes }, (_, id) => id);
  await Promise.allSettled(ids.map((id) => desks.commit('a', id, writeOf(id), draft(`${id}`, bytes))));
  return sizes;
}

const messagesOf = async (writes: number, bytes: number): Promise<number[]> =>
  (await messages(writes, bytes, () => 1000)).map(([size]) => size);

test('what waits at a desk goes together, in messages that have room in one batch', async (t) => {
  // Whoever comes in one turn is served with the first; each message has the quota before them.
  t.deepEqual(await messagesOf(250, 100), [101, 101, 51]);
  t.deepEqual(await messagesOf(4, 300_000), [3, 3]);
  t.deepEqual(await messagesOf(1, 100), [1], 'who is alone is committed with what it uses');
});

test('who goes away while his write is committed with those of others does not take them along', async (t) => {
  const patience = [10_000, 9_900].map((leftMs) => new Patience({ monotonicMs: () => 0 }, leftMs));
  const signals: (boolean | undefined)[] = [];
  const ask = async ({ transactions }: { readonly transactions: readonly Transaction[] }, options: AskOptions) => {
    patience[1]!.end();
    signals.push(options.signal?.aborted);
    return { results: transactions.map(() => ({ ok: true, revision: 1, places: [] })) };
  };
  const commitTimes = { nowMs: () => 0, observe: () => {} };
  const desks = new Desks<number>(async () => ({
    add: () => {},
    drafts: () => [draft('quota', 10)],
    corrections: () => [],
  }));
  const results = patience.map((each, id) => {
    const write = { store: { ask }, requestTimeoutMs: 1000, requestNumber: 0, commitTimes, patience: each };
    return desks.commit('a', id, write as unknown as CommitContext, draft(`${id}`, 1));
  });
  t.deepEqual(
    (await Promise.all(results)).map(({ ok }) => ok),
    [true, true],
  );
  t.deepEqual(signals, [false]);
});

test('who has little time left at a desk takes none from those who have more, and who has none is not charged', async (t) => {
  const left = [10_000, 50, 9_700, 0, 9_900];
  t.deepEqual(await messages(left.length, 1, (id) => left[id]!), [
    [4, 9_700],
    [1, 50],
  ]);
});
