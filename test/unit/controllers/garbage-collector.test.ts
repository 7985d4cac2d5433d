// The garbage collector against a cluster in this process: what goes with its owners, what stays, and how owners are let go.
import test from 'ava';
import type { WriteRequest } from '../../../actors/admission/protocol.ts';
import type { RemoteOwner, RemoteOwnerAsked } from '../../../api/aggregation/remote-owner.ts';
import type { Cluster } from './cluster.ts';
import { DIALECT, type Fixture, objectOf, restarted, started, thingsElsewhere } from './fixture.ts';
import type { OwnerReference, Stored } from './stored.ts';

const CONFIG_MAPS = 'core/configmaps';
const NO_CA = { caPem: '' };

interface Shape {
  readonly owners?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly namespace?: string;
}

/** Stores a config map whose uid is its name. */
function put(cluster: Cluster, name: string, { owners = [], finalizers = [], namespace = 'shop' }: Shape = {}) {
  const metadata = {
    name,
    uid: name,
    ...(owners.length > 0 ? { ownerReferences: [...owners] } : {}),
    ...(finalizers.length > 0 ? { finalizers: [...finalizers] } : {}),
  };
  cluster.put(CONFIG_MAPS, objectOf('ConfigMap', namespace, name, { metadata }));
}

function ownedBy(name: string, more: Partial<OwnerReference> = {}): OwnerReference {
  return { apiVersion: 'v1', kind: 'ConfigMap', name, uid: name, ...more };
}

const blocking = (name: string) => ownedBy(name, { blockOwnerDeletion: true });

/** Of the namespace that these tests are about. */
function names(f: Fixture): string[] {
  const all = f.cluster.names(CONFIG_MAPS).filter((name) => name.startsWith('shop/'));
  return all.map((name) => name.slice('shop/'.length));
}

function stored(f: Fixture, name: string): Stored | undefined {
  return f.cluster.get(CONFIG_MAPS, 'shop', name);
}

const ownersOf = (f: Fixture, name: string) => stored(f, name)?.metadata.ownerReferences?.map(({ uid }) => uid);

const remove = (f: Fixture, name: string, propagation?: string) =>
  f.cluster.delete(CONFIG_MAPS, 'shop', name, propagation);

async function world(prepare: (cluster: Cluster) => void): Promise<Fixture> {
  const f = await started(NO_CA, (cluster) => {
    cluster.putNamespace('shop');
    prepare(cluster);
  });
  return f;
}

interface Standing {
  readonly title: string;
  readonly owners: readonly OwnerReference[];
  /** Left of the dependent's owners; undefined: it is deleted. */
  readonly left: readonly string[] | undefined;
}

/** Of a dependent `d` beside the config maps `a` and `b`; nothing else is there. */
const STANDINGS: readonly Standing[] = [
  { title: 'an object whose owner is there stays', owners: [ownedBy('a')], left: ['a'] },
  { title: 'an object whose owner is gone goes', owners: [ownedBy('gone')], left: undefined },
  { title: 'an object all of whose owners are gone goes', owners: [ownedBy('x'), ownedBy('y')], left: undefined },
  {
    title: 'an absent owner is struck out while another is there',
    owners: [ownedBy('gone'), ownedBy('b'), ownedBy('gone too')],
    left: ['b'],
  },
  { title: 'an owner made anew is another one', owners: [ownedBy('a', { uid: 'old' })], left: undefined },
  { title: 'an owner of another name is absent', owners: [ownedBy('a', { name: 'b' })], left: undefined },
  { title: 'an owner of another kind is absent', owners: [ownedBy('a', { kind: 'Secret' })], left: undefined },
  {
    title: 'an owner may be named by its kind in small letters',
    owners: [ownedBy('gone', { kind: 'configmap' }), ownedBy('b', { kind: 'configmap' })],
    left: ['b'],
  },
  {
    title: 'an owner of a kind that is not served keeps the object',
    owners: [ownedBy('gone', { apiVersion: 'example.com/v1', kind: 'Widget' })],
    left: ['gone'],
  },
  {
    title: 'an owner of a kind that is not followed keeps the object',
    owners: [ownedBy('gone', { kind: 'Event' })],
    left: ['gone'],
  },
  {
    title: 'nothing is struck out beside an owner that nobody can look up',
    owners: [ownedBy('gone'), ownedBy('w', { apiVersion: 'example.com/v1', kind: 'Widget' })],
    left: ['gone', 'w'],
  },
];

