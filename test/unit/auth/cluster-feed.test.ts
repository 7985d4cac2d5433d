// Who judges by the cluster: not before all of it has been read, and not by what was known before the store was lost.
import test from 'ava';
import { ClusterFeed, type ClusterReader, isClusterReader } from '../../../actors/auth/cluster-feed.ts';
import type { StoreBatch } from '../../../actors/store/protocol.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import { isOrchError } from '../../../runtime/errors.ts';
import type { PresentState } from '../../../storage/following/publication.ts';
import type { FeedEvent, StoreFeed } from '../../../storage/following/store-feed.ts';
import { SharedState } from '../../../storage/shared-state.ts';
import { fakeContext } from '../controllers/fake-context.ts';
import { VirtualTime } from '../controllers/virtual-time.ts';

/** A feed of a store with these pods, and what a reader of it has been told. */
function following(names: readonly string[], isLazy = false) {
  const time = new VirtualTime();
  let incarnation = 0;
  const present = (): PresentState =>
    ({
      incarnation: ++incarnation,
      sequence: 4,
      revision: 9,
      sharedState: new SharedState().memory,
    }) as unknown as PresentState;
  const logged: unknown[] = [];
  const context = {
    ...fakeContext(time, () => Promise.resolve(present())),
    log: { warn: () => {}, error: (fields: object) => void logged.push(fields) },
  } as unknown as ActorContext;
  const tell = (name: string, onEvent: (event: FeedEvent) => void): void =>
    onEvent({ type: 'put', storageKey: 'core/pods', namespace: '', name } as FeedEvent);
  const told: string[] = [];
  const reader: ClusterReader = {
    storageKeys: ['core/pods'],
    isLazy,
    reset: () => void told.push('reset'),
    onEvent: ({ name }) => {
      if (name === 'odd') throw new Error('it cannot be read');
      told.push(name);
    },
  };
  const feed = new ClusterFeed(
    context,
    (_context, _keys, onEvent): StoreFeed => ({
      begin: () => {
        for (const name of names) tell(name, onEvent);
        return { next: () => ({ done: true, value: undefined }) };
      },
      apply: ({ sequence }) => tell(`change ${sequence}`, onEvent),
    }),
  );
  feed.add(reader);
  return { feed, told, logged, settled: () => time.settle() };
}

const whyNot = (feed: ClusterFeed): string => {
  try {
    feed.requireWhole();
    return '';
  } catch (error) {
    return isOrchError(error, 'ActorDown') ? error.message : String(error);
  }
};
const UNREAD = 'the policies of the cluster have not been read yet';

test('nobody is judged by a cluster that has not been read whole, nor by what was known before its store was lost', async (t) => {
  const { feed, told, settled } = following(['a', 'b']);
  t.is(whyNot(feed), UNREAD);
  feed.start();
  t.is(whyNot(feed), UNREAD);
  await settled();
  t.is(whyNot(feed), '');
  feed.onBatch({ incarnation: 1, sequence: 5, after: 4, lastRevision: 10 } as StoreBatch);
  await settled();
  t.deepEqual(
    told.splice(0).filter((one) => one !== 'reset'),
    ['a', 'b', 'change 5'],
  );
  feed.onLost();
  t.is(whyNot(feed), UNREAD);
  t.is(told[0], 'reset', 'what was known is void at once');
  await settled();
  t.is(whyNot(feed), '');
  t.deepEqual(
    told.filter((one) => one !== 'reset'),
    ['a', 'b'],
  );
});

test('an object that cannot be read keeps no other from being known', async (t) => {
  const { feed, told, logged, settled } = following(['a', 'odd', 'b']);
  feed.start();
  await settled();
  t.is(whyNot(feed), '');
  t.deepEqual(
    told.filter((one) => one !== 'reset'),
    ['a', 'b'],
  );
  t.like(logged, [{ event: { storageKey: 'core/pods', name: 'odd' } }]);
});

test('for a reader that may never be asked nothing is followed until it is', async (t) => {
  const { feed, told, settled } = following(['a'], true);
  feed.start();
  await settled();
  t.deepEqual(told, []);
  t.is(whyNot(feed), UNREAD);
  feed.follow();
  await settled();
  t.true(told.includes('a'));
  t.is(whyNot(feed), '');
});

test('who is told of objects says of which, and hears of them', (t) => {
  const { feed } = following([]);
  t.false(isClusterReader(feed));
  t.false(isClusterReader({ storageKeys: [] }));
  t.false(isClusterReader({ onEvent: () => {} }));
  t.true(isClusterReader({ storageKeys: [], onEvent: () => {} }));
});
