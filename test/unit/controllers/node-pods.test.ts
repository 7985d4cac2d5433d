// Pods of nodes in trouble: evicted by the taints that they do not tolerate, or no longer, and said not to be ready.
import test from 'ava';
import { NodePods } from '../../../actors/controllers/nodes/node-pods.ts';
import type { Cluster } from './cluster.ts';
import { DIALECT, type Fixture, objectOf, restarted, started } from './fixture.ts';
import type { Loose, Stored } from './stored.ts';

const UNREACHABLE = 'node.orch.io/unreachable';
const NOT_READY = 'node.orch.io/not-ready';
/** Long before every test. */
const EPOCH = '1970-01-01T00:00:00Z';
const taint = (key: string, rest: Loose = {}) => ({ key, effect: 'NoExecute', ...rest });
const tolerates = (key: string, seconds?: number) => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  ...(seconds === undefined ? {} : { tolerationSeconds: seconds }),
});

/** A node made by hand, which stays as it is said to be. */
function putNode(f: { cluster: Cluster }, taints: readonly object[], ready = 'True'): void {
  f.cluster.put('core/nodes', {
    ...objectOf('Node', '', 'n', {}),
    spec: { taints },
    status: { conditions: [{ type: 'Ready', status: ready }] },
  } as unknown as Stored);
}

/** One beside it that answers: where none does, nobody is evicted. */
function putAnother({ cluster }: { cluster: Cluster }): void {
  const status = { conditions: [{ type: 'Ready', status: 'True' }] };
  cluster.put('core/nodes', { ...objectOf('Node', '', 'm', {}), status } as unknown as Stored);
}

/** `boundAt`: where it is not since it was made. */
function putPod(
  f: { cluster: Cluster },
  name: string,
  tolerations: Loose[],
  spec: Loose = { nodeName: 'n' },
  boundAt?: string,
): void {
  const conditions = [
    { type: 'Ready', status: 'True' },
    { type: 'PodScheduled', status: 'True', ...(boundAt === undefined ? {} : { lastTransitionTime: boundAt }) },
  ];
  f.cluster.put(
    'core/pods',
    objectOf('Pod', 'default', name, { spec: { ...spec, tolerations }, status: { conditions } }),
  );
}

const deleted = (f: Fixture) => f.writesOf('delete pods').map(({ request }) => request.target.name);
/** What is told of pods; nodes have events of their own. */
const told = (f: Fixture) =>
  f
    .writesOf('create events')
    .map(({ body }) => body as unknown as { readonly involvedObject: Loose; readonly message: string })
    .filter(({ involvedObject }) => involvedObject.kind === 'Pod')
    .map(({ message }) => message);

test('what does not tolerate a taint goes at once, what tolerates it for a time goes then, and what tolerates it stays', async (t) => {
  const f = await started({}, (cluster) => {
    putNode({ cluster }, []);
    putPod({ cluster }, 'none', []);
    putPod({ cluster }, 'other', [tolerates('other')]);
    putPod({ cluster }, 'soft', [{ ...tolerates('mine'), effect: 'NoSchedule' }]);
    putPod({ cluster }, 'minute', [tolerates('mine', 60)]);
    putPod({ cluster }, 'shorter', [tolerates('mine', 300), tolerates('mine', 30)]);
    putPod({ cluster }, 'never', [tolerates('mine')]);
    putPod({ cluster }, 'elsewhere', [], { nodeName: 'm' });
    putPod({ cluster }, 'waiting', [], {});
  });
  await f.time.advance(1_000);
  t.deepEqual(deleted(f), []);
  putNode(f, [taint('mine')]);
  await f.time.advance(100);
  t.deepEqual(deleted(f).sort(), ['none', 'other', 'soft']);
  await f.time.advance(59_000);
  t.is(deleted(f).includes('minute'), false);
  await f.time.advance(1_000);
  t.is(deleted(f).includes('minute'), true);
  await f.time.advance(300_000);
  t.deepEqual(
    deleted(f)
      .filter((name) => name !== 'elsewhere')
      .sort(),
    ['minute', 'none', 'other', 'shorter', 'soft'],
  );
  t.true(told(f).includes('Marking for deletion Pod default/minute'));
});

