import test from 'ava';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { HubWorld, type Version, type WatchClient } from './hub-world.ts';

const NAMESPACES = ['a', 'a-b', 'b'];
const BUSY_SEEDS = 40;
const version = (name: string, text: string): Version => ({ namespace: 'a', name, labels: {}, text });
const isFront = ({ labels }: Version): boolean => labels.tier === 'front';

/** One to three changes under one revision, over few objects, so that every kind of change happens. */
async function randomCommit(world: HubWorld, random: SeededRandom): Promise<void> {
  const versions = new Map<string, Version>();
  const removals = new Set<string>();
  for (let count = 1 + random.below(3); count > 0; count--) {
    const namespace = NAMESPACES[random.below(3)]!;
    const name = `o${random.below(4)}`;
    const key = `${namespace}/${name}`;
    const exists = world.stateAt(Number.MAX_SAFE_INTEGER).some((line) => line.startsWith(`ADDED ${key} `));
    versions.delete(key);
    removals.delete(key);
    if (exists && random.below(3) === 0) removals.add(key);
    else {
      const tier = ['front', 'back'][random.below(2)]!;
      const labels: Record<string, string> = random.below(4) === 0 ? {} : { tier };
      versions.set(key, { namespace, name, labels, text: 'x'.repeat(random.below(300)) });
    }
  }
  await world.commit([...versions.values()], [...removals]);
}

/** What clients ask for, and which objects that selects. */
const SELECTIONS: readonly (readonly [namespace: string, query: string, selects: (version: Version) => boolean])[] = [
  ['', '', () => true],
  ['a', '', ({ namespace }) => namespace === 'a'],
  ['', 'labelSelector=tier%3Dfront', isFront],
  ['a-b', 'labelSelector=tier%3Dfront', (version) => version.namespace === 'a-b' && isFront(version)],
  ['', 'fieldSelector=metadata.name%3Do1', ({ name }) => name === 'o1'],
  ['b', 'fieldSelector=metadata.name%3Do1', ({ namespace, name }) => namespace === 'b' && name === 'o1'],
  [
    '',
    'fieldSelector=metadata.name!%3Do1&labelSelector=!tier',
    ({ name, labels }) => name !== 'o1' && !('tier' in labels),
  ],
];

test('a watch from a revision sees exactly the changes after it, in order, once', async (t) => {
  for (const seed of [1, 2, 3]) {
    const random = new SeededRandom(seed);
    const world = await HubWorld.start();
    for (let count = 0; count < 15; count++) await randomCommit(world, random);
    const opened: { watch: WatchClient; from: number; selects: (version: Version) => boolean }[] = [];
    for (let count = 0; count < 30; count++) {
      const [namespace, query, selects] = SELECTIONS[random.below(SELECTIONS.length)]!;
      const from = 1 + random.below(world.commits.length);
      opened.push({ watch: world.watch(`${query}&resourceVersion=${from}`, namespace), from, selects });
      await randomCommit(world, random);
    }
    await world.settle();
    for (const { watch, from, selects } of opened) {
      t.is(watch.refusal, undefined);
      t.deepEqual(watch.seen, world.expectedAfter(from, selects));
      t.is(watch.response.status, 200);
    }
    await world.stop();
  }
});

test('a watch without a revision begins with a consistent state and goes on with exactly what changes after it', async (t) => {
  for (const seed of [4, 5]) {
    const random = new SeededRandom(seed);
    const world = await HubWorld.start();
    const opened: { watch: WatchClient; from: number; selects: (version: Version) => boolean }[] = [];
    for (let count = 0; count < 40; count++) {
      await randomCommit(world, random);
      const [namespace, query, selects] = SELECTIONS[random.below(SELECTIONS.length)]!;
      const version = ['', '&resourceVersion=0', '&resourceVersion='][random.below(3)]!;
      opened.push({ watch: world.watch(query + version, namespace), from: world.commits.length, selects });
      if (random.below(2) === 0) await world.settle();
    }
    await world.settle();
    for (const { watch, from, selects } of opened) {
      t.deepEqual(watch.seen, [...world.stateAt(from, selects), ...world.expectedAfter(from, selects)]);
    }
    await world.stop();
  }
});

