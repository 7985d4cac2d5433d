// The admission plugins' places in the write path: every way of writing asks them, and lets them refuse.
import test from 'ava';
import type { AdmissionPluginKind } from '../../../actors/admission/plugins/plugin.ts';
import { failure } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { WriteVerb } from '../../../api/verbs.ts';
import { AdmissionWorld, type Request } from './admission-world.ts';
import { CONFIG_MAPS, DEPLOYMENTS, deployment, PODS, pod, recorder } from './recorded-writes.ts';

const APPLY = 'application/apply-patch+yaml';

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
    request: { body: { metadata: { name: 'it' }, data: { a: 'b' } } },
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
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'other' }, data: { a: 'b' } },
    },
    told: 'create configmaps default other tester ->ConfigMap',
  },
  {
    does: 'a PUT of the status',
    verb: 'update',
    path: `${PODS}/it/status`,
    request: { body: { metadata: { name: 'it' }, status: { phase: 'Running' } } },
    told: 'update pods/status default it tester Pod>Pod',
  },
  {
    does: 'a PUT of the scale',
    verb: 'update',
    path: `${DEPLOYMENTS}/it/scale`,
    request: { body: { metadata: { name: 'it', namespace: 'default' }, spec: { replicas: 3 } } },
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

const DAEMON_SETS = '/apis/apps/v1/namespaces/default/daemonsets';
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

test('what a plugin changes in an update is what the kind lets an update change, and counts as the change of a client', async (t) => {
  const imaged = recorder([], (attributes) => {
    const { object, old } = attributes;
    if (old === undefined) return;
    const changed = structuredClone(object) as { spec: { template: { spec: { containers: { image: string }[] } } } };
    changed.spec.template.spec.containers[0]!.image = 'other';
    attributes.object = changed;
  });
  const world = await AdmissionWorld.start({ plugins: [imaged] });
  await world.created(DAEMON_SETS, deployment('set'));
  const { code } = await world.write('patch', `${DAEMON_SETS}/set`, { body: { metadata: { labels: { a: 'b' } } } });
  t.is(code, 200);
  const { metadata } = (await world.stored(`${DAEMON_SETS}/set`))!;
  t.like(metadata, { generation: 2, annotations: { [TEMPLATE_GENERATION]: '2' } });
  await world.stop();
});

const ACCESS_REVIEWS = '/apis/authorization.orch.io/v1/subjectaccessreviews';

test('a review that makes no sense is shown to no plugin that could only refuse it, and is refused with the warnings of the others', async (t) => {
  const heard: string[] = [];
  const warns: AdmissionPluginKind = {
    name: 'AlwaysPullImages',
    wants: [{ operations: ['create'], resources: ['**'] }],
    create: () => ({ mutate: (attributes) => Promise.resolve(attributes.warn('look out')) }),
  };
  const world = await AdmissionWorld.start({ plugins: [recorder(heard), warns] });
  heard.length = 0;
  const { code, warnings } = await world.write('create', ACCESS_REVIEWS, { body: { spec: {} } });
  t.deepEqual([code, warnings], [422, ['look out']]);
  t.deepEqual(heard, ['mutate create subjectaccessreviews   tester ->SubjectAccessReview']);
  await world.stop();
});
