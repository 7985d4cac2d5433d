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

test('a large write is not begun while others take the room on the heap, nor when its client waits no more; a small one is', async (t) => {
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

/** Writes of a world that are held where they commit, as slow webhooks hold them; and what is waited for before the next look. */
async function heldWorld() {
  const world = await AdmissionWorld.start({ plugins: [] });
  const { timers } = world.simulation.environment;
  const held: (() => void)[] = [];
  const collection = '/api/v1/namespaces/default/configmaps';
  const hold = (): void => {
    const holding = (): Promise<void> => {
      hold();
      return new Promise<void>((goOn) => {
        held.push(goOn);
      });
    };
    world.gate.beforeCommit = holding;
  };
  const settled = (): Promise<void> => world.during(new Promise<void>((resolve) => timers.after(1_000, resolve)));
  /** Lets all go on, those too that come now. */
  const goOn = (): void => {
    world.gate.beforeCommit = undefined;
    for (const commit of held.splice(0)) commit();
  };
  return { world, held, collection, hold, settled, goOn };
}

/** As they stand in a list, they come to a quarter of the room of such a world, and make no large body. */
const MANY_VALUES = `${'[],'.repeat(900)}[]`;

test('of small writes that are held up no more are begun than the heap has room for', async (t) => {
  const { world, held, collection, hold, settled, goOn } = await heldWorld();
  hold();
  const create = (name: string): Promise<number> => {
    const annotations = { name };
    const payload = `{"metadata":${JSON.stringify({ name, annotations })},"spec":[${MANY_VALUES}]}`;
    return world.soon('create', collection, { body: payload }).then(({ code }) => code);
  };
  const all = Array.from({ length: 20 }, (_, number) => create(`it-${number}`));
  await settled();
  const begun = held.length;
  t.true(begun > 1 && begun < 8, String(begun));
  goOn();
  t.deepEqual(new Set(await world.during(Promise.all(all))), new Set([201]));
  await world.stop();
});

for (const verb of ['patch', 'delete'] as const) {
  test(`of small objects on which a ${verb} is held up no more are read than the heap has room for`, async (t) => {
    const { world, held, collection, hold, settled, goOn } = await heldWorld();
    const data = Object.fromEntries(Array.from({ length: 500 }, (_, number) => [`${number}`, '']));
    const names = Array.from({ length: 20 }, (_, number) => `it-${number}`);
    for (const name of names) await world.created(collection, { metadata: { name }, data });
    hold();
    const request = verb === 'patch' ? { body: { data: { more: 'y' } } } : {};
    const all = names.map((name) => world.soon(verb, `${collection}/${name}`, request).then(({ code }) => code));
    await settled();
    const begun = held.length;
    t.true(begun > 1 && begun < 8, String(begun));
    goOn();
    t.deepEqual(new Set(await world.during(Promise.all(all))), new Set([200]));
    await world.stop();
  });
}

test('what a DELETE of a collection reads at a time waits for room on the heap beside what other writes hold', async (t) => {
  const { world, held, collection, hold, settled, goOn } = await heldWorld();
  const data = Object.fromEntries(Array.from({ length: 500 }, (_, number) => [`${number}`, '']));
  for (let number = 0; number < 6; number++)
    await world.created(collection, { metadata: { name: `it-${number}` }, data });
  hold();
  const all = Array.from({ length: 3 }, () => world.soon('deletecollection', collection).then(({ code }) => code));
  await settled();
  t.is(held.length, 1);
  goOn();
  t.deepEqual(await world.during(Promise.all(all)), [200, 200, 200]);
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
