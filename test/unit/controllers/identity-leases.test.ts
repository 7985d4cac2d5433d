// The lease of a server's identity: made, renewed, and removed when its server is gone.
import test from 'ava';
import { DIALECT, objectOf, started } from './fixture.ts';

const LEASES = DIALECT.spell('coordination.@group/leases');
const NAME = /^orch-system\/orch-apiserver-[0-9a-f-]{36}$/;
const SETTINGS = { durationSeconds: 60, renewIntervalSeconds: 10 };

const lease = (
  name: string,
  spec: Record<string, string | number>,
  labels: Record<string, string> = { [DIALECT.spell('@group/component')]: 'orch-apiserver' },
) =>
  objectOf('Lease', 'orch-system', name, {
    spec,
    metadata: { name, namespace: 'orch-system', uid: `uid-${name}`, labels },
  });

test('a server under the gate has a lease of its own, which it renews and makes again', async (t) => {
  const f = await started({ identityLeases: SETTINGS }, (cluster) => cluster.putNamespace('orch-system'));
  await f.time.settle();
  const [key, ...others] = f.cluster.names(LEASES);
  t.regex(key!, NAME);
  t.deepEqual(others, []);
  const made = f.writesOf('create leases')[0]!.body as { metadata: { labels: object }; spec: Record<string, unknown> };
  t.deepEqual(made.metadata.labels, { 'orch.io/component': 'orch-apiserver' });
  t.like(made.spec, { holderIdentity: key!.split('/')[1], leaseDurationSeconds: 60 });
  t.is(made.spec.renewTime, made.spec.acquireTime);
  await f.time.advance(35_000);
  const renewals = f
    .writesOf('update leases')
    .map(({ body }) => (body as unknown as { spec: { renewTime: string } }).spec.renewTime);
  t.is(renewals.length, 3);
  t.is(new Set(renewals).size, 3);
  f.cluster.remove(LEASES, 'orch-system', key!.split('/')[1]!);
  await f.time.settle();
  t.deepEqual(f.cluster.names(LEASES), [key], 'at once');
});

test('leases of servers that are gone are removed when they end, and no others', async (t) => {
  const f = await started({ identityLeases: SETTINGS }, (cluster) => {
    cluster.putNamespace('orch-system');
    cluster.put(LEASES, lease('old', { renewTime: '2025-12-31T23:59:30.000000Z', leaseDurationSeconds: 60 }));
    cluster.put(LEASES, lease('silent', {}));
    cluster.put(LEASES, lease('of-a-scheduler', {}, {}));
  });
  await f.time.settle();
  const names = () => f.cluster.names(LEASES).filter((key) => !NAME.test(key));
  t.deepEqual(names(), ['orch-system/of-a-scheduler', 'orch-system/old']);
  await f.time.advance(29_000);
  t.deepEqual(names(), ['orch-system/of-a-scheduler', 'orch-system/old']);
  await f.time.advance(2_000);
  t.deepEqual(names(), ['orch-system/of-a-scheduler']);
});

test('without the gate there is none', async (t) => {
  const f = await started({}, (cluster) => cluster.putNamespace('orch-system'));
  await f.time.advance(30_000);
  t.deepEqual(f.cluster.names(LEASES), []);
});
