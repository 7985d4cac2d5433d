// A follower's subscription: its start waits for the first present state, whatever happens to the store meanwhile.
import { setImmediate as settled } from 'node:timers/promises';
import test from 'ava';
import { StoreSubscription, type SubscriptionParts } from '../../../actors/following/store-subscription.ts';
import type { PresentState, StoreBatch, StoreProtocol } from '../../../actors/store/protocol.ts';
import type { Ref } from '../../../runtime/actor.ts';
import type { Timers } from '../../../runtime/environment.ts';
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
function batch(incarnation: number, sequence: number, after = sequence - 1): StoreBatch {
  return { incarnation, sequence, after, lastRevision: sequence } as StoreBatch;
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

/** A subscription to a store that answers when it is told to. */
function rig(onPresent: SubscriptionParts['onPresent'] = () => undefined) {
  const asks: { message: unknown; options: unknown; arrive(sequence: number): void; refuse(): void }[] = [];
  const [applied, lost, tells]: [string[], string[], unknown[]] = [[], [], []];
  const timer: { ms: number; fire: (() => void) | undefined } = { ms: 0, fire: undefined };
  const ask = (message: unknown, options: unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const incarnation = asks.length + 1;
      const arrive = (sequence: number): void => resolve({ incarnation, sequence } as PresentState);
      asks.push({ message, options, arrive, refuse: () => reject(new OrchError('ActorDown', 'no store')) });
    });
  const after = (ms: number, fire: () => void) => {
    Object.assign(timer, { ms, fire });
    return { cancel: () => Object.assign(timer, { fire: undefined }) };
  };
  const subscription = new StoreSubscription({
    store: { ask, tell: (message: unknown) => tells.push(message) } as unknown as Ref<StoreProtocol>,
    subscription: { subscriber: 'hub' },
    timers: { after } as unknown as Timers,
    onPresent,
    onBatch: ({ incarnation, sequence }) => applied.push(`${incarnation}/${sequence}`),
    onLost: (reason) => lost.push(reason),
    crash: (error) => {
      throw error;
    },
  });
  void subscription.start();
  return { subscription, asks, applied, lost, tells, timer };
}

test('what is published while the present state is on its way is handed on behind it, each once and in order', async (t) => {
  const { subscription, asks, applied, lost } = rig();
  t.deepEqual(asks[0]!.message, { type: 'subscribe', subscriber: 'hub' });
  t.deepEqual(asks[0]!.options, { deadlineMs: 30_000 });
  for (const sequence of [2, 3, 4, 5]) subscription.receive(batch(1, sequence));
  t.deepEqual(applied, []);
  asks[0]!.arrive(3);
  await settled();
  t.deepEqual(applied, ['1/4', '1/5']);
  subscription.receive(batch(1, 5));
  subscription.receive(batch(1, 7, 5));
  t.deepEqual([applied.at(-1), subscription.sequence, lost], ['1/7', 7, []]);
});

test('a publication that is missing begins the subscription anew', async (t) => {
  const { subscription, asks, applied, lost } = rig();
  asks[0]!.arrive(3);
  await settled();
  subscription.receive(batch(1, 6, 5));
  t.deepEqual([applied, lost, asks.length], [[], ['a publication is missing'], 2]);
  t.false(subscription.following);
  asks[1]!.arrive(9);
  await settled();
  t.true(subscription.following);
  t.is(subscription.sequence, 9);
});

test('a present state that is told over several turns is followed when it has been told, unless another comes', async (t) => {
  const told: (() => void)[] = [];
  const isStillCurrent: (() => boolean)[] = [];
  const { subscription, asks, applied } = rig((_present, isCurrent) => {
    isStillCurrent.push(isCurrent);
    return new Promise((resolve) => told.push(resolve));
  });
  asks[0]!.arrive(0);
  await settled();
  subscription.receive(batch(1, 1));
  subscription.restart('lost');
  t.false(isStillCurrent[0]!());
  told[0]!();
  await settled();
  t.false(subscription.following);
  asks[1]!.arrive(4);
  await settled();
  subscription.receive(batch(2, 5));
  t.true(isStillCurrent[1]!());
  t.deepEqual(applied, []);
  told[1]!();
  await settled();
  t.deepEqual([subscription.following, applied], [true, ['2/5']]);
});

test('a store that does not answer is asked again, each time later up to five seconds, and at once after it has answered', async (t) => {
  const { subscription, asks, lost, timer } = rig();
  const waits: number[] = [];
  for (let tries = 0; tries < 10; tries++) {
    asks.at(-1)!.refuse();
    await settled();
    waits.push(timer.ms);
    timer.fire!();
  }
  t.deepEqual(waits, [20, 40, 80, 160, 320, 640, 1280, 2560, 5000, 5000]);
  t.deepEqual([lost.length, lost[0]], [10, 'subscribing failed: no store']);
  asks.at(-1)!.arrive(0);
  await settled();
  subscription.restart('lost');
  asks.at(-1)!.refuse();
  await settled();
  t.is(timer.ms, 20);
  subscription.restart('it is there again');
  t.is(timer.fire, undefined, 'it has been asked already');
});

test('an answer to a subscription that was given up is nothing to the next, and refuses it nothing', async (t) => {
  const { subscription, asks, lost, timer } = rig();
  subscription.restart('lost');
  asks[0]!.refuse();
  await settled();
  t.deepEqual([lost, timer.fire], [['lost'], undefined]);
  subscription.restart('lost again');
  asks[1]!.arrive(7);
  await settled();
  t.false(subscription.following);
});

test('more publications than are kept before the present state begin the subscription anew', async (t) => {
  const { subscription, asks, lost } = rig();
  for (let sequence = 1; sequence <= 16_384; sequence++) subscription.receive(batch(1, sequence));
  t.deepEqual(lost, []);
  subscription.receive(batch(1, 16_385));
  t.deepEqual([lost, asks.length], [['too many publications before the present state'], 2]);
});

test('a subscription that was ended says so once, and is not begun again', async (t) => {
  const { subscription, asks, lost, tells, timer } = rig();
  asks[0]!.refuse();
  await settled();
  subscription.stop();
  subscription.stop();
  subscription.restart('lost');
  t.deepEqual(tells, [{ type: 'unsubscribe', subscriber: 'hub' }]);
  t.deepEqual([lost.length, asks.length, timer.fire], [1, 1, undefined]);
});
