// A store that shares its engine while the engine refuses, does not answer, or is left.
import test from 'ava';
import type { ActorContext } from '../../../runtime/actor.ts';
import { OrchError } from '../../../runtime/errors.ts';
import { realEnvironment } from '../../../runtime/real-environment.ts';
import type { EtcdEngine } from '../../../storage/etcd/etcd-engine.ts';
import { engineOn, quietModel } from './shared-rig.ts';
import { MessageWriter } from './store-model.ts';
import { DEADLINE_MS, gate, gauge, type Rig, rigFor, settle, startRig, until } from './store-rig.ts';

/** Timers of the environment alone keep no process alive. */
const alive = setInterval(() => {}, 60_000);
test.after.always(() => clearInterval(alive));
const KEY = 'core/configmaps/default/a';
const OTHER_KEY = 'core/configmaps/default/b';
const THIRD_KEY = 'core/configmaps/default/c';
const ROUNDS = 20;
const GIVEN_UP_A_ROUND = 64;
const RETRY_MS = 250;
const NEVER_MS = 2 ** 31 - 1;
const FULL = new OrchError('StorageFull', 'no room');

/** An engine whose commits go through `inner`, with how often it was asked for one. */
function engineWith(inner: (commit: EtcdEngine['commit']) => EtcdEngine['commit']): [EtcdEngine, () => number] {
  const engine = engineOn(quietModel());
  const commit = inner(engine.commit.bind(engine));
  let asked = 0;
  engine.commit = (batch) => {
    asked++;
    return commit(batch);
  };
  return [engine, () => asked];
}

/** Writes a key, unless that is given up before. */
function putUntil(rig: Rig, key: string, signal: AbortSignal): Promise<unknown> {
  const writer = new MessageWriter();
  writer.transaction([writer.put(key, -1, 'x')]);
  const { transactions, payload } = writer;
  return rig.store.ask({ type: 'commit', transactions, payload }, { deadlineMs: DEADLINE_MS, signal });
}

test('an engine that refuses is not asked again for a moment, and then stores again', async (t) => {
  let isFull = true;
  let nowMs = 1000;
  const [engine, asked] = engineWith((commit) => (batch) => (isFull ? Promise.reject(FULL) : commit(batch)));
  const clock = { ...realEnvironment.clock, nowMs: () => nowMs, monotonicMs: () => nowMs };
  const rig = await rigFor(t, { options: { engine: () => engine }, environment: { ...realEnvironment, clock } });
  t.is(gauge(rig, 'writable'), 1);
  for (let tries = 0; tries < 3; tries++) await t.throwsAsync(rig.put(KEY), { message: FULL.message });
  t.deepEqual([asked(), gauge(rig, 'writable')], [1, 0]);
  nowMs += RETRY_MS;
  await t.throwsAsync(rig.put(KEY), { message: FULL.message });
  t.is(asked(), 2);
  nowMs += RETRY_MS;
  isFull = false;
  t.true((await rig.put(KEY)) > 0);
  t.true((await rig.put(KEY)) > 0, 'without waiting for another moment');
  t.is(gauge(rig, 'writable'), 1);
});

test('who needs a state that the engine does not give is refused with the reason', async (t) => {
  const engine = engineOn(quietModel());
  const rig = await rigFor(t, { options: { engine: () => engine } });
  await rig.put(KEY);
  engine.readBarrier = () => Promise.reject(new OrchError('StoreUnusable', 'no answer'));
  await t.throwsAsync(
    rig.commit((writer) => [writer.put(KEY, 0, 'x')]),
    { message: 'no answer' },
  );
  t.true((await rig.put(KEY)) > 0);
});

test('a store that stops answers what its engine has, and leaves the engine then', async (t) => {
  const held = gate();
  const [engine, asked] = engineWith((commit) => (batch) => held.passed.then(() => commit(batch)));
  const close = engine.close.bind(engine);
  const order: string[] = [];
  engine.close = () => {
    order.push('closed');
    return close();
  };
  const rig = await startRig({
    options: { engine: () => engine },
    // The time for which a stop waits is never over.
    environment: {
      ...realEnvironment,
      timers: { ...realEnvironment.timers, after: (_, then) => realEnvironment.timers.after(NEVER_MS, then) },
    },
    onReply: (type) => {
      if (type === 'commit') order.push('answered');
    },
  });
  const put = rig.put(KEY);
  while (asked() === 0) await settle();
  const stopping = rig.running.stop();
  await settle();
  t.deepEqual(order, []);
  held.open();
  await Promise.all([put, stopping]);
  t.deepEqual(order, ['answered', 'closed']);
});

test('a store that stops leaves an engine that does not answer', async (t) => {
  const [engine, asked] = engineWith(() => () => new Promise(() => {}));
  const { timers } = realEnvironment;
  const rig = await startRig({
    options: { engine: () => engine },
    // Whatever may take less than an ask is over at once.
    environment: {
      ...realEnvironment,
      timers: { ...timers, after: (delayMs, then) => timers.after(delayMs < DEADLINE_MS ? 0 : delayMs, then) },
    },
  });
  rig.put(KEY).catch(() => {});
  while (asked() === 0) await settle();
  let hasStopped = false;
  void rig.running.stop().then(() => {
    hasStopped = true;
  });
  await until(() => hasStopped);
  t.is(rig.running.crashes.size, 0);
});

