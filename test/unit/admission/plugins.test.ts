// The admission plugins' places in the write path: which there are, in which order they run, what they are told, and that
// every way of writing asks them.

import test from 'ava';
import type { Attributes } from '../../../actors/admission/attributes.ts';
import type { AdmissionPluginKind } from '../../../actors/admission/plugins/plugin.ts';
import { PLUGIN_KINDS, runningPlugins } from '../../../actors/admission/plugins/plugins.ts';
import { metadataOf } from '../../../api/object-meta.ts';
import { failure } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { WriteVerb } from '../../../api/verbs.ts';
import { ADMISSION_PLUGINS, BUILT_ADMISSION_PLUGINS } from '../../../config/admission-plugins.ts';
import { AdmissionWorld, type Request, refusal } from './admission-world.ts';

const PODS = '/api/v1/namespaces/default/pods';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const APPLY = 'application/apply-patch+yaml';

const pod = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } });
const deployment = (name: string) => ({
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: pod(name).spec },
  },
});

test('the table of names and the plugins in code agree', (t) => {
  t.deepEqual(
    PLUGIN_KINDS.map(({ name }) => name),
    BUILT_ADMISSION_PLUGINS,
  );
  t.is(ADMISSION_PLUGINS.length, 34);
  t.is(ADMISSION_PLUGINS.filter(({ isDefault }) => isDefault).length, 17);
});

test('the default plugins run unless they are switched off, others when they are asked for, in the order of the table', (t) => {
  const names = (enabled: string[], disabled: string[]) => runningPlugins(enabled, disabled).map(({ name }) => name);
  const defaults = ADMISSION_PLUGINS.filter(({ isDefault }) => isDefault);
  const byDefault = defaults.map(({ name }) => name as string);
  t.deepEqual(names([], []), byDefault);
  t.deepEqual(names(['AlwaysDeny', 'AlwaysAdmit'], ['ServiceAccount']), [
    'AlwaysAdmit',
    ...byDefault.filter((name) => name !== 'ServiceAccount'),
    'AlwaysDeny',
  ]);
});

/** A plugin that writes down what it is told of. */
function recorder(told: string[], mutate?: (attributes: Attributes) => void): AdmissionPluginKind {
  const note = (phase: string, { asked, old, object, type, subresource }: Attributes): void => {
    const { operation, namespace, name, user, dryRun } = asked;
    const path = [type.plural, subresource].filter((part) => part !== '').join('/');
    const kinds = [old?.kind ?? '-', object.kind ?? '-'].join('>');
    told.push([phase, operation, path, namespace, name, user.name, kinds, ...(dryRun ? ['dry'] : [])].join(' '));
  };
  return {
    name: 'AlwaysAdmit',
    wants: [{ operations: ['create', 'update', 'delete', 'connect'], resources: ['**'] }],
    create: () => ({
      mutate: (attributes) => {
        note('mutate', attributes);
        mutate?.(attributes);
      },
      validate: (attributes) => note('validate', attributes),
    }),
  };
}

interface Place {
  readonly does: string;
  readonly verb: WriteVerb;
  readonly path: string;
  readonly request?: Request;
  /** What a plugin is told: operation, type, namespace, name, user, kinds of the old and the new object. */
  readonly told: string;
}

const places: readonly Place[] = [
  {
    does: 'a create',
    verb: 'create',
    path: PODS,
    request: { body: pod('new') },
    told: 'create pods default  tester ->Pod',
  },
  {
    does: 'a dry run of a create',
    verb: 'create',
    path: PODS,
    request: { body: pod('new'), parameters: { dryRun: ['All'] } },
    told: 'create pods default  tester ->Pod dry',
  },
  {
    does: 'a PUT',
    verb: 'update',
    path: `${CONFIG_MAPS}/it`,
    request: { body: { data: { a: 'b' } } },
    told: 'update configmaps default it tester ConfigMap>ConfigMap',
  },
  {
    does: 'a PATCH',
    verb: 'patch',
    path: `${CONFIG_MAPS}/it`,
    request: { body: { data: { a: 'b' } } },
    told: 'update configmaps default it tester ConfigMap>ConfigMap',
  },
  {
    does: 'an apply',
    verb: 'patch',
    path: `${CONFIG_MAPS}/it`,
    request: {
      contentType: APPLY,
      parameters: { fieldManager: 'm' },
      body: { apiVersion: 'v1', kind: 'ConfigMap', data: { a: 'b' } },
    },
    told: 'update configmaps default it tester ConfigMap>ConfigMap',
  },
  {
    does: 'an apply that creates',
    verb: 'patch',
    path: `${CONFIG_MAPS}/other`,
    request: {
      contentType: APPLY,
      parameters: { fieldManager: 'm' },
      body: { apiVersion: 'v1', kind: 'ConfigMap', data: { a: 'b' } },
    },
    told: 'create configmaps default other tester ->ConfigMap',
  },
  {
    does: 'a PUT of the status',
    verb: 'update',
    path: `${PODS}/it/status`,
    request: { body: { status: { phase: 'Running' } } },
    told: 'update pods/status default it tester Pod>Pod',
  },
  {
    does: 'a PUT of the scale',
    verb: 'update',
    path: `${DEPLOYMENTS}/it/scale`,
    request: { body: { metadata: { name: 'it' }, spec: { replicas: 3 } } },
    told: 'update deployments/scale default it tester Scale>Scale',
  },
  {
    does: 'a DELETE',
    verb: 'delete',
    path: `${CONFIG_MAPS}/it`,
    told: 'delete configmaps default it tester ConfigMap>-',
  },
  {
    does: 'a DELETE of a collection',
    verb: 'deletecollection',
    path: CONFIG_MAPS,
    told: 'delete configmaps default  tester ConfigMap>-',
  },
  {
    does: 'a binding',
    verb: 'create',
    path: `${PODS}/it/binding`,
    request: { body: { metadata: { name: 'it' }, target: { kind: 'Node', name: 'n' } } },
    told: 'create pods/binding default it tester ->Binding',
  },
  {
    does: 'an eviction',
    verb: 'create',
    path: `${PODS}/it/eviction`,
    request: { body: { metadata: { name: 'it' } } },
    told: 'create pods/eviction default it tester ->Eviction',
  },
  {
    does: 'a token request',
    verb: 'create',
    path: '/api/v1/namespaces/default/serviceaccounts/it/token',
    request: { body: { spec: {} } },
    told: 'create serviceaccounts/token default it tester ->TokenRequest',
  },
];