test('an initial state larger than a chunk comes whole, and changes made meanwhile come after it', async (t) => {
  const world = await HubWorld.start();
  const keys = Array.from({ length: 300 }, (_, index) => `a/o${String(index).padStart(3, '0')}`);
  for (const key of keys) await world.put(key, 'x'.repeat(2000));
  const watch = world.watch();
  watch.response.isFull = () => true;
  await world.settle();
  t.is(watch.response.chunks.length, 1);
  t.true(watch.seen.length < keys.length);
  const from = world.commits.length;
  await world.remove(keys[0]!);
  await world.put(keys[299]!, 'changed');
  await world.put('a/new');
  while (watch.response.full) {
    watch.response.drain();
    await world.settle();
  }
  t.deepEqual(watch.seen, [...world.stateAt(from), ...world.expectedAfter(from)]);
  t.true(watch.response.chunks.length > 4);
  t.is(watch.response.writesWhileFull, 0);
  await world.stop();
});

test('a socket that takes all of an initial state at once is given a chunk a turn, and others have theirs between', async (t) => {
  const world = await HubWorld.start();
  for (let count = 0; count < 300; count++) await world.put(`a/o${count}`, 'x'.repeat(2000));
  const { time } = world.simulation;
  const watch = world.watch();
  let turns = 0;
  const turn = (): void => {
    if (watch.response.chunks.length > 0) turns++;
    if (watch.seen.length < 300) time.soon(turn);
  };
  time.soon(turn);
  await world.settle();
  t.is(watch.seen.length, 300);
  const { chunks } = watch.response;
  t.true(chunks.length > 4 && turns >= chunks.length - 1, `${chunks.length} chunks in ${turns} turns`);
  await world.stop();
});

test('sockets that fill and drain at any moment lose nothing and get nothing twice', async (t) => {
  for (const seed of [6, 7, 8, 9]) {
    const random = new SeededRandom(seed);
    const world = await HubWorld.start();
    for (let count = 0; count < 10; count++) await randomCommit(world, random);
    const opened: { watch: WatchClient; from: number; initial: boolean; selects: (version: Version) => boolean }[] = [];
    for (let count = 0; count < 12; count++) {
      const [namespace, query, selects] = SELECTIONS[random.below(SELECTIONS.length)]!;
      const initial = random.below(2) === 0;
      const from = world.commits.length;
      const watch = world.watch(`${query}${initial ? '' : `&resourceVersion=${from}`}`, namespace);
      watch.response.isFull = () => random.below(2) === 0;
      opened.push({ watch, from, initial, selects });
    }
    for (let count = 0; count < 80; count++) {
      await randomCommit(world, random);
      for (const { watch } of opened) if (random.below(4) === 0) watch.response.drain();
      if (random.below(3) === 0) await world.settle();
    }
    for (const { watch } of opened) watch.response.isFull = () => false;
    await world.settle();
    for (const { watch } of opened) watch.response.drain();
    await world.settle();
    for (const { watch, from, initial, selects } of opened) {
      const state = initial ? world.stateAt(from, selects) : [];
      t.deepEqual(watch.seen, [...state, ...world.expectedAfter(from, selects)], `seed ${seed}`);
      t.is(watch.response.writesWhileFull, 0);
    }
    await world.stop();
  }
});

test('a watch from before the window, or one that falls behind it, ends with an ERROR event', async (t) => {
  const world = await HubWorld.start({ historyEventsMax: 20 });
  const parked = world.watch('');
  await world.put('a/o0');
  await world.settle();
  parked.response.isFull = () => true;
  for (let count = 0; count < 100; count++) await world.put(`a/o${count % 5}`, String(count));
  const refused = world.watch('resourceVersion=3');
  await world.settle();
  t.is(refused.response.status, 200);
  t.deepEqual(
    refused.events.map(({ type, object }) => [type, object.code, object.reason]),
    [['ERROR', 410, 'Expired']],
  );
  t.true(refused.response.ended);
  parked.response.isFull = () => false;
  parked.response.drain();
  await world.settle();
  const last = parked.events.at(-1)!;
  t.is(last.type, 'ERROR');
  t.is(last.object.code, 410);
  t.is(last.object.reason, 'Expired');
  t.deepEqual(parked.seen.slice(0, -1), ['ADDED a/o0 1', 'MODIFIED a/o0 2']);
  t.true(parked.response.ended);
  t.true(parked.finished);
  const { watchers } = await world.during(world.hubRef.ask({ type: 'status' }, { deadlineMs: 1000 }));
  t.is(watchers, 0);
  await world.stop();
});

