// The hub's self-check over a real store: silent while both hold the same, whatever happens meanwhile; a metric, a log and
// a new beginning when they do not.
import test from 'ava';
import { ResourceCache } from '../../../actors/hub/caches/resource-cache.ts';
import { DIVERGENCE_METRIC } from '../../../actors/hub/self-check.ts';
import { HubWorld } from './hub-world.ts';

const INTERVAL_MS = 1000;

function metric(world: HubWorld, name: string): { readonly value: number; readonly labels: object } | undefined {
  const families = world.run.metrics().flat();
  return families.find((family) => family.name === name)?.series[0];
}

async function listed(world: HubWorld): Promise<readonly string[]> {
  const answer = await world.during(world.list());
  if (answer.refused !== undefined) throw new Error(answer.refused);
  return world.seenIn(answer);
}

/** Runs with a method of the hub's caches replaced, which all hubs of this process share: tests that do so are serial. */
async function withApply(replacement: ResourceCache['apply'], work: () => Promise<void>): Promise<void> {
  const { apply } = ResourceCache.prototype;
  ResourceCache.prototype.apply = replacement;
  try {
    await work();
  } finally {
    ResourceCache.prototype.apply = apply;
  }
}

test.serial('a hub that holds what the store does says up to which revision, and nothing else', async (t) => {
  // So small that records are moved and history is forgotten all the time.
  const world = await HubWorld.start({
    selfCheckIntervalMs: 20,
    slabBytes: 2048,
    historyEventsMax: 5,
    distantHub: true,
  });
  for (let round = 0; round < 100; round++) {
    await world.put(`a/o${round % 7}`, `${round}`);
    if (round % 3 === 0) await world.put(`b/o${round % 5}`, `${round}`);
    if (round % 10 === 9) await world.remove('a/o1');
    if (round % 10 === 9) await world.put('a/o1');
    await world.simulation.time.advance(7);
  }
  await world.simulation.time.advance(100);
  t.is(metric(world, DIVERGENCE_METRIC), undefined);
  t.is(metric(world, 'orch_hub_checked_revision')?.value, world.commits.at(-1)!.revision);
  await world.stop();
});

test.serial('a check in the midst of changes compares the state of one revision', async (t) => {
  const world = await HubWorld.start({ selfCheckIntervalMs: INTERVAL_MS, distantHub: true });
  for (let number = 0; number < 2500; number += 100) {
    const versions = Array.from({ length: 100 }, (_, i) => ({
      namespace: 'a',
      name: `o${number + i}`,
      labels: {},
      text: '',
    }));
    await world.commit(versions);
  }
  await world.simulation.time.advance(INTERVAL_MS - (world.simulation.time.monotonicMs() % INTERVAL_MS) - 1);
  // The check falls among these: more are applied before its slices are through.
  const changes = Promise.all(Array.from({ length: 40 }, (_, number) => world.commitSoon([], [`a/o${number}`])));
  await world.simulation.time.advance(1);
  await world.during(changes);
  await world.simulation.time.advance(100);
  t.is(metric(world, DIVERGENCE_METRIC), undefined);
  t.true(metric(world, 'orch_hub_checked_revision')!.value > 0);
  await world.stop();
});

test.serial('what the hub has forgotten since the revision that the store told of is not compared', async (t) => {
  const world = await HubWorld.start({ selfCheckIntervalMs: INTERVAL_MS });
  const { apply } = ResourceCache.prototype;
  // As where a definition goes: its objects are removed before it, and nobody may ask what there was.
  const ending: ResourceCache['apply'] = function (this: ResourceCache, entry, deleted) {
    const event = apply.call(this, entry, deleted);
    if (deleted && entry.key === 'a/last') this.end(entry.revision);
    return event;
  };
  await withApply(ending, async () => {
    await world.put('a/o0');
    await world.put('a/last');
    const deliver = world.delayDigests();
    await world.simulation.time.advance(INTERVAL_MS);
    await world.remove('a/o0');
    await world.remove('a/last');
    deliver();
    await world.settle();
    t.is(metric(world, DIVERGENCE_METRIC), undefined);
    t.true(metric(world, 'orch_hub_checked_revision')!.value > 0);
  });
  await world.stop();
});