for (const { title, owners, left } of STANDINGS) {
  const populate = (cluster: Cluster) => {
    put(cluster, 'a');
    put(cluster, 'b');
    put(cluster, 'd', { owners });
  };
  test(`${title}, when it is there at the start`, async (t) => {
    const f = await world(populate);
    t.deepEqual(ownersOf(f, 'd'), left as string[] | undefined);
  });

  test(`${title}, when it comes later`, async (t) => {
    const f = await world(() => {});
    populate(f.cluster);
    await f.time.settle();
    t.deepEqual(ownersOf(f, 'd'), left as string[] | undefined);
  });
}

test('a chain of owners goes with the first of them, in the background', async (t) => {
  const f = await world((cluster) => {
    put(cluster, 'a');
    put(cluster, 'b', { owners: [ownedBy('a')] });
    put(cluster, 'c', { owners: [ownedBy('b')] });
    put(cluster, 'other', { owners: [] });
  });
  remove(f, 'a');
  await f.time.settle();
  t.deepEqual(names(f), ['other']);
});

test('owners of other kinds, and without a namespace, own all the same', async (t) => {
  const f = await started(NO_CA, (cluster) => {
    cluster.put('core/nodes', objectOf('Node', '', 'n', { metadata: { name: 'n', uid: 'n' } }));
    cluster.put('apps/replicasets', objectOf('ReplicaSet', 'shop', 'r', { metadata: { name: 'r', uid: 'r' } }));
    put(cluster, 'of-node', { owners: [ownedBy('n', { kind: 'Node' })] });
    put(cluster, 'of-set', { owners: [ownedBy('r', { apiVersion: 'apps/v1', kind: 'ReplicaSet' })] });
  });
  t.deepEqual(names(f), ['of-node', 'of-set']);
  f.cluster.delete('core/nodes', '', 'n');
  await f.time.settle();
  t.deepEqual(names(f), ['of-set']);
  f.cluster.delete('apps/replicasets', 'shop', 'r');
  await f.time.settle();
  t.deepEqual(names(f), []);
});

test('an owner may be named in a version that is not served', async (t) => {
  const inOldVersion = (name: string) => ownedBy(name, { apiVersion: 'apps/v1beta1', kind: 'Deployment' });
  const f = await world((cluster) => {
    cluster.put('apps/deployments', objectOf('Deployment', 'shop', 'w', { metadata: { name: 'w', uid: 'w' } }));
    put(cluster, 'd', { owners: [inOldVersion('w')] });
    put(cluster, 'e', { owners: [inOldVersion('gone')] });
  });
  t.deepEqual(names(f), ['d']);
});

test('an object is deleted only as it was seen', async (t) => {
  const f = await world((cluster) => put(cluster, 'd', { owners: [ownedBy('gone')] }));
  const [write] = f.writesOf('delete configmaps');
  t.like(write?.body, { kind: 'DeleteOptions', propagationPolicy: 'Background', preconditions: { uid: 'd' } });
  t.regex(JSON.stringify(write?.body?.preconditions), /"resourceVersion":"\d+"/);
});

test('an object that finds an owner just before it is deleted stays', async (t) => {
  const f = await world((cluster) => put(cluster, 'a'));
  f.deliver(false);
  put(f.cluster, 'd', { owners: [ownedBy('gone')] });
  f.cluster.fault = ({ verb, target }) => {
    if (verb !== 'delete' || target.name !== 'd' || ownersOf(f, 'd')?.[0] === 'a') return undefined;
    put(f.cluster, 'd', { owners: [ownedBy('a')] });
    return undefined;
  };
  f.deliver(true);
  await f.time.advance(60_000);
  t.deepEqual(ownersOf(f, 'd'), ['a']);
  t.is(f.writesOf('delete configmaps').length, 1);
});

test('a deletion that fails is tried again', async (t) => {
  let failures = 3;
  const f = await world((cluster) => {
    put(cluster, 'd', { owners: [ownedBy('gone')] });
    cluster.fault = ({ verb }) => (verb === 'delete' && failures-- > 0 ? new Error('not now') : undefined);
  });
  t.deepEqual(names(f), ['d']);
  await f.time.advance(1_000);
  t.deepEqual(names(f), []);
});

test('what its own finalizers ask for is kept when an object is deleted', async (t) => {
  const f = await world((cluster) => {
    put(cluster, 'orphaning', { owners: [ownedBy('gone')], finalizers: ['orphan'] });
    put(cluster, 'foreground', { owners: [ownedBy('gone')], finalizers: ['foregroundDeletion'] });
  });
  const policies = f.writesOf('delete configmaps').map(({ body }) => body?.propagationPolicy);
  t.deepEqual(policies, ['Orphan', 'Foreground']);
});

