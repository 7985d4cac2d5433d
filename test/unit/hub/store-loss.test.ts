import test from 'ava';
import type { FollowedTypes } from '../../../actors/hub/hub-types.ts';
import type { StoreProtocol } from '../../../actors/store/protocol.ts';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { HubWorld, type WatchClient } from './hub-world.ts';

/** The ways in which a hub loses the store and finds it again. */
const LOSSES: readonly (readonly [what: string, lose: (world: HubWorld) => Promise<void>])[] = [
  [
    'the store gave the hub up',
    async (world) => {
      world.loseStore();
      await world.settle();
    },
  ],
  [
    'the store gave the hub up twice before it had subscribed again',
    async (world) => {
      world.loseStore();
      world.loseStore();
      await world.settle();
    },
  ],
  ['the store restarted', (world) => world.restartStore()],
  [
    'the store restarted after the hub had been given up by the one before',
    async (world) => {
      world.killStore();
      world.loseStore();
      await world.settle();
      await world.restartStore();
      await world.simulation.time.advance(500);
    },
  ],
];

for (const [what, lose] of LOSSES) {
  test(`when ${what}, every watch goes on from where it was`, async (t) => {
    const world = await HubWorld.start();
    await world.put('a/o0');
    await world.put('a/o1');
    const live = world.watch('resourceVersion=1');
    const selecting = world.watch('resourceVersion=1&labelSelector=tier', 'a');
    const parked = world.watch('resourceVersion=1');
    const catchingUp = world.watch('resourceVersion=0');
    const future = world.watch('resourceVersion=5');
    catchingUp.response.isFull = () => true;
    await world.settle();
    parked.response.isFull = () => true;
    await world.put('a/o2', 'while all is well');
    await world.put('a/o3', 'not written to the parked one');
    t.is(parked.seen.length, 2);
    await lose(world);
    await world.put('a/o4', 'while some are parked', { tier: 'x' });
    await world.remove('a/o0');
    for (const watch of [parked, catchingUp]) {
      watch.response.isFull = () => false;
      watch.response.drain();
    }
    await world.settle();
    await world.put('a/o5');
    await world.settle();
    t.deepEqual(live.seen, world.expectedAfter(1));
    t.deepEqual(parked.seen, world.expectedAfter(1));
    t.deepEqual(
      selecting.seen,
      world.expectedAfter(1, ({ labels }) => 'tier' in labels),
    );
    t.deepEqual(catchingUp.seen, [...world.stateAt(2), ...world.expectedAfter(2)]);
    t.deepEqual(future.seen, world.expectedAfter(5));
    await world.stop();
  });

  test(`when ${what}, reads and new watches answer from its present state`, async (t) => {
    const world = await HubWorld.start();
    await world.put('a/o0');
    await world.put('a/o1');
    await world.remove('a/o0');
    await lose(world);
    const watch = world.watch('resourceVersion=1');
    const fresh = world.watch('');
    await world.put('a/o2');
    await world.settle();
    t.deepEqual(watch.seen, world.expectedAfter(1));
    t.deepEqual(fresh.seen, ['ADDED a/o1 2', 'ADDED a/o2 4']);
    for (let revision = 1; revision <= 4; revision++) {
      const answer = await world.during(world.list({ freshness: { kind: 'exact', revision } }));
      t.is(answer.refused, undefined);
      if (answer.refused === undefined) t.deepEqual(world.seenIn(answer), world.stateAt(revision));
    }
    await world.stop();
  });
}

/** The store is lost, and something is written before it is read again. */
async function loseAndPut(world: HubWorld, key: string): Promise<void> {
  const deliver = world.delayPresents();
  world.loseStore();
  await world.settle();
  await world.put(key);
  deliver();
  await world.settle();
}

test('watches of what is shown otherwise when the store is read again end, and those of what is not go on', async (t) => {
  let editions = { 'core/configmaps': 'one', 'core/secrets': 'one' };
  const types: FollowedTypes = {
    storageKey: 'definitions',
    reset: () => {},
    parse: () => ({}),
    put: () => undefined,
    remove: () => undefined,
    storageKeyOf: () => undefined,
    editions: () => new Map(Object.entries(editions)),
  };
  const world = await HubWorld.start({ types: [types] });
  await world.put('a/o0');
  const stays = world.watch('resourceVersion=1');
  await world.settle();
  types.reset = () => {
    editions = { ...editions, 'core/secrets': 'two' };
  };
  await loseAndPut(world, 'a/o1');
  t.deepEqual(stays.seen, ['ADDED a/o1 2']);
  t.false(stays.finished);
  types.reset = () => {
    editions = { ...editions, 'core/configmaps': 'two' };
  };
  await loseAndPut(world, 'a/o2');
  t.true(stays.finished);
  t.deepEqual(stays.seen, ['ADDED a/o1 2'], 'no event is shown as it was before');
  await world.stop();
});