test('a watch whose client does not read even its initial state is ended when the window has passed it', async (t) => {
  const world = await HubWorld.start({ historyEventsMax: 20 });
  for (let count = 0; count < 150; count++) await world.put(`a/o${count}`, 'x'.repeat(2000));
  const stalled = world.watch();
  stalled.response.isFull = () => true;
  await world.settle();
  t.is(stalled.response.chunks.length, 1);
  for (let count = 0; count < 100; count++) await world.put('a/o0', String(count));
  await world.settle();
  const { type, object } = stalled.events.at(-1)!;
  t.deepEqual([type, object.code, object.reason], ['ERROR', 410, 'Expired']);
  t.true(stalled.response.ended);
  t.is(stalled.response.writesWhileFull, 0, 'what ends it goes out with the end');
  const { watchers } = await world.during(world.hubRef.ask({ type: 'status' }, { deadlineMs: 1000 }));
  t.is(watchers, 0);
  await world.stop();
});

test('a watch from a revision not reached yet begins when it is', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/o0');
  const watch = world.watch('resourceVersion=4');
  await world.put('a/o1');
  await world.put('a/o2');
  await world.put('a/o3');
  t.is(watch.response.status, 200);
  t.deepEqual(watch.seen, []);
  await world.put('a/o4');
  await world.put('a/o5');
  await world.settle();
  t.deepEqual(watch.seen, ['ADDED a/o4 5', 'ADDED a/o5 6']);
  await world.stop();
});

test('what changed together comes together, also where a chunk ends', async (t) => {
  const world = await HubWorld.start();
  const first = await world.put('a/first');
  const many = Array.from({ length: 40 }, (_, index) => ({
    namespace: 'a',
    name: `o${index}`,
    labels: {},
    text: 'x'.repeat(10_000),
  }));
  await world.commit(many);
  await world.commit(many);
  const watch = world.watch(`resourceVersion=${first}`);
  await world.settle();
  t.deepEqual(watch.seen, world.expectedAfter(first));
  const revisionsByChunk = watch.response.chunks.map(
    (chunk) => new Set(chunk.toString().match(/"resourceVersion":"(\d+)"/g)),
  );
  t.deepEqual(
    revisionsByChunk.map(({ size }) => size),
    [1, 1],
  );
  await world.stop();
});

/** Groups of watches that see the same bytes. */
function cohortsOf(world: HubWorld): number | undefined {
  const families = world.run.metrics().flat();
  return families.find(({ name }) => name === 'orch_hub_cohorts')?.series[0]?.value;
}

test('a client that goes away is forgotten, before its watch has begun too', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/o0');
  const watches = [world.watch(), world.watch('resourceVersion=99'), world.watch('resourceVersion=1')];
  const early = world.watch('');
  early.response.disconnect();
  await world.settle();
  const status = async () => await world.during(world.hubRef.ask({ type: 'status' }, { deadlineMs: 1000 }));
  t.is((await status()).watchers, 3);
  t.is(cohortsOf(world), 1);
  for (const watch of watches) watch.response.disconnect();
  await world.settle();
  t.is((await status()).watchers, 0);
  t.is(cohortsOf(world), 0);
  t.true([...watches, early].every(({ finished, failure }) => finished && failure === undefined));
  t.is(world.ingress.watches.count, 0);
  await world.put('a/o0');
  t.deepEqual(watches[2]!.seen, []);
  await world.stop();
});

test('a watch that was asked for while a batch was on its way hears nothing of it twice', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/o0');
  const other = world.watch('', 'a');
  await world.settle();
  // The removal is committed, and the hub has not heard of it when it is asked to open the watch.
  world.delivery.hold('hub');
  const watch = world.watch('', 'a');
  const removal = world.commitSoon([], ['a/o0']);
  await world.settle();
  world.delivery.letGo('hub');
  await world.during(removal);
  await world.settle();
  t.deepEqual(other.seen, ['ADDED a/o0 1', 'DELETED a/o0 2']);
  t.deepEqual(watch.seen, []);
  await world.put('a/o1');
  t.deepEqual(watch.seen, ['ADDED a/o1 3']);
  await world.stop();
});