test('in the foreground an owner waits for dependents that block it', async (t) => {
  const f = await world((cluster) => {
    put(cluster, 'a');
    put(cluster, 'b', { owners: [blocking('a')], finalizers: ['example.com/wait'] });
    put(cluster, 'c', { owners: [blocking('a')] });
  });
  remove(f, 'a', 'Foreground');
  await f.time.settle();
  t.deepEqual(names(f), ['a', 'b']);
  t.truthy(stored(f, 'b')?.metadata.deletionTimestamp);
  f.cluster.remove(CONFIG_MAPS, 'shop', 'b');
  await f.time.settle();
  t.deepEqual(names(f), []);
});

test('an object that loses an owner keeps the others as it names them now', async (t) => {
  const f = await world((cluster) => {
    for (const name of ['a', 'b']) put(cluster, name);
    put(cluster, 'c', { owners: [ownedBy('a'), ownedBy('b')] });
  });
  put(f.cluster, 'c', { owners: [ownedBy('a', { controller: true }), ownedBy('b')] });
  await f.time.settle();
  f.cluster.remove(CONFIG_MAPS, 'shop', 'b');
  await f.time.settle();
  t.deepEqual(stored(f, 'c')?.metadata.ownerReferences, [ownedBy('a', { controller: true })]);
});

test('in the foreground a dependent that owns nothing is deleted by one write', async (t) => {
  const f = await world((cluster) => {
    put(cluster, 'owner');
    put(cluster, 'leaf', { owners: [blocking('owner')] });
  });
  await remove(f, 'owner', 'Foreground');
  await f.time.advance(5000);
  t.deepEqual(names(f), []);
  t.is(f.writesOf('delete configmaps').length, 1);
  t.is(f.writesOf('patch configmaps').length, 1, 'by which the owner is let go');
});

test('in the foreground an owner does not wait for dependents that do not block it', async (t) => {
  const f = await world((cluster) => {
    put(cluster, 'a');
    put(cluster, 'b', { owners: [ownedBy('a')], finalizers: ['example.com/wait'] });
  });
  remove(f, 'a', 'Foreground');
  await f.time.settle();
  t.deepEqual(names(f), ['b']);
  t.truthy(stored(f, 'b')?.metadata.deletionTimestamp);
});

test('a dependent that stops blocking lets its owner go', async (t) => {
  const f = await world((cluster) => {
    put(cluster, 'a');
    put(cluster, 'b', { owners: [blocking('a')], finalizers: ['example.com/wait'] });
  });
  remove(f, 'a', 'Foreground');
  await f.time.settle();
  t.deepEqual(names(f), ['a', 'b']);
  const b = stored(f, 'b')!;
  f.cluster.put(CONFIG_MAPS, { ...b, metadata: { ...b.metadata, ownerReferences: [ownedBy('a')] } });
  await f.time.settle();
  t.deepEqual(names(f), ['b']);
});

test('in the foreground owners of owners wait in turn, and the last goes first', async (t) => {
  const f = await world((cluster) => {
    put(cluster, 'a');
    put(cluster, 'b', { owners: [blocking('a')] });
    put(cluster, 'c', { owners: [blocking('b')], finalizers: ['example.com/wait'] });
  });
  remove(f, 'a', 'Foreground');
  await f.time.settle();
  t.deepEqual(names(f), ['a', 'b', 'c']);
  t.deepEqual(stored(f, 'b')?.metadata.finalizers, ['foregroundDeletion']);
  const goneInOrder: string[] = [];
  f.cluster.onRemoved = (name) => goneInOrder.push(name);
  f.cluster.remove(CONFIG_MAPS, 'shop', 'c');
  await f.time.settle();
  t.deepEqual(goneInOrder, ['c', 'b', 'a']);
});

test('a dependent with another owner outlives a foreground deletion', async (t) => {
  const f = await world((cluster) => {
    put(cluster, 'a');
    put(cluster, 'b');
    put(cluster, 'd', { owners: [blocking('a'), blocking('b')] });
  });
  remove(f, 'a', 'Foreground');
  await f.time.settle();
  t.deepEqual(names(f), ['b', 'd']);
  t.deepEqual(ownersOf(f, 'd'), ['b']);
});

test('an owner without dependents goes at once, in the foreground or orphaning', async (t) => {
  const f = await world((cluster) => {
    put(cluster, 'a');
    put(cluster, 'b');
  });
  remove(f, 'a', 'Foreground');
  remove(f, 'b', 'Orphan');
  await f.time.settle();
  t.deepEqual(names(f), []);
});

