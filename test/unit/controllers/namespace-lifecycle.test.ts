// The namespace controller against a cluster in this process: what it deletes, when it gives up the finalizer, and what it says
// when something stays.
import test from 'ava';
import { OrchError } from '../../../runtime/errors.ts';
import { FollowedRecords } from '../../../storage/records/followed-records.ts';
import { DIALECT, defaultOptions, type Fixture, objectOf, restarted, started } from './fixture.ts';
import type { Stored } from './stored.ts';

const NAMESPACE = 'core/namespaces';

/** A settled cluster with namespace `shop` holding a secret, a deployment and a service. */
async function shop(): Promise<Fixture> {
  const f = await started({}, (cluster) => {
    cluster.putNamespace('shop');
    cluster.put('core/secrets', objectOf('Secret', 'shop', 'key'));
    cluster.put('apps/deployments', objectOf('Deployment', 'shop', 'web'));
    cluster.put('core/services', objectOf('Service', 'shop', 'front'));
    cluster.put('core/services', objectOf('Service', 'shop', 'back'));
  });
  f.cluster.writes.length = 0;
  return f;
}

function conditionsOf(f: Fixture): Record<string, string> {
  const status = f.cluster.get(NAMESPACE, '', 'shop')?.status as { conditions?: Record<string, string>[] } | undefined;
  return Object.fromEntries((status?.conditions ?? []).map((row) => [row.type, `${row.status} ${row.reason}`]));
}

function messageOf(f: Fixture, type: string): string | undefined {
  const status = f.cluster.get(NAMESPACE, '', 'shop')?.status as { conditions?: Record<string, string>[] } | undefined;
  return status?.conditions?.find((row) => row.type === type)?.message;
}

test('a deleted namespace is emptied and removed, without conditions on the way', async (t) => {
  const f = await shop();
  f.cluster.delete(NAMESPACE, '', 'shop');
  await f.time.advance(100);
  t.is(f.cluster.get(NAMESPACE, '', 'shop'), undefined);
  for (const type of ['core/secrets', 'apps/deployments', 'core/services', 'core/serviceaccounts', 'core/configmaps'])
    t.deepEqual(
      f.cluster.names(type).filter((name) => name.startsWith('shop/')),
      [],
      type,
    );
  t.is(f.writesOf('update namespaces/status').length, 0);
  t.is(f.writesOf('update namespaces/finalize').length, 1);
});

test('other namespaces keep what is theirs', async (t) => {
  const f = await shop();
  f.cluster.put('core/secrets', objectOf('Secret', 'default', 'key'));
  f.cluster.delete(NAMESPACE, '', 'shop');
  await f.time.advance(100);
  t.true(f.cluster.names('core/secrets').includes('default/key'));
  t.not(f.cluster.get(NAMESPACE, '', 'default'), undefined);
});

test('an empty namespace is finalized at once', async (t) => {
  const f = await started({ caPem: '' });
  f.cluster.fault = ({ target }) => (target.resource === 'serviceaccounts' ? new Error('none today') : undefined);
  f.cluster.putNamespace('bare');
  await f.time.settle();
  f.cluster.delete(NAMESPACE, '', 'bare');
  await f.time.settle();
  t.is(f.cluster.get(NAMESPACE, '', 'bare'), undefined);
  t.is(f.cluster.writes.filter(({ request }) => request.verb === 'deletecollection').length, 0);
});

test('only types that have objects in the namespace are swept', async (t) => {
  const f = await shop();
  f.cluster.delete(NAMESPACE, '', 'shop');
  await f.time.advance(100);
  const swept = f.cluster.writes.filter(({ request }) => request.verb === 'deletecollection');
  t.deepEqual(swept.map(({ request }) => request.target.resource).sort(), [
    'configmaps',
    'deployments',
    'secrets',
    'serviceaccounts',
    'services',
  ]);
});

test('a type without deletecollection is deleted object by object', async (t) => {
  const f = await shop();
  f.cluster.delete(NAMESPACE, '', 'shop');
  await f.time.advance(100);
  t.deepEqual(
    f
      .writesOf('delete services')
      .map(({ request }) => request.target.name)
      .sort(),
    ['back', 'front'],
  );
});

