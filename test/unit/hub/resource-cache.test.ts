import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import { type Entry, ResourceCache, type Tree } from '../../../actors/hub/caches/resource-cache.ts';
import { ResourceCaches } from '../../../actors/hub/caches/resource-caches.ts';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';

function entry(key: string, revision: number): Entry {
  return { key, revision, slab: 1, offset: revision * 8 };
}

function stateOf(tree: Tree): Record<string, number> {
  return Object.fromEntries(tree.toArray().map(([key, { revision }]) => [key, revision]));
}

test('the present is in the order of keys by code unit', (t) => {
  const cache = new ResourceCache('core/samples');
  const keys = ['b/x', 'a/x', 'a-b/x', 'a/y', 'a0/x', 'a.b/x', 'é/x', 'Z/x'];
  for (const [index, key] of keys.entries()) cache.apply(entry(key, index + 1), false);
  t.deepEqual([...cache.tree.keys()], [...keys].sort());
});

test('an event knows what it replaced', (t) => {
  const cache = new ResourceCache('core/samples');
  t.is(cache.apply(entry('a/x', 1), false).previous, undefined);
  t.is(cache.apply(entry('a/x', 2), false).previous?.revision, 1);
  const removal = cache.apply(entry('a/x', 3), true);
  t.true(removal.deleted);
  t.is(removal.previous?.revision, 2);
  t.is(cache.apply(entry('a/x', 4), false).previous, undefined);
});

test('a record that moved is found at its new place in every state that holds it', (t) => {
  const cache = new ResourceCache('core/samples');
  cache.apply(entry('a/x', 1), false);
  cache.remember(1, cache.tree);
  cache.apply(entry('a/y', 2), false);
  cache.moved({ key: 'a/x', revision: 1, slab: 9, offset: 64 });
  cache.moved({ key: 'a/y', revision: 1, slab: 7, offset: 8 });
  cache.moved({ key: 'a/none', revision: 1, slab: 7, offset: 8 });
  t.deepEqual(cache.tree.get('a/x'), { key: 'a/x', revision: 1, slab: 9, offset: 64 });
  t.deepEqual(cache.treeAt(1).get('a/x'), { key: 'a/x', revision: 1, slab: 9, offset: 64 });
  t.deepEqual(cache.events[0]?.entry.slab, 9);
  t.is(cache.tree.get('a/y')?.slab, 1);
});

for (const seed of [1, 2, 3]) {
  test(`what is read by name is what the present holds, whatever was read before (seed ${seed})`, (t) => {
    const random = new SeededRandom(seed);
    const cache = new ResourceCache('core/samples');
    const pick = (): readonly [string, string] => [['', 'a', 'b'][random.below(3)]!, `x${random.below(8)}`];
    for (let revision = 1; revision <= 600; revision++) {
      const [namespace, name] = pick();
      const key = `${namespace}/${name}`;
      const present = cache.tree.get(key);
      if (revision % 200 === 0) cache.load([...cache.tree.values()].map((one) => ({ ...one, offset: one.offset + 8 })));
      else if (present !== undefined && random.below(4) === 0)
        cache.moved({ ...present, slab: 2, offset: revision * 8 });
      else cache.apply(entry(key, revision), present !== undefined && random.below(2) === 0);
      for (let read = 0; read < 8; read++) {
        const [space, wanted] = pick();
        t.is(cache.entryOf(space, wanted), cache.tree.get(`${space}/${wanted}`));
      }
    }
  });
}

/** One random history, checked against the copied state of every revision. */
function checkHistory(seed: number, checkpointEvents: number): string[] {
  const random = new SeededRandom(seed);
  const cache = new ResourceCache('core/samples', Number.POSITIVE_INFINITY, checkpointEvents);
  const wrong: string[] = [];
  const state = new Map<string, number>();
  const states = new Map<number, Record<string, number>>();
  let revision = 0;
  let compacted = 0;
  const check = (at: number): void => {
    // A type is told of its own revisions only: any other between them has the state of the one before.
    const expected = JSON.stringify(states.get(at));
    const actual = JSON.stringify(stateOf(cache.treeAt(at)));
    if (actual !== expected) wrong.push(`seed ${seed}, revision ${at} of ${revision}: ${actual} is not ${expected}`);
  };
  states.set(0, {});
  for (let step = 0; step < 150; step++) {
    revision++;
    // Some revisions belong to other types, some change several objects at once.
    const keys = new Set(Array.from({ length: random.below(5) }, () => `n${random.below(3)}/o${random.below(8)}`));
    for (const key of keys) {
      const removes = state.has(key) && random.below(3) === 0;
      cache.apply(entry(key, revision), removes);
      if (removes) state.delete(key);
      else state.set(key, revision);
    }
    states.set(revision, Object.fromEntries([...state].sort(([a], [b]) => (a < b ? -1 : 1))));
    if (random.below(6) === 0) cache.remember(revision, cache.tree);
    if (random.below(20) === 0) {
      compacted += random.below(revision - compacted + 1);
      cache.compact(compacted);
    }
    check(compacted + random.below(revision - compacted + 1));
  }
  for (let at = compacted; at <= revision; at++) check(at);
  for (let at = revision; at >= compacted; at--) check(at);
  return wrong;
}

for (const checkpointEvents of [1, 7, 50, 4096]) {
  test(`any revision of the window can be read, with a checkpoint every ${checkpointEvents} events`, (t) => {
    for (let seed = 1; seed <= 40; seed++) t.deepEqual(checkHistory(seed, checkpointEvents), []);
  });
}

