// The lives of nodes: heartbeats by status and lease, what is said of nodes that fall silent, and the taints that evict.
import test from 'ava';
import type { Cluster } from './cluster.ts';
import { type Fixture, objectOf, restarted, started } from './fixture.ts';
import type { Loose, Stored } from './stored.ts';

const NODES = 'core/nodes';
const LEASES = 'coordination.orch.io/leases';
const LEASE_NAMESPACE = 'orch-node-lease';
const EPOCH = Date.parse('2026-01-01T00:00:00Z');

const at = (f: { cluster: Cluster }): string => new Date(f.cluster.time.nowMs()).toISOString();

/** A node as an agent posts it; without `heartbeat`, as a hand writes it. */
function putNode(f: { cluster: Cluster }, name: string, ready: string | undefined, rest: Loose = {}): void {
  const {
    heartbeat = at(f),
    labels,
    taints,
    conditions = [],
  } = rest as {
    readonly heartbeat?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly taints?: readonly object[];
    readonly conditions?: readonly object[];
  };
  const { uid, creationTimestamp } = f.cluster.get(NODES, '', name)?.metadata ?? {};
  const time = heartbeat === '' ? {} : { lastHeartbeatTime: heartbeat };
  const said = ready === undefined ? [] : [{ type: 'Ready', status: ready, reason: 'Said', message: 'so', ...time }];
  const metadata = { name, ...(labels && { labels }), ...(uid && { uid, creationTimestamp }) };
  f.cluster.put(NODES, {
    ...objectOf('Node', '', name, { metadata } as never),
    spec: { taints: taints ?? (f.cluster.get(NODES, '', name)?.spec as Loose | undefined)?.taints ?? [] },
    status: { conditions: [...conditions, ...said] },
  } as unknown as Stored);
}

function putLease(f: { cluster: Cluster }, name: string): void {
  const lease = objectOf('Lease', LEASE_NAMESPACE, name, { spec: { renewTime: at(f) } });
  f.cluster.put(LEASES, { ...lease, apiVersion: 'coordination.orch.io/v1' });
}

function conditionsOf(f: Fixture, name: string): Record<string, Loose> {
  const { conditions = [] } = (f.cluster.get(NODES, '', name)?.status ?? {}) as { conditions?: Loose[] };
  return Object.fromEntries(conditions.map((condition) => [condition.type as string, condition]));
}

const readyOf = (f: Fixture, name: string): unknown => conditionsOf(f, name).Ready?.status;

function evicting(f: Fixture, name: string): readonly string[] {
  const { taints = [] } = (f.cluster.get(NODES, '', name)?.spec ?? {}) as {
    taints?: { key: string; effect: string }[];
  };
  return taints.filter(({ effect }) => effect === 'NoExecute').map(({ key }) => key);
}

/** Lets time pass while these nodes go on posting their status. */
async function alive(f: Fixture, names: readonly string[], ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 10_000) {
    for (const name of names) putNode(f, name, 'True');
    await f.time.advance(Math.min(left, 10_000));
  }
}

const two = (ready: string) => (cluster: Cluster) => {
  putNode({ cluster }, 'n1', ready, {
    conditions: [
      { type: 'MemoryPressure', status: 'False' },
      { type: 'Own', status: 'True' },
    ],
  });
  putNode({ cluster }, 'n2', 'True');
};

test('a server that stood still does not take for silence what it has not heard', async (t) => {
  const f = await started({}, two('True'));
  await alive(f, ['n1', 'n2'], 20_000);
  f.time.standStill(60_000);
  await f.time.advance(10_000);
  await alive(f, ['n2'], 29_000);
  t.deepEqual([readyOf(f, 'n1'), readyOf(f, 'n2')], ['True', 'True']);
  await alive(f, ['n2'], 20_000);
  t.deepEqual([readyOf(f, 'n1'), readyOf(f, 'n2')], ['Unknown', 'True']);
});