test('what reaches the hub in one turn goes out as one chunk, and a watch opened within that turn sees none of it twice', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/o0');
  const live = world.watch('', 'a');
  await world.settle();
  const before = live.response.chunks.length;
  world.delivery.hold('hub');
  const commits = [0, 1].map((index) => world.commitSoon([version(`o${index}`, 'first')]));
  await world.settle();
  const opened = world.watch('resourceVersion=0', 'a');
  await world.settle();
  commits.push(world.commitSoon([version('o2', 'second')]), world.commitSoon([], ['a/o0']));
  await world.settle();
  world.delivery.letGo('hub');
  for (const commit of commits) await world.during(commit);
  await world.settle();
  t.is(live.response.chunks.length - before, 1);
  t.deepEqual(live.seen, ['ADDED a/o0 1', ...world.expectedAfter(1)]);
  t.deepEqual(opened.seen, world.stateAt(5));
  await world.put('a/o3');
  t.deepEqual(opened.seen.slice(-1), ['ADDED a/o3 6']);
  await world.stop();
});

test('a watch whose socket drains within a turn in which something has come gets that once', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/o0');
  const watches = [world.watch('resourceVersion=1', 'a'), world.watch('resourceVersion=1', 'a')];
  await world.settle();
  const { response } = watches[1]!;
  response.isFull = () => true;
  await world.put('a/o0', 'first');
  await world.settle();
  world.delivery.hold('hub');
  const commit = world.commitSoon([version('o0', 'second')]);
  await world.settle();
  response.isFull = () => false;
  response.drain();
  await world.settle();
  world.delivery.letGo('hub');
  await world.during(commit);
  await world.settle();
  for (const { seen } of watches) t.deepEqual(seen, world.expectedAfter(1));
  await world.stop();
});

test('a watch has a change before who wrote it is answered', async (t) => {
  const world = await HubWorld.start({ gathers: true });
  const watches = [world.watch('', 'a'), world.watch('labelSelector=!none', 'a')];
  await world.settle();
  for (const name of ['o0', 'o1']) {
    const seenByThen: number[] = [];
    const writing = world.commitSoon([version(name, 'text')]);
    await world.during(writing.then(() => seenByThen.push(...watches.map(({ seen }) => seen.length))));
    await world.settle();
    t.deepEqual(
      seenByThen,
      watches.map(({ seen }) => seen.length),
    );
  }
  await world.stop();
});

for (const bookmarks of [true, false]) {
  test(`a watch ends when its time is over, ${bookmarks ? 'with a bookmark of where it stands' : 'without a word'}`, async (t) => {
    const world = await HubWorld.start();
    await world.put('a/o0');
    const watch = world.watch(`timeoutSeconds=5&resourceVersion=1${bookmarks ? '&allowWatchBookmarks=true' : ''}`);
    await world.put('b/o1');
    await world.simulation.time.advance(4000);
    t.false(watch.finished);
    await world.simulation.time.advance(1500);
    t.true(watch.finished);
    t.true(watch.response.ended);
    t.deepEqual(watch.seen, ['ADDED b/o1 2', ...(bookmarks ? ['BOOKMARK / 2'] : [])]);
    await world.stop();
  });
}

test('where no least time is set, only watches that ask for an end have one', async (t) => {
  const world = await HubWorld.start({ minRequestTimeoutMs: 0 });
  const [lasting, asked] = [world.watch(), world.watch('timeoutSeconds=5')];
  await world.simulation.time.advance(3_600_000);
  t.true(asked.finished);
  t.false(lasting.finished);
  await world.put('a/o0');
  t.deepEqual(lasting.seen, ['ADDED a/o0 1']);
  await world.stop();
});

test('a watch that is behind when its time is over claims no more than it sent', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/o0');
  const watch = world.watch('timeoutSeconds=5&resourceVersion=1&allowWatchBookmarks=true');
  watch.response.isFull = () => true;
  await world.put('a/o1');
  await world.put('a/o2');
  await world.simulation.time.advance(6000);
  t.true(watch.finished);
  t.deepEqual(watch.seen, ['ADDED a/o1 2']);
  await world.stop();
});

test('a watch that ends while its socket is full claims no more than it sent, though the hub had sent more', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/o0');
  const watch = world.watch('timeoutSeconds=5&resourceVersion=1&allowWatchBookmarks=true');
  await world.settle();
  watch.response.isFull = () => true;
  world.delivery.hold('ingress');
  await world.put('a/o1');
  await world.put('a/o2');
  await world.simulation.time.advance(6000);
  world.delivery.letGo('ingress');
  await world.settle();
  t.true(watch.finished);
  t.deepEqual(watch.seen, ['ADDED a/o1 2']);
  await world.stop();
});