test.serial('what many namespaces hold of such a type is not looked for in all that there is, each time', async (t) => {
  const names = Array.from({ length: 12 }, (_, count) => `shop-${count}`);
  const f = await started({}, (cluster) => {
    for (const name of names) {
      cluster.putNamespace(name);
      cluster.put('core/services', objectOf('Service', name, 'front'));
    }
  });
  let searches = 0;
  const search = FollowedRecords.prototype.keysBelow;
  t.teardown(() => {
    FollowedRecords.prototype.keysBelow = search;
  });
  FollowedRecords.prototype.keysBelow = function (this: FollowedRecords, prefix) {
    searches++;
    return search.call(this, prefix);
  };
  for (const [count, name] of names.entries()) {
    if (count === 1) f.cluster.put('core/services', objectOf('Service', 'shop-11', 'later'));
    if (count === 1) f.cluster.remove('core/services', 'shop-10', 'front');
    f.cluster.delete(NAMESPACE, '', name);
    await f.time.advance(200);
    t.is(f.cluster.get(NAMESPACE, '', name), undefined);
  }
  t.is(f.writesOf('delete services').length, 12);
  t.is(searches, 1);
});

test('nothing of the contents is parsed while the namespace lives', async (t) => {
  const f = await shop();
  f.cluster.put('core/secrets', objectOf('Secret', 'shop', 'another'));
  await f.time.settle();
  t.is(f.cluster.parsed.get('core/secrets'), undefined);
});

test('the namespace waits for what has a finalizer, says so, and goes when it is gone', async (t) => {
  const f = await shop();
  const held = objectOf('Secret', 'shop', 'held');
  f.cluster.put('core/secrets', { ...held, metadata: { ...held.metadata, finalizers: ['example.com/wait'] } });
  f.cluster.delete(NAMESPACE, '', 'shop');
  await f.time.advance(900);
  t.deepEqual(conditionsOf(f), {});
  await f.time.advance(4_000);
  t.deepEqual(conditionsOf(f), {
    NamespaceDeletionDiscoveryFailure: 'False ResourcesDiscovered',
    NamespaceDeletionGroupVersionParsingFailure: 'False ParsedGroupVersions',
    NamespaceDeletionContentFailure: 'False ContentDeleted',
    NamespaceContentRemaining: 'True SomeResourcesRemain',
    NamespaceFinalizersRemaining: 'True SomeFinalizersRemain',
  });
  f.cluster.remove('core/secrets', 'shop', 'held');
  await f.time.settle();
  t.is(f.cluster.get(NAMESPACE, '', 'shop'), undefined);
});

test('what a namespace waits for is told in the words of Kubernetes', async (t) => {
  const f = await shop();
  for (const name of ['one', 'two']) {
    const held = objectOf('Secret', 'shop', name);
    const finalizers = ['example.com/wait', ...(name === 'two' ? ['example.com/more'] : [])];
    f.cluster.put('core/secrets', { ...held, metadata: { ...held.metadata, finalizers } });
  }
  f.cluster.fault = ({ verb, target }) =>
    verb === 'deletecollection' && ['deployments', 'services'].includes(target.resource)
      ? { code: 500, body: { message: 'a webhook said no' } }
      : undefined;
  f.cluster.delete(NAMESPACE, '', 'shop');
  await f.time.advance(5_000);
  const status = f.cluster.get(NAMESPACE, '', 'shop')?.status as { conditions: { message: string }[] } | undefined;
  t.deepEqual(
    status?.conditions.map(({ message }) => message),
    [
      'All resources successfully discovered',
      'All legacy kube types successfully parsed',
      'Failed to delete all resource types, 2 remaining: a webhook said no, a webhook said no',
      'Some resources are remaining: deployments.apps has 1 resource instances, secrets. has 2 resource instances, services. has 2 resource instances',
      'Some content in the namespace has finalizers remaining: example.com/more in 1 resource instances, example.com/wait in 2 resource instances',
    ],
  );
});

