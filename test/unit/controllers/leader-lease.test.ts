// Of several servers of one store one runs the controllers.
import test from 'ava';
import { componentIdentity } from '../../../actors/controllers/identities.ts';
import { Leadership } from '../../../actors/controllers/leadership.ts';
import { LeaderLease } from '../../../actors/controllers/leases/leader-lease.ts';
import type { QueueOf, WorkQueue } from '../../../actors/controllers/work-queue.ts';
import { microTimeOf } from '../../../api/metadata/object-meta.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { DIALECT, objectOf, started } from './fixture.ts';

const LEASES = DIALECT.spell('coordination.@group/leases');
const LEASE = 'orch-controller-manager';

const leaseOf = (holderIdentity: string, renewTime: string) =>
  objectOf('Lease', 'orch-system', LEASE, {
    apiVersion: DIALECT.spell('coordination.@group/v1'),
    spec: { holderIdentity, leaseDurationSeconds: 15, renewTime, leaseTransitions: 3 },
    metadata: { name: LEASE, namespace: 'orch-system', uid: 'uid' },
  });

type Spec = Readonly<{ holderIdentity: string; leaseDurationSeconds: number; leaseTransitions: number }>;
type Fixture = Awaited<ReturnType<typeof started>>;
const specOf = (f: Fixture): Spec => (f.cluster.get(LEASES, 'orch-system', LEASE) as unknown as { spec: Spec }).spec;
const hasAccount = (f: Fixture): boolean => f.cluster.get('core/serviceaccounts', 'shop', 'default') !== undefined;

test('the first server takes the lease, renews it and runs the controllers; one that stops gives it up', async (t) => {
  const f = await started({ sharesStore: true }, (cluster) => cluster.putNamespace('orch-system'));
  f.cluster.putNamespace('shop');
  await f.time.advance(10_000);
  t.regex(specOf(f).holderIdentity, /^[0-9a-f-]{36}$/);
  const renewals = f.writesOf('update leases');
  t.true(renewals.length >= 3);
  t.like(renewals[0]?.request, {
    user: { name: 'system:orch-controller-manager' },
    userAgent: 'orch-controller-manager',
  });
  t.true(hasAccount(f));
  await f.stop();
  // The others need not wait for its time, and count on from what was.
  t.like(specOf(f), { holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 });
});

const WITHOUT_CONTROLLERS = { sharesStore: true, running: [], endpointReconcilerType: 'none' } as const;

test('a server without controllers leaves the lease of the controller manager to others, and expires events by its own', async (t) => {
  const f = await started(WITHOUT_CONTROLLERS, (cluster) => cluster.putNamespace('orch-system'));
  await f.time.advance(10_000);
  t.deepEqual(f.cluster.names(LEASES), ['orch-system/orch-apiserver']);
  f.cluster.put('core/events', objectOf('Event', 'default', 'old'));
  await f.time.advance(3_610_000);
  t.deepEqual(f.cluster.names('core/events'), []);
  t.like(f.writesOf('update leases')[0]?.request, { user: { name: 'system:apiserver' } });
});

test('a server that has neither controllers nor events to expire leads nothing', async (t) => {
  const f = await started({ ...WITHOUT_CONTROLLERS, eventTtlMs: 0 }, (cluster) => cluster.putNamespace('orch-system'));
  await f.time.advance(10_000);
  t.deepEqual(f.cluster.names(LEASES), []);
});

test('a server waits while another renews, and takes over when it does not', async (t) => {
  const f = await started({ sharesStore: true }, (cluster) => {
    cluster.putNamespace('orch-system');
    cluster.put(LEASES, leaseOf('other', '2001-01-01T00:00:00.000000Z'));
  });
  f.cluster.putNamespace('shop');
  for (let renewal = 1; renewal < 5; renewal++) {
    await f.time.advance(10_000);
    f.cluster.put(LEASES, leaseOf('other', `2001-01-01T00:00:0${renewal}.000000Z`));
  }
  t.is(specOf(f).holderIdentity, 'other');
  t.false(hasAccount(f));
  await f.time.advance(20_000);
  t.not(specOf(f).holderIdentity, 'other');
  t.is(specOf(f).leaseTransitions, 4);
  t.true(hasAccount(f));
});

test('a server that loses the lease does no more', async (t) => {
  const f = await started({ sharesStore: true }, (cluster) => cluster.putNamespace('orch-system'));
  await f.time.advance(5000);
  for (let renewal = 0; renewal < 5; renewal++) {
    f.cluster.put(LEASES, leaseOf('thief', `2001-01-01T00:00:0${renewal}.000000Z`));
    await f.time.advance(4000);
  }
  f.cluster.putNamespace('shop');
  f.cluster.put(LEASES, leaseOf('thief', '2001-01-01T00:01:00.000000Z'));
  await f.time.advance(4000);
  t.false(hasAccount(f));
});

