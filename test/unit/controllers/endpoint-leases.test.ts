// Several servers of one store keep the endpoints of the control plane's own service by leases.
import test from 'ava';
import { DIALECT, objectOf, started } from './fixture.ts';

const LEASES = DIALECT.spell('coordination.@group/leases');
const OWN = '10.0.0.7';
const SETTINGS = { sharesStore: true, advertiseAddress: OWN } as const;

const leaseOf = (address: string, renewTime: string) =>
  objectOf('Lease', 'orch-system', `orch-apiserver-endpoint-${address}`, {
    spec: { holderIdentity: address, leaseDurationSeconds: 15, renewTime },
    metadata: {
      name: `orch-apiserver-endpoint-${address}`,
      namespace: 'orch-system',
      uid: `uid-${address}`,
      labels: { [DIALECT.spell('@group/component')]: 'orch-apiserver-endpoint' },
    },
  });

type Fixture = Awaited<ReturnType<typeof started>>;

function addresses(f: Fixture): readonly string[] {
  const endpoints = f.cluster.get('core/endpoints', 'default', 'orch') as {
    readonly subsets?: readonly { readonly addresses: readonly { readonly ip: string }[] }[];
  };
  return (endpoints.subsets ?? []).flatMap((subset) => subset.addresses.map(({ ip }) => ip));
}

const endpointLeases = (f: Fixture): readonly string[] =>
  f.cluster.names(LEASES).filter((name) => name.includes('endpoint'));

test('a server keeps a lease with its address, and stands in the endpoints beside those whose leases change', async (t) => {
  const f = await started(SETTINGS, (cluster) => cluster.putNamespace('orch-system'));
  await f.time.advance(11_000);
  t.deepEqual(endpointLeases(f), [`orch-system/orch-apiserver-endpoint-${OWN}`]);
  t.deepEqual(addresses(f), [OWN]);
  for (let renewal = 0; renewal < 6; renewal++) {
    // By a clock that is far off: only that it changes counts.
    f.cluster.put(LEASES, leaseOf('10.0.0.3', `2001-01-01T00:00:0${renewal}.000000Z`));
    await f.time.advance(5000);
  }
  t.deepEqual(addresses(f), ['10.0.0.3', OWN]);
  await f.time.advance(30_000);
  t.deepEqual(addresses(f), [OWN], 'it has not been heard of for 15 s');
  await f.time.advance(40_000);
  t.deepEqual(endpointLeases(f), [`orch-system/orch-apiserver-endpoint-${OWN}`]);
  const [removal, ...others] = f.writesOf('delete leases');
  t.like(removal?.body?.preconditions, { uid: 'uid-10.0.0.3' });
  t.regex(JSON.stringify(removal?.body?.preconditions), /"resourceVersion":"\d+"/, 'not one that changes meanwhile');
  t.is(others.length, 0);
});

test('a server makes its lease anew where somebody has deleted it, and takes it away as it stops', async (t) => {
  const f = await started(SETTINGS, (cluster) => cluster.putNamespace('orch-system'));
  await f.time.advance(11_000);
  f.cluster.remove(LEASES, 'orch-system', `orch-apiserver-endpoint-${OWN}`);
  await f.time.settle();
  t.deepEqual(endpointLeases(f), [`orch-system/orch-apiserver-endpoint-${OWN}`]);
  await f.stop();
  t.deepEqual(endpointLeases(f), []);
});

test('a server whose lease goes stands in the endpoints no more', async (t) => {
  const f = await started(SETTINGS, (cluster) => cluster.putNamespace('orch-system'));
  f.cluster.put(LEASES, leaseOf('10.0.0.3', '2001-01-01T00:00:00.000000Z'));
  await f.time.advance(11_000);
  t.deepEqual(addresses(f), ['10.0.0.3', OWN]);
  f.cluster.remove(LEASES, 'orch-system', 'orch-apiserver-endpoint-10.0.0.3');
  f.cluster.put(LEASES, objectOf('Lease', 'orch-system', 'of-nobody', { spec: { holderIdentity: '10.0.0.4' } }));
  await f.time.advance(11_000);
  t.deepEqual(addresses(f), [OWN]);
});

test('a server that has its store for itself needs no lease', async (t) => {
  const f = await started({ ...SETTINGS, sharesStore: false }, (cluster) => cluster.putNamespace('orch-system'));
  await f.time.advance(30_000);
  t.deepEqual(f.cluster.names(LEASES), []);
  t.deepEqual(addresses(f), [OWN]);
});