test('a condition that says something else of the same keeps its time', async (t) => {
  const f = await shop();
  for (const name of ['one', 'two']) {
    const held = objectOf('Secret', 'shop', name);
    f.cluster.put('core/secrets', { ...held, metadata: { ...held.metadata, finalizers: ['example.com/wait'] } });
  }
  f.cluster.delete(NAMESPACE, '', 'shop');
  const remaining = () => {
    const status = f.cluster.get(NAMESPACE, '', 'shop')?.status as
      | { conditions?: Record<string, string>[] }
      | undefined;
    return status?.conditions?.find(({ type }) => type === 'NamespaceContentRemaining');
  };
  await f.time.advance(5_000);
  const before = remaining();
  t.is(before?.message, 'Some resources are remaining: secrets. has 2 resource instances');
  f.cluster.remove('core/secrets', 'shop', 'two');
  await f.time.advance(20_000);
  t.is(remaining()?.message, 'Some resources are remaining: secrets. has 1 resource instances');
  t.is(remaining()?.lastTransitionTime, before?.lastTransitionTime);
});

test('conditions that say the same are not written again', async (t) => {
  const f = await shop();
  const held = objectOf('Secret', 'shop', 'held');
  f.cluster.put('core/secrets', { ...held, metadata: { ...held.metadata, finalizers: ['example.com/wait'] } });
  f.cluster.delete(NAMESPACE, '', 'shop');
  await f.time.advance(10_000);
  const writes = f.writesOf('update namespaces/status').length;
  t.true(writes > 0);
  await f.time.advance(120_000);
  t.is(f.writesOf('update namespaces/status').length, writes);
  t.true(f.writesOf('deletecollection secrets').length >= 8, 'it keeps trying');
});

test('a finalizer is found again after a restart', async (t) => {
  const f = await shop();
  const held = objectOf('Secret', 'shop', 'held');
  f.cluster.put('core/secrets', { ...held, metadata: { ...held.metadata, finalizers: ['example.com/wait'] } });
  f.cluster.delete(NAMESPACE, '', 'shop');
  await f.time.settle();
  const g = await restarted(f);
  await g.time.advance(4_000);
  t.is(conditionsOf(g).NamespaceFinalizersRemaining, 'True SomeFinalizersRemain');
  g.cluster.remove('core/secrets', 'shop', 'held');
  await g.time.settle();
  t.is(g.cluster.get(NAMESPACE, '', 'shop'), undefined);
});

test('a type that cannot be deleted is reported, tried again, and does not hold up the others', async (t) => {
  const f = await shop();
  let isRefused = true;
  f.cluster.fault = ({ verb, target }) =>
    isRefused && verb === 'deletecollection' && target.resource === 'secrets'
      ? { code: 500, body: { message: 'a webhook said no' } }
      : undefined;
  f.cluster.delete(NAMESPACE, '', 'shop');
  await f.time.advance(5_000);
  t.is(conditionsOf(f).NamespaceDeletionContentFailure, 'True ContentDeletionFailed');
  t.is(conditionsOf(f).NamespaceContentRemaining, 'True SomeResourcesRemain');
  t.deepEqual(f.cluster.names('apps/deployments'), []);
  isRefused = false;
  await f.time.advance(60_000);
  t.is(f.cluster.get(NAMESPACE, '', 'shop'), undefined);
});

test('what could not be deleted once, and is gone now, is no more told', async (t) => {
  const f = await shop();
  const held = objectOf('ConfigMap', 'shop', 'held');
  f.cluster.put('core/configmaps', { ...held, metadata: { ...held.metadata, finalizers: ['example.com/x'] } });
  f.cluster.fault = ({ target }) => (target.resource === 'secrets' ? new Error('not today') : undefined);
  f.cluster.delete(NAMESPACE, '', 'shop');
  await f.time.advance(5000);
  t.is(conditionsOf(f).NamespaceDeletionContentFailure, 'True ContentDeletionFailed');
  f.cluster.fault = () => undefined;
  await f.time.advance(60_000);
  t.deepEqual(f.cluster.names('core/secrets'), []);
  t.is(conditionsOf(f).NamespaceDeletionContentFailure, 'False ContentDeleted');
  t.is(conditionsOf(f).NamespaceFinalizersRemaining, 'True SomeFinalizersRemain');
});

