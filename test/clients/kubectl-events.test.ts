// What kubectl shows of the scheduler's events, which say when and how often in the way of the newer form.
import { hostname } from 'node:os';
import ava from 'ava';
import { eventually, POD_SPEC } from '../integration/objects.ts';
import type { ServerProcess } from '../server/server-process.ts';
import { clusters } from './clusters.ts';

interface ToldEvent {
  readonly reason: string;
  readonly series?: { readonly count: number };
}

const NODE = '/api/v1/nodes/small';

async function roomy({ client }: ServerProcess, cpu: string): Promise<void> {
  const amounts = { cpu, pods: '10' };
  const headers = { 'Content-Type': 'application/merge-patch+json' };
  const body = JSON.stringify({ status: { capacity: amounts, allocatable: amounts } });
  const { status, text } = await client.request('PATCH', `${NODE}/status`, { body, headers });
  if (status !== 200) throw new Error(text);
}

const { everywhere } = clusters(ava, {
  // The node never says that it is well: a taint for that would be another reason, and another event.
  args: ['--controllers=*,-nodelifecycle', '--disable-admission-plugins=TaintNodesByCondition'],
  async prepare({ server }) {
    await server.client.request('POST', '/api/v1/nodes', { body: { metadata: { name: 'small' } } });
    await roomy(server, '1');
  },
});

everywhere('kubectl shows how long ago and how often a pod found no node, and who says so', async (t, client) => {
  const { kubectl, server } = client;
  const here = await kubectl.freshNamespace('told');
  const resources = { requests: { cpu: '100k' } };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'large' }, spec: POD_SPEC };
  const spec = { ...POD_SPEC, containers: [{ ...POD_SPEC.containers[0], resources }] };
  await kubectl.ok([...here, 'create', '-f', '-'], JSON.stringify({ ...pod, spec }));
  /** Shown when the pod has been told so many times that no node takes it. */
  const toldTimes = async (least: number, beforeEach?: () => Promise<void>): Promise<string> => {
    await eventually(
      async () => {
        await beforeEach?.();
        return (await server.client.get(`/api/v1/namespaces/${here[1]}/events`)).json.items as readonly ToldEvent[];
      },
      (items) => items.some(({ reason, series }) => reason === 'FailedScheduling' && (series?.count ?? 1) >= least),
    );
    return await kubectl.ok([...here, 'get', 'events', '--no-headers', '-o', 'wide']);
  };
  const source = `default-scheduler, default-scheduler-${hostname()}`;
  const first = await toldTimes(1);
  t.regex(first, /^[\dms]+ +Warning +FailedScheduling +pod\/large +.* [\dms]+ +1 +large\.[0-9a-f]+ *$/m);
  t.true(first.includes(source), first);
  let cpu = 1;
  // Each change lets it be tried again; it is written when ten seconds have gone by.
  const again = await toldTimes(2, () => roomy(server, `${++cpu}`));
  t.regex(again, /pod\/large .* [\dms]+ +([2-9]|\d\d+) +large\./);
  t.is(again.split('\n').filter((line) => line !== '').length, 1, again);
  const described = await kubectl.ok([...here, 'describe', 'pod', 'large']);
  t.regex(
    described,
    /Warning +FailedScheduling +[\dms]+ \(x\d+ over [\dms]+\) +default-scheduler +0\/1 nodes are available/,
  );
});
