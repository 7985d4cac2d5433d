// Stores on one etcd that do not all have the keys of what lies there, and values of nobody's: what readers are told, what is refused,
// and how it heals.
import test, { type ExecutionContext } from 'ava';
import { UnreadableValues } from '../../../actors/store/readers/unreadable-values.ts';
import { PassingFailures } from '../../../actors/store/sequencing/passing-failures.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import { realEnvironment } from '../../../runtime/real-environment.ts';
import { unreadable } from '../../../storage/encryption/sealed-value.ts';
import { CREATED } from '../../../storage/records/slab-record.ts';
import type { EtcdModel } from '../../simulation/etcd-model.ts';
import { encryption, keyed } from '../storage/encryption/encryption-world.ts';
import { engineOn, quietModel } from './shared-rig.ts';
import { DEADLINE_MS, type Rig, rigFor, until } from './store-rig.ts';

/** Timers of the environment alone keep no process alive. */
const alive = setInterval(() => {}, 60_000);
test.after.always(() => clearInterval(alive));
const SECRET = 'core/secrets/default/s';
const MAP = 'core/configmaps/default/m';
const OTHER_MAP = 'core/configmaps/default/o';
const PLACE = '/registry/orch/objects/';
const NO_KEY = 'no matching key was found for the provided AES transformer';
const KEYS = { a: keyed('aescbc', 'a', 1), b: keyed('aescbc', 'b', 2) };

function storeWith(t: ExecutionContext, model: EtcdModel, ...keys: readonly (keyof typeof KEYS)[]): Promise<Rig> {
  const values = encryption([...keys.map((key) => KEYS[key]), { kind: 'identity' }]);
  return rigFor(t, { options: { engine: () => engineOn(model), encryption: async () => values } });
}

/** What a follower has been told last of what cannot be read. */
function toldBy({ followers }: Rig) {
  return followers[0]!.batches.findLast((batch) => batch.unreadable !== undefined)?.unreadable;
}

function leave(model: EtcdModel, key: string, value: string | undefined): void {
  const there = PLACE + key;
  const change = value === undefined ? { delete: { key: there } } : { put: { key: there, value: Buffer.from(value) } };
  model.transact({ compare: [], success: [change], failure: [] });
}

test('a value under a key that a store does not have is told as such, and everything else goes on', async (t) => {
  const model = quietModel();
  const one = await storeWith(t, model, 'a');
  const other = await storeWith(t, model, 'b');
  await one.followers[0]!.subscribe();
  await other.put(SECRET);
  await until(() => toldBy(one) !== undefined);
  t.like(toldBy(one), [{ key: SECRET, path: PLACE + SECRET, why: NO_KEY, isKnown: false }]);
  t.true((await one.put(MAP)) > 0);
  t.true((await other.put(MAP)) > 0);
  const both = await storeWith(t, model, 'a', 'b');
  await both.put(SECRET);
  await until(() => toldBy(one)?.length === 0);
  t.is(one.followers[0]!.state.get(SECRET)?.type, CREATED, 'to who had heard nothing of it');
});

test('what cannot be read is not written over: who expects nothing there is told that it is taken', async (t) => {
  const model = quietModel();
  const one = await storeWith(t, model, 'a');
  await (await storeWith(t, model, 'b')).put(SECRET);
  const why = NO_KEY;
  t.like(await one.commit((writer) => [writer.put(SECRET, -1, 'x')]), { ok: false, reason: 'unreadable', why });
  t.like(await one.commit((writer) => [writer.put(SECRET, 0, 'x')]), { ok: false, reason: 'exists', why });
  t.like(await one.commit((writer) => [writer.remove(SECRET, -1)]), { ok: false, reason: 'unreadable', why });
  leave(model, SECRET, undefined);
  t.like(await one.commit((writer) => [writer.put(SECRET, 0, 'x')]), { ok: true });
});

test('a store that begins with values that it cannot read names them in its present state', async (t) => {
  const model = quietModel();
  const other = await storeWith(t, model, 'b');
  await other.put(SECRET);
  await other.put(MAP);
  leave(model, OTHER_MAP, 'garbage');
  const one = await storeWith(t, model, 'a');
  const present = await one.followers[0]!.subscribe();
  t.deepEqual(
    present.unreadable?.map(({ key, since, isKnown }) => [key, since, isKnown]),
    [
      [OTHER_MAP, 0, false],
      [SECRET, 0, false],
    ],
  );
  t.deepEqual([...one.followers[0]!.state.keys()], [MAP]);
  leave(model, SECRET, undefined);
  leave(model, OTHER_MAP, undefined);
  await until(() => toldBy(one)?.length === 0);
});

test('an object whose value is damaged is to readers what it was, until it goes', async (t) => {
  const model = quietModel();
  const one = await storeWith(t, model, 'a');
  const reader = one.followers[0]!;
  await reader.subscribe();
  await one.put(MAP, 'x');
  leave(model, MAP, 'garbage');
  await until(() => toldBy(one) !== undefined);
  t.like(toldBy(one), [{ key: MAP, isKnown: true }]);
  t.true((await one.store.ask({ type: 'barrier' }, { deadlineMs: DEADLINE_MS })).revision > 0);
  t.true(toldBy(one)![0]!.since > reader.state.get(MAP)!.revision);
  t.is(reader.state.get(MAP)?.data, 'x');
  leave(model, MAP, undefined);
  await until(() => toldBy(one)?.length === 0);
  t.false(reader.state.has(MAP));
});

