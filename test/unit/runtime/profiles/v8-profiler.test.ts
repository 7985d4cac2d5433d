import { performance } from 'node:perf_hooks';
import test from 'ava';
import type { ThreadProfile } from '../../../../runtime/profiles/thread-profile.ts';
import { V8Profiler } from '../../../../runtime/profiles/v8-profiler.ts';
import { realEnvironment } from '../../../../runtime/real-environment.ts';

const held: number[][] = [];

function spinConspicuously(): number {
  let sum = 0;
  for (const end = performance.now() + 50; performance.now() < end; ) sum += Math.sqrt(sum + 1);
  return sum;
}

function allocateConspicuously(): void {
  for (let index = 0; index < 100; index++) held.push(new Array<number>(4000).fill(index));
}

/** Calls what is to be seen until the profile is there. */
async function during<T>(taken: Promise<T>, call: () => void): Promise<T> {
  let isTaken = false;
  const ended = taken.finally(() => {
    isTaken = true;
  });
  while (!isTaken) {
    call();
    await new Promise((resolve) => void setImmediate(resolve));
  }
  return ended;
}

function amountAt({ functions, calls, samples }: ThreadProfile, name: string): number {
  const isBelow = (call: number): boolean => {
    for (let at = call; at !== -1; at = calls[at]![0]) if (functions[calls[at]![1]]![0] === name) return true;
    return false;
  };
  return samples.filter(([call]) => isBelow(call)).reduce((sum, [, , amount]) => sum + amount, 0);
}

test.serial('a profile of work names the functions that were busy', async (t) => {
  const profiler = new V8Profiler('here', realEnvironment.timers);
  const profile = await during(profiler.take('cpu', 200), spinConspicuously);
  t.is(profile.thread, 'here');
  t.true(amountAt(profile, 'spinConspicuously') > 0);
  t.false(profile.samples.some(([call]) => profile.functions[profile.calls[call]![1]]![0] === '(idle)'));
});

test.serial('what taking a profile costs is not in it', async (t) => {
  const profile = await during(new V8Profiler('here', realEnvironment.timers).take('cpu', 50), () => {});
  t.true(profile.functions.some(([name]) => name === '#sampleCpu'));
  t.is(amountAt(profile, '#sampleCpu'), 0);
});

test.serial(
  'what is held since the heap is followed is named at any time, and what is held no more is not',
  async (t) => {
    const profiler = new V8Profiler('here', realEnvironment.timers);
    await profiler.followHeap();
    for (let times = 0; times < 4; times++) allocateConspicuously();
    const most = 400 * 4000 * 8;
    const all = amountAt(await profiler.take('heap', 0), 'allocateConspicuously');
    t.true(all > most / 4 && all < most * 4, `${all}`);
    const later = await during(profiler.take('heap', 50), () => {});
    t.is(amountAt(later, 'allocateConspicuously'), 0);
    held.length = 0;
    await profiler.collect();
    t.true(amountAt(await profiler.take('heap', 0), 'allocateConspicuously') < all / 4);
  },
);

test.serial('a profile of all allocations ends what was followed, which begins anew', async (t) => {
  const profiler = new V8Profiler('here', realEnvironment.timers);
  await profiler.followHeap();
  for (let times = 0; times < 4; times++) allocateConspicuously();
  await during(profiler.take('allocs', 50), () => {});
  t.is(amountAt(await profiler.take('heap', 0), 'allocateConspicuously'), 0);
  for (let times = 0; times < 4; times++) allocateConspicuously();
  t.true(amountAt(await profiler.take('heap', 0), 'allocateConspicuously') > 0);
  held.length = 0;
});

for (const kind of ['heap', 'allocs'] as const) {
  test.serial(`a profile of ${kind} names the functions that allocated`, async (t) => {
    const profiler = new V8Profiler('here', realEnvironment.timers);
    const profile = await during(profiler.take(kind, 200), allocateConspicuously);
    t.true(amountAt(profile, 'allocateConspicuously') > 4000 * 8);
    held.length = 0;
  });
}

test.serial('one profile is taken at a time, and the next one once that is over', async (t) => {
  const profiler = new V8Profiler('here', realEnvironment.timers);
  const first = profiler.take('cpu', 50);
  await t.throwsAsync(profiler.take('heap', 50), { message: 'a profile of this thread is being taken' });
  await during(first, spinConspicuously);
  const trace = JSON.parse((await during(profiler.trace(50), spinConspicuously)).profile) as { nodes: unknown[] };
  t.true(trace.nodes.length > 0);
});
