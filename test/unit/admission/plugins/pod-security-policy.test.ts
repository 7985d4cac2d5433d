// PodSecurityPolicy: which policy a pod is taken under, who may use it, and what later changes of the pod must comply with.
import test from 'ava';
import type { AdmissionPluginKind } from '../../../../actors/admission/plugins/plugin.ts';
import { podSecurityPolicy } from '../../../../actors/admission/plugins/pod-security-policy/pod-security-policy.ts';
import type { AuditAnnotation } from '../../../../actors/admission/protocol.ts';
import { AdmissionWorld } from '../admission-world.ts';
import { type PluginCase, PODS, type Present, podOf, testPlugin } from './plugin-cases.ts';
import { policy, refused, TABLE } from './pod-security.ts';

const UNDER = 'orch.io/psp';
const under = (name: string): object => ({ metadata: { annotations: { [UNDER]: name } } });
const NOT_ROOT = { runAsUser: { rule: 'MustRunAsNonRoot' } };

testPlugin('PodSecurityPolicy', TABLE, [
  {
    what: 'a pod where there is no policy',
    path: PODS,
    body: podOf(),
    refused: 'pods "it" is forbidden: PodSecurityPolicy: no providers available to validate pod request',
  },
  {
    what: 'a pod where only a policy is that says nothing of its users',
    present: [policy({ runAsUser: { rule: 'MustRunAs' } })],
    path: PODS,
    body: podOf(),
    refused: 'pods "it" is forbidden: PodSecurityPolicy: no providers available to validate pod request',
  },
  { what: 'a pod under one policy', present: [policy()], path: PODS, body: podOf(), becomes: under('p') },
  {
    what: 'a pod under the first policy by name',
    present: [policy({}, {}, 'b'), policy({}, {}, 'a')],
    path: PODS,
    body: podOf(),
    becomes: under('a'),
  },
  {
    what: 'a pod under the policy that changes nothing',
    present: [policy(NOT_ROOT, {}, 'a'), policy({}, {}, 'b')],
    path: PODS,
    body: podOf(),
    becomes: { ...under('b'), spec: { containers: [{ securityContext: undefined }] } },
  },
  {
    what: 'a pod under the first of two policies that change it',
    present: [policy(NOT_ROOT, {}, 'b'), policy({ readOnlyRootFilesystem: true }, {}, 'a')],
    path: PODS,
    body: podOf(),
    becomes: { ...under('a'), spec: { containers: [{ securityContext: { readOnlyRootFilesystem: true } }] } },
  },
  {
    what: 'a pod that says under which policy it wants to be',
    present: [policy({}, {}, 'a'), policy({}, {}, 'b')],
    path: PODS,
    body: podOf({}, {}, { annotations: { [UNDER]: 'b' } }),
    becomes: under('a'),
  },
  {
    what: 'a pod that complies with neither of two policies',
    present: [policy(NOT_ROOT, {}, 'a'), policy({ hostNetwork: false }, {}, 'b')],
    path: PODS,
    body: podOf({ hostNetwork: true, securityContext: { runAsUser: 0 } }),
    refused: refused(
      'spec.securityContext.hostNetwork: Invalid value: true: Host network is not allowed to be used ' +
        'spec.containers[0].securityContext.runAsUser: Invalid value: 0: running with the root UID is forbidden ' +
        'spec.securityContext.hostNetwork: Invalid value: true: Host network is not allowed to be used',
    ),
  },
  {
    what: 'a pod that is to be named by the server',
    present: [policy()],
    path: PODS,
    body: { metadata: { generateName: 'it-' }, spec: { hostPID: true, containers: [{ name: 'c', image: 'i' }] } },
    refused:
      'pods "it-" is forbidden: PodSecurityPolicy: unable to admit pod: ' +
      '[spec.securityContext.hostPID: Invalid value: true: Host PID is not allowed to be used]',
  },
  {
    what: 'a dry run',
    present: [policy(NOT_ROOT)],
    path: PODS,
    body: podOf(),
    request: { parameters: { dryRun: ['All'] } },
    becomes: { ...under('p'), spec: { containers: [{ securityContext: { runAsNonRoot: true } }] } },
  },
]);

