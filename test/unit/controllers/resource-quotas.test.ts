// The resource quota controller: what quotas promise and what is used of them, as objects come and go.
import test from 'ava';
import { type Fixture, objectOf, started } from './fixture.ts';
import type { Loose } from './stored.ts';

const QUOTAS = 'core/resourcequotas';

const putQuota = ({ cluster }: Pick<Fixture, 'cluster'>, spec: Loose): void =>
  void cluster.put(QUOTAS, objectOf('ResourceQuota', 'default', 'q', { spec }));
const putPod = ({ cluster }: Pick<Fixture, 'cluster'>, name: string, status: Loose = {}): void =>
  void cluster.put(
    'core/pods',
    objectOf('Pod', 'default', name, { spec: { containers: [{ resources: { requests: { cpu: '500m' } } }] }, status }),
  );
const lastStatus = (f: Fixture): unknown =>
  (f.writesOf('update resourcequotas/status').at(-1)?.body as { status?: unknown } | undefined)?.status;

test('a new quota is told what it promises, and what is used already', async (t) => {
  const f = await started({}, (cluster) => {
    putPod({ cluster }, 'a');
    putPod({ cluster }, 'b', { phase: 'Succeeded' });
    cluster.put('core/configmaps', objectOf('ConfigMap', 'default', 'c', {}));
  });
  const hard = { pods: '5', 'requests.cpu': '2', 'count/pods': '9', 'count/deployments.apps': '1', secrets: '3' };
  putQuota(f, { hard });
  await f.time.advance(10);
  const used = { pods: '1', 'requests.cpu': '500m', 'count/pods': '2', 'count/deployments.apps': '0', secrets: '0' };
  t.deepEqual(lastStatus(f), { hard, used });
});

test('what ends or goes is given back', async (t) => {
  const f = await started({}, (cluster) => {
    putPod({ cluster }, 'a');
    putPod({ cluster }, 'b');
    putQuota({ cluster }, { hard: { pods: '5' } });
  });
  await f.time.advance(10);
  t.deepEqual(lastStatus(f), { hard: { pods: '5' }, used: { pods: '2' } });
  putPod(f, 'a', { phase: 'Failed' });
  await f.time.advance(10);
  t.deepEqual(lastStatus(f), { hard: { pods: '5' }, used: { pods: '1' } });
  f.cluster.remove('core/pods', 'default', 'b');
  await f.time.advance(10);
  t.deepEqual(lastStatus(f), { hard: { pods: '5' }, used: { pods: '0' } });
});

test('a quota with scopes is told of its pods only', async (t) => {
  const f = await started({}, (cluster) => {
    putPod({ cluster }, 'a');
    putQuota({ cluster }, { hard: { pods: '5' }, scopes: ['BestEffort'] });
  });
  await f.time.advance(10);
  t.deepEqual(lastStatus(f), { hard: { pods: '5' }, used: { pods: '0' } });
});