test('a full socket reported only after the hub began again loses nothing', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/o0');
  const watch = world.watch('resourceVersion=1');
  await world.settle();
  // Two chunks are on their way when the store is lost; the first fills the socket, the second is dropped there.
  watch.response.isFull = () => true;
  world.delivery.hold('ingress');
  await world.put('a/o1');
  await world.put('a/o2');
  world.loseStore();
  await world.settle();
  world.delivery.letGo('ingress');
  await world.settle();
  t.deepEqual(watch.seen, ['ADDED a/o1 2']);
  await world.put('a/o3');
  watch.response.isFull = () => false;
  watch.response.drain();
  await world.settle();
  t.deepEqual(watch.seen, world.expectedAfter(1));
  await world.stop();
});

test('publications that overtake the present state they follow are not lost', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/o0');
  const watch = world.watch('resourceVersion=1');
  await world.settle();
  const deliver = world.delayPresents();
  world.loseStore();
  await world.settle();
  await world.put('a/o1');
  await world.put('a/o2');
  t.deepEqual(watch.seen, []);
  deliver();
  await world.settle();
  t.deepEqual(watch.seen, ['ADDED a/o1 2', 'ADDED a/o2 3']);
  const answer = await world.during(world.list({ freshness: { kind: 'any' } }));
  t.is(answer.refused === undefined && answer.revision, 3);
  await world.stop();
});

test('of present states that arrive late only the last one asked for counts', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/o0');
  const watch = world.watch('resourceVersion=1');
  await world.settle();
  const deliver = world.delayPresents();
  world.loseStore();
  await world.settle();
  await world.put('a/o1');
  world.loseStore();
  await world.settle();
  await world.put('a/o2');
  deliver();
  await world.settle();
  await world.put('a/o3');
  await world.settle();
  t.deepEqual(watch.seen, world.expectedAfter(1));
  await world.stop();
});

test('publications are kept while a present state is on its way, and applied when they follow it', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/o0');
  const watch = world.watch('resourceVersion=1');
  await world.settle();
  world.delivery.hold('store');
  world.loseStore();
  await world.settle();
  // What a subscriber may still get of the store before: its counts mean nothing now.
  world.hubRef.tell<'storeBatch'>({
    type: 'storeBatch',
    incarnation: 0,
    sequence: 1,
    after: 0,
    lastRevision: 1,
    compactedRevision: 0,
    runs: [],
    movedRuns: [],
    newSlabs: [],
  });
  await world.settle();
  world.delivery.letGo('store');
  await world.put('a/o1');
  await world.put('a/o2');
  await world.settle();
  t.deepEqual(watch.seen, world.expectedAfter(1));
  await world.stop();
});

test('a missing publication is noticed, and the hub begins again', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/o0');
  const watch = world.watch('resourceVersion=1');
  await world.settle();
  const { incarnation } = await world.during(
    world.store.ask({ type: 'subscribe', subscriber: 'hub' }, { deadlineMs: 1000 }),
  );
  world.hubRef.tell<'storeBatch'>({
    type: 'storeBatch',
    incarnation,
    sequence: 1000,
    after: 999,
    lastRevision: 1000,
    compactedRevision: 0,
    runs: [],
    movedRuns: [],
    newSlabs: [],
  });
  await world.put('a/o1');
  await world.settle();
  t.deepEqual(watch.seen, ['ADDED a/o1 2']);
  await world.stop();
});

test('a hub that lags by more than its mailbox is given up, subscribes again, and its watches miss nothing', async (t) => {
  const world = await HubWorld.start({ hubMailboxMax: 3 });
  await world.put('a/o0');
  const watch = world.watch('resourceVersion=1');
  await world.settle();
  world.delivery.hold('hub');
  for (let count = 0; count < 10; count++) await world.put('a/o0', String(count));
  world.delivery.letGo('hub');
  // The store says so as soon as the hub can hear it.
  await world.simulation.time.advance(500);
  t.deepEqual(watch.seen, world.expectedAfter(1));
  await world.put('a/o1');
  await world.put('a/o2');
  await world.settle();
  t.deepEqual(watch.seen, world.expectedAfter(1));
  const { watchers, ready } = await world.during(world.hubRef.ask({ type: 'status' }, { deadlineMs: 1000 }));
  t.deepEqual([watchers, ready], [1, true]);
  await world.stop();
});

