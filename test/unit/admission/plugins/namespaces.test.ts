// NamespaceExists and NamespaceAutoProvision, case by case.
import test from 'ava';
import { namespaceAutoProvision } from '../../../../actors/admission/plugins/namespace-auto-provision/namespace-auto-provision.ts';
import { namespaceExists } from '../../../../actors/admission/plugins/namespace-exists/namespace-exists.ts';
import { namespaceLifecycle } from '../../../../actors/admission/plugins/namespace-lifecycle/namespace-lifecycle.ts';
import { AdmissionWorld } from '../admission-world.ts';
import { testPlugin } from './plugin-cases.ts';

const maps = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;
const MAP = { metadata: { name: 'it' } };
const MISSING = 'namespaces "gone" not found';

testPlugin('NamespaceExists', { plugins: [namespaceExists] }, [
  { what: 'an object in a namespace that is there', path: maps('default'), body: MAP },
  { what: 'an object in one that is not', path: maps('gone'), body: MAP, code: 404, refused: MISSING },
  {
    what: 'a dry run in one that is not',
    path: maps('gone'),
    body: MAP,
    request: { parameters: { dryRun: ['All'] } },
    code: 404,
    refused: MISSING,
  },
  {
    what: 'an update where there is nothing',
    verb: 'patch',
    path: `${maps('gone')}/it`,
    body: {},
    code: 404,
    refused: 'configmaps "it" not found',
  },
  { what: 'a namespace', path: '/api/v1/namespaces', body: { metadata: { name: 'new' } } },
  {
    what: 'an object of the cluster',
    path: '/apis/storage.orch.io/v1/storageclasses',
    body: { metadata: { name: 'it' }, provisioner: 'p' },
  },
]);

const lifecycle = [namespaceAutoProvision, namespaceLifecycle];

testPlugin('NamespaceAutoProvision', { plugins: lifecycle }, [
  { what: 'an object in a namespace that is there', path: maps('default'), body: MAP },
  { what: 'an object in one that is not', path: maps('gone'), body: MAP },
  {
    what: 'a dry run in one that is not',
    path: maps('gone'),
    body: MAP,
    request: { parameters: { dryRun: ['All'] } },
    code: 404,
    refused: MISSING,
  },
  {
    what: 'an object in one that cannot be',
    path: maps('No.Name'),
    body: MAP,
    refused: /^configmaps "it" is forbidden: Namespace "No.Name" is invalid: metadata.name: /,
  },
  {
    what: 'an object of the cluster',
    path: '/apis/storage.orch.io/v1/storageclasses',
    body: { metadata: { name: 'it' }, provisioner: 'p' },
  },
]);

test('NamespaceAutoProvision: the namespace is as if it had been created, once for many objects', async (t) => {
  const world = await AdmissionWorld.start({ plugins: lifecycle });
  const answers = await world.during(
    Promise.all(['a', 'b', 'c'].map((name) => world.soon('create', maps('new'), { body: { metadata: { name } } }))),
  );
  t.deepEqual(
    answers.map(({ code }) => code),
    [201, 201, 201],
  );
  const namespace = await world.stored('/api/v1/namespaces/new');
  t.deepEqual(namespace?.spec, { finalizers: ['orch'] });
  t.deepEqual(namespace?.status, { phase: 'Active' });
  await world.stop();
});

test('NamespaceAutoProvision: an object waits until admission has heard of the namespace that was made for it', async (t) => {
  const world = await AdmissionWorld.start({ plugins: lifecycle });
  world.batches.hold();
  const creating = world.soon('create', maps('new'), { body: MAP });
  await world.simulation.time.advance(10);
  world.batches.letGo();
  t.is((await world.during(creating)).code, 201);
  await world.stop();
});