test('a node that stops posting is unknown after 40 seconds, and unreachable at the next look', async (t) => {
  const f = await started({}, two('True'));
  await alive(f, ['n2'], 35_000);
  t.is(readyOf(f, 'n1'), 'True');
  await alive(f, ['n2'], 11_000);
  const { Ready, MemoryPressure, PIDPressure, Own } = conditionsOf(f, 'n1');
  t.like(Ready, { status: 'Unknown', reason: 'NodeStatusUnknown', message: 'Orchlet stopped posting node status.' });
  t.is(Date.parse(Ready?.lastHeartbeatTime as string), EPOCH);
  t.like(MemoryPressure, { status: 'Unknown', reason: 'NodeStatusUnknown' });
  t.like(PIDPressure, {
    status: 'Unknown',
    reason: 'NodeStatusNeverUpdated',
    message: 'Orchlet never posted node status.',
  });
  t.like(Own, { status: 'True' });
  await alive(f, ['n2'], 6_000);
  t.deepEqual(evicting(f, 'n1'), ['node.orch.io/unreachable']);
  t.deepEqual(evicting(f, 'n2'), []);
  const [event] = f.writesOf('create events').map(({ body }) => body as unknown as Loose);
  t.like(event, { reason: 'NodeNotReady', type: 'Normal', message: 'Node n1 status is now: NodeNotReady' });
  t.is(f.writesOf('create events').length, 1);
});

test('a node that comes and goes is announced, and one that was there at the start is not', async (t) => {
  const f = await started({}, two('True'));
  putNode(f, 'n3', 'True');
  await f.time.advance(1000);
  f.cluster.remove(NODES, '', 'n3');
  await f.time.advance(1000);
  t.deepEqual(
    f.writesOf('create events').map(({ body }) => [(body as Loose).reason, (body as Loose).message]),
    [
      ['RegisteredNode', 'Node n3 event: Registered Node n3 in Controller'],
      ['RemovingNode', 'Node n3 event: Removing Node n3 from Controller'],
    ],
  );
});

test('a node that posts again loses the taint', async (t) => {
  const f = await started({}, two('True'));
  await alive(f, ['n2'], 60_000);
  t.deepEqual(evicting(f, 'n1'), ['node.orch.io/unreachable']);
  await alive(f, ['n1', 'n2'], 10_000);
  t.deepEqual(evicting(f, 'n1'), []);
  t.is(readyOf(f, 'n1'), 'True');
});

test('a renewed lease is a sign of life', async (t) => {
  const f = await started({}, two('True'));
  for (let i = 0; i < 12; i++) {
    putLease(f, 'n1');
    await alive(f, ['n2'], 10_000);
  }
  t.is(readyOf(f, 'n1'), 'True');
  await alive(f, ['n2'], 50_000);
  t.is(readyOf(f, 'n1'), 'Unknown');
});

test('a lease that is written but not renewed is none', async (t) => {
  const f = await started({}, (cluster) => {
    two('True')(cluster);
    putLease({ cluster }, 'n1');
  });
  for (let i = 0; i < 6; i++) {
    f.cluster.put(LEASES, f.cluster.get(LEASES, LEASE_NAMESPACE, 'n1')!);
    await alive(f, ['n2'], 10_000);
  }
  t.is(readyOf(f, 'n1'), 'Unknown');
});

test('a node whose agent never says how it is has a minute', async (t) => {
  const f = await started({}, (cluster) => {
    putNode({ cluster }, 'n1', undefined);
    putLease({ cluster }, 'n1');
    putNode({ cluster }, 'n2', 'True');
  });
  await alive(f, ['n2'], 55_000);
  t.is(readyOf(f, 'n1'), undefined);
  await alive(f, ['n2'], 11_000);
  t.like(conditionsOf(f, 'n1').Ready, { status: 'Unknown', reason: 'NodeStatusNeverUpdated' });
  await alive(f, ['n2'], 11_000);
  t.deepEqual(evicting(f, 'n1'), ['node.orch.io/unreachable']);
});

test('nodes that no agent has shown itself on are taken at their word', async (t) => {
  const f = await started({}, (cluster) => {
    putNode({ cluster }, 'said', 'True', { heartbeat: '' });
    putNode({ cluster }, 'mute', undefined);
  });
  await f.time.advance(600_000);
  t.is(readyOf(f, 'said'), 'True');
  t.is(readyOf(f, 'mute'), undefined);
  t.deepEqual(
    f.cluster.writes.filter(({ request }) => request.target.resource === 'nodes'),
    [],
  );
});

