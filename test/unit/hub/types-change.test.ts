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

test('a watch of another type than is shown otherwise in the middle of a batch gets all of it', async (t) => {
  const put: FollowedTypes['put'] = ({ metadata }) =>
    (metadata as { readonly name: string }).name === 'd' ? 'example.com/others' : undefined;
  const world = await HubWorld.start({ types: [{ ...SHOWN_BY_ONE, put }] });
  const first = await world.put('a/o0');
  const watch = world.watch(`resourceVersion=${first}`);
  await world.settle();
  await world.commit([version('c'), version('d'), version('e')]);
  await world.settle();
  t.deepEqual(watch.seen, world.expectedAfter(first));
  t.false(watch.finished);
  await world.stop();
});

test('a list that takes many turns is given up when its type is shown otherwise, and goes on when another is', async (t) => {
  for (const [changed, refused] of [
    ['core/configmaps', 'notReady'],
    ['example.com/others', undefined],
  ] as const) {
    const put: FollowedTypes['put'] = ({ metadata }) =>
      (metadata as { readonly name: string }).name === 'd' ? changed : undefined;
    const world = await HubWorld.start({ types: [{ ...SHOWN_BY_ONE, put }], gatheredEntriesMax: 1 });
    await world.commit(Array.from({ length: 20 }, (_, number) => version(`o${number}`)));
    const list = world.list({ labelSelector: '!tier' });
    const commit = world.commitSoon([version('d')]);
    t.is((await world.during(list)).refused, refused, changed);
    await world.during(commit);
    await world.stop();
  }
});

test('nothing from before the end of a type can be asked for of one that is made anew under its name', async (t) => {
  const remove = (name: string) => (name === 'd' ? 'core/configmaps' : undefined);
  const world = await HubWorld.start({ types: [{ ...SHOWN_BY_ONE, put: () => undefined, remove }] });
  await world.commit([version('d'), version('o')]);
  const before = await world.put('a/o');
  const ended = await world.remove('a/d');
  await world.settle();
  const refusal = async (revision: number) =>
    (await world.during(world.list({ freshness: { kind: 'exact', revision } }))).refused;
  t.deepEqual([await refusal(before), await refusal(ended)], ['expired', undefined]);
  const [early, late] = [before, ended].map((revision) => world.watch(`resourceVersion=${revision}`));
  await world.settle();
  t.is(early!.events[0]?.object.code, 410);
  t.deepEqual(late!.seen, []);
  await world.stop();
});
