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

interface Lease {
  readonly spec: { readonly renewTime: string };
}

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

test('a lease says where its server is and for how long that holds, and is renewed every five seconds', async (t) => {
  const f = await started(SETTINGS, (cluster) => cluster.putNamespace('orch-system'));
  const isOwn = ({ body }: { readonly body?: unknown }): boolean => JSON.stringify(body).includes(OWN);
  const [made, ...others] = f.writesOf('create leases').filter(isOwn);
  t.is(others.length, 0);
  const { renewTime } = (made!.body as unknown as Lease).spec;
  t.deepEqual(made!.body, {
    apiVersion: DIALECT.spell('coordination.@group/v1'),
    kind: 'Lease',
    metadata: {
      name: `orch-apiserver-endpoint-${OWN}`,
      namespace: 'orch-system',
      labels: { [DIALECT.spell('@group/component')]: 'orch-apiserver-endpoint' },
    },
    spec: { holderIdentity: OWN, leaseDurationSeconds: 15, renewTime },
  });
  await f.time.advance(21_000);
  const renewals = f.writesOf('update leases').filter(isOwn);
  t.deepEqual(new Set(renewals.map(({ body }) => (body as unknown as Lease).spec.renewTime)).size, 4);
  t.is(renewals.length, 4);
});

test('a lease of a server of another address family has a name that a lease may have', async (t) => {
  const f = await started({ ...SETTINGS, advertiseAddress: 'fd00::7' }, (cluster) =>
    cluster.putNamespace('orch-system'),
  );
  t.deepEqual(endpointLeases(f), ['orch-system/orch-apiserver-endpoint-fd00--7']);
});

test('a server that cannot make its lease stands in the endpoints all the same, and has none to take away', async (t) => {
  const f = await started(SETTINGS, (cluster) => {
    cluster.fault = ({ target }) =>
      target.resource === 'leases' && target.namespace === 'orch-system' ? { code: 500, body: {} } : undefined;
  });
  await f.time.advance(11_000);
  t.deepEqual(endpointLeases(f), []);
  t.deepEqual(addresses(f), [OWN]);
  await f.stop();
  t.deepEqual(f.writesOf('delete leases'), []);
});

test('leases from before a start are removed when nobody has renewed them since', async (t) => {
  const f = await started(SETTINGS, (cluster) => {
    cluster.putNamespace('orch-system');
    cluster.put(LEASES, leaseOf('10.0.0.3', '2001-01-01T00:00:00.000000Z'));
  });
  await f.time.advance(50_000);
  t.is(endpointLeases(f).length, 2);
  await f.time.advance(20_000);
  t.deepEqual(endpointLeases(f), [`orch-system/orch-apiserver-endpoint-${OWN}`]);
});

test('a lease that went while the store was away is of no server', async (t) => {
  const f = await started(SETTINGS, (cluster) => cluster.putNamespace('orch-system'));
  f.cluster.put(LEASES, leaseOf('10.0.0.3', '2001-01-01T00:00:00.000000Z'));
  await f.time.settle();
  f.deliver(false);
  f.cluster.remove(LEASES, 'orch-system', 'orch-apiserver-endpoint-10.0.0.3');
  await f.time.settle();
  f.held.splice(0);
  f.deliver(true);
  f.lost();
  await f.time.advance(11_000);
  t.deepEqual(addresses(f), [OWN]);
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
  const elsewhere = leaseOf('10.0.0.5', '2001-01-01T00:00:00.000000Z');
  f.cluster.put(LEASES, { ...elsewhere, metadata: { ...elsewhere.metadata, namespace: 'default' } });
  f.cluster.put(LEASES, { ...leaseOf('10.0.0.6', '2001-01-01T00:00:00.000000Z'), spec: {} });
  await f.time.advance(11_000);
  t.deepEqual(addresses(f), [OWN]);
});

test('a server that has its store for itself needs no lease', async (t) => {
  const f = await started({ ...SETTINGS, sharesStore: false }, (cluster) => cluster.putNamespace('orch-system'));
  await f.time.advance(30_000);
  t.deepEqual(f.cluster.names(LEASES), []);
  t.deepEqual(addresses(f), [OWN]);
});