test('compaction forgets events up to its revision and nothing after', (t) => {
  const cache = new ResourceCache('core/samples');
  for (const revision of [1, 2, 2, 5, 9]) cache.apply(entry(`a/${cache.events.length}`, revision), false);
  for (const [upTo, left] of [
    [0, [1, 2, 2, 5, 9]],
    [2, [5, 9]],
    [4, [5, 9]],
    [8, [9]],
    [9, []],
  ] as const) {
    cache.compact(upTo);
    t.deepEqual(
      cache.events.map(({ revision }) => revision),
      [...left],
    );
  }
  t.is(cache.tree.size, 5);
});

test('of a type whose changes are bounded few more are kept than can be asked for', (t) => {
  const [EVENTS_MAX, REVISIONS] = [100, 1000];
  for (const isRecalled of [false, true]) {
    const cache = new ResourceCache('core/samples', EVENTS_MAX);
    for (let revision = 1; revision <= REVISIONS; revision++) {
      const one = entry('a/x', revision);
      if (isRecalled) cache.recall({ revision, deleted: false, entry: one, previous: undefined });
      else cache.apply(one, false);
      t.is(cache.oldest, Math.max(0, revision - EVENTS_MAX));
      t.true(cache.events.length >= Math.min(revision, EVENTS_MAX));
      t.true(cache.events.length < 2 * EVENTS_MAX, `${cache.events.length} at ${revision}`);
    }
  }
});

test('the first event after a revision is found also inside a run of one revision', (t) => {
  const cache = new ResourceCache('core/samples');
  for (const revision of [2, 2, 2, 4, 4, 7]) cache.apply(entry(`a/${cache.events.length}`, revision), false);
  const indexes = Array.from({ length: 9 }, (_, revision) => cache.eventsAfter(revision));
  t.deepEqual(indexes, [0, 0, 3, 3, 5, 5, 5, 6, 6]);
});

test('a present state is taken in any order, and goes on changing as if its objects had come one by one', (t) => {
  const names = Array.from({ length: 500 }, (_, number) => `a/${(number * 7) % 500}`);
  for (const order of [names, names.toSorted(), names.toSorted().reverse()]) {
    const cache = new ResourceCache('core/samples');
    cache.load(order.map((name) => entry(name, 1)));
    t.deepEqual([...cache.tree.keys()], names.toSorted());
    cache.apply(entry('a/17', 2), true);
    cache.apply(entry('a/170000', 3), false);
    t.deepEqual(
      [...cache.tree.keys()],
      names
        .toSorted()
        .filter((name) => name !== 'a/17')
        .concat('a/170000')
        .toSorted(),
    );
    t.is(cache.treeAt(1).size, 500);
  }
});

test('a present state with history can be read back to where its history begins', (t) => {
  const cache = new ResourceCache('core/samples');
  const first = entry('a/x', 3);
  const second = entry('a/x', 5);
  const other = entry('a/y', 4);
  cache.load([second]);
  cache.recall({ revision: 4, deleted: false, entry: other, previous: undefined });
  cache.recall({ revision: 5, deleted: false, entry: second, previous: first });
  cache.recall({ revision: 6, deleted: true, entry: entry('a/y', 6), previous: other });
  t.deepEqual(
    [3, 4, 5, 6].map((revision) => stateOf(cache.treeAt(revision))),
    [{ 'a/x': 3 }, { 'a/x': 3, 'a/y': 4 }, { 'a/x': 5, 'a/y': 4 }, { 'a/x': 5 }],
  );
});

test('of states from before the window nothing is kept, neither between its events nor for lists that went on', async (t) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const cache = new ResourceCache('core/samples', Number.POSITIVE_INFINITY, 4);
  const past: WeakRef<Entry>[] = [];
  for (let revision = 1; revision <= 40; revision++) {
    const one = entry(`a/x${revision % 4}`, revision);
    cache.apply(one, false);
    if (revision <= 20) past.push(new WeakRef(one));
    if (revision % 6 === 0) cache.remember(revision, cache.tree);
  }
  cache.compact(30);
  // What a weak reference has been asked for stays until the turn is over.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  t.deepEqual(
    past.flatMap((one) => one.deref()?.revision ?? []),
    [],
  );
  t.deepEqual(stateOf(cache.treeAt(31)), { 'a/x0': 28, 'a/x1': 29, 'a/x2': 30, 'a/x3': 31 });
});

test('the cache of a type that has gone goes when nobody can ask for what was there, unless the type has come again', (t) => {
  const caches = new ResourceCaches();
  const [gone, back, empty] = ['gone', 'back', 'empty'].map((name) => caches.of(`example.com/${name}`)) as [
    ResourceCache,
    ResourceCache,
    ResourceCache,
  ];
  for (const cache of [gone, back]) {
    cache.apply(entry('a/x', 1), false);
    cache.apply(entry('a/x', 2), true);
    cache.end(3);
  }
  back.apply(entry('a/x', 4), false);
  const nobody = (): boolean => false;
  t.false(caches.compact(2, nobody));
  t.false(caches.compact(3, (cache) => cache === gone));
  t.deepEqual([...caches.values()], [gone, back, empty]);
  t.true(caches.compact(3, nobody));
  t.deepEqual([...caches.values()], [back, empty]);
  t.false(caches.compact(4, nobody));
  t.not(caches.of('example.com/gone'), gone);
});
