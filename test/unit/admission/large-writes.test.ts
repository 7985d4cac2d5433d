// Writes of what is large: between their steps others have their turn.
import { MessageChannel } from 'node:worker_threads';
import test from 'ava';
import { HeapShare, heapBytesOf } from '../../../actors/admission/heap-share.ts';
import { afterOthers, done } from '../../../actors/admission/large-writes.ts';
import { type InParts, isLarge } from '../../../api/in-parts.ts';
import { HeapRoom } from '../../../runtime/memory/heap-room.ts';
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

test('what is no large body counts nothing on the heap, one of many small values counts much', (t) => {
  const list = Buffer.from(JSON.stringify(Array<object>(200_000).fill({})));
  const contentType = 'application/json';
  t.is(heapBytesOf({ payload: list.subarray(0, 32_000), contentType }), 0);
  t.true(heapBytesOf({ payload: list, contentType }) > 100 * list.length);
});

/** Shares of a room for 10, and the names of those that have been let in. */
function shares() {
  const room = new HeapRoom(10);
  const order: string[] = [];
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const begin = (name: string, bytes: number): HeapShare => {
    const share = new HeapShare(room);
    void share.takeForBody(bytes).then(() => order.push(name));
    return share;
  };
  return { order, settled, begin };
}

test('of writes that take much of the heap others wait, in their order, until there is room; what takes more than all is alone', async (t) => {
  const { order, settled, begin } = shares();
  const a = begin('a', 6);
  const b = begin('b', 4);
  const huge = begin('huge', 11);
  begin('c', 1);
  await settled();
  t.deepEqual(order, ['a', 'b']);
  a.giveBack();
  a.giveBack();
  await settled();
  t.deepEqual(order, ['a', 'b'], 'nobody is overtaken');
  b.giveBack();
  await settled();
  t.deepEqual(order, ['a', 'b', 'huge']);
  huge.giveBack();
  await settled();
  t.deepEqual(order, ['a', 'b', 'huge', 'c']);
});

test('writes that come upon large objects have room before newcomers, one after the other, and never wait for each other', async (t) => {
  const { order, settled, begin } = shares();
  const a = begin('a', 5);
  const b = begin('b', 5);
  begin('c', 1);
  await settled();
  void a.takeForStored(4).then(() => order.push('a reads'));
  await settled();
  t.deepEqual(order, ['a', 'b'], 'b is at work and will make room');
  void b.takeForStored(4).then(() => order.push('b reads'));
  await settled();
  t.deepEqual(order, ['a', 'b', 'a reads'], 'both would wait for ever');
  void a.takeForStored(3).then(() => order.push('a reads again'));
  await settled();
  t.deepEqual(order, ['a', 'b', 'a reads', 'a reads again'], 'of one after the other it has the largest');
  a.giveBack();
  await settled();
  t.deepEqual(order.slice(4).sort(), ['b reads', 'c']);
});

test('a write that ends while a part of it waits for more gives everything back when that has come', async (t) => {
  const { order, settled, begin } = shares();
  const a = begin('a', 5);
  const b = begin('b', 5);
  await settled();
  const waiting = a.takeForStored(4);
  a.giveBack();
  const c = begin('c', 5);
  await settled();
  t.deepEqual(order, ['a', 'b']);
  b.giveBack();
  await waiting;
  await settled();
  t.deepEqual(order, ['a', 'b', 'c']);
  begin('d', 10);
  begin('e', 1);
  c.giveBack();
  await settled();
  t.deepEqual(order, ['a', 'b', 'c', 'd'], 'all ten are there, and d is known to be at work');
});

test('a large write is not begun while others take the room on the heap, nor when its client waits no more; a small one is', async (t) => {
  // The room of such a world is for one at a time.
  const world = await AdmissionWorld.start({ plugins: [] });
  const { timers } = world.simulation.environment;
  let commit = (): void => {};
  const begun = new Promise<void>((resolve) => {
    world.gate.beforeCommit = () => {
      resolve();
      return new Promise<void>((goOn) => {
        commit = goOn;
      });
    };
  });
  const data = { text: 'x'.repeat(300 * 1024) };
  const create = (name: string, more: object): Promise<number> => {
    const body = { metadata: { name }, ...more };
    return world
      .soon('create', '/api/v1/namespaces/default/configmaps', { body, deadlineMs: name === 'late' ? 1_000 : 30_000 })
      .then(({ code }) => code);
  };
  const first = create('first', { data });
  await world.during(begun);
  const before = world.gate.commits;
  const second = create('second', { data });
  const late = t.throwsAsync(create('late', { data }));
  t.is(await world.during(create('small', {})), 201);
  await world.during(late);
  await world.during(new Promise<void>((resolve) => timers.after(5_000, resolve)));
  t.is(world.gate.commits, before + 1, 'the small one');
  commit();
  t.deepEqual(await world.during(Promise.all([first, second])), [201, 201]);
  t.is(await world.stored('/api/v1/namespaces/default/configmaps/late'), undefined);
  t.is(await world.during(create('next', { data })), 201);
  await world.stop();
});

for (const [verb, path, request] of [
  ['patch', '/it', { body: { data: { more: 'y' } } }],
  ['delete', '/it', {}],
] as const) {
  test(`a ${verb} of a large object waits for room on the heap, however little it says itself`, async (t) => {
    const world = await AdmissionWorld.start({ plugins: [] });
    const collection = '/api/v1/namespaces/default/configmaps';
    const data = { text: 'x'.repeat(300 * 1024) };
    await world.created(collection, { metadata: { name: 'it' }, data });
    const { timers } = world.simulation.environment;
    let commit = (): void => {};
    const begun = new Promise<void>((resolve) => {
      world.gate.beforeCommit = () => {
        resolve();
        return new Promise<void>((goOn) => {
          commit = goOn;
        });
      };
    });
    const first = world.soon('create', collection, { body: { metadata: { name: 'first' }, data } });
    await world.during(begun);
    const before = world.gate.commits;
    const second = world.soon(verb, `${collection}${path}`, request);
    await world.during(new Promise<void>((resolve) => timers.after(5_000, resolve)));
    t.is(world.gate.commits, before);
    commit();
    t.deepEqual(
      (await world.during(Promise.all([first, second]))).map(({ code }) => code),
      [201, 200],
    );
    await world.stop();
  });
}

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
