// Taints of nodes: what a node says of itself is a taint by which nothing is placed on it, for as long as it says so.
import test from 'ava';
import type { Cluster } from './cluster.ts';
import { type Fixture, objectOf, started } from './fixture.ts';
import type { Stored } from './stored.ts';

const NODES = 'core/nodes';
const taint = (name: string) => ({ key: `node.orch.io/${name}`, effect: 'NoSchedule' });
const condition = (type: string, status: string) => ({ type, status });

function putNode(cluster: Cluster, conditions: readonly object[], spec: object = {}): void {
  cluster.put(NODES, { ...objectOf('Node', '', 'n', {}), spec, status: { conditions } } as unknown as Stored);
}

/** The taints written last, without their times; undefined: none were. */
function written(f: Fixture): readonly (readonly unknown[])[] | undefined {
  const spec = f.writesOf('patch nodes').at(-1)?.body?.spec as
    | { readonly taints: readonly { readonly key: string; readonly effect: string }[] }
    | undefined;
  return spec?.taints.map(({ key, effect }) => [key, effect]);
}

const rows: readonly (readonly [
  says: string,
  conditions: readonly object[],
  spec: object,
  taints: readonly (readonly string[])[] | undefined,
])[] = [
  ['a new node that says nothing yet loses its taint', [], { taints: [taint('not-ready')] }, []],
  ['a node that is ready loses its taint', [condition('Ready', 'True')], { taints: [taint('not-ready')] }, []],
  ['a node that is not ready keeps it', [condition('Ready', 'False')], { taints: [taint('not-ready')] }, undefined],
  [
    'a node that is not heard of has another',
    [condition('Ready', 'Unknown')],
    { taints: [taint('not-ready')] },
    [['node.orch.io/unreachable', 'NoSchedule']],
  ],
  [
    'pressure is a taint, and its absence none',
    [condition('MemoryPressure', 'True'), condition('DiskPressure', 'False'), condition('PIDPressure', 'True')],
    {},
    [
      ['node.orch.io/memory-pressure', 'NoSchedule'],
      ['node.orch.io/pid-pressure', 'NoSchedule'],
    ],
  ],
  ['a node is cordoned', [], { unschedulable: true }, [['node.orch.io/unschedulable', 'NoSchedule']]],
  ['a node is cordoned no longer', [], { taints: [taint('unschedulable')] }, []],
  [
    'other taints stay',
    [condition('Ready', 'True')],
    {
      taints: [
        { key: 'a', effect: 'NoSchedule' },
        taint('not-ready'),
        { ...taint('pid-pressure'), effect: 'NoExecute' },
      ],
    },
    [
      ['a', 'NoSchedule'],
      ['node.orch.io/pid-pressure', 'NoExecute'],
    ],
  ],
  ['conditions of other names mean nothing', [condition('constructor', 'name')], {}, undefined],
];

for (const [says, conditions, spec, taints] of rows) {
  test(says, async (t) => {
    const f = await started({}, (cluster) => putNode(cluster, conditions, spec));
    await f.time.advance(1000);
    t.deepEqual(written(f), taints);
  });
}

test('a change of a condition changes the taints, and a heartbeat writes nothing', async (t) => {
  const f = await started({}, (cluster) => putNode(cluster, [condition('Ready', 'True')]));
  await f.time.advance(1000);
  putNode(f.cluster, [condition('Ready', 'True')]);
  await f.time.advance(1000);
  t.is(written(f), undefined);
  putNode(f.cluster, [condition('Ready', 'False')]);
  await f.time.advance(1000);
  t.deepEqual(written(f), [['node.orch.io/not-ready', 'NoSchedule']]);
});

test('a taint that somebody sets at the same time stays', async (t) => {
  const f = await started({}, (cluster) => putNode(cluster, [condition('Ready', 'True')]));
  const own = { key: 'a', effect: 'NoSchedule' };
  let isSet = false;
  f.cluster.fault = ({ verb, target }) => {
    if (verb !== 'patch' || target.resource !== 'nodes' || isSet) return undefined;
    isSet = true;
    putNode(f.cluster, [condition('Ready', 'False')], { taints: [own] });
    return undefined;
  };
  putNode(f.cluster, [condition('Ready', 'False')]);
  await f.time.advance(5000);
  t.true(isSet);
  const { taints } = f.cluster.get(NODES, '', 'n')!.spec as unknown as { taints: readonly { key: string }[] };
  t.deepEqual(taints.map(({ key }) => key).sort(), ['a', 'node.orch.io/not-ready']);
});
