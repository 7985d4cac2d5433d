// What admission plugins are told of a write, in which order, and what becomes of what they change.
import test from 'ava';
import type { AdmissionPluginKind } from '../../../actors/admission/plugins/plugin.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import { AdmissionWorld, refusal } from './admission-world.ts';
import { CONFIG_MAPS, DEPLOYMENTS, deployment, PODS, pod, recorder } from './recorded-writes.ts';

test('a plugin hears of what it wants, and of nothing else', async (t) => {
  const heard: string[] = [];
  const wants = [
    { operations: ['create'], resources: ['apps/deployments'] },
    { operations: ['update'], resources: ['core/configmaps', 'core/pods/status'] },
    { operations: ['delete'], resources: ['*'] },
  ] as const;
  const world = await AdmissionWorld.start({ plugins: [{ ...recorder(heard), wants }] });
  await world.created(PODS, pod('it'));
  await world.created(DEPLOYMENTS, deployment('it'));
  await world.created(CONFIG_MAPS, { metadata: { name: 'it' } });
  await world.write('patch', `${PODS}/it`, { body: { metadata: { labels: { a: 'b' } } } });
  await world.write('patch', `${PODS}/it/status`, { body: { status: { phase: 'Running' } } });
  await world.write('patch', `${CONFIG_MAPS}/it`, { body: { data: { a: 'b' } } });
  await world.write('create', `${PODS}/it/eviction`, { body: { metadata: { name: 'it' } } });
  await world.write('delete', `${CONFIG_MAPS}/it`);
  const validated = heard.filter((text) => text.startsWith('validate')).map((text) => text.split(' ').slice(1, 3));
  t.deepEqual(validated, [
    ['create', 'deployments'],
    ['update', 'pods/status'],
    ['update', 'configmaps'],
    ['delete', 'configmaps'],
  ]);
  await world.stop();
});

test('a plugin that wants to hear of one subresource hears of no other, whichever comes first', async (t) => {
  for (const isFirst of [true, false]) {
    const heard: string[] = [];
    const wants = [{ operations: ['create'], resources: ['core/pods/binding'] }] as const;
    const world = await AdmissionWorld.start({ plugins: [{ ...recorder(heard), wants }] });
    for (const name of ['bound', 'evicted']) await world.created(PODS, pod(name));
    const bind = () =>
      world.write('create', `${PODS}/bound/binding`, {
        body: { metadata: { name: 'bound' }, target: { kind: 'Node', name: 'n' } },
      });
    const evict = () => world.write('create', `${PODS}/evicted/eviction`, { body: { metadata: { name: 'evicted' } } });
    for (const write of isFirst ? [bind, evict] : [evict, bind]) t.is((await write()).code, 201);
    t.deepEqual(
      heard.map((text) => text.split(' ').slice(0, 3).join(' ')),
      ['mutate create pods/binding', 'validate create pods/binding'],
    );
    await world.stop();
  }
});

test('plugins run in their order, each on what the one before has left, and validation sees what all have made', async (t) => {
  const heard: unknown[] = [];
  const adding = (name: AdmissionPluginKind['name'], letter: string): AdmissionPluginKind => ({
    name,
    wants: [{ operations: ['create', 'update'], resources: ['core/configmaps'] }],
    create: () => ({
      mutate: (attributes) => {
        const { object } = attributes;
        const data = {
          ...(object.data as object),
          letters: `${(object.data as { letters?: string }).letters ?? ''}${letter}`,
        };
        attributes.object = { ...object, data };
      },
      validate: ({ object }) => {
        heard.push([letter, (object.data as { letters?: string }).letters]);
      },
    }),
  });
  const world = await AdmissionWorld.start({ plugins: [adding('AlwaysAdmit', 'a'), adding('AlwaysDeny', 'b')] });
  const made = await world.created(CONFIG_MAPS, { metadata: { name: 'it' }, data: { letters: 'x' } });
  t.is(made.data.letters, 'xab');
  const patched = await world.write('patch', `${CONFIG_MAPS}/it`, { body: { data: { other: 'y' } } });
  t.is(patched.body.data.letters, 'xabab');
  t.deepEqual(heard, [
    ['a', 'xab'],
    ['b', 'xab'],
    ['a', 'xabab'],
    ['b', 'xabab'],
  ]);
  await world.stop();
});

test('what a plugin adds gets its defaults where it asks for them, belongs to nobody, and is validated', async (t) => {
  const world = await AdmissionWorld.start({
    plugins: [
      recorder([], (attributes) => {
        const { object, type } = attributes;
        if (type.plural !== 'pods' || attributes.asked.operation !== 'create') return;
        const name = metadataOf(object).name === 'bad' ? 'Not A Name' : 'added';
        const spec = object.spec as { readonly containers: readonly object[] };
        attributes.object = { ...object, spec: { ...spec, containers: [...spec.containers, { name, image: 'i' }] } };
        attributes.isComplete = false;
      }),
    ],
  });
  const made = await world.created(PODS, pod('it'));
  const containers = made.spec.containers as readonly { readonly name: string; readonly imagePullPolicy?: string }[];
  t.deepEqual(
    containers.map(({ name, imagePullPolicy }) => [name, imagePullPolicy]),
    [
      ['c', 'Always'],
      ['added', 'Always'],
    ],
  );
  const owned = JSON.stringify(made.metadata.managedFields);
  t.true(owned.includes('k:{\\"name\\":\\"c\\"}'));
  t.false(owned.includes('added'));
  const bad = await world.write('create', PODS, { body: pod('bad') });
  t.is(refusal(bad).code, 422);
  t.is(refusal(bad).details?.causes?.[0]?.field, 'spec.containers[1].name');
  await world.stop();
});

test('a plugin cannot change what no update changes', async (t) => {
  const world = await AdmissionWorld.start({
    plugins: [
      recorder([], (attributes) => {
        const { object, asked } = attributes;
        if (asked.operation !== 'update') return;
        const metadata = { ...metadataOf(object), uid: '', creationTimestamp: '2001-01-01T00:00:00Z', generation: 77 };
        attributes.object = { ...object, metadata, status: { replicas: 5 } };
      }),
    ],
  });
  const before = await world.created(DEPLOYMENTS, deployment('it'));
  const { code, body } = await world.write('patch', `${DEPLOYMENTS}/it`, { body: { spec: { paused: true } } });
  t.is(code, 200);
  t.is(body.metadata.uid, before.metadata.uid);
  t.is(body.metadata.creationTimestamp, before.metadata.creationTimestamp);
  t.is(body.metadata.generation, 2);
  t.deepEqual(body.status, before.status);
  await world.stop();
});

test('plugins are asked again about an object that changed between the look at it and the commit', async (t) => {
  const heard: string[] = [];
  const world = await AdmissionWorld.start({ plugins: [recorder(heard)] });
  await world.created(CONFIG_MAPS, { metadata: { name: 'it' } });
  world.gate.beforeCommit = () => world.soon('patch', `${CONFIG_MAPS}/it`, { body: { data: { first: 'y' } } });
  heard.length = 0;
  const { body } = await world.write('patch', `${CONFIG_MAPS}/it`, { body: { data: { second: 'y' } } });
  t.deepEqual(body.data, { first: 'y', second: 'y' });
  t.is(heard.filter((text) => text.startsWith('mutate')).length, 3);
  await world.stop();
});
