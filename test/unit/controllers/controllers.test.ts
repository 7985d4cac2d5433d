// The actor's place in the store's stream: how it subscribes, keeps up, and begins again.
import test from 'ava';
import type { FeedFactory } from '../../../actors/following/feed-of-thread.ts';
import { OrchError } from '../../../runtime/errors.ts';
import { Cluster } from './cluster.ts';
import { DIALECT, fixture, objectOf, started } from './fixture.ts';

test('it subscribes again, with a growing pause, until the store answers', async (t) => {
  const f = await fixture();
  let isDown = true;
  f.onSubscribe(() => {
    if (isDown) throw new OrchError('ActorDown', 'no store');
    return f.cluster.subscribe();
  });
  await f.actor.start?.();
  await f.time.advance(1_000);
  const attempts = f.subscriptions();
  t.true(attempts > 2 && attempts < 20, `${attempts} attempts`);
  isDown = false;
  await f.time.advance(5_000);
  t.is(f.subscriptions(), attempts + 1);
  t.true(f.hooks().every(({ done }) => done));
});

test('batches that arrive before the present state are applied after it, each once', async (t) => {
  const f = await fixture();
  let answer: (present: unknown) => void = () => {};
  f.onSubscribe(() => {
    const present = f.cluster.subscribe();
    return new Promise((resolve) => {
      answer = () => resolve(present);
    });
  });
  f.cluster.putNamespace('before');
  await f.cluster.settle();
  await f.actor.start?.();
  await f.time.settle();
  f.cluster.putNamespace('after');
  await f.time.settle();
  answer(undefined);
  await f.time.advance(100);
  t.not(f.cluster.get('core/serviceaccounts', 'before', 'default'), undefined);
  t.not(f.cluster.get('core/serviceaccounts', 'after', 'default'), undefined);
  t.is(f.subscriptions(), 1);
});

test('a lost store is subscribed to anew, and what was missed is seen', async (t) => {
  const f = await started();
  f.deliver(false);
  f.cluster.putNamespace('missed');
  f.cluster.remove('core/serviceaccounts', 'default', 'default');
  await f.time.settle();
  f.held.length = 0;
  f.deliver(true);
  f.lost();
  await f.time.settle();
  t.is(f.subscriptions(), 2);
  t.not(f.cluster.get('core/serviceaccounts', 'missed', 'default'), undefined);
  t.not(f.cluster.get('core/serviceaccounts', 'default', 'default'), undefined);
});

test('a store that restarted is subscribed to anew: it knows no subscribers', async (t) => {
  const f = await started();
  const before = f.subscriptions();
  f.actor.peerRestarted?.('admission');
  t.is(f.subscriptions(), before);
  f.actor.peerRestarted?.('store');
  await f.time.settle();
  t.is(f.subscriptions(), before + 1);
});

test('a missing batch is noticed, and the stream begun again', async (t) => {
  const f = await started();
  f.deliver(false);
  f.cluster.putNamespace('one');
  await f.time.settle();
  f.held.length = 0;
  f.deliver(true);
  f.cluster.putNamespace('two');
  await f.time.settle();
  t.is(f.subscriptions(), 2);
  t.not(f.cluster.get('core/serviceaccounts', 'one', 'default'), undefined);
});

test('a batch delivered twice changes nothing', async (t) => {
  const f = await started();
  f.deliver(false);
  f.cluster.putNamespace('one');
  await f.time.settle();
  const batches = [...f.held];
  t.true(batches.length > 0);
  f.deliver(true);
  await f.time.settle();
  for (const batch of batches) f.give(batch);
  await f.time.settle();
  t.is(f.subscriptions(), 1);
});

test('nothing is planned on half a state: while the stream is down, no writes', async (t) => {
  const f = await started();
  f.onSubscribe(() => new Promise(() => {}));
  f.lost();
  const writes = f.cluster.writes.length;
  await f.time.advance(120_000);
  t.is(f.cluster.writes.length, writes);
});

test('the answer to a subscription that was given up is ignored', async (t) => {
  const f = await fixture();
  const answers: (() => void)[] = [];
  f.onSubscribe(() => {
    const present = f.cluster.subscribe();
    return new Promise((resolve) => answers.push(() => resolve(present)));
  });
  await f.actor.start?.();
  await f.time.settle();
  f.lost();
  await f.time.settle();
  answers[0]?.();
  await f.time.settle();
  t.true(f.hooks().every(({ done }) => !done));
  answers[1]?.();
  await f.time.settle();
  t.true(f.hooks().every(({ done }) => done));
});

test('after the stop nothing is heard and nothing is written', async (t) => {
  const f = await started();
  await f.stop();
  const writes = f.cluster.writes.length;
  f.cluster.putNamespace('late');
  await f.time.settle();
  f.lost();
  await f.time.advance(60_000);
  t.is(f.cluster.writes.length, writes);
  t.is(f.subscriptions(), 1);
  t.is(f.time.timersWaiting, 0);
});

test('an object that cannot be read does not keep the rest of the stream away', async (t) => {
  const cluster = await Cluster.start(DIALECT.name);
  const damaged = () => {
    throw new Error('damaged');
  };
  const feedFactory: FeedFactory = (context, storageKeys, onEvent) =>
    cluster.feedFactory(context, storageKeys, (event) =>
      onEvent(event.name === 'broken' ? { ...event, object: damaged } : event),
    );
  const f = await fixture({}, { cluster, feedFactory });
  cluster.putNamespace('broken');
  cluster.putNamespace('whole');
  await cluster.settle();
  await f.actor.start?.();
  await f.time.advance(100);
  t.is(cluster.get('core/serviceaccounts', 'broken', 'default'), undefined);
  t.not(cluster.get('core/serviceaccounts', 'whole', 'default'), undefined);
});

test('the writes of all controllers together stay within their bound', async (t) => {
  const f = await started({}, (cluster) => {
    for (let i = 0; i < 400; i += 1) {
      cluster.putNamespace(`n${i}`);
      for (const kind of ['secrets', 'services', 'endpoints', 'pods'])
        cluster.put(`core/${kind}`, objectOf(kind, `n${i}`, 'x', { spec: {} }));
    }
  });
  for (let i = 0; i < 400; i += 1) f.cluster.delete('core/namespaces', '', `n${i}`);
  await f.time.advance(5_000);
  t.is(f.cluster.names('core/namespaces').length, 4);
  t.true(f.cluster.inFlightMost <= 128, `${f.cluster.inFlightMost} at once`);
});
