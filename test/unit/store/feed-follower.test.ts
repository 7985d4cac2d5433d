// A present state that is told over several turns: what comes meanwhile waits, and another present state ends it.
import test from 'ava';
import { FeedFollower, type FeedListener } from '../../../actors/following/feed-follower.ts';
import type { StoreBatch } from '../../../actors/store/protocol.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import type { PresentState } from '../../../storage/following/publication.ts';
import type { FeedEvent, StoreFeed } from '../../../storage/following/store-feed.ts';
import { SharedState } from '../../../storage/shared-state.ts';
import { fakeContext } from '../controllers/fake-context.ts';
import { VirtualTime } from '../controllers/virtual-time.ts';

const present = (incarnation: number): PresentState =>
  ({ incarnation, sequence: 4, revision: 9, sharedState: new SharedState().memory }) as unknown as PresentState;
const batch = (incarnation: number, sequence: number): StoreBatch =>
  ({ incarnation, sequence, after: sequence - 1, lastRevision: sequence + 5 }) as StoreBatch;

/** A follower of a store with these objects, two of them told in a turn; turns are taken one by one. */
function following(objects: readonly string[]) {
  const told: string[] = [];
  const turns: (() => void)[] = [];
  const time = new VirtualTime();
  let incarnation = 0;
  const context: ActorContext = {
    ...fakeContext(time, () => Promise.resolve(present(++incarnation))),
    timers: { ...time.timers, soon: (turn) => void turns.push(turn) },
  };
  const tell = (name: string, onEvent: (event: FeedEvent) => void) => onEvent({ name } as FeedEvent);
  const feed = (onEvent: (event: FeedEvent) => void): StoreFeed => ({
    *begin(_present, size = objects.length) {
      for (const [i, name] of objects.entries()) {
        if (i > 0 && i % size === 0) yield;
        tell(name, onEvent);
      }
    },
    apply: ({ sequence }) => tell(`change ${sequence}`, onEvent),
  });
  const listener: FeedListener = {
    onReset: () => told.push('reset'),
    onEvent: ({ name }) => told.push(name),
    onFirstTold: () => told.push('first'),
    onSynced: () => told.push('synced'),
  };
  const how = { partObjects: 2 };
  const follower = new FeedFollower(context, undefined, (_context, _keys, onEvent) => feed(onEvent), listener, how);
  const settled = () => time.settle();
  return {
    follower,
    start: async () => {
      follower.start();
      await settled();
    },
    turn: async () => {
      turns.shift()?.();
      await settled();
    },
    settled,
    take: () => told.splice(0),
  };
}

test('a present state is told in parts, a turn each, and what comes meanwhile after it', async (t) => {
  const { follower, start, turn, take } = following(['a', 'b', 'c', 'd', 'e']);
  await start();
  t.deepEqual(take(), ['reset', 'a', 'b', 'first']);
  follower.onBatch(batch(1, 5));
  await turn();
  t.deepEqual(take(), ['c', 'd']);
  t.false(follower.following);
  t.is(follower.appliedRevision, 0);
  await turn();
  t.deepEqual(take(), ['e', 'synced', 'change 5']);
  t.true(follower.following);
  t.is(follower.appliedRevision, 10);
});

test('a present state that is told when the store is lost ends there, and the next is told whole', async (t) => {
  const { follower, start, turn, settled, take } = following(['a', 'b', 'c']);
  await start();
  follower.onBatch(batch(1, 5));
  take();
  follower.onLost();
  await settled();
  t.deepEqual(take(), ['reset', 'reset', 'a', 'b', 'first']);
  await turn();
  t.deepEqual(take(), [], 'the first one leaves off');
  follower.onBatch(batch(2, 5));
  await turn();
  t.deepEqual(take(), ['c', 'synced', 'change 5']);
});

test('a present state that is told when its follower stops ends there', async (t) => {
  const { follower, start, turn, take } = following(['a', 'b', 'c']);
  await start();
  take();
  follower.stop();
  await turn();
  await turn();
  t.deepEqual(take(), []);
});

test('a present state of no more than a part is told at once', async (t) => {
  const { follower, start, take } = following(['a', 'b']);
  await start();
  t.deepEqual(take(), ['reset', 'a', 'b', 'first', 'synced']);
  t.true(follower.following);
});
