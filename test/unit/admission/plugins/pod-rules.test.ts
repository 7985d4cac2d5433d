// The plugins that look at pods alone, case by case: SecurityContextDeny, AlwaysPullImages, LimitPodHardAntiAffinityTopology,
// ExtendedResourceToleration.
import test from 'ava';
import { alwaysPullImages } from '../../../../actors/admission/plugins/always-pull-images/always-pull-images.ts';
import { extendedResourceToleration } from '../../../../actors/admission/plugins/extended-resource-toleration/extended-resource-toleration.ts';
import { limitPodHardAntiAffinityTopology } from '../../../../actors/admission/plugins/limit-pod-hard-anti-affinity-topology/limit-pod-hard-anti-affinity-topology.ts';
import type { AdmissionPluginKind } from '../../../../actors/admission/plugins/plugin.ts';
import { securityContextDeny } from '../../../../actors/admission/plugins/security-context-deny/security-context-deny.ts';
import { partAt } from '../../../../api/json/object-fields.ts';
import { AdmissionWorld } from '../admission-world.ts';
import { PODS, podOf, testPlugin } from './plugin-cases.ts';

const refusal = (detail: string): string => `pods "it" is forbidden: ${detail}`;
const ofPod = (securityContext: object): object => podOf({ securityContext });
const ofContainer = (securityContext: object): object => podOf({}, { securityContext });
const deniedOfPod = (member: string): string => refusal(`pod.Spec.SecurityContext.${member} is forbidden`);
const deniedOfContainer = (member: string): string => refusal(`SecurityContext.${member} is forbidden`);
const LABELS = { metadata: { labels: { a: 'b' } } };

testPlugin('SecurityContextDeny', { plugins: [securityContextDeny] }, [
  { what: 'a pod that chooses nothing', path: PODS, body: podOf() },
  { what: 'a pod that chooses something else', path: PODS, body: ofPod({ runAsNonRoot: true }) },
  { what: 'a container that chooses something else', path: PODS, body: ofContainer({ readOnlyRootFilesystem: true }) },
  {
    what: 'a pod with supplemental groups',
    path: PODS,
    body: ofPod({ supplementalGroups: [1] }),
    refused: deniedOfPod('SupplementalGroups'),
  },
  {
    what: 'a pod with SELinux options',
    path: PODS,
    body: ofPod({ seLinuxOptions: { level: 's0' } }),
    refused: deniedOfPod('SELinuxOptions'),
  },
  { what: 'a pod with a user', path: PODS, body: ofPod({ runAsUser: 0 }), refused: deniedOfPod('RunAsUser') },
  { what: 'a pod with a group of files', path: PODS, body: ofPod({ fsGroup: 5 }), refused: deniedOfPod('FSGroup') },
  {
    what: 'a container with a user',
    path: PODS,
    body: ofContainer({ runAsUser: 1 }),
    refused: deniedOfContainer('RunAsUser'),
  },
  {
    what: 'a container with SELinux options',
    path: PODS,
    body: ofContainer({ seLinuxOptions: {} }),
    refused: deniedOfContainer('SELinuxOptions'),
  },
  {
    what: 'an initial container with a user',
    path: PODS,
    body: podOf({ initContainers: [{ name: 'first', image: 'i', securityContext: { runAsUser: 1 } }] }),
    refused: deniedOfContainer('RunAsUser'),
  },
  {
    what: 'a dry run',
    path: PODS,
    body: ofPod({ runAsUser: 0 }),
    request: { parameters: { dryRun: ['All'] } },
    refused: deniedOfPod('RunAsUser'),
  },
  { what: 'an update of a pod', present: [[PODS, podOf()]], verb: 'patch', path: `${PODS}/it`, body: LABELS },
]);

const policies = (...names: readonly string[]) => names.map((imagePullPolicy) => ({ imagePullPolicy }));

testPlugin('AlwaysPullImages', { plugins: [alwaysPullImages] }, [
  {
    what: 'a pod that says nothing',
    path: PODS,
    body: podOf({}, { image: 'i:1' }),
    becomes: { spec: { containers: policies('Always') } },
  },
  {
    what: 'a pod that wants otherwise',
    path: PODS,
    body: podOf({}, { imagePullPolicy: 'Never' }),
    becomes: { spec: { containers: policies('Always') } },
  },
  {
    what: 'an initial container that wants otherwise',
    path: PODS,
    body: podOf({ initContainers: [{ name: 'first', image: 'i', imagePullPolicy: 'IfNotPresent' }] }),
    becomes: { spec: { initContainers: policies('Always'), containers: policies('Always') } },
  },
  {
    what: 'a dry run',
    path: PODS,
    body: podOf({}, { imagePullPolicy: 'Never' }),
    request: { parameters: { dryRun: ['All'] } },
    becomes: { spec: { containers: policies('Always') } },
  },
  {
    what: 'an update without a new image',
    present: [[PODS, podOf()]],
    verb: 'patch',
    path: `${PODS}/it`,
    body: LABELS,
  },
  {
    what: 'an update of the status',
    present: [[PODS, podOf()]],
    verb: 'patch',
    path: `${PODS}/it/status`,
    body: { status: { phase: 'Running' } },
  },
]);