test('other finalizers keep an owner that has nothing more to wait for here', async (t) => {
  const f = await world((cluster) => {
    put(cluster, 'a', { finalizers: ['example.com/wait'] });
    put(cluster, 'd', { owners: [blocking('a')] });
  });
  remove(f, 'a', 'Foreground');
  await f.time.settle();
  t.deepEqual(names(f), ['a']);
  t.deepEqual(stored(f, 'a')?.metadata.finalizers, ['example.com/wait']);
});

test('an orphaning owner gives its dependents up, then goes', async (t) => {
  const f = await world((cluster) => {
    put(cluster, 'a');
    put(cluster, 'b');
    put(cluster, 'd', { owners: [ownedBy('a')] });
    put(cluster, 'e', { owners: [ownedBy('a'), ownedBy('b')] });
    put(cluster, 'of-d', { owners: [ownedBy('d')] });
  });
  remove(f, 'a', 'Orphan');
  await f.time.settle();
  t.deepEqual(names(f), ['b', 'd', 'e', 'of-d']);
  t.is(ownersOf(f, 'd'), undefined);
  t.deepEqual(ownersOf(f, 'e'), ['b']);
  t.deepEqual(ownersOf(f, 'of-d'), ['d']);
});

test('an orphaning owner is given up by everything that names its uid, wherever it is', async (t) => {
  const f = await world((cluster) => {
    cluster.putNamespace('elsewhere');
    put(cluster, 'a', { finalizers: ['example.com/wait'] });
    put(cluster, 'b');
    put(cluster, 'd', { owners: [ownedBy('b'), ownedBy('a', { apiVersion: 'example.com/v1', kind: 'Widget' })] });
    const metadata = { name: 'n', ownerReferences: [ownedBy('a')] };
    cluster.put('core/nodes', objectOf('Node', '', 'n', { metadata }));
  });
  remove(f, 'a', 'Orphan');
  await f.time.settle();
  t.deepEqual(ownersOf(f, 'd'), ['b']);
  t.is(f.cluster.get('core/nodes', '', 'n')?.metadata.ownerReferences, undefined);
  t.deepEqual(stored(f, 'a')?.metadata.finalizers, ['example.com/wait']);
});

test('an orphaning owner stays until every dependent has been given up', async (t) => {
  let stubborn = true;
  const f = await world((cluster) => {
    put(cluster, 'a');
    put(cluster, 'd', { owners: [ownedBy('a')] });
    put(cluster, 'e', { owners: [ownedBy('a')] });
    cluster.fault = ({ verb, target }) =>
      verb === 'patch' && target.name === 'e' && stubborn ? new Error('not now') : undefined;
  });
  remove(f, 'a', 'Orphan');
  await f.time.advance(500);
  t.deepEqual(names(f), ['a', 'd', 'e']);
  stubborn = false;
  await f.time.advance(10_000);
  t.deepEqual(names(f), ['d', 'e']);
});

test('a dependent that is on its way out itself is given up too', async (t) => {
  const f = await world((cluster) => {
    put(cluster, 'a');
    put(cluster, 'd', { owners: [ownedBy('a')], finalizers: ['example.com/wait'] });
  });
  remove(f, 'd');
  remove(f, 'a', 'Orphan');
  await f.time.settle();
  t.deepEqual(names(f), ['d']);
  t.is(ownersOf(f, 'd'), undefined);
});

const CYCLES: readonly { readonly title: string; readonly owns: Readonly<Record<string, string>> }[] = [
  { title: 'an object that owns itself', owns: { a: 'a' } },
  { title: 'two objects that own each other', owns: { a: 'b', b: 'a' } },
  { title: 'a ring of four', owns: { a: 'b', b: 'c', c: 'd', d: 'a' } },
];

for (const { title, owns } of CYCLES) {
  const populate = (cluster: Cluster) => {
    for (const [owner, dependent] of Object.entries(owns)) put(cluster, dependent, { owners: [blocking(owner)] });
  };
  for (const policy of ['Background', 'Foreground'])
    test(`${title}: the whole cycle goes, ${policy}`, async (t) => {
      const f = await world(populate);
      t.is(names(f).length, Object.keys(owns).length);
      remove(f, 'a', policy);
      await f.time.settle();
      t.deepEqual(names(f), []);
    });

  test(`${title}: the cycle goes when all are deleted in the foreground at once`, async (t) => {
    const f = await world(populate);
    for (const name of Object.keys(owns)) remove(f, name, 'Foreground');
    await f.time.settle();
    t.deepEqual(names(f), []);
  });
}

