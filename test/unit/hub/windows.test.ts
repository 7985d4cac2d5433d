// The windows of types: how far back a watch or list may begin where a size bounds it, and who is sent bookmarks.
import test from 'ava';
import { watchWindows } from '../../../actors/hub/caches/windows.ts';
import { HubWorld } from './hub-world.ts';

const BY_DEFAULT = { watchCache: true, watchCacheSizes: [], defaultWatchCacheSize: 100 };

test('sizes are those of the options, a type with its own before the others', (t) => {
  const { sizeOf, sendsBookmarks } = watchWindows({
    ...BY_DEFAULT,
    watchCacheSizes: ['pods#7', 'deployments.apps#0', 'widgets.example.com#9'],
    defaultWatchCacheSize: 50,
  });
  t.deepEqual(['core/pods', 'apps/deployments', 'example.com/widgets', 'core/nodes'].map(sizeOf), [
    7,
    undefined,
    9,
    50,
  ]);
  t.deepEqual(['core/pods', 'apps/deployments', 'core/nodes'].map(sendsBookmarks), [true, false, true]);
  const standard = watchWindows(BY_DEFAULT);
  t.deepEqual([standard.sizeOf('core/pods'), standard.sendsBookmarks('core/pods')], [undefined, true]);
  const off = watchWindows({ ...BY_DEFAULT, watchCache: false, watchCacheSizes: ['pods#7'] });
  t.deepEqual([off.sizeOf('core/pods'), off.sendsBookmarks('core/pods')], [undefined, false]);
  const none = watchWindows({ ...BY_DEFAULT, defaultWatchCacheSize: 0 });
  t.deepEqual([none.sizeOf('core/pods'), none.sendsBookmarks('core/pods')], [undefined, false]);
});

test('a watch or list from before the last changes that a size allows is refused, and none from within them', async (t) => {
  const world = await HubWorld.start({ windows: watchWindows({ ...BY_DEFAULT, watchCacheSizes: ['configmaps#10'] }) });
  const refusal = async (query: Parameters<HubWorld['list']>[0]) => (await world.during(world.list(query))).refused;
  for (let count = 0; count < 5; count++) await world.put(`a/o${count}`);
  const first = await world.during(world.list({ limit: 2 }));
  if (first.refused !== undefined) throw new Error(first.refused);
  for (let count = 0; count < 200; count++) {
    await world.put('a/o4', String(count));
    if (count % 50 !== 49) continue;
    const oldest = world.commits.length - 10;
    const exact = (revision: number) => refusal({ freshness: { kind: 'exact', revision } });
    t.deepEqual([await exact(oldest), await exact(oldest - 1)], [undefined, 'expired'], String(count));
    const within = world.watch(`resourceVersion=${oldest}`);
    const before = world.watch(`resourceVersion=${oldest - 1}`);
    await world.settle();
    t.deepEqual(within.seen, world.expectedAfter(oldest));
    t.deepEqual(
      before.events.map(({ type, object }) => [type, object.code]),
      [['ERROR', 410]],
    );
    within.response.abort();
  }
  t.is(await refusal({ limit: 2, continueToken: first.continueToken }), 'expired');
  await world.stop();
});

test('a watch whose client stops reading ends when more has changed than a size allows', async (t) => {
  const world = await HubWorld.start({ windows: watchWindows({ ...BY_DEFAULT, watchCacheSizes: ['configmaps#10'] }) });
  const parked = world.watch('');
  await world.put('a/o0');
  await world.settle();
  parked.response.isFull = () => true;
  for (let count = 0; count < 200; count++) await world.put('a/o0', String(count));
  parked.response.isFull = () => false;
  parked.response.drain();
  await world.settle();
  t.deepEqual(parked.seen.slice(0, -1), ['ADDED a/o0 1', 'MODIFIED a/o0 2']);
  t.is(parked.events.at(-1)?.object.code, 410);
  t.true(parked.finished);
  await world.stop();
});

for (const watchCache of [true, false]) {
  test(`a silent watch is told how far it has come ${watchCache ? 'by' : 'not without'} the watch cache`, async (t) => {
    const world = await HubWorld.start({ windows: watchWindows({ ...BY_DEFAULT, watchCache }) });
    await world.put('a/o0');
    const watch = world.watch('resourceVersion=1&allowWatchBookmarks=true', 'b');
    await world.simulation.time.advance(25_000);
    t.is(watch.seen.includes('BOOKMARK / 1'), watchCache);
    await world.stop();
  });
}