test('the shortest of the tolerations that are used counts', async (t) => {
  const f = await started({}, (cluster) => {
    putNode({ cluster }, [taint('a'), taint('b')]);
    putPod({ cluster }, 'p', [tolerates('a', 60), tolerates('b', 20), tolerates('c', 5)]);
  });
  await f.time.advance(19_000);
  t.deepEqual(deleted(f), []);
  await f.time.advance(2_000);
  t.deepEqual(deleted(f), ['p']);
});

test('a taint that goes in time takes the eviction with it', async (t) => {
  const f = await started({}, (cluster) => {
    putNode({ cluster }, [taint('mine')]);
    putPod({ cluster }, 'p', [tolerates('mine', 60)]);
  });
  await f.time.advance(30_000);
  putNode(f, []);
  await f.time.advance(120_000);
  t.deepEqual(deleted(f), []);
  t.deepEqual(told(f), ['Cancelling deletion of Pod default/p']);
  putNode(f, [taint('mine')]);
  await f.time.advance(50_000);
  t.deepEqual(deleted(f), []);
  await f.time.advance(11_000);
  t.deepEqual(deleted(f), ['p']);
});

test('a pod that comes to a tainted node has its own time, and one that is given a toleration stays', async (t) => {
  const f = await started({}, (cluster) => {
    putNode({ cluster }, [taint('mine')]);
    putPod({ cluster }, 'first', [tolerates('mine', 60)]);
  });
  await f.time.advance(50_000);
  putPod(f, 'second', [tolerates('mine', 60)]);
  putPod(f, 'first', [tolerates('mine')]);
  await f.time.advance(50_000);
  t.deepEqual(deleted(f), []);
  await f.time.advance(11_000);
  t.deepEqual(deleted(f), ['second']);
});

test('a restart gives no pod more time', async (t) => {
  const f = await started({}, (cluster) => {
    putNode({ cluster }, []);
    putPod({ cluster }, 'p', [tolerates('mine', 60)]);
  });
  putNode(f, [taint('mine', { timeAdded: new Date(f.time.clock.nowMs()).toISOString() })]);
  await f.time.advance(40_000);
  const g = await restarted(f);
  await g.time.advance(15_000);
  t.deepEqual(deleted(g), []);
  await g.time.advance(6_000);
  t.deepEqual(deleted(g), ['p']);
});

test('a pod that stays on a node in spite of its own taint has all of its time when another comes', async (t) => {
  const f = await started({}, (cluster) => {
    putAnother({ cluster });
    putNode({ cluster }, [taint('mine')]);
    putPod({ cluster }, 'p', [tolerates('mine'), tolerates(UNREACHABLE, 300)]);
  });
  await f.time.advance(600_000);
  putNode(f, [taint('mine'), taint(UNREACHABLE)], 'Unknown');
  await f.time.advance(299_000);
  t.deepEqual(deleted(f), []);
  await f.time.advance(2_000);
  t.deepEqual(deleted(f), ['p']);
});

test('a node that is not ready first and then silent has been in trouble since the first', async (t) => {
  const f = await started({}, (cluster) => {
    putAnother({ cluster });
    putNode({ cluster }, []);
    putPod({ cluster }, 'p', [tolerates(NOT_READY, 300), tolerates(UNREACHABLE, 300)]);
  });
  putNode(f, [taint(NOT_READY)], 'False');
  await f.time.advance(200_000);
  putNode(f, [taint(UNREACHABLE)], 'Unknown');
  await f.time.advance(99_000);
  t.deepEqual(deleted(f), []);
  await f.time.advance(2_000);
  t.deepEqual(deleted(f), ['p']);
});

test('a restart takes no time from a pod that has come to a tainted node since', async (t) => {
  const f = await started({}, (cluster) => putNode({ cluster }, [taint('mine', { timeAdded: EPOCH })]));
  await f.time.advance(600_000);
  putPod(f, 'p', [tolerates('mine', 60)]);
  await f.time.advance(20_000);
  const g = await restarted(f);
  await g.time.advance(35_000);
  t.deepEqual(deleted(g), []);
  await g.time.advance(10_000);
  t.deepEqual(deleted(g), ['p']);
});

