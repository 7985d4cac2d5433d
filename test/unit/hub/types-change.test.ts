// A type that is shown otherwise from some change on: its watches end behind what came before, whatever else comes in the same batch.
import test from 'ava';
import type { FollowedTypes } from '../../../actors/hub/hub-types.ts';
import { HubWorld, type Version } from './hub-world.ts';

const version = (name: string): Version => ({ namespace: 'a', name, labels: {}, text: '' });

/** Config maps of which one, `d`, says how all are shown. */
const SHOWN_BY_ONE: FollowedTypes = {
  storageKey: 'core/configmaps',
  reset: () => {},
  parse: (text) => JSON.parse(text),
  put: (object) => ((object.metadata as { readonly name: string }).name === 'd' ? 'core/configmaps' : undefined),
  remove: () => undefined,
  storageKeyOf: () => undefined,
  editions: () => new Map(),
};

test('a watch that ends in the middle of a batch is told no bookmark from before what it was shown', async (t) => {
  const world = await HubWorld.start({ types: [SHOWN_BY_ONE] });
  const first = await world.put('a/o0');
  const watch = world.watch(`resourceVersion=${first}&allowWatchBookmarks=true`);
  await world.settle();
  await world.commit([version('c'), version('d'), version('e')]);
  await world.settle();
  t.true(watch.finished);
  const versions = watch.events.map(({ object }) => Number(object.metadata.resourceVersion));
  t.deepEqual(
    versions,
    [...versions].sort((a, b) => a - b),
    watch.seen.join('\n'),
  );
  t.is(watch.events[0]?.object.metadata.name, 'c');
  await world.stop();
});