test('a watch of a revision to come that is over before it claims nothing', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/o0');
  const watch = world.watch('timeoutSeconds=2&resourceVersion=9&allowWatchBookmarks=true');
  await world.put('a/o1');
  await world.simulation.time.advance(3000);
  t.true(watch.finished);
  t.deepEqual(watch.seen, []);
  await world.stop();
});

for (const [whose, query, atMs] of [
  ['a silent watch', '', [9999]],
  ['a watch whose time is over', '&timeoutSeconds=12', [11_499, 11_749, 11_999, 12_249]],
] as const) {
  test(`a bookmark of ${whose} follows what came while the hub rested after a long fan-out`, async (t) => {
    let bookmarks = 0;
    // In some of these a fan-out to the others takes so long that what comes behind it waits beyond the bookmark's moment.
    for (let seed = 1; seed <= BUSY_SEEDS; seed++) {
      const world = await HubWorld.start({ seed, isBusy: true });
      const { time } = world.simulation;
      await world.put('a/o0');
      const watch = world.watch(`resourceVersion=1&allowWatchBookmarks=true${query}`, 'a');
      world.watch('resourceVersion=1', 'b');
      for (const ms of atMs) {
        await time.advance(ms - time.monotonicMs());
        for (const namespace of ['b', 'a']) {
          void world.commitSoon([{ namespace, name: 'o', labels: {}, text: '' }]);
          await world.settle();
        }
      }
      await time.advance(12_000);
      const expected = world.expectedAfter(1, ({ namespace }) => namespace === 'a');
      let next = 0;
      for (const line of watch.seen) {
        if (line === expected[next]) next++;
        else {
          bookmarks++;
          t.true(line.startsWith('BOOKMARK') && revisionIn(line) < revisionIn(expected[next]), `seed ${seed}: ${line}`);
        }
      }
      await world.stop();
    }
    t.true(bookmarks > 0);
  });
}

/** Of an event as clients see it; of none: later than all. */
function revisionIn(line: string | undefined): number {
  return line === undefined ? Number.POSITIVE_INFINITY : Number(line.split(' ').at(-1));
}

test('a silent watch that asked for bookmarks is told how far it has come, the others are not', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/o0');
  const asked = world.watch('resourceVersion=1&allowWatchBookmarks=1', 'b');
  const notAsked = world.watch('resourceVersion=1', 'b');
  await world.put('a/o1');
  await world.put('a/o2');
  await world.simulation.time.advance(25_000);
  t.deepEqual([...new Set(asked.seen)], ['BOOKMARK / 3']);
  t.deepEqual(asked.events[0]?.object, {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { resourceVersion: '3', creationTimestamp: null },
  });
  t.deepEqual(notAsked.seen, []);
  await world.stop();
});

test('the end of the initial events is marked where that was asked for', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/o0');
  const query = 'sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
  const watch = world.watch(query);
  const empty = world.watch(query, 'none');
  await world.put('a/o1');
  await world.settle();
  t.deepEqual(watch.seen, ['ADDED a/o0 1', 'BOOKMARK / 1', 'ADDED a/o1 2']);
  t.deepEqual(watch.events[1]?.object.metadata, {
    resourceVersion: '1',
    creationTimestamp: null,
    annotations: { 'initial-events-end': 'true' },
  } as never);
  t.deepEqual(empty.seen, ['BOOKMARK / 1']);
  await world.stop();
});

test('watches whose bytes the ingress cannot take are ended, and told so as soon as it can', async (t) => {
  const world = await HubWorld.start({ ingressMailboxMax: 2 });
  await world.put('a/o0');
  const watch = world.watch('resourceVersion=1');
  await world.settle();
  world.delivery.hold('ingress');
  for (let count = 0; count < 6; count++) await world.put('a/o0', String(count));
  world.delivery.letGo('ingress');
  await world.simulation.time.advance(1000);
  t.true(watch.finished);
  t.true(watch.response.ended);
  const seen = watch.seen;
  t.true(seen.length < 6);
  t.deepEqual(seen, world.expectedAfter(1).slice(0, seen.length));
  t.is((await world.during(world.hubRef.ask({ type: 'status' }, { deadlineMs: 1000 }))).watchers, 0);
  await world.stop();
});

