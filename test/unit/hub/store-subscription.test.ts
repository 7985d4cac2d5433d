// A follower's subscription: its start waits for the first snapshot, whatever happens to the store meanwhile.
import test from 'ava';
import type { StoreProtocol } from '../../../actors/store/protocol.ts';
import { StoreSubscription } from '../../../actors/store-subscription.ts';
import type { Ref } from '../../../runtime/actor.ts';
import { OrchError } from '../../../runtime/errors.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';

const SNAPSHOT = { sequence: 0, revision: 1 };

test('a start that the store interrupts by restarting ends with the snapshot of the restarted store', async (t) => {
  const time = new VirtualTime();
  const answers = [Promise.reject(new OrchError('ActorDown', 'store is not running')), Promise.resolve(SNAPSHOT)];
  for (const answer of answers) answer.catch(() => {});
  const store = { ask: () => answers.shift(), tell: () => 'queued' } as unknown as Ref<StoreProtocol>;
  const snapshots: unknown[] = [];
  const subscription = new StoreSubscription({
    store,
    subscriber: 'hub',
    timers: time,
    onSnapshot: (snapshot) => snapshots.push(snapshot),
    onBatch: () => {},
    onLost: () => {},
    crash: (error) => t.fail(error.message),
  });
  let started = false;
  void subscription.start().then(() => {
    started = true;
  });
  await time.runUntilIdle();
  t.false(started);
  subscription.restart('the store restarted');
  await time.runUntilIdle();
  t.true(started);
  t.deepEqual(snapshots, [SNAPSHOT]);
});