test('reads are refused while the store is gone, and answered when it is back', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/o0');
  world.killStore();
  world.loseStore();
  await world.settle();
  for (const kind of ['any', 'mostRecent'] as const) {
    t.deepEqual(await world.during(world.list({ freshness: { kind } })), { refused: 'notReady' });
  }
  const watch = world.watch('resourceVersion=1');
  await world.settle();
  t.is(watch.refusal?.code, 503);
  const { ready } = await world.during(world.hubRef.ask({ type: 'status' }, { deadlineMs: 1000 }));
  t.false(ready);
  await world.restartStore();
  await world.simulation.time.advance(1000);
  const answer = await world.during(world.list());
  t.true(answer.refused === undefined);
  if (answer.refused === undefined) t.deepEqual(world.seenIn(answer), ['ADDED a/o0 1']);
  await world.stop();
});

test('a watch whose revision was compacted while the store was gone ends with an ERROR event', async (t) => {
  const world = await HubWorld.start();
  for (let count = 0; count < 6; count++) await world.put('a/o0', String(count));
  const watch = world.watch('resourceVersion=4');
  const parked = world.watch('resourceVersion=2');
  parked.response.isFull = () => true;
  await world.settle();
  t.deepEqual(watch.seen, world.expectedAfter(4));
  for (let count = 0; count < 6; count++) await world.put('a/o0', String(count));
  await world.during(
    world.run.ref<StoreProtocol>('store').ask({ type: 'compact', upToRevision: 9 }, { deadlineMs: 1000 }),
  );
  await world.restartStore();
  parked.response.isFull = () => false;
  parked.response.drain();
  await world.settle();
  t.deepEqual(watch.seen, world.expectedAfter(4));
  t.is(parked.events.at(-1)?.object.code, 410);
  t.true(parked.finished);
  await world.stop();
});

test('a watch still in its initial state when the store is lost ends with an ERROR event', async (t) => {
  const world = await HubWorld.start();
  for (let count = 0; count < 100; count++) await world.put(`a/o${count}`, 'x'.repeat(3000));
  const watch = world.watch('');
  watch.response.isFull = () => true;
  await world.settle();
  const before = watch.seen.length;
  t.true(before < 100);
  world.loseStore();
  await world.settle();
  t.is(watch.events.at(-1)?.object.code, 410);
  t.is(watch.seen.length, before + 1);
  t.true(watch.finished);
  await world.stop();
});

test('stores lost at any moment, sockets full at any moment: no watch misses or repeats anything', async (t) => {
  for (let seed = 1; seed <= 12; seed++) {
    const random = new SeededRandom(seed);
    const world = await HubWorld.start({ seed });
    for (let count = 0; count < 5; count++) await world.put(`a/o${count}`);
    const watches: { watch: WatchClient; from: number }[] = [];
    for (let count = 0; count < 6; count++) {
      const from = 1 + random.below(world.commits.length);
      const watch = world.watch(`resourceVersion=${from}`);
      watch.response.isFull = () => random.below(3) === 0;
      watches.push({ watch, from });
    }
    const held = ['ingress', 'hub'] as const;
    for (let step = 0; step < 120; step++) {
      const mailbox = held[random.below(2)]!;
      switch (random.below(12)) {
        case 0:
          world.loseStore();
          break;
        case 1:
          world.delivery.hold(mailbox);
          break;
        case 2:
        case 3:
          world.delivery.letGo(mailbox);
          break;
        case 4:
          await world.settle();
          break;
        case 5:
        case 6:
          watches[random.below(watches.length)]!.watch.response.drain();
          break;
        case 7:
          if (random.below(6) === 0) await world.restartStore();
          break;
        default:
          await world.put(`a/o${random.below(5)}`, String(step));
      }
    }
    for (const mailbox of held) world.delivery.letGo(mailbox);
    for (const { watch } of watches) watch.response.isFull = () => false;
    await world.settle();
    for (const { watch } of watches) watch.response.drain();
    await world.simulation.time.advance(1000);
    for (const { watch, from } of watches) t.deepEqual(watch.seen, world.expectedAfter(from), `seed ${seed}`);
    await world.stop();
  }
});
