// Controllers that do not run leave to others what they would do.
import test from 'ava';
import { type ControllerName, runningControllers } from '../../../config/controllers.ts';
import type { Cluster } from './cluster.ts';
import { type Fixture, objectOf, started } from './fixture.ts';
import type { Stored } from './stored.ts';

const ALL = runningControllers(['*']);

/** Something to do for many of them. */
function prepare(cluster: Cluster): void {
  cluster.putNamespace('ns');
  cluster.put('core/nodes', { ...objectOf('Node', '', 'n'), spec: { unschedulable: true } } as unknown as Stored);
  const tainted = { spec: { taints: [{ key: 'a', effect: 'NoExecute' }] }, status: {} };
  cluster.put('core/nodes', { ...objectOf('Node', '', 'm'), ...tainted } as unknown as Stored);
  cluster.put('core/pods', objectOf('Pod', 'ns', 'evicted', { spec: { nodeName: 'm' } }));
  cluster.put('core/pods', objectOf('Pod', 'ns', 'orphan', { spec: { nodeName: 'gone' } }));
  cluster.put('core/resourcequotas', objectOf('ResourceQuota', 'ns', 'q', { spec: { hard: { pods: '1' } } }));
  cluster.put('core/persistentvolumeclaims', objectOf('PersistentVolumeClaim', 'ns', 'c', {}));
  cluster.put('core/persistentvolumes', objectOf('PersistentVolume', '', 'v', {}));
}

async function writesWith(running: readonly ControllerName[]): Promise<ReadonlySet<string>> {
  const f: Fixture = await started({ running }, prepare);
  await f.time.advance(120_000);
  return new Set(
    f.cluster.writes.map(({ request: { verb, target } }) =>
      [verb, target.resource, target.subresource, target.namespace === 'ns' ? target.name : ''].join(' ').trim(),
    ),
  );
}

const WRITES: Readonly<Partial<Record<ControllerName, readonly string[]>>> = {
  nodelifecycle: ['patch nodes', 'delete pods  evicted'],
  podgc: ['delete pods  orphan'],
  'pv-protection': ['patch persistentvolumes'],
  'pvc-protection': ['patch persistentvolumeclaims  c'],
  resourcequota: ['update resourcequotas status q'],
  'root-ca-cert-publisher': ['create configmaps'],
  serviceaccount: ['create serviceaccounts'],
};

for (const [name, wanted] of Object.entries(WRITES) as [ControllerName, readonly string[]][]) {
  test(`${name} does its work alone, and nobody else does it`, async (t) => {
    const alone = await writesWith([name]);
    const without = await writesWith(ALL.filter((other) => other !== name));
    for (const write of wanted) {
      t.true(alone.has(write), `${write} in ${[...alone].join(', ')}`);
      // The API server makes namespaces and a config map of its own.
      if (!write.startsWith('create configmaps')) t.false(without.has(write), write);
    }
    for (const [other, writes] of Object.entries(WRITES))
      for (const write of other === name || other.startsWith('root-ca') ? [] : writes) t.false(alone.has(write), write);
  });
}

test('without any the server still does what is its own', async (t) => {
  const f = await started({ running: [] }, prepare);
  t.true(f.hooks().every(({ done }) => done));
  t.deepEqual(f.writesOf('create serviceaccounts'), []);
});