const changes: readonly PluginCase[] = [
  {
    what: 'a change of labels of a pod that complies',
    present: [policy(NOT_ROOT), [PODS, podOf()]],
    verb: 'patch',
    path: `${PODS}/it`,
    body: { metadata: { labels: { a: 'b' } } },
    becomes: { metadata: { labels: { a: 'b' } } },
  },
  {
    what: 'a change of the image of a pod that complies',
    present: [policy(), [PODS, podOf()]],
    verb: 'patch',
    path: `${PODS}/it`,
    body: { spec: { containers: [{ name: 'c', image: 'j' }] } },
    becomes: { spec: { containers: [{ image: 'j' }] } },
  },
  {
    what: 'a change of finalizers only',
    present: [policy(), [PODS, podOf()]],
    verb: 'patch',
    path: `${PODS}/it`,
    body: { metadata: { finalizers: ['x.y/z'] } },
    becomes: { metadata: { finalizers: ['x.y/z'] } },
  },
  {
    what: 'a deletion',
    present: [policy(), [PODS, podOf()]],
    verb: 'delete',
    path: `${PODS}/it`,
    becomes: {},
  },
  {
    what: 'a change of the status',
    present: [policy(), [PODS, podOf()]],
    verb: 'patch',
    path: `${PODS}/it/status`,
    body: { status: { message: 'm' } },
    becomes: { status: { message: 'm' } },
  },
];
testPlugin('PodSecurityPolicy', TABLE, changes);

test('PodSecurityPolicy: a pod that no longer complies can be let go, and not be changed', async (t) => {
  const world = await AdmissionWorld.start(TABLE);
  const [policies, open] = policy();
  await world.created(policies, open);
  await world.created(PODS, podOf());
  const stricter = { spec: { readOnlyRootFilesystem: true } };
  t.is((await world.write('patch', `${policies}/p`, { body: stricter })).code, 200);
  const finalizers = await world.write('patch', `${PODS}/it`, { body: { metadata: { finalizers: ['x.y/z'] } } });
  t.is(finalizers.code, 200, finalizers.body.message);
  const labels = await world.write('patch', `${PODS}/it`, { body: { metadata: { labels: { a: 'b' } } } });
  t.is(labels.code, 403);
  // It would comply, were it changed.
  t.is(labels.body.message, refused('', 'validate'));
  await world.stop();
});

test('PodSecurityPolicy: containers that are added to a running pod comply as well', async (t) => {
  const world = await AdmissionWorld.start(TABLE);
  await world.created(...policy({ privileged: false }));
  await world.created(PODS, podOf());
  const added = (...names: readonly string[]) =>
    world.write('patch', `${PODS}/it/ephemeralcontainers`, {
      body: { ephemeralContainers: names.map((name) => ({ name, image: 'i' })) },
    });
  t.is((await added('d')).code, 200);
  const [, limited] = policy({ runAsUser: { rule: 'MustRunAs', ranges: [{ min: 5, max: 6 }] } });
  t.is((await world.write('patch', '/apis/policy/v1beta1/podsecuritypolicies/p', { body: limited })).code, 200);
  const { code, body } = await added('d', 'e');
  t.is(code, 403, body.message);
  t.is(body.message, refused('', 'validate'));
  await world.stop();
});