test('a node that says it is not ready has a taint of its own, which changes when it is not heard of any more', async (t) => {
  const f = await started({}, two('False'));
  await alive(f, ['n2'], 6_000);
  t.deepEqual(evicting(f, 'n1'), ['node.orch.io/not-ready']);
  await alive(f, ['n2'], 50_000);
  t.deepEqual(evicting(f, 'n1'), ['node.orch.io/unreachable']);
});

test('nodes of a zone are tainted one by one', async (t) => {
  const silent = ['a', 'b'];
  const rest = ['c', 'd', 'e'];
  const f = await started({}, (cluster) => {
    for (const name of silent) putNode({ cluster }, name, 'False');
    for (const name of rest) putNode({ cluster }, name, 'True');
  });
  const tainted = () => silent.filter((name) => evicting(f, name).length > 0).length;
  await f.time.advance(4_000);
  t.is(tainted(), 1);
  await f.time.advance(4_000);
  t.is(tainted(), 1);
  await f.time.advance(4_000);
  t.is(tainted(), 2);
});

test('where no node answers none is tainted, and those that were are tainted no more', async (t) => {
  const f = await started({}, two('False'));
  await alive(f, ['n2'], 6_000);
  t.deepEqual(evicting(f, 'n1'), ['node.orch.io/not-ready']);
  await f.time.advance(120_000);
  t.is(readyOf(f, 'n2'), 'Unknown');
  t.deepEqual([...evicting(f, 'n1'), ...evicting(f, 'n2')], []);
  await alive(f, ['n2'], 20_000);
  t.deepEqual(evicting(f, 'n1'), ['node.orch.io/unreachable']);
  t.deepEqual(evicting(f, 'n2'), []);
});

test('where the last zone fails after the others, the nodes of those lose their taints and are given none', async (t) => {
  const zone = (name: string) => ({ labels: { 'topology.orch.io/zone': name } });
  const first = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6'];
  const f = await started({}, (cluster) => {
    for (const name of first) putNode({ cluster }, name, 'False', zone('a'));
    putNode({ cluster }, 'b', 'True', zone('b'));
  });
  const tainted = () => first.filter((name) => evicting(f, name).length > 0);
  await f.time.advance(15_000);
  t.true(tainted().length > 0);
  putNode(f, 'b', 'False', zone('b'));
  await f.time.advance(6_000);
  t.deepEqual(tainted(), []);
  await f.time.advance(60_000);
  t.deepEqual([...tainted(), ...evicting(f, 'b')], []);
});

test('zones fail by themselves', async (t) => {
  const zone = (name: string) => ({ labels: { 'topology.orch.io/zone': name } });
  const f = await started({}, (cluster) => {
    for (const name of ['a1', 'a2', 'a3', 'a4'])
      putNode({ cluster }, name, name === 'a4' ? 'True' : 'False', zone('a'));
    for (const name of ['b1', 'b2']) putNode({ cluster }, name, 'False', zone('b'));
  });
  await f.time.advance(30_000);
  // Zone a is disrupted partly: it is small, so that nothing more is done. Zone b fails whole, beside one that answers.
  t.is(['a1', 'a2', 'a3'].filter((name) => evicting(f, name).length > 0).length <= 1, true);
  t.is(['b1', 'b2'].filter((name) => evicting(f, name).length > 0).length, 2);
});

test('a restart leaves the taints there are, and counts the silence anew', async (t) => {
  const f = await started({}, two('True'));
  await alive(f, ['n2'], 60_000);
  const before = f.cluster.get(NODES, '', 'n1')?.spec;
  const g = await restarted(f);
  await alive(g, ['n2'], 20_000);
  t.deepEqual(g.cluster.get(NODES, '', 'n1')?.spec, before);
  t.is(readyOf(g, 'n2'), 'True');
});

test('a refused write is tried again', async (t) => {
  const f = await started({}, two('True'));
  let refusals = 3;
  f.cluster.fault = ({ target }) =>
    target.resource === 'nodes' && target.subresource === 'status' && refusals-- > 0 ? new Error('no') : undefined;
  await alive(f, ['n2'], 50_000);
  t.is(readyOf(f, 'n1'), 'Unknown');
});