test('a chain deleted in the foreground all at once still goes from its end', async (t) => {
  const f = await world((cluster) => {
    put(cluster, 'a');
    put(cluster, 'b', { owners: [blocking('a')] });
    put(cluster, 'c', { owners: [blocking('b')], finalizers: ['example.com/wait'] });
  });
  for (const name of ['a', 'b', 'c']) remove(f, name, 'Foreground');
  await f.time.settle();
  t.deepEqual(names(f), ['a', 'b', 'c']);
  t.true(stored(f, 'b')?.metadata.ownerReferences?.[0]?.blockOwnerDeletion);
});

test('an owner in another namespace is reported once, and is as good as absent', async (t) => {
  const f = await world((cluster) => {
    cluster.putNamespace('elsewhere');
    put(cluster, 'a', { namespace: 'elsewhere' });
    put(cluster, 'b');
    put(cluster, 'd', { owners: [blocking('a')] });
    put(cluster, 'e', { owners: [ownedBy('gone'), ownedBy('a')] });
    put(cluster, 'g', { owners: [ownedBy('b'), ownedBy('a')] });
    put(cluster, 'h', { owners: [ownedBy('b', { apiVersion: 'example.com/v1', kind: 'Widget' }), ownedBy('a')] });
  });
  const [event, ...others] = f.cluster.names('core/events').map((name) => {
    const [namespace = '', short = ''] = name.split('/');
    return f.cluster.get('core/events', namespace, short);
  });
  t.is(others.length, 3);
  t.like(event, {
    type: 'Warning',
    reason: 'OwnerRefInvalidNamespace',
    involvedObject: { kind: 'ConfigMap', apiVersion: 'v1', name: 'd', namespace: 'shop', uid: 'd' },
    message: 'ownerRef [v1/ConfigMap, namespace: shop, name: a, uid: a] does not exist in namespace "shop"',
  });
  t.is(event?.metadata.namespace, 'shop');
  await f.time.advance(100_000);
  t.deepEqual(names(f), ['b', 'g', 'h']);
  t.deepEqual(ownersOf(f, 'g'), ['b']);
  t.deepEqual(ownersOf(f, 'h'), ['b', 'a'], 'one that cannot be looked up keeps the object as it is');
  t.is(f.writesOf('create events').length, 4);
  t.truthy(f.cluster.get(CONFIG_MAPS, 'elsewhere', 'a'));
});

test('an owner in another namespace is reported whatever else is said of it, and not again when other owners go', async (t) => {
  const f = await world((cluster) => {
    cluster.putNamespace('elsewhere');
    put(cluster, 'a', { namespace: 'elsewhere' });
    put(cluster, 'b');
    put(cluster, 'c');
    put(cluster, 'd', {
      owners: [ownedBy('b'), ownedBy('a', { apiVersion: 'example.com/v1', kind: 'Widget' }), ownedBy('c')],
    });
  });
  t.deepEqual(
    f.writesOf('create events').map(({ body }) => body?.message),
    ['ownerRef [example.com/v1/Widget, namespace: shop, name: a, uid: a] does not exist in namespace "shop"'],
  );
  remove(f, 'b', 'Orphan');
  await f.time.settle();
  t.deepEqual(ownersOf(f, 'd'), ['a', 'c']);
  t.is(f.writesOf('create events').length, 1);
});

test('an owner in another namespace does not wait for what is not its own', async (t) => {
  const f = await world((cluster) => {
    cluster.putNamespace('elsewhere');
    put(cluster, 'a', { namespace: 'elsewhere' });
    put(cluster, 'd', { owners: [blocking('a')], finalizers: ['example.com/wait'] });
  });
  f.cluster.delete(CONFIG_MAPS, 'elsewhere', 'a', 'Foreground');
  f.deliver(true);
  await f.time.settle();
  t.is(f.cluster.get(CONFIG_MAPS, 'elsewhere', 'a'), undefined);
  t.deepEqual(names(f), ['d']);
});

