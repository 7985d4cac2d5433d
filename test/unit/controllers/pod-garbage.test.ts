// The pod garbage collector: pods of nodes that are gone, and terminating pods that no node agent will ever end.
import test from 'ava';
import type { Cluster } from './cluster.ts';
import { DIALECT, type Fixture, objectOf, restarted, started } from './fixture.ts';

const LEASES = DIALECT.spell('coordination.@group/leases');

function putPod(cluster: Cluster, name: string, nodeName: string): void {
  const spec = { terminationGracePeriodSeconds: 30, ...(nodeName === '' ? {} : { nodeName }) };
  cluster.put('core/pods', objectOf('Pod', 'default', name, { spec }));
}

function putNode(cluster: Cluster, name: string, conditions: Record<string, string>[] = []): void {
  cluster.put('core/nodes', objectOf('Node', '', name, { status: { conditions } }));
}

function pods(f: Fixture): string[] {
  return f.cluster.names('core/pods');
}

test('a pod bound to a node that does not exist is removed after the quarantine', async (t) => {
  const f = await started();
  putPod(f.cluster, 'p', 'nowhere');
  await f.time.advance(39_000);
  t.deepEqual(pods(f), ['default/p']);
  await f.time.advance(2_000);
  t.deepEqual(pods(f), []);
  t.is(f.writesOf('delete pods')[0]?.body?.gracePeriodSeconds, 0);
});

test('pods of a node that is deleted are removed after the quarantine', async (t) => {
  const f = await started({}, (cluster) => {
    putNode(cluster, 'n1', [{ type: 'Ready', lastHeartbeatTime: '2026-01-01T00:00:00Z' }]);
    for (let i = 0; i < 100; i += 1) putPod(cluster, `p${i}`, 'n1');
  });
  await f.time.advance(100_000);
  t.is(pods(f).length, 100);
  f.cluster.remove('core/nodes', '', 'n1');
  await f.time.advance(39_000);
  t.is(pods(f).length, 100);
  await f.time.advance(2_000);
  t.deepEqual(pods(f), []);
});

test('a node that comes back within the quarantine keeps its pods', async (t) => {
  const f = await started({}, (cluster) => {
    putNode(cluster, 'n1');
    putPod(cluster, 'p', 'n1');
  });
  f.cluster.remove('core/nodes', '', 'n1');
  await f.time.advance(30_000);
  putNode(f.cluster, 'n1');
  await f.time.advance(100_000);
  t.deepEqual(pods(f), ['default/p']);
});

test('each absence of a node has a quarantine of its own', async (t) => {
  const f = await started({}, (cluster) => {
    putNode(cluster, 'n1');
    putPod(cluster, 'p', 'n1');
  });
  f.cluster.remove('core/nodes', '', 'n1');
  await f.time.advance(30_000);
  putNode(f.cluster, 'n1');
  await f.time.advance(1_000);
  f.cluster.remove('core/nodes', '', 'n1');
  await f.time.advance(30_000);
  t.deepEqual(pods(f), ['default/p']);
  await f.time.advance(11_000);
  t.deepEqual(pods(f), []);
});

test('a terminating pod on a node made by hand goes when its grace has passed', async (t) => {
  const f = await started({}, (cluster) => {
    putNode(cluster, 'n1', [{ type: 'Ready', status: 'True' }]);
    putPod(cluster, 'p', 'n1');
    putPod(cluster, 'other', 'n1');
  });
  f.cluster.delete('core/pods', 'default', 'p');
  await f.time.advance(29_000);
  t.deepEqual(pods(f), ['default/other', 'default/p']);
  await f.time.advance(2_000);
  t.deepEqual(pods(f), ['default/other']);
});

const AGENTS: readonly [title: string, prepare: (cluster: Cluster) => void][] = [
  [
    'has reported Ready',
    (cluster) => putNode(cluster, 'n1', [{ type: 'Ready', lastHeartbeatTime: '2026-01-01T00:00:00Z' }]),
  ],
  [
    'holds a lease, seen before the node',
    (cluster) => {
      cluster.put(LEASES, objectOf('Lease', DIALECT.nodeLeaseNamespace, 'n1'));
      putNode(cluster, 'n1');
    },
  ],
  [
    'holds a lease, seen after the node',
    (cluster) => {
      putNode(cluster, 'n1');
      cluster.put(LEASES, objectOf('Lease', DIALECT.nodeLeaseNamespace, 'n1'));
    },
  ],
];

for (const [title, prepare] of AGENTS) {
  test(`a terminating pod is left to a node agent that ${title}`, async (t) => {
    const f = await started({}, (cluster) => {
      prepare(cluster);
      putPod(cluster, 'p', 'n1');
    });
    f.cluster.delete('core/pods', 'default', 'p');
    await f.time.advance(600_000);
    t.deepEqual(pods(f), ['default/p']);
    t.is(f.writesOf('delete pods').length, 0);
  });
}

test('a lease in another namespace says nothing about a node', async (t) => {
  const f = await started({}, (cluster) => {
    putNode(cluster, 'n1');
    cluster.put(LEASES, objectOf('Lease', 'default', 'n1'));
    putPod(cluster, 'p', 'n1');
  });
  f.cluster.delete('core/pods', 'default', 'p');
  await f.time.advance(40_000);
  t.deepEqual(pods(f), []);
});