test('pods are given their grace, and the namespace waits for them', async (t) => {
  const f = await shop();
  f.cluster.put('core/nodes', objectOf('Node', '', 'n1'));
  f.cluster.put(DIALECT.spell('coordination.@group/leases'), objectOf('Lease', DIALECT.nodeLeaseNamespace, 'n1'));
  f.cluster.put(
    'core/pods',
    objectOf('Pod', 'shop', 'p', { spec: { nodeName: 'n1', terminationGracePeriodSeconds: 20 } }),
  );
  f.cluster.delete(NAMESPACE, '', 'shop');
  await f.time.advance(18_000);
  t.is(conditionsOf(f).NamespaceDeletionContentFailure, 'False ContentDeleted');
  await f.time.advance(42_000);
  t.is(f.cluster.get('core/pods', 'shop', 'p')?.metadata.deletionGracePeriodSeconds, 20);
  t.is(
    messageOf(f, 'NamespaceDeletionContentFailure'),
    'Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: shop for gvr: /v1, Resource=pods',
    'it is told once their grace is over',
  );
  t.is(f.cluster.get(NAMESPACE, '', 'shop')?.status?.phase, 'Terminating');
  f.cluster.remove('core/pods', 'shop', 'p');
  await f.time.settle();
  t.is(f.cluster.get(NAMESPACE, '', 'shop'), undefined);
});

test('what slips into a namespace being deleted is deleted too', async (t) => {
  const f = await shop();
  const held = objectOf('Secret', 'shop', 'held');
  f.cluster.put('core/secrets', { ...held, metadata: { ...held.metadata, finalizers: ['example.com/wait'] } });
  f.cluster.delete(NAMESPACE, '', 'shop');
  await f.time.settle();
  f.cluster.put('core/pods', objectOf('Pod', 'shop', 'late'));
  await f.time.settle();
  t.is(f.cluster.get('core/pods', 'shop', 'late'), undefined);
});

test('objects of a type whose definition was taken away from under them do not hold a namespace', async (t) => {
  const f = await shop();
  f.cluster.put('x.test/things', { ...objectOf('Thing', 'shop', 'left'), apiVersion: 'x.test/v1' });
  await f.time.settle();
  f.cluster.delete(NAMESPACE, '', 'shop');
  await f.time.advance(100);
  t.is(f.cluster.get(NAMESPACE, '', 'shop'), undefined);
});

test('a namespace with another finalizer loses ours only, and its conditions say that nothing of it is left', async (t) => {
  const f = await started({}, (cluster) => {
    cluster.putNamespace('shop', [DIALECT.brand, 'example.com/other']);
    const held = objectOf('Secret', 'shop', 'held');
    cluster.put('core/secrets', { ...held, metadata: { ...held.metadata, finalizers: ['example.com/wait'] } });
  });
  f.cluster.delete(NAMESPACE, '', 'shop');
  await f.time.advance(5_000);
  t.is(conditionsOf(f).NamespaceContentRemaining, 'True SomeResourcesRemain');
  f.cluster.remove('core/secrets', 'shop', 'held');
  await f.time.advance(1_000);
  t.deepEqual(f.cluster.get(NAMESPACE, '', 'shop')?.spec?.finalizers, ['example.com/other']);
  t.is(conditionsOf(f).NamespaceContentRemaining, 'False ContentRemoved');
  const writes = f.cluster.writes.length;
  await f.time.advance(5_000);
  t.is(f.cluster.writes.length, writes, 'the rest is for others to do');
});

test('a namespace without contents that stays for another finalizer says that nothing of it is left', async (t) => {
  const f = await started({}, (cluster) => cluster.putNamespace('shop', [DIALECT.brand, 'example.com/other']));
  f.cluster.delete(NAMESPACE, '', 'shop');
  await f.time.settle();
  t.deepEqual(f.cluster.get(NAMESPACE, '', 'shop')?.spec?.finalizers, ['example.com/other']);
  t.is(conditionsOf(f).NamespaceContentRemaining, 'False ContentRemoved');
});