const apart = (topologyKey: string): object =>
  podOf({
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: { matchLabels: { a: 'b' } } }],
      },
    },
  });

testPlugin('LimitPodHardAntiAffinityTopology', { plugins: [limitPodHardAntiAffinityTopology] }, [
  { what: 'a pod that says nothing', path: PODS, body: podOf() },
  { what: 'a pod that keeps others off its node', path: PODS, body: apart('orch.io/hostname') },
  {
    what: 'a pod that keeps others off its zone',
    path: PODS,
    body: apart('topology.orch.io/zone'),
    refused: refusal(
      'affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey topology.orch.io/zone but only key orch.io/hostname is allowed',
    ),
  },
  {
    what: 'a pod that would rather be alone in its zone',
    path: PODS,
    body: podOf({
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, podAffinityTerm: { topologyKey: 'zone', labelSelector: {} } },
          ],
        },
      },
    }),
  },
  { what: 'an update of a pod', present: [[PODS, podOf()]], verb: 'patch', path: `${PODS}/it`, body: LABELS },
]);

const asking = (limits: object): object => podOf({}, { resources: { limits } });
const tolerates = (...keys: readonly string[]) => ({
  spec: { tolerations: keys.map((key) => ({ key, operator: 'Exists', effect: 'NoSchedule' })) },
});

testPlugin('ExtendedResourceToleration', { plugins: [extendedResourceToleration] }, [
  { what: 'a pod that asks for nothing', path: PODS, body: podOf(), becomes: { spec: { tolerations: undefined } } },
  {
    what: 'a pod that asks for what every node has',
    path: PODS,
    body: asking({ cpu: '1', 'hugepages-2Mi': '2Mi' }),
    becomes: { spec: { tolerations: undefined } },
  },
  {
    what: 'a pod that asks for devices',
    path: PODS,
    body: asking({ 'b.example.com/gpu': '1', 'a.example.com/nic': '2' }),
    becomes: tolerates('a.example.com/nic', 'b.example.com/gpu'),
  },
  {
    what: 'a pod that tolerates the taint already',
    path: PODS,
    body: podOf(
      { tolerations: [{ key: 'a.example.com/x', operator: 'Exists', effect: 'NoSchedule' }] },
      { resources: { limits: { 'a.example.com/x': '1' } } },
    ),
    becomes: tolerates('a.example.com/x'),
  },
  {
    what: 'a pod that tolerates every effect of the taint, which is another toleration',
    path: PODS,
    body: podOf(
      { tolerations: [{ key: 'a.example.com/x', operator: 'Exists' }] },
      { resources: { limits: { 'a.example.com/x': '1' } } },
    ),
    becomes: {
      spec: {
        tolerations: [
          { key: 'a.example.com/x', operator: 'Exists' },
          { key: 'a.example.com/x', operator: 'Exists', effect: 'NoSchedule' },
        ],
      },
    },
  },
  {
    what: 'an initial container that asks for a device',
    path: PODS,
    body: podOf({ initContainers: [{ name: 'first', image: 'i', resources: { limits: { 'a.example.com/x': '1' } } }] }),
    becomes: tolerates('a.example.com/x'),
  },
  {
    what: 'an update of a pod',
    present: [[PODS, asking({ 'a.example.com/x': '1' })]],
    verb: 'patch',
    path: `${PODS}/it`,
    body: LABELS,
    becomes: tolerates('a.example.com/x'),
  },
]);

/** A plugin that has every container pull nothing. */
const neverPulling: AdmissionPluginKind = {
  name: 'AlwaysAdmit',
  wants: [{ operations: ['create'], resources: ['core/pods'] }],
  create: () => ({
    mutate: (attributes) => {
      const spec = partAt(attributes.object, 'spec');
      const containers = (spec.containers as readonly object[]).map((one) => ({ ...one, imagePullPolicy: 'Never' }));
      attributes.object = { ...attributes.object, spec: { ...spec, containers } };
    },
  }),
};

test('AlwaysPullImages: what is changed by those behind it is refused', async (t) => {
  const world = await AdmissionWorld.start({ plugins: [alwaysPullImages, neverPulling] });
  const problem = (index: number): string =>
    refusal(`spec.containers[${index}].imagePullPolicy: Unsupported value: "Never": supported values: "Always"`);
  const one = await world.write('create', PODS, { body: podOf() });
  t.deepEqual([one.code, one.body.message], [500, problem(0)]);
  const containers = ['a', 'b'].map((name) => ({ name, image: 'i' }));
  const both = await world.write('create', PODS, { body: podOf({ containers }) });
  t.deepEqual([both.code, both.body.message], [500, `[${problem(0)}, ${problem(1)}]`]);
  await world.stop();
});
