// Leases of servers' identities, and the sizes of watch windows, on a running server.
import test from 'ava';
import { sharedServer } from '../server/server-process.ts';
import { eventually, settledSecrets } from './objects.ts';

const SERVER = sharedServer(test, {
  args: [
    ...['--feature-gates', 'APIServerIdentity=true', '--identity-lease-duration-seconds', '2'],
    ...['--identity-lease-renew-interval-seconds', '1', '--watch-cache-sizes', 'configmaps#5'],
    ...['--default-watch-cache-size', '20'],
  ],
});
const LEASES = '/apis/coordination.orch.io/v1/namespaces/orch-system/leases';
const COMPONENT = { 'orch.io/component': 'orch-apiserver' };

interface Lease {
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string> };
  readonly spec: { readonly renewTime: string; readonly leaseDurationSeconds: number };
}

test('a server under the gate keeps a lease of its identity, and removes one that nobody renews', async (t) => {
  const { client } = SERVER();
  const leases = async (): Promise<readonly Lease[]> =>
    ((await client.get(LEASES)).json as unknown as { items: Lease[] }).items.filter(({ metadata }) =>
      metadata.name.startsWith('orch-apiserver-'),
    );
  const [first] = await eventually(leases, ({ length }) => length === 1);
  t.deepEqual(first!.metadata.labels, COMPONENT);
  t.is(first!.spec.leaseDurationSeconds, 2);
  await eventually(leases, ([now]) => now !== undefined && now.spec.renewTime > first!.spec.renewTime);
  const other = {
    metadata: { name: 'orch-apiserver-of-another', labels: COMPONENT },
    spec: { holderIdentity: 'another', leaseDurationSeconds: 1, renewTime: '2020-01-01T00:00:00.000000Z' },
  };
  t.is((await client.request('POST', LEASES, { body: other })).status, 201);
  await eventually(leases, (now) => now.length === 1 && now[0]!.metadata.name === first!.metadata.name);
});

test('--watch-cache-sizes and --default-watch-cache-size say from how far back a type can be watched and listed', async (t) => {
  const { client } = SERVER();
  // Controllers write none of either any more.
  await settledSecrets(client);
  await eventually(
    async () => (await client.get('/api/v1/configmaps?fieldSelector=metadata.name%3Dorch-root-ca.crt')).json.items,
    (maps) => maps?.length === 4,
  );
  const path = (plural: string): string => `/api/v1/namespaces/default/${plural}`;
  const refusals = async (plural: string, body: object, writes: number): Promise<readonly unknown[]> => {
    const versions: string[] = [];
    for (let count = 0; count < writes; count++) {
      const { json } = await client.request('POST', path(plural), {
        body: { ...body, metadata: { generateName: 'w-' } },
      });
      versions.push((json.metadata as { resourceVersion: string }).resourceVersion);
    }
    const codeFrom = async (version: string): Promise<unknown> => {
      const exact = `resourceVersion=${version}&resourceVersionMatch=Exact`;
      return (await client.get(`${path(plural)}?${exact}`)).status;
    };
    return await Promise.all([codeFrom(versions[0]!), codeFrom(versions.at(-3)!)]);
  };
  t.deepEqual(await refusals('configmaps', { data: {} }, 10), [410, 200]);
  t.deepEqual(await refusals('secrets', { data: {} }, 10), [200, 200]);
  t.deepEqual(await refusals('secrets', { data: {} }, 30), [410, 200]);
});
