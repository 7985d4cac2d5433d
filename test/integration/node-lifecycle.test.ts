// The lives of nodes on a real server: a node that says it is not ready is tainted, and its pods go when their time is up.
import test from 'ava';
import { startServer } from '../server/server-process.ts';
import { eventually, namespaceForPods, POD_SPEC } from './objects.ts';

test('pods of a node that is not ready go after the time that they tolerate it', async (t) => {
  const { client } = await startServer(t, { args: [] });
  const { core } = await namespaceForPods(client);
  const isReady = (status: string) => ({ status: { conditions: [{ type: 'Ready', status }] } });
  for (const name of ['n1', 'n2'])
    await client.request('POST', '/api/v1/nodes', { body: { metadata: { name }, ...isReady('True') } });
  const pod = (name: string, nodeName: string, tolerationSeconds: number) => {
    const key = 'node.orch.io/not-ready';
    const tolerations = [{ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds }];
    const spec = { ...POD_SPEC, nodeName, tolerations, terminationGracePeriodSeconds: 0 };
    return client.request('POST', `${core}/pods`, { body: { metadata: { name }, spec } });
  };
  t.is((await pod('short', 'n1', 1)).status, 201);
  t.is((await pod('long', 'n1', 3600)).status, 201);
  t.is((await pod('elsewhere', 'n2', 1)).status, 201);
  const headers = { 'Content-Type': 'application/merge-patch+json' };
  t.is((await client.request('PATCH', '/api/v1/nodes/n1/status', { body: isReady('False'), headers })).status, 200);
  // Looked at before anything else: a node that says nothing for long is tainted as unreachable.
  const taints = async (): Promise<string> => {
    const { spec } = (await client.get('/api/v1/nodes/n1')).json as {
      spec?: { taints?: { key: string; effect: string }[] };
    };
    const told = (spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`);
    return told.sort().join();
  };
  await eventually(taints, (told) => told === 'node.orch.io/not-ready:NoExecute,node.orch.io/not-ready:NoSchedule');
  const pods = async (): Promise<string[]> =>
    ((await client.get(`${core}/pods`)).json.items ?? []).map(({ metadata }) => metadata.name ?? '').sort();
  await eventually(pods, (names) => !names.includes('short'));
  t.deepEqual(await pods(), ['elsewhere', 'long']);
});