test('after a time without a server a node may say first that it is well again: its pods stay, and those of a silent one go', async (t) => {
  const prepare = (cluster: Cluster): void => {
    putAnother({ cluster });
    putNode({ cluster }, [taint(UNREACHABLE, { timeAdded: EPOCH })], 'Unknown');
    for (const [name, seconds] of [
      ['short', 30],
      ['long', 300],
    ] as const)
      putPod({ cluster }, name, [tolerates(UNREACHABLE, seconds)], { nodeName: 'n' }, EPOCH);
  };
  const f = await started({}, prepare);
  await f.time.advance(30_000);
  putNode(f, []);
  await f.time.advance(600_000);
  t.deepEqual(deleted(f), []);
  const g = await started({}, prepare);
  await g.time.advance(61_000);
  t.deepEqual(deleted(g).sort(), ['long', 'short']);
});

test('an eviction that is refused is tried again, and one under way is not asked for twice', async (t) => {
  const f = await started({}, (cluster) => {
    putNode({ cluster }, [taint('mine')]);
    putPod({ cluster }, 'p', [], { nodeName: 'n', terminationGracePeriodSeconds: 30 });
    let refusals = 2;
    cluster.fault = ({ verb, target }) =>
      verb === 'delete' && target.resource === 'pods' && refusals-- > 0 ? new Error('no') : undefined;
  });
  await f.time.advance(5_000);
  t.is(f.cluster.get('core/pods', 'default', 'p')?.metadata.deletionTimestamp === undefined, false);
  t.is(f.writesOf('delete pods').filter(({ code }) => code === 200).length, 1);
});

test('the pods of a node that is not heard of are not ready', async (t) => {
  const f = await started({}, (cluster) => {
    putNode({ cluster }, [], 'True');
    putPod({ cluster }, 'p', [tolerates(UNREACHABLE)]);
  });
  putNode(f, [], 'False');
  await f.time.advance(1_000);
  t.deepEqual(f.writesOf('patch pods/status'), []);
  putNode(f, [], 'Unknown');
  await f.time.advance(1_000);
  const { conditions } = f.cluster.get('core/pods', 'default', 'p')!.status as { conditions: Loose[] };
  t.deepEqual(
    conditions.map(({ type, status }) => [type, status]),
    [
      ['Ready', 'False'],
      ['PodScheduled', 'True'],
    ],
  );
  t.deepEqual(told(f), ['Node is not ready']);
  // An agent that says otherwise is believed until the node is silent again.
  putPod(f, 'p', [tolerates(UNREACHABLE)]);
  await f.time.advance(60_000);
  t.is(f.writesOf('patch pods/status').length, 1);
});

test('pods of nodes without trouble are parsed once', async (t) => {
  const f = await started({}, (cluster) => {
    putNode({ cluster }, []);
    cluster.put('coordination.orch.io/leases', objectOf('Lease', 'orch-node-lease', 'n', { spec: {} }));
    putPod({ cluster }, 'p', []);
  });
  const before = f.cluster.parsed.get('core/pods');
  for (let i = 0; i < 3; i++) putPod(f, 'p', []);
  await f.time.settle();
  t.is(f.cluster.parsed.get('core/pods'), before);
});

test('what a server that led before was not to tell any more does not keep it from telling of what it does once it leads again', (t) => {
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  const due: string[] = [];
  const pods = new NodePods(clock, { add: (key) => due.push(key) }, DIALECT);
  const target = { group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'default', name: 'p' };
  const evicted = (): void =>
    pods.onOutcome('default/p', { verb: 'delete', target }, { ok: true, code: 200, message: '', body: undefined });
  pods.onSynced();
  for (let i = 0; i < 1_000; i++) evicted();
  // Nobody plans a key that was due when the queue began to rest.
  due.length = 0;
  pods.onSynced();
  evicted();
  t.deepEqual(
    due.flatMap((key) => pods.plan(key).writes.map(({ target: { resource } }) => resource)),
    ['events'],
  );
});
