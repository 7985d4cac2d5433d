// What is behind the first of its message in a store that shares its engine: committed with it in one step, which nobody ever sees a
// part of, or not at all.
import test, { type ExecutionContext } from 'ava';
import type { TransactionResult } from '../../../actors/store/protocol.ts';
import { REVISION_STRIDE } from '../../../storage/engines/shared-engine.ts';
import type { EtcdModel } from '../../simulation/etcd-model.ts';
import { engineOn, quietModel } from './shared-rig.ts';
import { MessageWriter } from './store-model.ts';
import { DEADLINE_MS, type Rig, startRig } from './store-rig.ts';

const alive = setInterval(() => {}, 60_000);
test.after.always(() => clearInterval(alive));
const FIRST = 'core/resourcequotas/default/q';
const behindKey = (name: string): string => `core/pods/default/${name}`;

async function rigOf(t: ExecutionContext, model: EtcdModel): Promise<Rig> {
  const rig = await startRig({ options: { engine: () => engineOn(model) } });
  t.teardown(() => rig.running.stop());
  return rig;
}

/** A write of the quota that expects a revision, and behind it a pod for each name. */
async function commitBehind(rig: Rig, expect: number, names: readonly string[]): Promise<readonly TransactionResult[]> {
  const writer = new MessageWriter();
  writer.transaction([writer.put(FIRST, expect, `used ${names.length}`)]);
  for (const name of names) writer.transaction([writer.put(behindKey(name), 0, name)]);
  const [first, ...behind] = writer.transactions;
  const transactions = [first!, ...behind.map((each) => ({ ...each, isBehindFirst: true }))];
  const message = { type: 'commit' as const, transactions, payload: writer.payload };
  return (await rig.store.ask(message, { deadlineMs: DEADLINE_MS })).results;
}

const stepOf = (result: TransactionResult): number => (result.ok ? Math.floor(result.revision / REVISION_STRIDE) : 0);

test('what is behind the first is committed in its step of the engine, and others never see the first without it', async (t) => {
  const rig = await rigOf(t, quietModel());
  const results = await commitBehind(rig, 0, ['a', 'b', 'c']);
  t.true(results.every(({ ok }) => ok));
  t.is(new Set(results.map(stepOf)).size, 1);
});

test('what is behind a first that another store was faster than is not committed', async (t) => {
  const model = quietModel();
  const [one, other] = [await rigOf(t, model), await rigOf(t, model)];
  const revision = await one.put(FIRST, 'x');
  // Neither knows of the other's write while both are under way.
  const both = await Promise.all([commitBehind(one, revision, ['a', 'b']), commitBehind(other, revision, ['c', 'd'])]);
  const won = both.filter(([first]) => first!.ok);
  t.is(won.length, 1);
  t.true(won[0]!.every(({ ok }) => ok));
  const [lost] = both.filter(([first]) => !first!.ok);
  t.true(lost!.every(({ ok }) => !ok));
  t.like(lost!.at(-1), { reason: 'guard', key: FIRST });
});

test('what is behind the first and lost to another store begins again, and is not committed after the first', async (t) => {
  const model = quietModel();
  const [one, other] = [await rigOf(t, model), await rigOf(t, model)];
  const writer = new MessageWriter();
  writer.transaction([writer.put(FIRST, 0, 'used 2')]);
  for (const name of ['a', 'b']) writer.transaction([writer.put(behindKey(name), -1, name)]);
  const { payload } = writer;
  const transactions = writer.transactions.map((each, index) =>
    index === 0 ? each : { ...each, isBehindFirst: true },
  );
  // Neither knows of the other's write while both are under way.
  const [, { results }] = await Promise.all([
    other.put(behindKey('a')),
    one.store.ask({ type: 'commit', transactions, payload }, { deadlineMs: DEADLINE_MS }),
  ]);
  t.like(results[1], { ok: false, reason: 'changed', key: behindKey('a') });
  t.true(stepOf(results[0]!) > 0);
  t.is(stepOf(results[0]!), stepOf(results[2]!));
});

test('of what is behind the first, what is there already is refused, and the second of a name begins again', async (t) => {
  const rig = await rigOf(t, quietModel());
  await rig.put(behindKey('a'), 'x');
  const [first, taken, fresh, second] = await commitBehind(rig, 0, ['a', 'b', 'b']);
  t.is(stepOf(first!), stepOf(fresh!));
  t.like(taken, { ok: false, reason: 'exists', key: behindKey('a') });
  t.like(second, { ok: false, reason: 'changed', key: behindKey('b') });
});

test('what has no room in the batch of its first begins again, and is not committed after it', async (t) => {
  const rig = await rigOf(t, quietModel());
  const names = Array.from({ length: 140 }, (_, at) => `p${at}`);
  const results = await commitBehind(rig, 0, names);
  const held = results.filter(({ ok }) => ok);
  t.is(new Set(held.map(stepOf)).size, 1);
  t.true(held.length > 100 && held.length < results.length);
  t.true(results.slice(held.length).every((result) => !result.ok && result.reason === 'changed'));
});
