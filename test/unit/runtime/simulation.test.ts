import test from 'ava';
import type { Actor, ActorDefinition, Protocol } from '../../../runtime/actor.ts';
import { MemoryDisk } from '../../../runtime/simulation/memory-disk.ts';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { createSimulation, whileTimePasses } from '../../../runtime/simulation/simulation.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';
import { startInProcess } from '../../../runtime/threads/in-process.ts';

test('timers fire at their moment, in the order of time and then of setting', async (t) => {
  const time = new VirtualTime();
  const fired: [string, number][] = [];
  const note = (name: string) => () => fired.push([name, time.monotonicMs()]);
  time.after(30, note('late'));
  time.after(10, note('first'));
  time.after(10, note('second'));
  time.after(0, note('now'));
  time.after(31, note('beyond'));
  time.after(5, note('cancelled')).cancel();
  await time.advance(30);
  t.deepEqual(fired, [
    ['now', 0],
    ['first', 10],
    ['second', 10],
    ['late', 30],
  ]);
  t.is(time.nextDueMs, 31);
});

test('a timer sees what an earlier one set going, promises included', async (t) => {
  const time = new VirtualTime();
  const seen: string[] = [];
  time.after(10, () => void Promise.resolve().then(() => Promise.resolve().then(() => seen.push('promise'))));
  time.after(10, () => seen.push('timer'));
  time.after(10, () => time.after(5, () => seen.push('nested')));
  await time.advance(20);
  t.deepEqual(seen, ['promise', 'timer', 'nested']);
});

test('repeating timers keep their rhythm until cancelled, also from within', async (t) => {
  const time = new VirtualTime();
  const fired: number[] = [];
  const timer = time.every(10, () => {
    fired.push(time.monotonicMs());
    if (fired.length === 3) timer.cancel();
  });
  await time.advance(100);
  t.deepEqual(fired, [10, 20, 30]);
  t.is(time.nextDueMs, undefined);
  t.is(time.nowMs(), Date.UTC(2026, 0, 1) + 100);
});

test('many timers set in any order fire in order', async (t) => {
  const time = new VirtualTime();
  const random = new SeededRandom(7);
  const fired: number[] = [];
  for (let count = 0; count < 500; count++) time.after(random.below(1000), () => fired.push(time.monotonicMs()));
  await time.advance(1000);
  t.is(fired.length, 500);
  t.deepEqual(
    fired,
    [...fired].sort((left, right) => left - right),
  );
});

test('running until idle does everything but let time pass', async (t) => {
  const time = new VirtualTime();
  const seen: string[] = [];
  time.soon(() => time.soon(() => seen.push('soon')));
  time.after(1, () => seen.push('timer'));
  await time.runUntilIdle();
  t.deepEqual(seen, ['soon']);
  t.is(time.monotonicMs(), 0);
});

test('a seed decides all randomness, and another seed decides otherwise', (t) => {
  const draw = (seed: number) => {
    const random = new SeededRandom(seed);
    return [random.next(), random.uuid(), [...random.bytes(9)], random.below(10)];
  };
  t.deepEqual(draw(1), draw(1));
  t.notDeepEqual(draw(1), draw(2));
});

test('seeded numbers spread over their range, and uuids have their version', (t) => {
  const random = new SeededRandom(42);
  const buckets = new Array<number>(10).fill(0);
  for (let count = 0; count < 10_000; count++) buckets[Math.floor(random.next() * 10)]!++;
  t.true(
    buckets.every((count) => count > 850 && count < 1150),
    buckets.join(' '),
  );
  t.regex(random.uuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('the disk in memory keeps whole files and fails as a disk does', async (t) => {
  const disk = new MemoryDisk();
  await t.throwsAsync(disk.readFile('/data/a'), { code: 'ENOENT' });
  await t.throwsAsync(disk.writeFileAtomic('/data/a', Uint8Array.of(1)), { code: 'ENOENT' });
  await disk.makeDirectory('/data/deep');
  const bytes = Uint8Array.of(1, 2);
  await disk.writeFileAtomic('/data/a', bytes);
  bytes.fill(9);
  (await disk.readFile('/data/a')).fill(8);
  t.deepEqual([...(await disk.readFile('/data/a'))], [1, 2]);
  t.true(await disk.exists('/data/deep'));
  t.false(await disk.exists('/data/b'));
  await t.throwsAsync(disk.makeDirectory('/data/a/b'), { code: 'EEXIST' });
  await t.throwsAsync(disk.readFile('/data'), { code: 'EISDIR' });
});

interface GossipProtocol extends Protocol {
  readonly asks: { readonly heard: { readonly message: Record<never, never>; readonly reply: readonly string[] } };
  readonly tells: { readonly rumour: { readonly text: string; readonly hops: number } };
}

/** Three actors that pass rumours on at random moments: their history depends on every decision of the runtime. */
const gossips: readonly ActorDefinition<unknown>[] = ['ann', 'ben', 'cat'].map((self, place, all) => ({
  actor: self,
  mailboxMax: 1000,
  stopOrder: 1,
  create(context) {
    const heard: string[] = [];
    const others = () => all.filter((name) => name !== self).map((name) => context.refNamed<GossipProtocol>(name));
    const actor: Actor<GossipProtocol> = {
      async start() {
        context.timers.every(10 + place, () => {
          const text = `${self}@${context.clock.nowMs()}:${context.random.uuid().slice(0, 4)}`;
          for (const other of others()) other.tell({ type: 'rumour', text, hops: 2 });
        });
      },
      onMessage(message, reply) {
        if (message.type === 'heard') reply.send([...heard]);
        else {
          heard.push(message.text);
          if (message.hops === 0) return;
          const next = others()[Math.floor(context.random.next() * 2)]!;
          next.tell({ type: 'rumour', text: `${message.text}>${self}`, hops: message.hops - 1 });
        }
      },
    };
    return actor as unknown as Actor<Protocol>;
  },
}));

async function gossipFor(seed: number): Promise<readonly (readonly string[])[]> {
  const { environment, delivery, time } = createSimulation(seed);
  const starting = startInProcess({ actors: gossips, options: {}, environment, delivery, freezeMessages: true });
  const running = await whileTimePasses(time, starting);
  await time.advance(200);
  const histories = gossips.map(({ actor }) =>
    running.ref<GossipProtocol>(actor).ask({ type: 'heard' }, { deadlineMs: 60_000 }),
  );
  const heard = await whileTimePasses(time, Promise.all(histories));
  await whileTimePasses(time, running.stop());
  return heard;
}

test('the same seed gives the same history, message by message; another seed another', async (t) => {
  const history = await gossipFor(5);
  t.true(history.every((heard) => heard.length > 30));
  t.deepEqual(await gossipFor(5), history);
  t.notDeepEqual(await gossipFor(6), history);
});

test('deadlines pass in virtual time', async (t) => {
  const { environment, delivery, time } = createSimulation(1);
  const silent: ActorDefinition<unknown> = {
    actor: 'silent',
    mailboxMax: 10,
    stopOrder: 1,
    create: () => ({ onMessage() {} }),
  };
  const starting = startInProcess({ actors: [silent], options: {}, environment, delivery });
  const running = await whileTimePasses(time, starting);
  const ask = running.ref('silent').ask({ type: 'anything' } as never, { deadlineMs: 5000 });
  const failed = t.throwsAsync(ask, { message: /silent did not answer in time/ });
  await whileTimePasses(time, failed);
  t.true(time.monotonicMs() >= 5000 && time.monotonicMs() < 5200);
});
