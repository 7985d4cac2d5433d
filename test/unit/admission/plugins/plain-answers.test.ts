// NamespaceLifecycle, AlwaysAdmit and AlwaysDeny, case by case, and more of the plugins that look at a pod alone.
import test from 'ava';
import { alwaysAdmit } from '../../../../actors/admission/plugins/always-admit/always-admit.ts';
import { alwaysDeny } from '../../../../actors/admission/plugins/always-deny/always-deny.ts';
import { alwaysPullImages } from '../../../../actors/admission/plugins/always-pull-images/always-pull-images.ts';
import { limitPodHardAntiAffinityTopology } from '../../../../actors/admission/plugins/limit-pod-hard-anti-affinity-topology/limit-pod-hard-anti-affinity-topology.ts';
import { namespaceLifecycle } from '../../../../actors/admission/plugins/namespace-lifecycle/namespace-lifecycle.ts';
import { AdmissionWorld } from '../admission-world.ts';
import { type PluginCase, PODS, podOf, testPlugin } from './plugin-cases.ts';

const SPACES = '/api/v1/namespaces';
const maps = (namespace: string): string => `${SPACES}/${namespace}/configmaps`;
const MAP = { metadata: { name: 'it' } };
const DRY = { parameters: { dryRun: ['All'] } };
const MISSING = { code: 404, refused: 'namespaces "gone" not found' };
const kept = (name: string): PluginCase => ({
  what: `the deletion of ${name}`,
  verb: 'delete',
  path: `${SPACES}/${name}`,
  refused: `namespaces "${name}" is forbidden: this namespace may not be deleted`,
});

testPlugin(
  'NamespaceLifecycle',
  { plugins: [namespaceLifecycle], namespaces: ['default', 'orch-system', 'orch-public', 'mine'] },
  [
    { what: 'an object in a live namespace', path: maps('mine'), body: MAP },
    { what: 'an object in no namespace', path: maps('gone'), body: MAP, ...MISSING },
    { what: 'a dry run in no namespace', path: maps('gone'), body: MAP, request: DRY, ...MISSING },
    { what: 'a service account in no namespace', path: `${SPACES}/gone/serviceaccounts`, body: MAP, ...MISSING },
    {
      what: 'a binding in no namespace',
      path: `${SPACES}/gone/bindings`,
      body: { ...MAP, target: { kind: 'Node', name: 'n' } },
      code: 404,
      refused: 'pods "it" not found',
    },
    { what: 'a namespace of any name', path: SPACES, body: { metadata: { name: 'new' } } },
    {
      what: 'an object of the cluster',
      path: '/apis/storage.orch.io/v1/storageclasses',
      body: { ...MAP, provisioner: 'p' },
    },
    {
      what: 'an update of what is not there',
      verb: 'patch',
      path: `${maps('gone')}/it`,
      body: {},
      code: 404,
      refused: 'configmaps "it" not found',
    },
    kept('default'),
    kept('orch-system'),
    kept('orch-public'),
    { ...kept('default'), what: 'a dry run of the deletion of default', request: DRY },
    { what: 'the deletion of another namespace', verb: 'delete', path: `${SPACES}/mine` },
    {
      what: 'a change of default',
      verb: 'patch',
      path: `${SPACES}/default`,
      body: { metadata: { labels: { a: 'b' } } },
      becomes: { metadata: { labels: { a: 'b' } } },
    },
  ],
);

test('NamespaceLifecycle: in a namespace that is going nothing is made, and what is there can be changed and go', async (t) => {
  const world = await AdmissionWorld.start({ plugins: [namespaceLifecycle], namespaces: ['going'] });
  await world.created(maps('going'), MAP);
  t.is((await world.write('delete', `${SPACES}/going`)).code, 200);
  const refused = await world.write('create', maps('going'), { body: { metadata: { name: 'new' } } });
  t.is(refused.code, 403);
  t.is(
    refused.body.message,
    'configmaps "new" is forbidden: unable to create new content in namespace going because it is being terminated',
  );
  t.like(refused.body.details, { causes: [{ reason: 'NamespaceTerminating' }] });
  t.is((await world.write('patch', `${maps('going')}/it`, { body: { data: { a: 'b' } } })).code, 200);
  t.is((await world.write('delete', `${maps('going')}/it`)).code, 200);
  await world.stop();
});

const denied = (subject: string): string => `${subject} is forbidden: admission control is denying all modifications`;

testPlugin('AlwaysDeny', { plugins: [alwaysDeny], namespaces: [] }, [
  { what: 'a new object', path: maps('default'), body: MAP, refused: denied('configmaps "it"') },
  {
    what: 'an object that is to be named by the server',
    path: maps('default'),
    body: { metadata: { generateName: 'it-' } },
    refused: denied('configmaps "it-"'),
  },
  { what: 'a dry run', path: maps('default'), body: MAP, request: DRY, refused: denied('configmaps "it"') },
  { what: 'a namespace', path: SPACES, body: MAP, refused: denied('namespaces "it"') },
  {
    what: 'a binding',
    path: `${PODS}/it/binding`,
    body: { ...MAP, target: { kind: 'Node', name: 'n' } },
    refused: denied('pods "it"'),
  },
  { what: 'an eviction', path: `${PODS}/it/eviction`, body: MAP, refused: denied('pods "it"') },
]);

testPlugin('AlwaysAdmit', { plugins: [alwaysAdmit] }, [
  { what: 'a new object', path: maps('default'), body: MAP },
  { what: 'a change', present: [[maps('default'), MAP]], verb: 'patch', path: `${maps('default')}/it`, body: {} },
  { what: 'a deletion', present: [[maps('default'), MAP]], verb: 'delete', path: `${maps('default')}/it` },
]);

testPlugin('AlwaysPullImages', { plugins: [alwaysPullImages], featureGates: 'EphemeralContainers=true' }, [
  {
    what: 'an update to a new image',
    present: [[PODS, podOf()]],
    verb: 'patch',
    path: `${PODS}/it`,
    body: { spec: { containers: [{ name: 'c', image: 'another' }] } },
    becomes: { spec: { containers: [{ image: 'another', imagePullPolicy: 'Always' }] } },
  },
  {
    what: 'an apply',
    verb: 'patch',
    path: `${PODS}/it`,
    request: { contentType: 'application/apply-patch+yaml', parameters: { fieldManager: 'm' } },
    body: { apiVersion: 'v1', kind: 'Pod', ...podOf() },
    code: 201,
    becomes: { spec: { containers: [{ imagePullPolicy: 'Always' }] } },
  },
]);

const apart = (...keys: readonly string[]): object =>
  podOf({
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: keys.map((topologyKey) => ({ topologyKey, labelSelector: {} })),
      },
    },
  });
const ZONE =
  'pods "it" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key ' +
  'orch.io/hostname is allowed';

testPlugin('LimitPodHardAntiAffinityTopology', { plugins: [limitPodHardAntiAffinityTopology] }, [
  {
    what: 'a pod of whose two terms one is of another key',
    path: PODS,
    body: apart('orch.io/hostname', 'zone'),
    refused: ZONE,
  },
  { what: 'a dry run of such a pod', path: PODS, body: apart('zone'), request: DRY, refused: ZONE },
  {
    what: 'a pod that wants to be near others in its zone',
    path: PODS,
    body: podOf({
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone', labelSelector: {} }],
        },
      },
    }),
  },
  {
    what: 'a change of the status of a pod',
    present: [[PODS, podOf()]],
    verb: 'patch',
    path: `${PODS}/it/status`,
    body: { status: { message: 'm' } },
  },
]);