test('a server that could renew nothing for minutes leads again as soon as it can', async (t) => {
  const f = await started({ sharesStore: true }, (cluster) => cluster.putNamespace('orch-system'));
  await f.time.advance(5000);
  f.cluster.fault = ({ target }) => (target.resource === 'leases' ? new Error('no room') : undefined);
  await f.time.advance(300_000);
  f.cluster.putNamespace('shop');
  await f.time.advance(5000);
  t.false(hasAccount(f));
  f.cluster.fault = () => undefined;
  await f.time.advance(3000);
  t.true(hasAccount(f));
});

test('a server that takes over finds out what there is to do, and tells nobody of what was before', async (t) => {
  const f = await started({ sharesStore: true, eventTtlMs: 3_600_000 }, (cluster) => {
    cluster.putNamespace('orch-system');
    cluster.put(LEASES, leaseOf('other', '2001-01-01T00:00:00.000000Z'));
  });
  const leave = async (ms: number): Promise<void> => {
    for (let leftMs = ms; leftMs > 0; leftMs -= 10_000) {
      f.cluster.put(LEASES, leaseOf('other', microTimeOf(f.time.clock.nowMs())));
      await f.time.advance(Math.min(leftMs, 10_000));
    }
  };
  const metadata = { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'gone' }] };
  const event = (name: string) => f.cluster.put('core/events', objectOf('Event', 'shop', name, {}));
  f.cluster.putNamespace('shop');
  f.cluster.put(
    'core/configmaps',
    objectOf('ConfigMap', 'shop', 'owned', { metadata: { name: 'owned', ...metadata } }),
  );
  f.cluster.put('core/nodes', objectOf('Node', '', 'n', {}));
  for (let i = 0; i < 100; i++) event(`old-${i}`);
  await leave(3_590_000);
  f.cluster.remove('core/nodes', '', 'n');
  event('young');
  await leave(60_000);
  t.is(f.cluster.names('core/events').length, 101);
  await f.time.advance(60_000);
  t.true(hasAccount(f));
  t.is(f.cluster.get('core/configmaps', 'shop', 'owned'), undefined);
  t.deepEqual(f.cluster.names('core/events'), ['shop/young']);
  f.cluster.put('core/nodes', objectOf('Node', '', 'm', {}));
  await f.time.advance(10_000);
  t.deepEqual(
    f.writesOf('create events').map(({ body }) => (body as unknown as { reason: string }).reason),
    ['RegisteredNode'],
  );
});

test('a server leads only by an answer that comes before others may have taken over', (t) => {
  let nowMs = 0;
  const changes: boolean[] = [];
  const due: string[] = [];
  const lease = new LeaderLease(
    { add: (key) => void due.push(key) },
    {
      clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
      dialect: DIALECT,
      lease: LEASE,
      identity: componentIdentity(LEASE),
      holder: 'own',
      onChange: (leads) => changes.push(leads),
    },
  );
  const answeredAfter = (ms: number): void => {
    const [write] = lease.plan().writes;
    nowMs += ms;
    lease.onOutcome(LEASE, write!, { ok: true });
  };
  answeredAfter(16_000);
  t.deepEqual(changes, []);
  due.length = 0;
  answeredAfter(9_000);
  t.deepEqual(changes, [true]);
  t.deepEqual(due, [LEASE], 'there is a second left, and the next renewal is not due for two');
  answeredAfter(20);
  t.deepEqual(due, [LEASE]);
  t.true(lease.check());
  const object = () => leaseOf('thief', '2001-01-01T00:00:00.000000Z');
  lease.onEvent({ type: 'put', namespace: 'orch-system', name: LEASE, object } as unknown as FeedEvent);
  t.deepEqual(changes, [true, false], 'and no longer than it sees that nobody else does');
});

test('a server that could not renew its lease in time does not say that another does the work', (t) => {
  let nowMs = 0;
  const said: string[] = [];
  const context = {
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    random: { uuid: () => 'own' },
    log: { info: (_fields: object, text: string) => void said.push(text) },
  } as unknown as ActorContext;
  const led = { controller: { wants: [] }, rest: () => {}, begin: () => {} } as unknown as WorkQueue;
  const queueOf = ((make) => ({ controller: make({ add: () => {} }) })) as QueueOf;
  const settings = { sharesStore: true, hasScheduler: false };
  const leadership = new Leadership(context, DIALECT, settings, { expiry: led, managing: [led] }, queueOf);
  const lease = leadership.leases[0]!.controller;
  lease.onOutcome(LEASE, lease.plan().writes[0]!, { ok: true });
  t.false(leadership.holdsBack(led));
  nowMs += 11_000;
  t.true(leadership.holdsBack(led));
  t.deepEqual(said, ['this server runs the controllers', 'this server runs the controllers no more']);
});
