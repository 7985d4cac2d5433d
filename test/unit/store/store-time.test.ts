// The store where time and chance matter: on a virtual clock, with every order of messages that a seed brings about.
import test from 'ava';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { createSimulation, type Simulation, whileTimePasses } from '../../../runtime/simulation/simulation.ts';
import { SlowReader } from './slow-reader.ts';
import { DEADLINE_MS, gate, HeldEngine, type Rig, type RigSetup, startRig } from './store-rig.ts';

const A = 'core/pods/default/a';
const MINUTE_MS = 60_000;

/** A rig on virtual time, and the time. */
async function virtualRig(seed: number, setup: RigSetup = {}): Promise<{ rig: Rig; simulation: Simulation }> {
  const simulation = createSimulation(seed);
  const { environment, delivery, time } = simulation;
  const rig = await whileTimePasses(time, startRig({ ...setup, environment, delivery }));
  return { rig, simulation };
}

test('history is compacted when it is older than the interval, and its newest batch never', async (t) => {
  const { rig, simulation } = await virtualRig(1, { options: { compactionIntervalMs: 5 * MINUTE_MS } });
  const { time } = simulation;
  const [follower] = rig.followers;
  await whileTimePasses(time, follower!.subscribe());
  for (let minute = 0; minute < 4; minute++) {
    await whileTimePasses(time, rig.put(A, `${minute}`));
    await time.advance(MINUTE_MS);
  }
  await time.advance(MINUTE_MS / 4);
  t.is(follower!.compactedRevision, 0);
  await time.advance(MINUTE_MS);
  t.is(follower!.compactedRevision, 1);
  t.is(rig.engine.compactions.at(-1), 1);
  await time.advance(60 * MINUTE_MS);
  t.is(follower!.compactedRevision, 3);
  t.is((await whileTimePasses(time, follower!.subscribe())).history.length, 4);
  await whileTimePasses(time, rig.put(A, 'much later'));
  await time.advance(10 * MINUTE_MS);
  t.is(follower!.compactedRevision, 4);
  await whileTimePasses(time, rig.running.stop());
});

test('history that came with the store is compacted by its age', async (t) => {
  const engine = new HeldEngine();
  const first = await virtualRig(1, { engine });
  for (let n = 0; n < 3; n++) await whileTimePasses(first.simulation.time, first.rig.put(A, `${n}`));
  await whileTimePasses(first.simulation.time, first.rig.running.stop());
  const { rig, simulation } = await virtualRig(2, { engine, options: { compactionIntervalMs: MINUTE_MS } });
  const [follower] = rig.followers;
  await whileTimePasses(simulation.time, follower!.subscribe());
  t.is(follower!.compactedRevision, 0);
  await simulation.time.advance(2 * MINUTE_MS);
  t.is(follower!.compactedRevision, 2);
  await whileTimePasses(simulation.time, rig.running.stop());
});

test('history stamped by a clock that was ahead is compacted all the same', async (t) => {
  const engine = new HeldEngine();
  const first = await virtualRig(1, { engine });
  await first.simulation.time.advance(365 * 24 * 60 * MINUTE_MS);
  for (let n = 0; n < 3; n++) await whileTimePasses(first.simulation.time, first.rig.put(A, `${n}`));
  await whileTimePasses(first.simulation.time, first.rig.running.stop());
  const { rig, simulation } = await virtualRig(2, { engine, options: { compactionIntervalMs: MINUTE_MS } });
  await simulation.time.advance(2 * MINUTE_MS);
  const present = await whileTimePasses(simulation.time, rig.followers[0]!.subscribe());
  t.is(present.compactedRevision, 2);
  await whileTimePasses(simulation.time, rig.running.stop());
});

test('history is kept for its interval, however the clock on the wall is set meanwhile', async (t) => {
  for (const setMs of [-10 * MINUTE_MS, 10 * MINUTE_MS]) {
    const { rig, simulation } = await virtualRig(1, { options: { compactionIntervalMs: 5 * MINUTE_MS } });
    const { time } = simulation;
    const [follower] = rig.followers;
    await whileTimePasses(time, follower!.subscribe());
    await whileTimePasses(time, rig.put(A, 'before'));
    time.setWall(setMs);
    await time.advance(MINUTE_MS);
    await whileTimePasses(time, rig.put(A, 'after'));
    await time.advance(2 * MINUTE_MS);
    t.is(follower!.compactedRevision, 0);
    await time.advance(3 * MINUTE_MS);
    t.is(follower!.compactedRevision, 1);
    await whileTimePasses(time, rig.running.stop());
  }
});

