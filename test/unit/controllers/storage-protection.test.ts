// Storage protection: claims and volumes that are to go are kept while they are used, and no longer.
import test from 'ava';
import type { Cluster } from './cluster.ts';
import { objectOf, started } from './fixture.ts';

const CLAIMS = 'core/persistentvolumeclaims';
const VOLUMES = 'core/persistentvolumes';
const OF_CLAIMS = 'orch.io/pvc-protection';
const OF_VOLUMES = 'orch.io/pv-protection';
const LEAVING = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 };

function putClaim(cluster: Cluster, name: string, metadata: object = {}): void {
  const object = objectOf('PersistentVolumeClaim', 'default', name, {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  cluster.put(CLAIMS, { ...object, metadata: { ...object.metadata, finalizers: [OF_CLAIMS], ...metadata } });
}

function putVolume(cluster: Cluster, name: string, phase: string, metadata: object = {}): void {
  const object = objectOf('PersistentVolume', '', name, {
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      nfs: { server: 's', path: '/' },
      persistentVolumeReclaimPolicy: 'Retain',
      volumeMode: 'Filesystem',
    },
    status: { phase },
  });
  cluster.put(VOLUMES, { ...object, metadata: { ...object.metadata, finalizers: [OF_VOLUMES], ...metadata } });
}

function putPod(cluster: Cluster, name: string, claimName: string, nodeName = 'n'): void {
  cluster.put(
    'core/pods',
    objectOf('Pod', 'default', name, {
      spec: {
        ...(nodeName === '' ? {} : { nodeName }),
        containers: [{ name: 'c', image: 'i' }],
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
      },
    }),
  );
}

test('a claim that is to go and that no pod uses goes', async (t) => {
  const f = await started({}, (cluster) => putClaim(cluster, 'free', LEAVING));
  await f.time.advance(1000);
  t.deepEqual(f.cluster.names(CLAIMS), []);
});

test('a claim that a bound pod uses stays until the pod has gone', async (t) => {
  const f = await started({}, (cluster) => {
    cluster.put('core/nodes', objectOf('Node', '', 'n', {}));
    putPod(cluster, 'p', 'used');
    putPod(cluster, 'q', 'used');
    putClaim(cluster, 'used', LEAVING);
  });
  await f.time.advance(1000);
  t.deepEqual(f.cluster.names(CLAIMS), ['default/used']);
  f.cluster.remove('core/pods', 'default', 'p');
  await f.time.advance(1000);
  t.deepEqual(f.cluster.names(CLAIMS), ['default/used']);
  f.cluster.remove('core/pods', 'default', 'q');
  await f.time.advance(1000);
  t.deepEqual(f.cluster.names(CLAIMS), []);
});

/** A pod that does not go yet: as one that is deleted in the foreground, whose end waits for that of its claim. */
function putEphemeralPod(cluster: Cluster, metadata: object = {}): void {
  const object = objectOf('Pod', 'default', 'p', {
    spec: {
      nodeName: 'n',
      containers: [{ name: 'c', image: 'i' }],
      volumes: [
        { name: 'scratch', ephemeral: {} },
        { name: 'other', persistentVolumeClaim: { claimName: 'named' } },
      ],
    },
  });
  cluster.put('core/pods', {
    ...object,
    metadata: { ...object.metadata, uid: 'uid-p', finalizers: ['example.com/waits'], ...metadata },
  });
}

/** Of a claim that was made for that pod. */
const OWNED = { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'uid-p', controller: true }] };

test('a claim that was made for a pod goes once nothing runs in the pod, which may wait for that', async (t) => {
  const f = await started({}, (cluster) => {
    // With an agent, which is waited for.
    const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T00:00:00Z' }];
    cluster.put('core/nodes', objectOf('Node', '', 'n', { status: { conditions } }));
    putEphemeralPod(cluster);
    putClaim(cluster, 'p-scratch', { ...LEAVING, ...OWNED });
    putClaim(cluster, 'named', LEAVING);
  });
  putEphemeralPod(f.cluster, { ...LEAVING, deletionGracePeriodSeconds: 30 });
  await f.time.advance(1000);
  t.deepEqual(f.cluster.names(CLAIMS).toSorted(), ['default/named', 'default/p-scratch']);
  putEphemeralPod(f.cluster, LEAVING);
  await f.time.advance(1000);
  t.deepEqual(f.cluster.names(CLAIMS), ['default/named']);
});

test('a claim that was made for a pod goes as well where nothing ran in the pod before the server started', async (t) => {
  const f = await started({}, (cluster) => {
    cluster.put('core/nodes', objectOf('Node', '', 'n', {}));
    putEphemeralPod(cluster, LEAVING);
    putClaim(cluster, 'p-scratch', { ...LEAVING, ...OWNED });
  });
  await f.time.advance(1000);
  t.deepEqual(f.cluster.names(CLAIMS), []);
});

test('a claim by the name of one that is made for a pod is not kept for it, unless it is owned by that very pod', async (t) => {
  const f = await started({}, (cluster) => {
    const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T00:00:00Z' }];
    cluster.put('core/nodes', objectOf('Node', '', 'n', { status: { conditions } }));
    putEphemeralPod(cluster, { uid: 'uid-of-the-next' });
    putClaim(cluster, 'p-scratch', { ...LEAVING, ...OWNED });
  });
  await f.time.advance(1000);
  t.deepEqual(f.cluster.names(CLAIMS), []);
});

test('a pod that is bound to no node does not keep a claim', async (t) => {
  const f = await started({}, (cluster) => {
    putPod(cluster, 'p', 'waiting', '');
    putClaim(cluster, 'waiting', LEAVING);
  });
  await f.time.advance(1000);
  t.deepEqual(f.cluster.names(CLAIMS), []);
});

test('other finalizers are left, and nothing is done to claims that stay', async (t) => {
  const f = await started({}, (cluster) => {
    putClaim(cluster, 'held', { ...LEAVING, finalizers: ['example.com/mine', OF_CLAIMS] });
    putClaim(cluster, 'stays');
  });
  await f.time.advance(1000);
  t.deepEqual(f.cluster.names(CLAIMS).toSorted(), ['default/held', 'default/stays']);
  t.deepEqual(
    f.writesOf('patch persistentvolumeclaims').map(({ body }) => body?.metadata?.finalizers),
    [['example.com/mine']],
  );
});

test('a claim that came without the finalizer gets it', async (t) => {
  const f = await started({}, (cluster) => putClaim(cluster, 'old', { finalizers: [] }));
  await f.time.advance(1000);
  t.deepEqual(
    f.writesOf('patch persistentvolumeclaims').map(({ body }) => body?.metadata?.finalizers),
    [[OF_CLAIMS]],
  );
});

test('a volume that is to go stays while it is bound', async (t) => {
  const f = await started({}, (cluster) => {
    putVolume(cluster, 'bound', 'Bound', LEAVING);
    putVolume(cluster, 'free', 'Available', LEAVING);
  });
  await f.time.advance(1000);
  t.deepEqual(f.cluster.names(VOLUMES), ['bound']);
  putVolume(f.cluster, 'bound', 'Released', LEAVING);
  await f.time.advance(1000);
  t.deepEqual(f.cluster.names(VOLUMES), []);
});