test('each is said once in the log, and so many at a time', (t) => {
  let nowMs = 0;
  const lines: unknown[] = [];
  const log = { error: (line: unknown) => lines.push(line) };
  const clock = { monotonicMs: () => nowMs };
  const values = new UnreadableValues({ clock, log } as unknown as Pick<ActorContext, 'clock' | 'log'>);
  const add = (name: string): void =>
    values.add({ key: name, path: name, why: 'w', since: 0, isKnown: false }, `${name} cannot be read`);
  for (let n = 0; n < 30; n++) add(`k${n}`);
  for (let n = 0; n < 30; n++) add(`k${n}`);
  t.is(lines.length, 10);
  nowMs = 60_000;
  add('later');
  t.like(lines.at(-1) as object, { message: 'later cannot be read', leftOut: 20 });
  t.is(values.takeChanged()?.length, 31);
  t.is(values.takeChanged(), undefined);
});

test('that all can be read again is told where there was one that could not, and else nothing', (t) => {
  const log = { error: () => {}, info: () => {} };
  const clock = { monotonicMs: () => 0 };
  const values = new UnreadableValues({ clock, log } as unknown as Pick<ActorContext, 'clock' | 'log'>);
  values.clear();
  t.is(values.takeChanged(), undefined);
  values.add({ key: 'k', path: 'k', why: 'w', since: 3, isKnown: true }, 'k cannot be read');
  values.add({ key: 'k', path: 'k', why: 'x', since: 4, isKnown: false }, 'k cannot be read');
  t.deepEqual(values.takeChanged(), [{ key: 'k', path: 'k', why: 'x', since: 3, isKnown: true }]);
  values.clear();
  t.deepEqual(values.takeChanged(), []);
  t.is(values.size, 0);
  values.clear();
  t.is(values.takeChanged(), undefined);
  values.remove('k');
  t.is(values.takeChanged(), undefined);
});

test('values that no service gave a key for are looked at in turn, as long as there is one', async (t) => {
  const due: (() => void)[] = [];
  let cancelled = 0;
  const after = (_: number, run: () => void) => {
    due.push(run);
    return { cancel: () => void cancelled++ };
  };
  let passed = 0;
  const failures = new PassingFailures({ timers: { ...realEnvironment.timers, after } }, () => passed++);
  const looked: string[] = [];
  const away = (key: string) => (): never => {
    looked.push(key);
    throw unreadable(key, 'no answer', 'no answer', true);
  };
  for (const key of ['a', 'b', 'c']) failures.add(key, away(key));
  const look = async (): Promise<void> => {
    due.shift()!();
    await new Promise((resolve) => setImmediate(resolve));
  };
  for (let round = 0; round < 4; round++) await look();
  t.deepEqual(looked, ['a', 'b', 'c', 'a']);
  failures.remove('b');
  failures.remove('nobody');
  t.is(cancelled, 0);
  await look();
  t.is(looked.at(-1), 'c');
  failures.remove('a');
  failures.remove('c');
  t.is(cancelled, 1);
  t.is(passed, 0);
  await look();
  t.is(looked.length, 5, 'there is none');
  failures.add('d', away('d'));
  t.is(due.length, 1);
});

test('what a service gave no key for is looked at again until there is one', async (t) => {
  const due: (() => void)[] = [];
  const after = (_: number, run: () => void) => {
    due.push(run);
    return { cancel: () => void due.splice(due.indexOf(run), 1) };
  };
  let passed = 0;
  let isThere = false;
  const failures = new PassingFailures({ timers: { ...realEnvironment.timers, after } }, () => passed++);
  const look = async (): Promise<void> => {
    if (!isThere) throw unreadable(SECRET, 'no answer', 'no answer', true);
  };
  failures.add(SECRET, look);
  failures.add(MAP, look);
  for (let round = 0; round < 3; round++) {
    t.is(due.length, 1);
    due.shift()!();
    await until(() => due.length === 1);
  }
  isThere = true;
  due.shift()!();
  await until(() => passed === 1);
  t.is(due.length, 0);
  failures.remove(SECRET);
  failures.remove(MAP);
});

test('a value that has come or gone while it is looked at says nothing of the others, which are looked at on', async (t) => {
  const due: (() => void)[] = [];
  const after = (_: number, run: () => void) => {
    due.push(run);
    return { cancel: () => void due.splice(due.indexOf(run), 1) };
  };
  let passed = 0;
  const failures = new PassingFailures({ timers: { ...realEnvironment.timers, after } }, () => passed++);
  const answers: (() => void)[] = [];
  const slow = () => new Promise<void>((resolve) => void answers.push(resolve));
  failures.add(SECRET, slow);
  failures.add(MAP, slow);
  due.shift()!();
  failures.remove(SECRET);
  answers.shift()!();
  await until(() => due.length === 1);
  due.shift()!();
  failures.remove(MAP);
  answers.shift()!();
  await new Promise((resolve) => setImmediate(resolve));
  t.deepEqual([passed, due.length], [0, 0], 'there is none left to look at');
  failures.add(OTHER_MAP, slow);
  failures.remove(OTHER_MAP);
  failures.add(OTHER_MAP, slow);
  t.is(due.length, 1, 'the time begins anew');
});
