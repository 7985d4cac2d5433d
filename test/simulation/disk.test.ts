// The simulated disk: a crash loses what was not synced and nothing else.
import test from 'ava';
import { VirtualTime } from '../../runtime/simulation/virtual-time.ts';
import type { EngineBatch } from '../../storage/engines/local-engine.ts';
import { type CommitFate, SimulatedDisk } from './disk.ts';

const GOOD: CommitFate = { delayMs: 10, fails: undefined, isKept: false };

function diskWith(fates: readonly CommitFate[]) {
  const time = new VirtualTime();
  const waiting = [...fates];
  const disk = new SimulatedDisk({
    tokenKey: new Uint8Array(32),
    nowMs: () => time.monotonicMs(),
    after: (delayMs, callback) => void time.after(delayMs, callback),
    nextFate: () => waiting.shift()!,
    onDurable: () => {},
  });
  return { time, disk };
}

function batch(revision: number): EngineBatch {
  const value = Uint8Array.of(revision);
  return { firstRevision: revision, lastRevision: revision, writes: [{ key: `k${revision}`, value }], events: value };
}

async function keysOf(disk: SimulatedDisk): Promise<string[]> {
  const keys: string[] = [];
  await disk.engine().loadValues((key) => keys.push(key));
  return keys;
}

test('a commit that was answered survives a crash, one that was not is lost', async (t) => {
  const { time, disk } = diskWith([GOOD, GOOD]);
  const engine = disk.engine();
  const first = engine.commit(batch(1));
  await time.advance(10);
  await first;
  const second = engine.commit(batch(2));
  disk.crash();
  t.deepEqual(await keysOf(disk), ['k1']);
  await time.advance(1000);
  t.is(await Promise.race([second.then(() => 'answered'), time.advance(1).then(() => 'unanswered')]), 'unanswered');
  t.deepEqual(await keysOf(disk), ['k1']);
});

test('a crash may leave what was on its way, in order and without gaps', async (t) => {
  const kept = { ...GOOD, isKept: true };
  const { disk } = diskWith([kept, GOOD, kept]);
  const engine = disk.engine();
  for (const revision of [1, 2, 3]) void engine.commit(batch(revision));
  disk.crash();
  t.deepEqual(await keysOf(disk), ['k1']);
});

test('a commit that fails may have reached the disk or not', async (t) => {
  for (const isKept of [false, true]) {
    const { time, disk } = diskWith([{ ...GOOD, fails: 'error', isKept }]);
    const failing = t.throwsAsync(disk.engine().commit(batch(1)));
    await time.advance(10);
    await failing;
    t.deepEqual(await keysOf(disk), isKept ? ['k1'] : []);
  }
});

test('the disk keeps its own copy of what it is given', async (t) => {
  const { time, disk } = diskWith([GOOD]);
  const given = batch(7);
  const committed = disk.engine().commit(given);
  given.writes[0]!.value![0] = 0;
  await time.advance(10);
  await committed;
  t.deepEqual([...disk.values.get('k7')!], [7]);
});
