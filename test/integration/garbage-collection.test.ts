// Deletion at a size where a collector that looked at everything every time would not come to an end.
import test from 'ava';
import { startServer } from '../server/server-process.ts';
import { startCluster } from './in-process-cluster.ts';
import { createConfigMap, eventually, freshNamespace } from './objects.ts';

const numbered = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${prefix}-${String(i).padStart(5, '0')}`);

test.serial('among ten thousand objects, what is owned goes with its owner and all else stays', async (t) => {
  const made = await startCluster(t);
  const bystanders = numbered('bystander', 7_000);
  await made.create('owner');
  const owner = await made.reference('owner');
  await made.createAll(bystanders);
  await made.createAll(numbered('owned', 3_000), [owner]);
  t.is((await made.names()).length, 10_001);

  const reply = await made.write('delete', 'owner', { kind: 'DeleteOptions', propagationPolicy: 'Foreground' });
  t.true('place' in reply, 'the owner is still there, and waits');
  await made.gone('owner');
  t.deepEqual(await made.names(), bystanders);
});

test.serial('two thousand dependents are orphaned one by one, and stay', async (t) => {
  const made = await startCluster(t);
  const dependents = numbered('owned', 2_000);
  await made.create('owner');
  await made.createAll(dependents, [await made.reference('owner')]);
  await made.write('delete', 'owner', undefined, { propagationPolicy: 'Orphan' });
  await made.gone('owner');
  t.deepEqual(await made.names(), dependents);
  t.is((await made.read('owned-00000'))?.ownerReferences, undefined);
});

test.serial('a namespace of a thousand objects is emptied and gone', async (t) => {
  const made = await startCluster(t);
  await made.write('create', '', { metadata: { name: 'full' } }, {}, '', 'namespaces');
  await made.createAll(numbered('c', 1_000), [], 'full');
  await made.create('elsewhere');
  const reply = await made.write('delete', 'full', undefined, {}, '', 'namespaces');
  t.is(reply.code, 200);
  const late = await made.write('create', '', { metadata: { name: 'late' } }, {}, 'full');
  t.true(late.code === 403 || late.code === 404, `it takes nothing new: ${late.code}`);
  await made.gone('full', '', 'namespaces');
  t.deepEqual(await made.names('full'), []);
  t.deepEqual(await made.names(), ['elsewhere']);
});

test.serial(
  'a collector that must be let change owners is: references to those that are gone are removed',
  async (t) => {
    const args = ['--enable-admission-plugins', 'OwnerReferencesPermissionEnforcement'];
    const { client } = await startServer(t, { args });
    const namespace = await freshNamespace(client);
    const references = await Promise.all(
      ['owner', 'other'].map(async (name) => {
        const { metadata } = await createConfigMap(client, namespace, { name });
        return { apiVersion: 'v1', kind: 'ConfigMap', name, uid: metadata.uid };
      }),
    );
    await createConfigMap(client, namespace, { name: 'owned', ownerReferences: references } as never);
    await client.request('DELETE', `${namespace.configMaps}/owner?propagationPolicy=Orphan`);
    await eventually(
      async () => (await client.get(`${namespace.configMaps}/owner`)).status,
      (status) => status === 404,
    );
    const { metadata } = (await client.get(`${namespace.configMaps}/owned`)).json;
    t.like(metadata, { ownerReferences: [{ name: 'other' }] } as never);
  },
);
