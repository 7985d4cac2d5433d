// Writes of what is large: between their steps others have their turn.
import { MessageChannel } from 'node:worker_threads';
import test from 'ava';
import { afterOthers, done } from '../../../actors/admission/large-writes.ts';
import { type InParts, isLarge } from '../../../api/in-parts.ts';
import { AdmissionWorld } from './admission-world.ts';

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
  await afterOthers({ context: { timers } });
  order.push('later');
  await told;
  t.deepEqual(order, ['message', 'later']);
});

test('large is what takes a thread some milliseconds a step', (t) => {
  t.false(isLarge(200 * 1024));
  t.true(isLarge(300 * 1024));
});

test('of the steps that wait one a turn is taken, the first come first', async (t) => {
  let turns = 0;
  const timers = {
    soon: (callback: () => void) =>
      setImmediate(() => {
        turns += 1;
        callback();
      }),
  };
  const within = { context: { timers } };
  const taken: [name: string, turn: number][] = [];
  const write = async (name: string): Promise<void> => {
    for (let step = 0; step < 2; step++) {
      await afterOthers(within);
      taken.push([name, turns]);
    }
  };
  await Promise.all([write('a'), write('b'), write('c')]);
  t.deepEqual(
    taken.map(([name]) => name),
    ['a', 'b', 'c', 'a', 'b', 'c'],
  );
  t.is(new Set(taken.map(([, turn]) => turn)).size, 6);
});

test('parts of work on something large are done in turns of their own', async (t) => {
  const order: string[] = [];
  const timers = { soon: (callback: () => void) => setImmediate(callback) };
  const work = function* (): InParts<string> {
    for (const part of ['first', 'second', 'third']) {
      order.push(part);
      yield;
    }
    return 'done';
  };
  const parts = done({ context: { timers } }, true, work());
  setImmediate(() => order.push('another'));
  t.is(await parts, 'done');
  t.deepEqual(order, ['first', 'another', 'second', 'third']);
});

// The steps that follow take 34.
for (const [what, least, write] of [
  ['an apply', 50, { contentType: 'application/apply-patch+yaml', parameters: { fieldManager: 'me', force: 'true' } }],
  ['a strategic merge patch', 40, { contentType: 'application/strategic-merge-patch+json' }],
] as const) {
  test(`${what} of a large object lets others have a turn between merging, comparing and owning`, async (t) => {
    const world = await AdmissionWorld.start();
    const data = Object.fromEntries(Array.from({ length: 300 }, (_, number) => [`key-${number}`, 'x'.repeat(1024)]));
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'it' } };
    await world.write('create', '/api/v1/namespaces/default/configmaps', { body: { ...configMap, data } });
    const { timers } = world.simulation.environment;
    const soon = timers.soon.bind(timers);
    let turns = 0;
    timers.soon = (callback) => {
      turns += 1;
      soon(callback);
    };
    const { code } = await world.write('patch', '/api/v1/namespaces/default/configmaps/it', {
      ...write,
      body: { ...configMap, data: { 'key-1': 'y' } },
    });
    t.is(code, 200);
    t.true(turns >= least, String(turns));
    await world.stop();
  });
}