test('an engine that cannot be followed is left', async (t) => {
  const engine = engineOn(quietModel());
  let closed = 0;
  engine.follow = () => Promise.reject(new OrchError('StoreUnusable', 'it is damaged'));
  engine.close = async () => void closed++;
  await t.throwsAsync(startRig({ options: { engine: () => engine } }), { message: /it is damaged/ });
  t.is(closed, 1);
});

test('a write that etcd has not answered for longer than it may take is what keeps the store from being healthy', async (t) => {
  let nowMs = 1000;
  const held = gate();
  const [engine, asked] = engineWith((commit) => (batch) => held.passed.then(() => commit(batch)));
  const clock = { ...realEnvironment.clock, nowMs: () => nowMs, monotonicMs: () => nowMs };
  const options = { engine: () => engine, healthcheckTimeoutMs: 2000 };
  const rig = await rigFor(t, { options, environment: { ...realEnvironment, clock } });
  const health = async (): Promise<string> => {
    const { healthy, reason } = await rig.store.ask({ type: 'health' }, { deadlineMs: DEADLINE_MS });
    t.is(healthy, reason === '');
    return reason;
  };
  const puts = [rig.put(KEY)];
  while (asked() === 0) await settle();
  nowMs += 2000;
  t.is(await health(), '');
  nowMs++;
  puts.push(rig.put(OTHER_KEY));
  t.is(await health(), 'a commit has been waiting for etcd for more than 2000 ms');
  held.open();
  await Promise.all(puts);
  t.is(await health(), '');
});

test('a message of no transactions is answered, also by a store that shares its engine', async (t) => {
  const rig = await rigFor(t, { options: { engine: () => engineOn(quietModel()) } });
  const message = { type: 'commit' as const, transactions: [], payload: new Uint8Array() };
  t.deepEqual((await rig.store.ask(message, { deadlineMs: DEADLINE_MS })).results, []);
});

test('what etcd need not remember is forgotten in turns, also behind a turn that failed', async (t) => {
  const engine = engineOn(quietModel());
  let turns = 0;
  engine.compact = async () => {
    if (turns++ === 0) throw new OrchError('StoreUnusable', 'no answer');
  };
  const rig = await rigFor(t, { options: { engine: () => engine, compactionIntervalMs: 1 } });
  await until(() => turns > 2);
  t.true((await rig.put(KEY)) > 0);
});

test('a write that was given up while etcd stood still is not made when it goes on', async (t) => {
  const held = gate();
  const [engine, asked] = engineWith((commit) => (batch) => held.passed.then(() => commit(batch)));
  const rig = await rigFor(t, { options: { engine: () => engine } });
  const first = rig.put(KEY);
  while (asked() === 0) await settle();
  const late = new AbortController();
  const given = t.throwsAsync(putUntil(rig, OTHER_KEY, late.signal));
  const kept = rig.put(THIRD_KEY);
  await settle();
  late.abort();
  await given;
  held.open();
  await Promise.all([first, kept]);
  await rig.put(KEY);
  const digests = await rig.store.ask({ type: 'digests' }, { deadlineMs: DEADLINE_MS });
  t.is(digests.resources.find(({ storageKey }) => storageKey === 'core/configmaps')?.objects, 2);
});

test('while etcd stands still, writes that are given up leave the store room for others', async (t) => {
  const held = gate();
  const [engine, asked] = engineWith((commit) => (batch) => held.passed.then(() => commit(batch)));
  const rig = await rigFor(t, { options: { engine: () => engine } });
  const first = rig.put(KEY);
  while (asked() === 0) await settle();
  for (let round = 0; round < ROUNDS; round++) {
    const late = Array.from({ length: GIVEN_UP_A_ROUND }, () => new AbortController());
    const given = late.map(({ signal }) => putUntil(rig, OTHER_KEY, signal).catch(() => {}));
    await settle();
    for (const one of late) one.abort();
    await Promise.all(given);
  }
  const { unanswered } = rig.running.stats().find(({ name }) => name === 'store')!;
  t.true(unanswered <= 3 * GIVEN_UP_A_ROUND, `${unanswered} wait`);
  held.open();
  await first;
});

test('why consistent reads are refused is said once for each reason, and when they are answered again', async (t) => {
  const engine = engineOn(quietModel());
  const readBarrier = engine.readBarrier.bind(engine);
  const lines: unknown[] = [];
  let reason = '';
  engine.readBarrier = () => (reason === '' ? readBarrier() : Promise.reject(new OrchError('StoreUnusable', reason)));
  const options = {
    engine: ({ log }: ActorContext) => {
      log.warn = (line: object) => lines.push(line);
      log.info = (_line: object, text?: string) => text?.startsWith('the store says') && lines.push(text);
      return engine;
    },
  };
  const rig = await rigFor(t, { options });
  const ask = () => rig.store.ask({ type: 'barrier' }, { deadlineMs: DEADLINE_MS });
  for (reason of ['permission denied', 'permission denied', 'no answer', 'permission denied'])
    await t.throwsAsync(ask());
  reason = '';
  await ask();
  await ask();
  t.deepEqual(lines, [{ reason: 'permission denied' }, { reason: 'no answer' }, 'the store says how new it is again']);
});