test('the time of a watch that is over is told to an ingress that was full', async (t) => {
  const world = await HubWorld.start({ ingressMailboxMax: 1 });
  await world.put('a/o0');
  const watch = world.watch('resourceVersion=1&timeoutSeconds=2');
  const other = world.watch('resourceVersion=1', 'b');
  await world.settle();
  world.delivery.hold('ingress');
  await world.put('b/o0');
  await world.simulation.time.advance(3000);
  world.delivery.letGo('ingress');
  await world.simulation.time.advance(1000);
  t.true(watch.finished);
  t.true(watch.response.ended);
  t.true(other.finished);
  await world.stop();
});

test('a server that stops ends its watches when they have heard of what was committed', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/o0');
  const watch = world.watch('', 'a');
  await world.settle();
  // The removal is committed, and the hub has not heard of it.
  world.delivery.hold('hub');
  const removal = world.commitSoon([], ['a/o0']);
  await world.settle();
  const ended = world.ingress.watches.catchUp().then(() => world.ingress.watches.endAll());
  await world.settle();
  world.delivery.letGo('hub');
  await world.during(Promise.all([removal, ended]));
  t.deepEqual(watch.seen, ['ADDED a/o0 1', 'DELETED a/o0 2']);
  t.true(watch.finished);
  await world.stop();
});

test('a watch whose first state takes many turns sees that state, and then every change since, once', async (t) => {
  for (const seed of [4, 5, 6, 7]) {
    const random = new SeededRandom(seed);
    const world = await HubWorld.start({ seed, gatheredEntriesMax: 1 });
    for (let count = 0; count < 40; count++)
      await world.put(`a/n${count}`, '', { tier: ['front', 'back'][count % 2]! });
    const opened: { watch: WatchClient; from: number }[] = [];
    for (let count = 0; count < 12; count++) {
      const from = world.commits.length;
      opened.push({ watch: world.watch('labelSelector=tier%3Dfront'), from });
      const change: Version = { namespace: 'a', name: `n${random.below(40)}`, labels: { tier: 'front' }, text: '' };
      const changing = world.commitSoon([change]);
      if (count % 3 === 0) await world.during(changing);
      else await world.during(Promise.all([changing, world.removeSoon(`a/n${random.below(40)}`)]));
    }
    await world.settle();
    for (const { watch, from } of opened) {
      t.is(watch.refusal, undefined);
      t.deepEqual(watch.seen, [...world.stateAt(from, isFront), ...world.expectedAfter(from, isFront)]);
    }
    await world.stop();
  }
});

test('watches that are far behind are caught up over many turns, between which others are answered, and miss nothing', async (t) => {
  for (const seed of [8, 9, 10]) {
    const random = new SeededRandom(seed);
    const world = await HubWorld.start({ seed, gatheredEntriesMax: 2, isBusy: seed === 10 });
    for (let count = 0; count < 60; count++) await randomCommit(world, random);
    const order: string[] = [];
    const opened: { watch: WatchClient; from: number; selects: (version: Version) => boolean }[] = [];
    for (let count = 0; count < 12; count++) {
      const [namespace, query, selects] = SELECTIONS[random.below(SELECTIONS.length)]!;
      const from = 1 + random.below(20);
      opened.push({ watch: world.watch(`${query}&resourceVersion=${from}`, namespace), from, selects });
    }
    const nothing = world.watch('labelSelector=tier%3Dnone&resourceVersion=1');
    const last = world.watch('labelSelector=tier%3Dlast&resourceVersion=1');
    last.response.isFull = () => {
      order.push('last');
      return false;
    };
    const get = world.hubRef
      .ask(
        { type: 'get', storageKey: 'core/configmaps', namespace: 'a', name: 'o1', freshness: { kind: 'any' } },
        { deadlineMs: 1000 },
      )
      .then(() => order.push('get'));
    const change = world.commitSoon([{ namespace: 'a', name: 'last', labels: { tier: 'last' }, text: '' }]);
    await world.during(Promise.all([get, change]));
    await randomCommit(world, random);
    await world.settle();
    t.is(order[0], 'get');
    t.deepEqual(nothing.seen, []);
    t.deepEqual(last.seen, [`ADDED a/last 61`]);
    for (const { watch, from, selects } of opened) {
      t.is(watch.refusal, undefined);
      t.deepEqual(watch.seen, world.expectedAfter(from, selects));
    }
    await world.stop();
  }
});