test('an object without a namespace is not deleted for owners that have one', async (t) => {
  const f = await world((cluster) => {
    put(cluster, 'a');
    const owners = (reference: OwnerReference) => ({ ownerReferences: [reference] });
    cluster.put('core/nodes', objectOf('Node', '', 'n', { metadata: { name: 'n', ...owners(ownedBy('a')) } }));
    cluster.put('core/nodes', objectOf('Node', '', 'm', { metadata: { name: 'm', ...owners(ownedBy('gone')) } }));
  });
  await f.time.advance(100_000);
  t.deepEqual(f.cluster.names('core/nodes'), ['m', 'n']);
  t.deepEqual(
    f.writesOf('create events').map(({ body }) => [body?.metadata, body?.involvedObject, body?.message]),
    [
      [
        { name: 'n.a', namespace: 'default' },
        { kind: 'Node', apiVersion: 'v1', name: 'n', uid: f.cluster.get('core/nodes', '', 'n')?.metadata.uid },
        'ownerRef [v1/ConfigMap, namespace: , name: a, uid: a] does not exist in namespace ""',
      ],
    ],
  );
});

test('an event that is refused is not tried for ever', async (t) => {
  const f = await world((cluster) => {
    put(cluster, 'a', { namespace: 'elsewhere' });
    put(cluster, 'd', { owners: [ownedBy('a')] });
    cluster.fault = ({ target }) =>
      target.resource === 'events' ? { code: 403, body: { kind: 'Status', message: 'no' } } : undefined;
  });
  await f.time.advance(100_000);
  t.is(f.writesOf('create events').length, 1);
});

test('events are neither owners nor collected', async (t) => {
  const f = await world((cluster) => {
    const metadata = { name: 'e', ownerReferences: [ownedBy('gone')] };
    cluster.put('core/events', objectOf('Event', 'shop', 'e', { metadata }));
  });
  t.deepEqual(f.cluster.names('core/events'), ['shop/e']);
});

test('what was not finished when the stream broke off is finished afterwards', async (t) => {
  const f = await world((cluster) => {
    put(cluster, 'a');
    put(cluster, 'b');
    put(cluster, 'd', { owners: [blocking('a')] });
    put(cluster, 'e', { owners: [ownedBy('b')] });
    put(cluster, 'g', { owners: [ownedBy('b')] });
    cluster.fault = ({ verb }) => (verb === 'patch' || verb === 'delete' ? new Error('not now') : undefined);
  });
  remove(f, 'a', 'Foreground');
  remove(f, 'b', 'Orphan');
  await f.time.settle();
  f.cluster.remove(CONFIG_MAPS, 'shop', 'e');
  f.cluster.fault = () => undefined;
  const g = await restarted(f, NO_CA);
  await g.time.settle();
  t.deepEqual(names(g), ['g']);
  t.is(ownersOf(g, 'g'), undefined);
});

test('only objects that are owned or being deleted are parsed', async (t) => {
  const secret = (name: string, ownerReferences: OwnerReference[] = []) =>
    objectOf('Secret', 'shop', name, {
      metadata: { name, uid: name, ...(ownerReferences.length > 0 ? { ownerReferences } : {}) },
    });
  const f = await started(NO_CA, (cluster) => {
    for (let i = 0; i < 100; i += 1) cluster.put('core/secrets', secret(`s${i}`));
    cluster.put('core/secrets', secret('d', [ownedBy('s0', { kind: 'Secret' })]));
  });
  const parsed = () => f.cluster.parsed.get('core/secrets') ?? 0;
  t.is(parsed(), 1);
  for (let i = 0; i < 100; i += 1) f.cluster.put('core/secrets', secret(`s${i}`));
  await f.time.settle();
  t.is(parsed(), 1);
  f.cluster.remove('core/secrets', 'shop', 's1');
  f.cluster.remove('core/secrets', 'shop', 's0');
  await f.time.settle();
  t.is(parsed(), 1);
  t.is(f.cluster.get('core/secrets', 'shop', 'd'), undefined);
});

test('switched off, it deletes nothing', async (t) => {
  const f = await started({ ...NO_CA, collectsGarbage: false }, (cluster) =>
    put(cluster, 'd', { owners: [ownedBy('gone')] }),
  );
  await f.time.advance(10_000);
  t.deepEqual(names(f), ['d']);
});

test('ten thousand dependents go with their owner, a few at a time', async (t) => {
  const count = 10_000;
  const f = await world((cluster) => {
    put(cluster, 'a');
    for (let i = 0; i < count; i += 1) put(cluster, `d${i}`, { owners: [blocking('a')] });
  });
  remove(f, 'a', 'Foreground');
  await f.time.settle();
  t.deepEqual(names(f), []);
  t.is(f.writesOf('delete configmaps').length, count);
  t.is(f.cluster.inFlightMost, 64);
});