test('writes that never cease do not put off compaction', async (t) => {
  const { rig, simulation } = await virtualRig(3, { options: { compactionIntervalMs: MINUTE_MS } });
  const { time } = simulation;
  const [follower] = rig.followers;
  await whileTimePasses(time, follower!.subscribe());
  // A commit takes longer than the pause between two: whenever a timer fires, one is under way.
  rig.engine.beforeCommit = () => new Promise((resolve) => void time.after(700, resolve));
  let stopped = false;
  const writer = async () => {
    while (!stopped) await rig.put(A);
  };
  const writers = [writer(), writer(), writer()];
  await time.advance(5 * MINUTE_MS);
  t.true(rig.engine.batches.length > 300);
  const committed = follower!.revision;
  t.true(follower!.compactedRevision > committed / 2, `${follower!.compactedRevision} of ${committed}`);
  stopped = true;
  await whileTimePasses(time, Promise.all(writers));
  await whileTimePasses(time, rig.running.stop());
});

test('health fails when a commit waits too long for the disk, and recovers with it', async (t) => {
  const { rig, simulation } = await virtualRig(4);
  const { time } = simulation;
  const health = () => whileTimePasses(time, rig.store.ask({ type: 'health' }, { deadlineMs: DEADLINE_MS }));
  const hold = gate();
  rig.engine.beforeCommit = () => hold.passed;
  const writing = rig.put(A);
  await time.advance(1000);
  t.true((await health()).healthy);
  await time.advance(1500);
  const sick = await health();
  t.false(sick.healthy);
  t.regex(sick.reason, /a commit has been waiting for the disk for more than 2000 ms/);
  hold.open();
  await whileTimePasses(time, writing);
  t.deepEqual(await health(), { healthy: true, revision: 1, reason: '' });
  await whileTimePasses(time, rig.running.stop());
});

test('health fails when the disk does not answer in time', async (t) => {
  const { rig, simulation } = await virtualRig(5);
  const { time } = simulation;
  const hold = gate();
  rig.engine.beforeProbe = () => hold.passed;
  const asking = rig.store.ask({ type: 'health' }, { deadlineMs: DEADLINE_MS });
  const health = await whileTimePasses(time, asking);
  t.deepEqual([health.healthy, health.reason], [false, 'the disk did not answer within 2000 ms']);
  hold.open();
  await whileTimePasses(time, rig.running.stop());
});

/** What a client was told: the revision of each of its writes. */
interface Told {
  readonly key: string;
  readonly data: string;
  readonly revision: number;
}

/** A client that writes by chance, reads the key's revision from the follower, and notes what is acknowledged. */
async function client(
  rig: Rig,
  name: string,
  random: SeededRandom,
  writes: number,
  told: Told[],
  problems: string[],
): Promise<void> {
  const [follower] = rig.followers;
  for (let n = 0; n < writes; n++) {
    const key = `core/pods/x/${random.below(20)}`;
    const data = `${name}-${n}`.padEnd(random.below(700), '.');
    const known = follower!.state.get(key)?.revision ?? 0;
    const expect = random.below(3) === 0 ? -1 : known;
    const isRemoval = known > 0 && random.below(5) === 0;
    const result = await rig.commit((w) => [isRemoval ? w.remove(key, expect) : w.put(key, expect, data)]);
    if (!result.ok) continue;
    if (follower!.shared!.committedRevision < result.revision) problems.push(`${result.revision} answered too early`);
    told.push({ key, data: isRemoval ? '' : data, revision: result.revision });
  }
}

