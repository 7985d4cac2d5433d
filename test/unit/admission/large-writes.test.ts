// Writes of what is large: between their steps others have their turn.
import { MessageChannel } from 'node:worker_threads';
import test from 'ava';
import { HeapRoom, heapBytesOf } from '../../../actors/admission/heap-room.ts';
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

test('what is no large body counts nothing on the heap, one of many small values counts much', (t) => {
  const list = Buffer.from(JSON.stringify(Array<object>(200_000).fill({})));
  const contentType = 'application/json';
  t.is(heapBytesOf({ payload: list.subarray(0, 32_000), contentType }), 0);
  t.true(heapBytesOf({ payload: list, contentType }) > 100 * list.length);
});

test('of writes that take much of the heap others wait, in their order, until there is room; what takes more than all is alone', async (t) => {
  const room = new HeapRoom(10);
  const order: string[] = [];
  const ends = new Map<string, () => void>();
  const begin = (name: string, bytes: number): void =>
    room.whenRoom(bytes, () => {
      order.push(name);
      return new Promise((resolve) => ends.set(name, resolve));
    });
  const end = async (name: string): Promise<void> => {
    ends.get(name)!();
    await new Promise((resolve) => setImmediate(resolve));
  };
  begin('a', 6);
  begin('b', 4);
  begin('huge', 11);
  begin('c', 1);
  t.deepEqual(order, ['a', 'b']);
  await end('a');
  t.deepEqual(order, ['a', 'b'], 'nobody is overtaken');
  await end('b');
  t.deepEqual(order, ['a', 'b', 'huge']);
  room.whenRoom(1, () => void order.push('at once'));
  await end('huge');
  t.deepEqual(order, ['a', 'b', 'huge', 'c', 'at once']);
});

test('who finds that it needs more room goes before those that have not begun; where all wait for more, one of them goes on', async (t) => {
  const room = new HeapRoom(10);
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const begin = (name: string, bytes: number, more: number): void =>
    room.whenRoom(bytes, async () => {
      order.push(name);
      await turn();
      const giveBack = await room.more(more, true);
      order.push(`${name} has more`);
      await new Promise<void>((resolve) => ends.push(resolve));
      giveBack();
    });
  begin('a', 5, 1);
  begin('b', 4, 5);
  begin('c', 2, 1);
  await turn();
  const giveBack = room.more(3, false).then((give) => {
    order.push('d');
    return give;
  });
  await turn();
  t.deepEqual(order, ['a', 'b', 'a has more'], 'ten are taken');
  ends[0]!();
  await turn();
  t.deepEqual(order.slice(3), ['b has more'], 'd came behind b, and c has not begun');
  ends[1]!();
  await turn();
  await turn();
  t.deepEqual(order.slice(4).toSorted(), ['c', 'c has more', 'd']);
  (await giveBack)();
  ends[2]!();
  await turn();
  begin('e', 6, 6);
  begin('f', 4, 4);
  await turn();
  await turn();
  t.deepEqual(order.slice(7), ['e', 'f', 'e has more'], 'nobody else could make room');
});

test('however many that nobody waits for stand in line, they leave it', async (t) => {
  const room = new HeapRoom(1);
  let left = 0;
  let end = (): void => {};
  const working = new Promise<void>((resolve) => {
    end = resolve;
  });
  room.whenRoom(1, () => working);
  for (let i = 0; i < 50_000; i++) room.whenRoom(1, () => void left++);
  t.is(left, 0);
  end();
  await new Promise((resolve) => setImmediate(resolve));
  t.is(left, 50_000);
});

for (const [what, verb, body] of [
  ['a patch', 'patch', { data: { more: '' } }],
  ['a DELETE', 'delete', undefined],
] as const) {
  test(`${what} of what is stored as something large, however small itself, waits for room on the heap`, async (t) => {
    const world = await AdmissionWorld.start({ plugins: [] });
    const path = '/api/v1/namespaces/default/configmaps';
    for (const name of ['a', 'b'])
      await world.created(path, { metadata: { name }, data: { text: 'x'.repeat(300 * 1024) } });
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
    const asked = { ...(body && { body }), deadlineMs: 30_000 };
    const first = world.soon(verb, `${path}/a`, asked);
    await world.during(begun);
    const before = world.gate.commits;
    const second = world.soon(verb, `${path}/b`, asked);
    await world.during(new Promise<void>((resolve) => timers.after(5_000, resolve)));
    t.is(world.gate.commits, before);
    commit();
    t.deepEqual(
      (await world.during(Promise.all([first, second]))).map(({ code }) => code),
      [200, 200],
    );
    await world.stop();
  });
}

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