test('an owner of a group that another server answers for may be there, until this one answers for it again', async (t) => {
  const group = DIALECT.spell('apiregistration.@group');
  const owners = [ownedBy('web', { apiVersion: 'apps/v1', kind: 'Deployment' })];
  const f = await world((cluster) => {
    cluster.put(`${group}/apiservices`, {
      apiVersion: `${group}/v1`,
      kind: 'APIService',
      metadata: { name: 'v1.apps' },
      spec: { group: 'apps', version: 'v1', service: { namespace: 'default', name: 'other', port: 443 } },
    });
    put(cluster, 'd', { owners });
  });
  t.deepEqual(ownersOf(f, 'd'), ['web']);
  put(f.cluster, 'e', { owners });
  await f.time.settle();
  t.deepEqual(names(f), ['d', 'e']);
  f.cluster.remove(`${group}/apiservices`, '', 'v1.apps');
  await f.time.settle();
  t.deepEqual(names(f), []);
});

const DEFINITIONS = DIALECT.spell('apiextensions.@group/customresourcedefinitions');

/** Things of `x.test/v1` are served. */
function define(cluster: Cluster, metadata: Partial<Stored['metadata']> = {}): void {
  const accepted = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
  const schema = { openAPIV3Schema: { type: 'object' } };
  cluster.put(DEFINITIONS, {
    apiVersion: DIALECT.spell('apiextensions.@group/v1'),
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.x.test', ...metadata },
    spec: {
      group: 'x.test',
      scope: 'Namespaced',
      names: accepted,
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
    status: {
      acceptedNames: accepted,
      conditions: ['NamesAccepted', 'Established'].map((type) => ({ type, status: 'True' })),
    },
  });
}

test('what is owned by objects that went with their definition goes too, however many of them there are', async (t) => {
  const dependents = Array.from({ length: 300 }, (_, i) => `d-${i}`);
  const one = { apiVersion: 'x.test/v1', kind: 'Thing' };
  const f = await world((cluster) => {
    define(cluster);
    cluster.put('x.test/things', { ...one, metadata: { name: 'a', namespace: 'shop', uid: 'a' } });
    put(cluster, 'solid');
    for (const name of dependents) put(cluster, name, { owners: [ownedBy('a', one)] });
    put(cluster, 'shared', { owners: [ownedBy('a', one), ownedBy('solid')] });
    put(cluster, 'of another group', { owners: [ownedBy('a', { ...one, apiVersion: 'y.test/v1' })] });
  });
  f.cluster.remove('x.test/things', 'shop', 'a');
  f.cluster.remove(DEFINITIONS, '', 'things.x.test');
  await f.time.settle();
  t.deepEqual(names(f).sort(), ['of another group', 'shared', 'solid']);
  t.deepEqual(ownersOf(f, 'shared'), ['solid']);
});

/** A definition that is being deleted, whose instance has gone already, and what that one owned. */
async function endingDefinition(): Promise<Fixture> {
  return world((cluster) => {
    const finalizers = [DIALECT.spell('customresourcecleanup.apiextensions.@group')];
    define(cluster, { uid: 'things', deletionTimestamp: '2021-05-04T03:02:01Z', finalizers });
    put(cluster, 'd', { owners: [ownedBy('a', { apiVersion: 'x.test/v1', kind: 'Thing' })] });
    const isRefused = ({ verb, target }: WriteRequest) => verb === 'delete' && target.resource === 'configmaps';
    cluster.fault = (request) => (isRefused(request) ? new Error('not now') : undefined);
  });
}

test('a definition stays until what its objects owned has gone, so that no end of a process leaves that to nobody', async (t) => {
  const f = await endingDefinition();
  await f.time.advance(10_000);
  t.deepEqual(f.cluster.names(DEFINITIONS), ['things.x.test']);
  t.deepEqual(names(f), ['d']);
  f.cluster.fault = () => undefined;
  const g = await restarted(f, NO_CA);
  await g.time.advance(10_000);
  t.deepEqual(names(g), []);
  t.deepEqual(g.cluster.names(DEFINITIONS), []);
});

test('what its objects owned and nobody may delete keeps no definition for ever', async (t) => {
  const f = await endingDefinition();
  await f.time.advance(90_000);
  t.deepEqual(f.cluster.names(DEFINITIONS), []);
  t.deepEqual(names(f), ['d']);
});

test('an object whose owner is of a kind that nobody serves goes when a definition serves it, and there is no such owner', async (t) => {
  const f = await world((cluster) => {
    put(cluster, 'd', { owners: [ownedBy('gone', { apiVersion: 'x.test/v1', kind: 'Thing' })] });
    put(cluster, 'e', { owners: [ownedBy('gone', { apiVersion: 'x.test/v1', kind: 'Other' })] });
  });
  t.deepEqual(names(f), ['d', 'e']);
  define(f.cluster);
  await f.time.settle();
  t.deepEqual(names(f), ['e']);
});

const thing = (name: string) => ownedBy(name, { apiVersion: 'things.test/v1', kind: 'Thing' });

test('owners that another server has are asked for there: what has none left goes, once for all dependents of one', async (t) => {
  const asked: RemoteOwnerAsked[] = [];
  const answers: Record<string, RemoteOwner> = {
    there: { is: 'present', uid: 'there', deletion: 'none' },
    anew: { is: 'present', uid: 'another', deletion: 'none' },
    gone: { is: 'absent' },
    unsaid: { is: 'unknown' },
    leaving: { is: 'present', uid: 'leaving', deletion: 'foreground' },
    yielding: { is: 'present', uid: 'yielding', deletion: 'orphan' },
  };
  const f = await world(() => {});
  f.onLookUp((one) => {
    asked.push(one);
    return answers[one.name]!;
  });
  thingsElsewhere(f.cluster);
  for (const name of Object.keys(answers)) put(f.cluster, `of-${name}`, { owners: [thing(name)] });
  put(f.cluster, 'of-gone-too', { owners: [thing('gone')] });
  put(f.cluster, 'of-both', { owners: [thing('gone'), thing('there')] });
  await f.time.settle();
  t.deepEqual(names(f), ['of-both', 'of-there', 'of-unsaid', 'of-yielding']);
  t.deepEqual(ownersOf(f, 'of-both'), ['there']);
  t.deepEqual(ownersOf(f, 'of-yielding'), undefined);
  t.is(asked.length, Object.keys(answers).length);
  t.deepEqual(asked[0], {
    type: 'lookUpOwner',
    apiVersion: 'things.test/v1',
    kind: 'Thing',
    namespace: 'shop',
    name: 'there',
  } as object as RemoteOwnerAsked);
});

test('an owner that goes from another server takes its dependents with it within a minute', async (t) => {
  let owner: RemoteOwner = { is: 'present', uid: 'a', deletion: 'none' };
  const f = await world(() => {});
  f.onLookUp(() => owner);
  thingsElsewhere(f.cluster);
  put(f.cluster, 'd', { owners: [thing('a')] });
  await f.time.advance(120_000);
  t.deepEqual(names(f), ['d']);
  owner = { is: 'unknown' };
  await f.time.advance(60_000);
  t.deepEqual(names(f), ['d']);
  owner = { is: 'absent' };
  await f.time.advance(60_000);
  t.deepEqual(names(f), []);
});

test('an owner whose record the store has moved is found where it lies now', async (t) => {
  const f = await world((cluster) => {
    put(cluster, 'owner');
    put(cluster, 'first', { owners: [ownedBy('owner')] });
  });
  const churn = async () => {
    for (let version = 0; version < 12; version++) {
      const data = { filling: String(version).repeat(200_000) };
      f.cluster.put(CONFIG_MAPS, { ...objectOf('ConfigMap', 'shop', 'large'), data });
      await f.time.settle();
    }
  };
  // The slab of the first objects holds little else than what is forgotten, is emptied, and then written over.
  await churn();
  await f.time.advance(15 * 60_000);
  await churn();
  await f.time.advance(15 * 60_000);
  await churn();
  put(f.cluster, 'second', { owners: [ownedBy('owner')] });
  await f.time.advance(1000);
  t.deepEqual(names(f).sort(), ['first', 'large', 'owner', 'second']);
  remove(f, 'owner');
  await f.time.advance(1000);
  t.deepEqual(names(f), ['large']);
});

test('nothing goes for want of an owner that is there and cannot be read, and what has none goes when that is known', async (t) => {
  const unread = { key: `${CONFIG_MAPS}/shop/owner`, path: '', why: 'no key', since: 0, isKnown: false };
  const f = await world((cluster) => {
    put(cluster, 'child', { owners: [ownedBy('owner')] });
    const subscribe = cluster.subscribe.bind(cluster);
    cluster.subscribe = async (wants) => ({ ...(await subscribe(wants)), unreadable: [unread] });
  });
  await f.cluster.advance(120_000);
  t.deepEqual(names(f), ['child']);
  const { slot } = f.cluster;
  const hear = slot.onMessage;
  slot.onMessage = (message, reply) =>
    hear(message.type === 'storeBatch' ? { ...message, unreadable: [] } : message, reply);
  put(f.cluster, 'other');
  await f.cluster.advance(1000);
  t.deepEqual(names(f), ['other'], 'it has gone elsewhere');
});