test('a node agent that reports before the grace has passed is left to end the pod', async (t) => {
  const f = await started({}, (cluster) => {
    putNode(cluster, 'n1');
    putPod(cluster, 'p', 'n1');
  });
  f.cluster.delete('core/pods', 'default', 'p');
  await f.time.advance(10_000);
  f.cluster.put(LEASES, objectOf('Lease', DIALECT.nodeLeaseNamespace, 'n1'));
  await f.time.advance(100_000);
  t.deepEqual(pods(f), ['default/p']);
});

test('a pod that another of the same name has replaced is left alone', async (t) => {
  const f = await started({}, (cluster) => {
    putNode(cluster, 'n1');
    putPod(cluster, 'p', 'n1');
  });
  f.cluster.delete('core/pods', 'default', 'p');
  await f.time.advance(29_000);
  f.deliver(false);
  f.cluster.remove('core/pods', 'default', 'p');
  putPod(f.cluster, 'p', 'n1');
  await f.time.advance(5_000);
  f.deliver(true);
  await f.time.advance(60_000);
  t.deepEqual(pods(f), ['default/p']);
  t.true(f.writesOf('delete pods').every(({ code }) => code === 409));
  t.true(f.writesOf('delete pods').length > 0);
});

test('a pod that only finalizers hold is not deleted over and over', async (t) => {
  const f = await started({}, (cluster) => {
    putNode(cluster, 'n1');
    const spec = { nodeName: 'n1', terminationGracePeriodSeconds: 30 };
    const pod = objectOf('Pod', 'default', 'p', { spec });
    cluster.put('core/pods', { ...pod, metadata: { ...pod.metadata, finalizers: ['example.com/wait'] } });
  });
  f.cluster.delete('core/pods', 'default', 'p');
  await f.time.advance(600_000);
  t.deepEqual(pods(f), ['default/p']);
  t.is(f.writesOf('delete pods').length, 1);
});

test('a pod that is not bound is left alone', async (t) => {
  const f = await started({}, (cluster) => putPod(cluster, 'p', ''));
  await f.time.advance(600_000);
  t.deepEqual(pods(f), ['default/p']);
});

test('a pod bound after it was first seen is followed to its node', async (t) => {
  const f = await started({}, (cluster) => putPod(cluster, 'p', ''));
  const pod = f.cluster.get('core/pods', 'default', 'p')!;
  f.cluster.put('core/pods', { ...pod, spec: { nodeName: 'nowhere' } });
  await f.time.advance(41_000);
  t.deepEqual(pods(f), []);
});

test('a pod that is not bound is not parsed', async (t) => {
  const f = await started();
  putPod(f.cluster, 'p', '');
  await f.time.settle();
  t.is(f.cluster.parsed.get('core/pods'), undefined);
});

test('on a node with an agent, pods are parsed once', async (t) => {
  const f = await started({}, (cluster) => {
    putNode(cluster, 'n1', [{ type: 'Ready', lastHeartbeatTime: '2026-01-01T00:00:00Z' }]);
    putPod(cluster, 'p', 'n1');
  });
  const before = f.cluster.parsed.get('core/pods');
  for (let i = 0; i < 5; i += 1) f.cluster.put('core/pods', f.cluster.get('core/pods', 'default', 'p')!);
  await f.time.settle();
  t.is(f.cluster.parsed.get('core/pods'), before);
});

test('the grace of a terminating pod goes on over a restart', async (t) => {
  const f = await started({}, (cluster) => {
    putNode(cluster, 'n1');
    putPod(cluster, 'p', 'n1');
  });
  f.cluster.delete('core/pods', 'default', 'p');
  await f.time.advance(20_000);
  const g = await restarted(f);
  await g.time.advance(11_000);
  t.deepEqual(pods(g), []);
});

test('a clock that is set back or forward does not change the grace of a terminating pod', async (t) => {
  for (const shiftMs of [-3_600_000, 86_400_000]) {
    const f = await started({}, (cluster) => {
      putNode(cluster, 'n1');
      putPod(cluster, 'p', 'n1');
    });
    f.cluster.delete('core/pods', 'default', 'p');
    await f.time.advance(10_000);
    f.time.wallShiftMs = shiftMs;
    await f.time.advance(19_000);
    t.deepEqual(pods(f), ['default/p']);
    await f.time.advance(2_000);
    t.deepEqual(pods(f), []);
  }
});

test('a pod that is to go in an hour by a clock that was set back has no more than its grace', async (t) => {
  const f = await started({}, (cluster) => {
    putNode(cluster, 'n1');
    putPod(cluster, 'p', 'n1');
  });
  f.time.wallShiftMs = -3_600_000;
  f.cluster.delete('core/pods', 'default', 'p');
  await f.time.advance(29_000);
  t.deepEqual(pods(f), ['default/p']);
  await f.time.advance(2_000);
  t.deepEqual(pods(f), []);
});

test('a stream that begins anew does not begin the quarantine anew', async (t) => {
  const f = await started();
  putPod(f.cluster, 'p', 'nowhere');
  await f.time.advance(30_000);
  f.lost();
  await f.time.advance(11_000);
  t.deepEqual(pods(f), []);
});

test('objects of any shape are survived', async (t) => {
  const f = await started();
  f.cluster.put('core/nodes', { ...objectOf('Node', '', 'n1'), status: { conditions: 'none' } });
  f.cluster.put('core/pods', { ...objectOf('Pod', 'default', 'odd'), spec: { nodeName: 7 } });
  f.cluster.put('core/pods', objectOf('Pod', 'default', 'bare'));
  putPod(f.cluster, 'p', 'nowhere');
  await f.time.advance(41_000);
  t.deepEqual(pods(f), ['default/bare', 'default/odd']);
});
