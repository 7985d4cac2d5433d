// What a running server says of the versions it stores objects in, and who has said so before.
import test from 'ava';
import { startServer } from '../server/server-process.ts';
import { eventually } from './objects.ts';

const GROUP = 'internal.apiserver.orch.io';
const GATES = 'StorageVersionAPI=true,APIServerIdentity=true';

interface StorageVersion {
  readonly metadata: { readonly name: string };
  readonly status: {
    readonly storageVersions: readonly { readonly apiServerID: string; readonly encodingVersion: string }[];
    readonly commonEncodingVersion?: string;
  };
}

test('each start of a server says which version it stores each type in, before it is ready', async (t) => {
  const server = await startServer(t, {
    args: ['--feature-gates', GATES, '--runtime-config', `${GROUP}/v1alpha1=true`],
  });
  const said = async (): Promise<readonly StorageVersion[]> =>
    (await server.client.get(`/apis/${GROUP}/v1alpha1/storageversions`)).json.items as unknown as StorageVersion[];
  const isReady = async (): Promise<boolean> => (await server.client.get('/readyz')).status === 200;
  await eventually(isReady, (ready) => ready);
  const first = await said();
  t.true(first.length > 40);
  for (const { metadata, status } of first) {
    t.is(status.storageVersions.length, 1, metadata.name);
    t.is(status.commonEncodingVersion, status.storageVersions[0]!.encodingVersion);
  }
  await server.stop();
  await server.restart();
  await eventually(isReady, (ready) => ready);
  const [before] = first;
  const now = (await said()).find(({ metadata }) => metadata.name === before!.metadata.name);
  t.is(now?.status.storageVersions.length, 2, 'the lease of the first start still holds');
  t.deepEqual(now?.status.storageVersions[0], before?.status.storageVersions[0]);
  t.is(now?.status.commonEncodingVersion, before?.status.commonEncodingVersion);
});