test('what is served in several groups remains in each of them', async (t) => {
  const { namespacedTypes } = defaultOptions();
  const other = { group: 'events.example.com', version: 'v1', plural: 'events', storageKey: 'core/events' };
  const f = await started({ namespacedTypes: [...namespacedTypes, other] }, (cluster) => {
    cluster.putNamespace('shop');
    const event = objectOf('Event', 'shop', 'e');
    cluster.put('core/events', { ...event, metadata: { ...event.metadata, finalizers: ['example.com/wait'] } });
  });
  f.cluster.delete(NAMESPACE, '', 'shop');
  await f.time.advance(5_000);
  t.is(
    messageOf(f, 'NamespaceContentRemaining'),
    'Some resources are remaining: events. has 1 resource instances, events.events.example.com has 1 resource instances',
  );
  t.is(
    messageOf(f, 'NamespaceFinalizersRemaining'),
    'Some content in the namespace has finalizers remaining: example.com/wait in 2 resource instances',
  );
});

test('the deletion goes through whatever fails on the way', async (t) => {
  const f = await shop();
  const failures = [
    new OrchError('Overloaded', 'full'),
    new OrchError('ActorDown', 'gone'),
    new OrchError('DeadlineExceeded', 'late'),
    { code: 409, body: {} },
    { code: 503, body: {} },
  ];
  const failed = new Map<string, number>();
  f.cluster.fault = ({ verb, target }) => {
    const what = `${verb} ${target.resource}/${target.subresource}/${target.name}`;
    const count = failed.get(what) ?? 0;
    failed.set(what, count + 1);
    return failures[count];
  };
  f.cluster.delete(NAMESPACE, '', 'shop');
  await f.time.advance(600_000);
  t.is(f.cluster.get(NAMESPACE, '', 'shop'), undefined);
});

test('a namespace changed meanwhile is finalized in its newest form', async (t) => {
  const f = await shop();
  f.deliver(false);
  f.cluster.delete(NAMESPACE, '', 'shop');
  await f.time.settle();
  for (const type of ['core/secrets', 'apps/deployments', 'core/services', 'core/serviceaccounts', 'core/configmaps'])
    for (const name of f.cluster.names(type)) {
      const [namespace = '', short = ''] = name.split('/');
      if (namespace === 'shop') f.cluster.remove(type, namespace, short);
    }
  const changed = { ...f.cluster.get(NAMESPACE, '', 'shop') } as Stored;
  let isChanged = false;
  f.cluster.fault = ({ target }) => {
    if (target.subresource !== 'finalize' || isChanged) return undefined;
    isChanged = true;
    f.cluster.put(NAMESPACE, { ...changed, metadata: { ...changed.metadata, labels: { team: 'a' } } });
    return undefined;
  };
  f.deliver(true);
  await f.time.advance(1_000);
  t.deepEqual(
    f.writesOf('update namespaces/finalize').map(({ code }) => code),
    [409, 200],
  );
  t.deepEqual(f.writesOf('update namespaces/finalize').at(-1)?.body?.metadata.labels, { team: 'a' });
  t.is(f.cluster.get(NAMESPACE, '', 'shop'), undefined);
});

test('everything is written in the name of the controllers that it is the work of', async (t) => {
  const f = await shop();
  f.cluster.delete(NAMESPACE, '', 'shop');
  await f.time.advance(100);
  const names = new Set(f.cluster.writes.map(({ request }) => request.user.name));
  t.deepEqual([...names], [`system:serviceaccount:${DIALECT.systemNamespace}:namespace-controller`]);
});

test('a namespace whose objects the store has moved is emptied, and goes', async (t) => {
  const f = await shop();
  const churn = async () => {
    for (let version = 0; version < 12; version++) {
      const data = { filling: String(version).repeat(200_000) };
      f.cluster.put('core/configmaps', { ...objectOf('ConfigMap', 'shop', 'large'), data });
      await f.time.settle();
    }
  };
  // The slab of the first objects holds little else than what is forgotten, is emptied, and then written over.
  for (let round = 0; round < 3; round++) {
    await churn();
    await f.time.advance(15 * 60_000);
  }
  f.cluster.delete(NAMESPACE, '', 'shop');
  await f.time.advance(60_000);
  t.is(f.cluster.get(NAMESPACE, '', 'shop'), undefined);
});
