// A hub whose store others write to as well: a version it does not know may be on its way here, or of before a restore.
import test from 'ava';
import type { LocalEngine } from '../../../storage/engines/local-engine.ts';
import { REVISION_STRIDE } from '../../../storage/engines/shared-engine.ts';
import { EtcdModel } from '../../simulation/etcd-model.ts';
import { engineOn } from '../store/shared-rig.ts';
import { HubWorld } from './hub-world.ts';

/** Calls take no time, and what it tells its watches comes when `release` lets it. */
function modelBehind(): { readonly model: EtcdModel; readonly release: () => void } {
  let held: (() => void)[] = [];
  const model = new EtcdModel({
    after: (delayMs, callback) => {
      if (delayMs === 0) queueMicrotask(callback);
      else held.push(callback);
    },
    nextFate: () => ({ delayMs: 0, loses: undefined }),
    watchDelayMs: () => 1,
  });
  const release = (): void => {
    const due = held;
    held = [];
    for (const callback of due) callback();
  };
  return { model, release };
}

/** A hub on the model. `settled`: what the model tells has come. */
async function sharedWorld() {
  const { model, release } = modelBehind();
  const world = await HubWorld.start({ engine: () => engineOn(model) as unknown as LocalEngine });
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) {
      await world.settle();
      release();
    }
  };
  return { model, world, settled };
}

test('a watch from a version that no server has given is told that it is past, and does not wait for it', async (t) => {
  const { world, settled } = await sharedWorld();
  const commit = world.commitSoon([{ namespace: 'a', name: 'o0', labels: {}, text: '' }]);
  await settled();
  const revision = await commit;
  const behind = world.watch(`resourceVersion=${revision}`);
  const ahead = world.watch(`resourceVersion=${revision + 100 * REVISION_STRIDE}`);
  await settled();
  t.deepEqual(behind.seen, []);
  t.false(behind.finished);
  t.deepEqual(
    ahead.events.map(({ type, object }) => [type, object.code]),
    [['ERROR', 410]],
  );
  t.true(ahead.finished);
  await world.stop();
});

test('watches of a store that others write to as well end when another takes its place, which may have been restored', async (t) => {
  const { world, settled } = await sharedWorld();
  const commit = world.commitSoon([{ namespace: 'a', name: 'o0', labels: {}, text: '' }]);
  await settled();
  const watch = world.watch(`resourceVersion=${await commit}`);
  await settled();
  t.false(watch.finished);
  const restarting = world.restartStore();
  await settled();
  await restarting;
  await settled();
  t.deepEqual(
    watch.events.map(({ type, object }) => [type, object.code]),
    [['ERROR', 410]],
  );
  t.true(watch.finished);
  await world.stop();
});

test('a watch that waits for a version while another store takes the place of its own is told that the version is past', async (t) => {
  const { model, world, settled } = await sharedWorld();
  const commit = world.commitSoon([{ namespace: 'a', name: 'o0', labels: {}, text: '' }]);
  await settled();
  const revision = await commit;
  // Another server writes, of which this one is not told yet.
  const other = engineOn(model);
  const { base } = await other.open();
  await other.follow({ value: () => {}, again: () => {}, revision: () => {}, lost: () => {} });
  const expect = Math.floor((revision - base) / REVISION_STRIDE);
  const removal = { key: 'core/configmaps/a/o0', expect, value: undefined };
  const removed = await other.commit([{ guards: [], writes: [removal], place: 0 }]);
  t.deepEqual(removed.held, [true]);
  // The very version at which the other store begins.
  const newest = base + (removed.revision + 1) * REVISION_STRIDE - 1;
  const watch = world.watch(`resourceVersion=${newest}`);
  await world.settle();
  // It is told how new it has to be, but not what has come until then.
  world.delivery.hold('hub');
  await settled();
  t.false(watch.finished);
  const restarting = world.restartStore(false);
  await settled();
  await restarting;
  world.delivery.letGo('hub');
  await settled();
  t.deepEqual(
    watch.events.map(({ type, object }) => [type, object.code]),
    [['ERROR', 410]],
  );
  t.true(watch.finished);
  await other.close();
  await world.stop();
});

test('a client that goes away before it is known how far its watch begins is forgotten', async (t) => {
  const { world } = await sharedWorld();
  await world.settle();
  // What was acknowledged last is the store's to say, and it does not yet.
  world.delivery.hold('store');
  const watch = world.watch('');
  await world.settle();
  watch.response.disconnect();
  await world.settle();
  world.delivery.letGo('store');
  await world.settle();
  t.true(watch.finished);
  t.is(world.ingress.watches.count, 0);
  t.is((await world.during(world.hubRef.ask({ type: 'status' }, { deadlineMs: 1000 }))).watchers, 0);
  await world.stop();
});