test.serial('a change that the hub has missed is counted, and the hub begins again', async (t) => {
  const world = await HubWorld.start({ selfCheckIntervalMs: INTERVAL_MS });
  await world.put('a/x', '1');
  const { apply } = ResourceCache.prototype;
  const missing: ResourceCache['apply'] = function (this: ResourceCache, entry, deleted) {
    if (entry.key !== 'a/y') return apply.call(this, entry, deleted);
    return { revision: entry.revision, deleted, entry, previous: undefined };
  };
  await withApply(missing, async () => {
    await world.put('a/y', '1');
    t.deepEqual(await listed(world), ['ADDED a/x 1']);
  });
  await world.simulation.time.advance(INTERVAL_MS);
  const found = metric(world, DIVERGENCE_METRIC);
  t.is(found?.value, 1);
  t.deepEqual(found?.labels, { resource: 'core/configmaps' });
  t.deepEqual(await listed(world), ['ADDED a/x 1', 'ADDED a/y 2']);
  await world.simulation.time.advance(10 * INTERVAL_MS);
  t.is(metric(world, DIVERGENCE_METRIC)?.value, 1);
  await world.stop();
});

test.serial('a change that the hub has applied twice is counted, although the objects are the same', async (t) => {
  const world = await HubWorld.start({ selfCheckIntervalMs: INTERVAL_MS });
  await world.put('a/x', '1');
  await world.simulation.time.advance(INTERVAL_MS);
  t.is(metric(world, 'orch_hub_checked_revision')?.value, 1);
  const { apply } = ResourceCache.prototype;
  const twice: ResourceCache['apply'] = function (this: ResourceCache, entry, deleted) {
    apply.call(this, entry, deleted);
    return apply.call(this, entry, deleted);
  };
  await withApply(twice, () => world.put('a/x', '2').then(() => {}));
  await world.simulation.time.advance(INTERVAL_MS);
  t.is(metric(world, DIVERGENCE_METRIC)?.value, 1);
  t.is(metric(world, 'orch_hub_checked_revision')?.value, 2);
  await world.stop();
});

test.serial('a check that the store was lost under is given up, and the next one compares anew', async (t) => {
  const world = await HubWorld.start({ selfCheckIntervalMs: INTERVAL_MS });
  await world.put('a/x', '1');
  await world.simulation.time.advance(INTERVAL_MS - 1);
  world.loseStore();
  await world.simulation.time.advance(5 * INTERVAL_MS);
  await world.put('a/x', '2');
  await world.simulation.time.advance(2 * INTERVAL_MS);
  t.is(metric(world, DIVERGENCE_METRIC), undefined);
  t.is(metric(world, 'orch_hub_checked_revision')?.value, 2);
  await world.stop();
});

test.serial('an interval of 0 means that nothing is checked', async (t) => {
  const world = await HubWorld.start();
  await world.put('a/x', '1');
  await world.simulation.time.advance(3_600_000);
  t.is(metric(world, 'orch_hub_checked_revision'), undefined);
  await world.stop();
});

test.serial(
  'a record that the hub cannot find is counted as what it does not hold, and the hub begins again',
  async (t) => {
    const world = await HubWorld.start({ selfCheckIntervalMs: INTERVAL_MS });
    const { apply } = ResourceCache.prototype;
    const misplacing: ResourceCache['apply'] = function (this: ResourceCache, entry, deleted) {
      const event = apply.call(this, entry, deleted);
      if (entry.key === 'a/y') entry.slab = 9999;
      return event;
    };
    await withApply(misplacing, () => world.put('a/y', '1').then(() => {}));
    await world.simulation.time.advance(INTERVAL_MS);
    t.is(metric(world, DIVERGENCE_METRIC)?.value, 1);
    t.deepEqual(await listed(world), ['ADDED a/y 1']);
    await world.stop();
  },
);
