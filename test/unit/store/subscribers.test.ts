import test from 'ava';
import { Subscribers } from '../../../actors/store/subscribers.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import { SeededRandom } from '../../../runtime/simulation/seeded-random.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';
import { SharedState } from '../../../storage/shared-state.ts';
import { SlabPool } from '../../../storage/slab-pool.ts';

/** Subscribers whose mailboxes have room as the test says, and what each was told. */
function rig() {
  const timers = new VirtualTime();
  const shared = new SharedState();
  const told: string[] = [];
  const room = { isLeft: true };
  const refNamed = (name: string) => ({
    tell: ({ type }: { readonly type: string }) => {
      if (!room.isLeft) return 'full';
      told.push(`${name} ${type}`);
      return 'queued';
    },
  });
  const context = { timers, random: new SeededRandom(1), log: { warn: () => {} }, refNamed } as unknown as ActorContext;
  const subscribers = new Subscribers(context, shared, new SlabPool(4096, shared));
  const publish = (): void => subscribers.publish({ lastRevision: 1, compactedRevision: 0, runs: [], movedRuns: [] });
  return { timers, shared, told, room, subscribers, publish };
}

test('who subscribes holds back what is given up after the publication that it begins with, and nothing before', (t) => {
  const { shared, subscribers, publish } = rig();
  publish();
  publish();
  const slot = subscribers.add('hub/0');
  t.is(shared.readerEpoch(slot), 2);
  t.is(shared.lowestEpoch(), 2);
  publish();
  t.is(subscribers.add('hub/0'), slot);
  t.is(shared.readerEpoch(slot), 2, 'what it read before it subscribed again is its own to let go');
  subscribers.remove('hub/0');
  t.is(shared.lowestEpoch(), Number.POSITIVE_INFINITY);
});

test('who falls behind holds its slabs, and is told so until it hears it and nothing else', async (t) => {
  const { timers, shared, told, room, subscribers, publish } = rig();
  const slot = subscribers.add('hub/0');
  publish();
  room.isLeft = false;
  publish();
  await timers.advance(200);
  t.is(shared.readerEpoch(slot), 0);
  room.isLeft = true;
  await timers.advance(100);
  publish();
  t.deepEqual(told, ['hub/0 storeBatch', 'hub/0 storeLost']);
  t.is(shared.readerEpoch(slot), 0);
  subscribers.add('hub/0');
  subscribers.lose('hub/0');
  publish();
  t.deepEqual(told.slice(2), ['hub/0 storeLost']);
  t.is(shared.readerEpoch(slot), 0);
});
