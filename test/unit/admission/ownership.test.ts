// Who owns what of written objects, where that follows from the way they are written and not from the rules of api/apply.
import test from 'ava';
import { AdmissionWorld, type Answer } from './admission-world.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

function fieldsOf({ metadata }: Answer): unknown {
  return metadata.managedFields?.map(({ manager, operation, fieldsV1 }) => ({ manager, operation, fieldsV1 }));
}

const CLAIM_SPEC = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

interface Made {
  readonly does: string;
  readonly path: string;
  readonly body: object;
  /** What the creator owns of the status. */
  readonly owns: unknown;
}

const statuses: readonly Made[] = [
  {
    does: "a node's whole status",
    path: '/api/v1/nodes',
    body: { metadata: { name: 'n' }, status: { capacity: { cpu: '4' }, nodeInfo: { architecture: 'arm64' } } },
    owns: {
      'f:allocatable': { '.': {}, 'f:cpu': {} },
      'f:capacity': { '.': {}, 'f:cpu': {} },
      'f:nodeInfo': { 'f:architecture': {} },
    },
  },
  {
    does: 'the phase of a claim',
    path: '/api/v1/namespaces/default/persistentvolumeclaims',
    body: { metadata: { name: 'c' }, spec: CLAIM_SPEC },
    owns: { 'f:phase': {} },
  },
  {
    does: 'the phase of a volume',
    path: '/api/v1/persistentvolumes',
    body: {
      metadata: { name: 'v' },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
    },
    owns: { 'f:phase': {} },
  },
  {
    does: 'the phase of a namespace',
    path: '/api/v1/namespaces',
    body: { metadata: { name: 'other' } },
    owns: { 'f:phase': {} },
  },
  {
    does: 'nothing of the status that the server gives a pod',
    path: '/api/v1/namespaces/default/pods',
    body: { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] }, status: { phase: 'Running' } },
    owns: undefined,
  },
];

for (const { does, path, body, owns } of statuses) {
  test(`a creator owns ${does}`, async (t) => {
    const world = await AdmissionWorld.start();
    const made = await world.created(path, body, { fieldManager: 'creator' });
    const [entry, ...others] = fieldsOf(made) as { manager: string; fieldsV1: Record<string, unknown> }[];
    t.is(others.length, 0);
    t.is(entry?.manager, 'creator');
    t.deepEqual(entry?.fieldsV1['f:status'], owns);
    await world.stop();
  });
}

test('who makes an autoscaler of v1 without a target owns the one that it has by that', async (t) => {
  const world = await AdmissionWorld.start();
  const spec = { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 5 };
  const path = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';
  const made = await world.created(path, { metadata: { name: 'it' }, spec }, { fieldManager: 'creator' });
  const [entry] = fieldsOf(made) as { fieldsV1: { 'f:spec': object } }[];
  t.true(Object.hasOwn(entry!.fieldsV1['f:spec'], 'f:targetCPUUtilizationPercentage'));
  await world.stop();
});

test('a node that comes with nothing but a status is tracked from then on', async (t) => {
  const world = await AdmissionWorld.start();
  const body = { metadata: { name: 'n' }, status: { capacity: { cpu: '4' } } };
  await world.created('/api/v1/nodes', body, { fieldManager: 'agent' });
  const labels = { metadata: { labels: { a: 'b' } } };
  const patched = await world.write('patch', '/api/v1/nodes/n', {
    body: labels,
    parameters: { fieldManager: 'other' },
  });
  t.deepEqual(
    patched.body.metadata.managedFields?.map(({ manager }) => manager),
    ['agent', 'other'],
  );
  await world.stop();
});

for (const [what, verb, body] of [
  ['one empty entry of', 'update', { metadata: { name: 'it', managedFields: [{}] }, data: { a: 'b' } }],
  ['one empty entry of', 'patch', { metadata: { managedFields: [{}] } }],
  ['no entries of', 'update', { metadata: { name: 'it', managedFields: [] }, data: { a: 'b' } }],
  ['no entries of', 'patch', { metadata: { managedFields: [] } }],
] as const) {
  test(`${what} managedFields in place of those that are there ends the tracking of an object, by ${verb}`, async (t) => {
    const world = await AdmissionWorld.start();
    const made = await world.created(CONFIG_MAPS, { metadata: { name: 'it' }, data: { a: 'b' } });
    t.is(made.metadata.managedFields?.length, 1);
    const { code, body: answer } = await world.write(verb, `${CONFIG_MAPS}/it`, { body });
    t.is(code, 200);
    t.is(answer.metadata.managedFields, undefined);
    t.deepEqual(answer.data, { a: 'b' });
    await world.stop();
  });
}

test('what managedFields say of versions that the type does not have is left out', async (t) => {
  const world = await AdmissionWorld.start();
  const made = await world.created(CONFIG_MAPS, { metadata: { name: 'it' }, data: { a: 'b' } });
  const [entry] = made.metadata.managedFields!;
  const managedFields = [entry, { ...entry, manager: 'm', apiVersion: 'apps/v1' }];
  const { code, body } = await world.write('patch', `${CONFIG_MAPS}/it`, { body: { metadata: { managedFields } } });
  t.is(code, 200);
  t.deepEqual(fieldsOf(body), fieldsOf(made));
  await world.stop();
});

test('managedFields that are none are not taken, and those that are there stay', async (t) => {
  const world = await AdmissionWorld.start();
  const made = await world.created(CONFIG_MAPS, { metadata: { name: 'it' }, data: { a: 'b' } });
  const given = [{ manager: 'm', operation: 'Guess', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }];
  const body = { metadata: { managedFields: given } };
  const { code, body: answer } = await world.write('patch', `${CONFIG_MAPS}/it`, { body });
  t.is(code, 200);
  t.deepEqual(fieldsOf(answer), fieldsOf(made));
  await world.stop();
});
