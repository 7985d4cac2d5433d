// Writes of what is large: between their steps others have their turn.
import { MessageChannel } from 'node:worker_threads';
import test from 'ava';
import { afterOthers, isLarge } from '../../../actors/admission/large-writes.ts';

test('what is put off comes behind an event that waits, and behind what that puts off', async (t) => {
  const order: string[] = [];
  const timers = { soon: (callback: () => void) => setImmediate(callback) };
  const { port1, port2 } = new MessageChannel();
  const told = new Promise<void>((resolve) => {
    port2.on('message', () => {
      order.push('message');
      port1.close();
      resolve();
    });
  });
  port1.postMessage('here');
  await new Promise((resolve) => setImmediate(resolve));
  await afterOthers({ context: { timers } } as unknown as Parameters<typeof afterOthers>[0]);
  order.push('later');
  await told;
  t.deepEqual(order, ['message', 'later']);
});

test('large is what takes a thread some milliseconds a step', (t) => {
  t.false(isLarge(200 * 1024));
  t.true(isLarge(300 * 1024));
});