for (const seed of [1, 2, 3, 4, 5, 6]) {
  test(`whatever the order of messages, acknowledged writes are what readers see, and nothing is overwritten under them (seed ${seed})`, async (t) => {
    const chance = new SeededRandom(seed * 1000);
    const settings = { slabBytes: 4096, historyEventsMax: 40, sparseShare: 0.6, batchTransactionsMax: 3 };
    const { rig, simulation } = await virtualRig(seed, { followers: 3, settings });
    const { time } = simulation;
    const [follower, slow, fickle] = rig.followers;
    rig.engine.beforeCommit = () => new Promise((resolve) => void time.after(chance.below(4), resolve));
    await whileTimePasses(time, follower!.subscribe());
    await whileTimePasses(time, fickle!.subscribe());

    // The slow one reports its epoch only now and then, and checks what it may read each time.
    slow!.reports = false;
    slow!.resubscribes = false;
    const reader = new SlowReader(slow!.slabs);
    const problems: string[] = [];
    let sequence = 0;
    slow!.onBatch = (batch) => {
      if (batch.sequence <= sequence) return;
      reader.apply(batch);
      sequence = batch.sequence;
      const overwritten = chance.below(4) === 0 ? reader.overwritten() : 0;
      if (overwritten > 0) problems.push(`${overwritten} records overwritten under a reader`);
      if (chance.below(6) === 0) {
        reader.letGo();
        slow!.shared!.setReaderEpoch(slow!.readerSlot, sequence);
      }
    };
    const takeUp = async () => {
      const present = await slow!.subscribe();
      reader.begin(present);
      sequence = present.sequence;
    };
    slow!.onLost = () => void takeUp();
    await whileTimePasses(time, takeUp());

    // The fickle one stops taking messages now and then, and is given up.
    const busy = time.every(40, () => (chance.below(2) === 0 ? rig.letGo(2) : rig.fill(2)));

    const told: Told[] = [];
    const clients = Array.from({ length: 6 }, (_, n) =>
      client(rig, `c${n}`, new SeededRandom(seed + n), 150, told, problems),
    );
    await whileTimePasses(time, Promise.all(clients), 1);
    busy.cancel();
    rig.letGo(2);
    await time.advance(1000);

    t.deepEqual(problems, []);
    t.is(reader.overwritten(), 0);
    told.sort((left, right) => left.revision - right.revision);
    t.deepEqual(
      told.map(({ revision }) => revision),
      told.map((_, index) => index + 1),
      'revisions are dense',
    );
    const expected = new Map<string, Told>();
    for (const write of told) {
      if (write.data === '') expected.delete(write.key);
      else expected.set(write.key, write);
    }
    const lines = (entries: Iterable<{ key: string; revision: number; data: string }>) =>
      [...entries].map(({ key, revision, data }) => `${key} @${revision} ${data}`).sort();
    for (const each of [follower!, slow!, fickle!]) t.deepEqual(lines(each.state.values()), lines(expected.values()));
    t.true(fickle!.timesLost > 0, 'the fickle one was given up');
    t.true(reader.reused > 50, 'memory was used again');
    t.true(
      rig.engine.batches.some(({ firstRevision, lastRevision }) => lastRevision > firstRevision),
      'batches were shared',
    );
    await whileTimePasses(time, rig.running.stop());
  });
}

test('a store that crashes at any moment and starts again has every acknowledged write', async (t) => {
  for (let seed = 1; seed <= 12; seed++) {
    const engine = new HeldEngine();
    const chance = new SeededRandom(seed * 77);
    const told: Told[] = [];
    let attempts = 0;
    for (let life = 0; life < 4; life++) {
      const { rig, simulation } = await virtualRig(seed * 10 + life, { engine, settings: { historyEventsMax: 30 } });
      const { time } = simulation;
      await whileTimePasses(time, rig.followers[0]!.subscribe());
      const state = new Map([...rig.followers[0]!.state].map(([key, { revision }]) => [key, revision]));
      for (const { key, revision } of told.slice(-5))
        t.true((state.get(key) ?? 0) >= revision, `seed ${seed}: ${key} is lost`);
      const lastTold = told.at(-1)?.revision ?? 0;
      t.true(rig.followers[0]!.revision >= lastTold, `seed ${seed}: at ${rig.followers[0]!.revision} of ${lastTold}`);
      let commits = 1 + chance.below(12);
      engine.beforeCommit = () =>
        new Promise((resolve, reject) => {
          time.after(chance.below(4), () => (--commits > 0 ? resolve() : reject(new Error('power cut'))));
        });
      const writers = Array.from({ length: 4 }, async () => {
        for (;;) {
          const key = `core/pods/x/${attempts++}`;
          told.push({ key, data: '', revision: await rig.put(key) });
        }
      });
      for (const writer of writers) writer.catch(() => {});
      await whileTimePasses(time, Promise.allSettled(writers), 1);
      t.is(rig.running.crashes.get('store')?.message, 'power cut');
      engine.beforeCommit = async () => {};
      await whileTimePasses(time, rig.running.stop());
      told.sort((left, right) => left.revision - right.revision);
    }
    t.true(told.length > 4);
  }
});
