// How many large objects are on their way to conversion webhooks at a time.
import test from 'ava';
import type { AdmissionProtocol } from '../../../actors/admission/protocol.ts';
import { OutsideConversion } from '../../../actors/ingress/outside-conversion.ts';
import { isStatusError } from '../../../api/status/status.ts';
import type { Ref } from '../../../runtime/actor.ts';
import { createSimulation } from '../../../runtime/simulation/simulation.ts';

const nobody = { ask: () => Promise.reject(new Error('nobody converts here')) } as unknown as Ref<AdmissionProtocol>;
const MEBIBYTE = 1024 * 1024;

/** Conversions that go on for as long as a test wants. */
function world() {
  const { time, environment } = createSimulation(1);
  const conversion = new OutsideConversion(nobody, 60_000, environment.timers);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const begin = (name: string, bytes: number): Promise<void> =>
    conversion.whenThereIsRoom(bytes, () => {
      begun.push(name);
      return new Promise<void>((resolve) => {
        ends.set(name, resolve);
      });
    });
  return { time, begin, begun, end: (name: string) => ends.get(name)!() };
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
