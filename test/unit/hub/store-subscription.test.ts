// A follower's subscription: its start waits for the first present state, whatever happens to the store meanwhile.
import test from 'ava';
import { StoreSubscription } from '../../../actors/following/store-subscription.ts';
import type { StoreBatch, StoreProtocol } from '../../../actors/store/protocol.ts';
import type { Ref } from '../../../runtime/actor.ts';
import { OrchError } from '../../../runtime/errors.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';

const PRESENT = { incarnation: 1, sequence: 0, revision: 1 };

test('a start that the store interrupts by restarting ends with the present state of the restarted store', async (t) => {
  const time = new VirtualTime();
  const answers = [Promise.reject(new OrchError('ActorDown', 'store is not running')), Promise.resolve(PRESENT)];
  for (const answer of answers) answer.catch(() => {});
  const store = { ask: () => answers.shift(), tell: () => 'queued' } as unknown as Ref<StoreProtocol>;
  const presents: unknown[] = [];
  const subscription = new StoreSubscription({
    store,
    subscription: { subscriber: 'hub' },
    timers: time,
    onPresent: (present) => {
      presents.push(present);
      return undefined;
    },
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
  t.deepEqual(presents, [PRESENT]);
});

/** Of a store's life, as far as a subscription looks at it. */
function batch(incarnation: number, sequence: number): StoreBatch {
  return { incarnation, sequence, lastRevision: sequence } as StoreBatch;
}

test('a publication of the store before, however late, is not taken for one of the store that is followed', async (t) => {
  const time = new VirtualTime();
  let arrive = (_present: unknown): void => {};
  const ask = (): Promise<unknown> =>
    new Promise((resolve) => {
      arrive = resolve;
    });
  const store = { ask, tell: () => 'queued' } as unknown as Ref<StoreProtocol>;
  const applied: string[] = [];
  const subscription = new StoreSubscription({
    store,
    subscription: { subscriber: 'hub' },
    timers: time,
    onPresent: () => undefined,
    onBatch: ({ incarnation, sequence }) => applied.push(`${incarnation}/${sequence}`),
    onLost: () => {},
    crash: (error) => t.fail(error.message),
  });
  void subscription.start();
  arrive({ incarnation: 1, sequence: 3 });
  await time.runUntilIdle();
  subscription.receive(batch(1, 4));
  subscription.restart('the store restarted');
  // While the present state is on its way, and after it: the numbers would fit.
  subscription.receive(batch(1, 5));
  arrive({ incarnation: 2, sequence: 4 });
  await time.runUntilIdle();
  subscription.receive(batch(2, 5));
  subscription.receive(batch(1, 6));
  subscription.receive(batch(2, 6));
  t.true(subscription.following);
  t.deepEqual(applied, ['1/4', '2/5', '2/6']);
});
