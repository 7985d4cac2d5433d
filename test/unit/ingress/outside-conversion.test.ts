// How many large objects are on their way to conversion webhooks at a time.
import test from 'ava';
import type { AdmissionProtocol } from '../../../actors/admission/protocol.ts';
import { convertedSize, OutsideConversion } from '../../../actors/ingress/outside-conversion.ts';
import { isStatusError } from '../../../api/status/status.ts';
import type { Ref } from '../../../runtime/actor.ts';
import { HeapRoom } from '../../../runtime/memory/heap-room.ts';
import { createSimulation } from '../../../runtime/simulation/simulation.ts';

const nobody = { ask: () => Promise.reject(new Error('nobody converts here')) } as unknown as Ref<AdmissionProtocol>;
const MEBIBYTE = 1024 * 1024;
const HEAP_ROOM_BYTES = 100;

/** Conversions that go on for as long as a test wants. */
function world() {
  const { time, environment } = createSimulation(1);
  const conversion = new OutsideConversion(nobody, 60_000, environment.timers, new HeapRoom(HEAP_ROOM_BYTES));
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const working = (name: string) => (): Promise<void> => {
    begun.push(name);
    return new Promise<void>((resolve) => {
      ends.set(name, resolve);
    });
  };
  const begin = (name: string, bytes: number, heapBytes = 0): Promise<void> =>
    conversion.whenThereIsRoom({ bytes, heapBytes }, working(name));
  return { time, conversion, working, begin, begun, end: (name: string) => ends.get(name)!() };
}

test('large objects are read for conversion when there is room for them, in the order in which they came', async (t) => {
  const { time, begin, begun, end } = world();
  const all = [begin('a', 3 * MEBIBYTE), begin('b', 4 * MEBIBYTE), begin('c', 3 * MEBIBYTE), begin('d', MEBIBYTE)];
  await time.runUntilIdle();
  t.deepEqual(begun, ['a', 'b']);
  end('a');
  await time.runUntilIdle();
  t.deepEqual(begun, ['a', 'b', 'c', 'd']);
  for (const name of ['b', 'c', 'd']) end(name);
  await Promise.all(all);
});

test('one that is larger than all the room is converted alone, and small ones wait for nobody', async (t) => {
  const { time, begin, begun, end } = world();
  const all = [begin('a', 20 * MEBIBYTE), begin('b', MEBIBYTE), begin('small', 1024)];
  await time.runUntilIdle();
  t.deepEqual(begun, ['small', 'a']);
  end('a');
  await time.runUntilIdle();
  t.deepEqual(begun, ['small', 'a', 'b']);
  for (const name of ['b', 'small']) end(name);
  await Promise.all(all);
});

test('who waits too long for room is told so, and takes none', async (t) => {
  const { time, begin, begun, end } = world();
  const first = begin('a', 8 * MEBIBYTE);
  const late = begin('b', MEBIBYTE);
  const refused = t.throwsAsync(late, { message: /too much else is being converted/ });
  await time.runUntilIdle();
  await time.advance(60_001);
  t.true(isStatusError(await refused));
  end('a');
  await first;
  const next = begin('c', 8 * MEBIBYTE);
  await time.runUntilIdle();
  t.deepEqual(begun, ['a', 'c']);
  end('c');
  await next;
});

test('large objects that have waited take room as any other, and keep none that wait behind them from it', async (t) => {
  const { time, begin, begun, end } = world();
  const all = [begin('a', 8 * MEBIBYTE), begin('b', 8 * MEBIBYTE), begin('c', 8 * MEBIBYTE)];
  await time.advance(30_000);
  end('a');
  await time.runUntilIdle();
  t.deepEqual(begun, ['a', 'b'], 'there is room for one');
  all.push(begin('d', MEBIBYTE));
  await time.advance(29_000);
  t.deepEqual(begun, ['a', 'b']);
  end('b');
  await time.runUntilIdle();
  t.deepEqual(begun, ['a', 'b', 'c']);
  // Those that have begun are late no more, whatever else waits by then.
  await time.advance(2000);
  end('c');
  await time.runUntilIdle();
  t.deepEqual(begun, ['a', 'b', 'c', 'd']);
  end('d');
  await Promise.all(all);
});

test('objects of any size wait for room on the heap, however slow the webhook is, and are refused where none comes in time', async (t) => {
  const { time, begin, begun, end } = world();
  const first = [begin('a', 1024, 60), begin('b', 1024, 40)];
  const late = begin('c', 1024, 10);
  const refused = t.throwsAsync(late, { message: /too much else is being converted/ });
  await time.runUntilIdle();
  t.deepEqual(begun, ['a', 'b']);
  await time.advance(60_001);
  t.true(isStatusError(await refused));
  const next = begin('d', 1024, 100);
  for (const name of ['a', 'b']) end(name);
  await Promise.all(first);
  await time.runUntilIdle();
  t.deepEqual(begun, ['a', 'b', 'd']);
  end('d');
  await next;
});

test('lists hold the room for what they keep until they are out, and the room for what is converted for as long as that takes', async (t) => {
  const { time, conversion, working, begin, begun, end } = world();
  const list = (name: string): Promise<void> =>
    conversion.keepingMany(40, async (share) => {
      const some = { bytes: 1024, heapBytes: 50 };
      await conversion.someOfMany(share, some, working(`${name}: some`));
      await conversion.someOfMany(share, some, working(`${name}: more`));
      await working(`${name}: out`)();
    });
  const lists = [list('a'), list('b')];
  await time.runUntilIdle();
  const object = begin('object', 1024, 20);
  await time.runUntilIdle();
  t.deepEqual(begun, ['a: some'], 'b keeps what it will have, and waits for the rest');
  for (const step of ['some', 'more', 'out']) {
    end(`a: ${step}`);
    await time.runUntilIdle();
  }
  t.deepEqual(begun.slice(1, 3), ['a: more', 'a: out']);
  t.deepEqual(begun.slice(3), ['b: some'], 'who holds some comes before newcomers');
  for (const step of ['some', 'more', 'out']) {
    end(`b: ${step}`);
    await time.runUntilIdle();
  }
  t.is(begun.at(-1), 'object');
  end('object');
  await Promise.all([...lists, object]);
});

test('what is converted counts on the heap by what is in it', (t) => {
  const empty = convertedSize(Buffer.from(JSON.stringify(Array<object>(1_000).fill({}))));
  const text = convertedSize(Buffer.from(JSON.stringify('x'.repeat(3_000))));
  t.true(empty.heapBytes > 100 * 1_000);
  t.true(text.heapBytes < 10 * 3_000);
});