const RBAC = '/apis/rbac.authorization.orch.io/v1';
const rule = (
  apiGroups: readonly string[],
  resources: readonly string[],
  verbs: readonly string[],
  names?: string[],
) => ({
  apiGroups,
  resources,
  verbs,
  ...(names && { resourceNames: names }),
});
const role = (group: string, name = 'p'): Present => [
  `${RBAC}/clusterroles`,
  { metadata: { name: 'user' }, rules: [rule([group], ['podsecuritypolicies'], ['use'], [name])] },
];
const ROLE = { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'user' };
const bound = (subject: object, namespace = ''): Present => [
  namespace === '' ? `${RBAC}/clusterrolebindings` : `${RBAC}/namespaces/${namespace}/rolebindings`,
  { metadata: { name: 'b' }, subjects: [subject], roleRef: ROLE },
];
const ALICE = { kind: 'User', apiGroup: 'rbac.authorization.orch.io', name: 'alice' };
const ROBOT = { kind: 'ServiceAccount', namespace: 'default', name: 'robot' };
const alice = { name: 'alice', groups: [] };
const by = (what: string, present: readonly Present[], body: object, outcome: Partial<PluginCase>): PluginCase => ({
  what,
  present: [policy({ hostIPC: false }), ...present],
  path: PODS,
  body,
  user: alice,
  ...outcome,
});
const NOTHING = refused('');

testPlugin(
  'PodSecurityPolicy',
  {
    ...TABLE,
    authorizationModes: 'RBAC',
    namespaces: ['default', 'other'],
    user: { name: 'admin', groups: ['system:masters'] },
  },
  [
    by('a pod of somebody who may use no policy', [], podOf(), { refused: NOTHING }),
    by('a pod of somebody who may use the policy', [role('policy'), bound(ALICE)], podOf(), { becomes: under('p') }),
    by('a pod of somebody who may use it by its former group', [role('extensions'), bound(ALICE)], podOf(), {
      becomes: under('p'),
    }),
    by('a pod of somebody who may use it in its namespace', [role('policy'), bound(ALICE, 'default')], podOf(), {
      becomes: under('p'),
    }),
    by('a pod of somebody who may use it elsewhere', [role('policy'), bound(ALICE, 'other')], podOf(), {
      refused: NOTHING,
    }),
    by('a pod of somebody who may use another policy', [role('policy', 'q'), bound(ALICE)], podOf(), {
      refused: NOTHING,
    }),
    by('a pod whose account may use it', [role('policy'), bound(ROBOT)], podOf({ serviceAccountName: 'robot' }), {
      becomes: under('p'),
    }),
    by('a pod of another account', [role('policy'), bound(ROBOT)], podOf({ serviceAccountName: 'other' }), {
      refused: NOTHING,
    }),
    by(
      'a pod whose account is in a group that may use it',
      [role('policy'), bound({ ...ALICE, kind: 'Group', name: 'system:serviceaccounts:default' })],
      podOf({ serviceAccountName: 'robot' }),
      { becomes: under('p') },
    ),
    by('a superuser’s pod', [], podOf(), { user: { name: 'root', groups: ['system:masters'] }, becomes: under('p') }),
    by(
      'a pod that complies with a policy of others only',
      [policy({ hostIPC: true }, {}, 'q'), role('policy'), bound(ALICE)],
      podOf({ hostIPC: true }),
      {
        refused: refused('spec.securityContext.hostIPC: Invalid value: true: Host IPC is not allowed to be used'),
      },
    ),
    by('a pod that complies with no policy that its creator may use', [], podOf({ hostIPC: true }), {
      refused: NOTHING,
    }),
  ],
);

test('PodSecurityPolicy: the audit event of a pod says its policy', async (t) => {
  const seen: (readonly AuditAnnotation[])[] = [];
  const witness: AdmissionPluginKind = {
    name: 'AlwaysAdmit',
    wants: [{ operations: ['create'], resources: ['core/pods'] }],
    create: () => ({
      validate: ({ auditAnnotations }) => {
        seen.push(auditAnnotations);
      },
    }),
  };
  const world = await AdmissionWorld.start({ ...TABLE, plugins: [podSecurityPolicy, witness] });
  await world.created(...policy());
  await world.created(PODS, podOf());
  t.deepEqual(seen, [
    [
      { key: 'podsecuritypolicy.policy.orch.io/admit-policy', value: 'p', level: 'Metadata' },
      { key: 'podsecuritypolicy.policy.orch.io/validate-policy', value: 'p', level: 'Metadata' },
    ],
  ]);
  await world.stop();
});
