// The namespace controller where extension servers may have something of a namespace: what it waits for, and what it says meanwhile.
import test from 'ava';
import { RemoteContents } from '../../../actors/controllers/namespaces/remote-contents.ts';
import type { NamespaceSweep } from '../../../api/aggregation/namespace-sweep.ts';
import type { FeedEvent } from '../../../storage/following/store-feed.ts';
import { DIALECT, type Fixture, objectOf, started } from './fixture.ts';

const NAMESPACE = 'core/namespaces';

/** A settled cluster with namespace `shop` holding a secret. */
async function shop(): Promise<Fixture> {
  return started({}, (cluster) => {
    cluster.putNamespace('shop');
    cluster.put('core/secrets', objectOf('Secret', 'shop', 'key'));
  });
}

function conditionsOf(f: Fixture): Record<string, string> {
  const status = f.cluster.get(NAMESPACE, '', 'shop')?.status as { conditions?: Record<string, string>[] } | undefined;
  return Object.fromEntries((status?.conditions ?? []).map((row) => [row.type, `${row.status} ${row.reason}`]));
}

const OF_OTHERS = {
  apiVersion: 'apiregistration.orch.io/v1',
  kind: 'APIService',
  metadata: { name: 'v1.example.net' },
  spec: { group: 'example.net', version: 'v1', service: { namespace: 'default', name: 'other', port: 443 } },
};

test('a namespace waits for what extension servers have of it, says what they say, and goes when they have nothing', async (t) => {
  const f = await shop();
  const services = DIALECT.spell('apiregistration.@group/apiservices');
  f.cluster.put(services, OF_OTHERS);
  const nothing: NamespaceSweep = { unknown: [], failures: [], remaining: [], finalizers: [] };
  const unknown: NamespaceSweep['unknown'] = [
    ['example.net/v2', 'it is away as well'],
    ['example.net/v1', 'it is away'],
  ];
  let found: NamespaceSweep = { ...nothing, unknown };
  const asked: string[] = [];
  f.onSweep((namespace) => {
    asked.push(namespace);
    return found;
  });
  f.cluster.delete(NAMESPACE, '', 'shop');
  await f.time.advance(3_000);
  t.is(conditionsOf(f).NamespaceDeletionDiscoveryFailure, 'True DiscoveryFailed');
  t.regex(
    JSON.stringify(f.cluster.get(NAMESPACE, '', 'shop')),
    /2 failing: unable to retrieve .*: example\.net\/v1: it is away, example\.net\/v2: it is away as well"/,
  );
  t.deepEqual(
    f.cluster.names('core/secrets').filter((name) => name.startsWith('shop/')),
    [],
  );
  found = {
    ...nothing,
    failures: [['things.example.net', 'no']],
    remaining: [['things.example.net', 2]],
    finalizers: [['example.net/hold', 2]],
  };
  await f.time.advance(30_000);
  t.deepEqual(conditionsOf(f), {
    NamespaceDeletionDiscoveryFailure: 'False ResourcesDiscovered',
    NamespaceDeletionGroupVersionParsingFailure: 'False ParsedGroupVersions',
    NamespaceDeletionContentFailure: 'True ContentDeletionFailed',
    NamespaceContentRemaining: 'True SomeResourcesRemain',
    NamespaceFinalizersRemaining: 'True SomeFinalizersRemain',
  });
  f.onSweep(() => {
    throw new Error('there is no ingress');
  });
  await f.time.advance(30_000);
  t.is(conditionsOf(f).NamespaceDeletionDiscoveryFailure, 'True DiscoveryFailed');
  t.regex(JSON.stringify(f.cluster.get(NAMESPACE, '', 'shop')), /: \*\/\*: there is no ingress"/);
  // The server is back: nobody waits for the next sweep.
  f.onSweep(() => nothing);
  f.cluster.put(services, { ...OF_OTHERS, status: { conditions: [{ type: 'Available', status: 'True' }] } });
  await f.time.settle();
  t.is(f.cluster.get(NAMESPACE, '', 'shop'), undefined);
  t.true(asked.every((namespace) => namespace === 'shop'));
});

test('no extension server is asked about a namespace where there is none', async (t) => {
  const f = await shop();
  f.onSweep(() => {
    throw new Error('nobody is to be asked');
  });
  f.cluster.delete(NAMESPACE, '', 'shop');
  await f.time.advance(100);
  t.is(f.cluster.get(NAMESPACE, '', 'shop'), undefined);
});

test('of very many namespaces a few are looked for at extension servers at a time, and each in its turn', async (t) => {
  const due: string[] = [];
  const asked: string[] = [];
  const ends: (() => void)[] = [];
  const nothing: NamespaceSweep = { unknown: [], failures: [], remaining: [], finalizers: [] };
  const contents = new RemoteContents(DIALECT, { add: (namespace) => void due.push(namespace) }, (namespace) => {
    asked.push(namespace);
    return new Promise((resolve) => ends.push(() => resolve(nothing)));
  });
  contents.begin('too-early');
  contents.onEvent({ type: 'put', name: 'v1.example.net', object: () => OF_OTHERS } as unknown as FeedEvent);
  const names = Array.from({ length: 20 }, (_, number) => `n${number}`);
  for (const name of names) contents.begin(name);
  const first = asked.length;
  t.true(first < names.length);
  contents.begin('n0');
  contents.forget('n19');
  while (ends.length > 0) {
    ends.shift()!();
    await new Promise((resolve) => setImmediate(resolve));
    t.true(asked.length - due.length <= first);
  }
  t.deepEqual(asked, names.slice(0, -1));
  t.deepEqual([...due].sort(), names.slice(0, -1).sort());
  t.true(contents.isSwept('n0'));
  t.false(contents.isSwept('n19'), 'nobody has looked');
  const v2 = { ...OF_OTHERS, metadata: { name: 'v2.example.net' }, spec: { ...OF_OTHERS.spec, version: 'v2' } };
  t.true(contents.onEvent({ type: 'put', name: 'v2.example.net', object: () => v2 } as unknown as FeedEvent));
  t.false(contents.isSwept('n0'), 'nobody has looked at the new server');
});