async function worldWith(plugins: readonly AdmissionPluginKind[]): Promise<AdmissionWorld> {
  const world = await AdmissionWorld.start({ plugins });
  await world.created(PODS, pod('it'));
  await world.created(DEPLOYMENTS, deployment('it'));
  await world.created(CONFIG_MAPS, { metadata: { name: 'it' } });
  return world;
}

for (const { does, verb, path, request, told } of places) {
  test(`plugins are told of ${does}, in both phases`, async (t) => {
    const heard: string[] = [];
    const world = await worldWith([recorder(heard)]);
    heard.length = 0;
    const { code } = await world.write(verb, path, request);
    t.true(code < 300 || does === 'a token request', String(code));
    t.deepEqual(heard, [`mutate ${told}`, `validate ${told}`]);
    await world.stop();
  });

  test(`a plugin refuses ${does}, and nothing is changed`, async (t) => {
    const refuser = new Refuser();
    const world = await worldWith([refuser.kind]);
    const before = await world.revision();
    refuser.isOn = true;
    const answer = await world.write(verb, path, request);
    t.is(answer.code, 403);
    t.is(answer.body.message, 'it is forbidden here');
    t.is(await world.revision(), before);
    await world.stop();
  });
}

/** Refuses every write from when it is switched on. */
class Refuser {
  isOn = false;
  readonly kind: AdmissionPluginKind = {
    name: 'AlwaysDeny',
    wants: [{ operations: ['create', 'update', 'delete', 'connect'], resources: ['**'] }],
    create: () => ({
      validate: () => {
        if (this.isOn) throw new StatusError(failure(403, 'Forbidden', 'it is forbidden here'));
      },
    }),
  };
}

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

test('plugins are told of connections, and may refuse them', async (t) => {
  const heard: string[] = [];
  const world = await AdmissionWorld.start({ plugins: [recorder(heard)] });
  const connect = () =>
    world.during(
      world.admission.ask(
        {
          type: 'connect',
          target: {
            group: '',
            version: 'v1',
            resource: 'pods',
            subresource: 'exec',
            namespace: 'default',
            name: 'it',
          },
          user: { name: 'tester', uid: '', groups: [], extra: {} },
          userAgent: '',
          options: { kind: 'PodExecOptions', apiVersion: 'v1', stdin: true },
        },
        { deadlineMs: 60_000 },
      ),
    );
  heard.length = 0;
  t.deepEqual(await connect(), { refused: undefined });
  const told = 'connect pods/exec default it tester ->PodExecOptions';
  t.deepEqual(heard, [`mutate ${told}`, `validate ${told}`]);
  await world.stop();
});

test('what a plugin says of a connection for its audit event is told to whoever opens it', async (t) => {
  const says: AdmissionPluginKind = {
    name: 'AlwaysAdmit',
    wants: [{ operations: ['connect'], resources: ['**'] }],
    create: () => ({ validate: (attributes) => void attributes.annotate('example.org/said', 'yes') }),
  };
  const world = await AdmissionWorld.start({ plugins: [says] });
  const answer = await world.during(
    world.admission.ask(
      {
        type: 'connect',
        target: { group: '', version: 'v1', resource: 'pods', subresource: 'exec', namespace: 'default', name: 'it' },
        user: { name: 'tester', uid: '', groups: [], extra: {} },
        userAgent: '',
        options: { kind: 'PodExecOptions', apiVersion: 'v1' },
      },
      { deadlineMs: 60_000 },
    ),
  );
  t.deepEqual(answer, { refused: undefined, auditAnnotations: { 'example.org/said': 'yes' } });
  await world.stop();
});
