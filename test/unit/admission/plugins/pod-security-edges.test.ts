// PodSecurityPolicy: every type of volume by its name, and where a rule of a policy ends: empty lists, patterns, names of old.
import test from 'ava';
import type { AdmissionPluginKind } from '../../../../actors/admission/plugins/plugin.ts';
import { podSecurityPolicy } from '../../../../actors/admission/plugins/pod-security-policy/pod-security-policy.ts';
import { AdmissionWorld } from '../admission-world.ts';
import { PODS, podOf } from './plugin-cases.ts';
import { policy, TABLE, testPods } from './pod-security.ts';

/** A volume of each type as pods say it; policies call it the same, but for one. */
const SOURCES: Readonly<Record<string, object>> = {
  azureFile: { secretName: 's', shareName: 'a' },
  flocker: { datasetName: 'd' },
  flexVolume: { driver: 'x/a' },
  hostPath: { path: '/' },
  emptyDir: {},
  gcePersistentDisk: { pdName: 'd' },
  awsElasticBlockStore: { volumeID: 'v' },
  gitRepo: { repository: 'r' },
  secret: { secretName: 's' },
  nfs: { server: 's', path: '/' },
  iscsi: { targetPortal: '10.0.0.1:3260', iqn: 'iqn.2001-04.com.example:storage', lun: 0 },
  glusterfs: { endpoints: 'e', path: '/' },
  persistentVolumeClaim: { claimName: 'c' },
  rbd: { monitors: ['m'], image: 'i' },
  cinder: { volumeID: 'v' },
  cephfs: { monitors: ['m'] },
  downwardAPI: { items: [] },
  fc: { targetWWNs: ['w'], lun: 1 },
  configMap: { name: 'm' },
  vsphereVolume: { volumePath: 'p' },
  quobyte: { registry: 'r:1', volume: 'v' },
  azureDisk: { diskName: 'd', diskURI: 'https://blob.example/d.vhd' },
  photonPersistentDisk: { pdID: 'd' },
  storageos: { volumeName: 'v' },
  projected: { sources: [] },
  portworxVolume: { volumeID: 'v' },
  scaleIO: { gateway: 'g', system: 's', secretRef: { name: 's' }, volumeName: 'v' },
  csi: { driver: 'a.b' },
  ephemeral: {
    volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } } },
  },
};
const MEMBERS = Object.keys(SOURCES);
const NAMES = MEMBERS.map((member) => (member === 'cephfs' ? 'cephFS' : member));
const everyVolume = podOf({
  volumes: MEMBERS.map((member, index) => ({ name: `v${index}`, [member]: SOURCES[member] })),
});

testPods([
  ['a pod with a volume of each type, each allowed by its name', policy({ volumes: NAMES }), everyVolume, {}],
  [
    'a pod with a volume of each type where none is allowed',
    policy({ volumes: [] }),
    everyVolume,
    NAMES.map(
      (name, index) => `spec.volumes[${index}]: Invalid value: "${name}": ${name} volumes are not allowed to be used`,
    ).join(' '),
  ],
]);

const host = (path: string): object => podOf({ volumes: [{ name: 'v', hostPath: { path } }] });
testPods([
  [
    'a pod with a path of a host whose root is allowed',
    policy({ allowedHostPaths: [{ pathPrefix: '/' }] }),
    host('/etc'),
    {},
  ],
  [
    'a pod with the very path that is allowed with a slash behind it',
    policy({ allowedHostPaths: [{ pathPrefix: '/foo/' }] }),
    host('/foo'),
    {},
  ],
]);

const SECCOMP = 'seccomp.security.alpha.orch.io';
const POD = `${SECCOMP}/pod`;
const ITS = `container.${SECCOMP}/c`;
const seccomp = (allowedProfileNames: string, defaultProfileName?: string) =>
  policy(
    {},
    {
      [`${SECCOMP}/allowedProfileNames`]: allowedProfileNames,
      ...(defaultProfileName && { [`${SECCOMP}/defaultProfileName`]: defaultProfileName }),
    },
  );
const noted = (annotations: object): object => podOf({}, {}, { annotations });
const refusedProfile = (key: string, profile: string, valid: string): string =>
  `pod.metadata.annotations[${key}]: Forbidden: ${profile} is not an allowed seccomp profile. Valid values are ${valid}`;
testPods([
  ['a pod without a seccomp profile where the list of them is blank', seccomp(''), podOf(), {}],
  [
    'a pod with a seccomp profile where the list of them is blank',
    seccomp(''),
    noted({ [POD]: 'unconfined' }),
    [POD, ITS].map((key) => refusedProfile(key, 'unconfined', '')).join(' '),
  ],
  [
    'a container noted with a seccomp profile that is not its pod’s',
    seccomp('runtime/default', 'runtime/default'),
    noted({ [ITS]: 'localhost/x' }),
    refusedProfile(ITS, 'localhost/x', 'runtime/default'),
  ],
  [
    'a pod that gets a profile by its older name',
    seccomp('runtime/default', 'docker/default'),
    podOf(),
    {
      metadata: { annotations: { [POD]: 'docker/default' } },
      spec: { securityContext: { seccompProfile: { type: 'RuntimeDefault' } } },
    },
  ],
  [
    'a pod with any seccomp profile beside one that is named',
    seccomp('localhost/a,*'),
    noted({ [POD]: 'localhost/x' }),
    {},
  ],
]);

const tuned = (name: string): object => podOf({ securityContext: { sysctls: [{ name, value: '1' }] } });
const MUST = { rule: 'MustRunAs', ranges: [{ min: 10, max: 20 }] };
const CONTEXT = 'spec.containers[0].securityContext';
testPods([
  [
    'a pod with any unsafe setting where all are allowed',
    policy({ allowedUnsafeSysctls: ['*'] }),
    tuned('net.core.somaxconn'),
    {},
  ],
  [
    'a container that drops what is added by default',
    policy({ defaultAddCapabilities: ['X', 'Y'], requiredDropCapabilities: ['Z'] }),
    podOf({}, { securityContext: { capabilities: { drop: ['X'] } } }),
    { spec: { containers: [{ securityContext: { capabilities: { add: ['Y'], drop: ['X', 'Z'] } } }] } },
  ],
  [
    'a pod with all that can be wrong at once, in the order of its fields',
    policy({ fsGroup: MUST, supplementalGroups: MUST, volumes: [], runtimeClass: { allowedRuntimeClassNames: ['a'] } }),
    podOf(
      {
        hostPID: true,
        runtimeClassName: 'x',
        securityContext: { fsGroup: 1, supplementalGroups: [2], sysctls: [{ name: 'kernel.msgmax', value: '1' }] },
        volumes: [{ name: 'v', emptyDir: {} }],
      },
      { securityContext: { privileged: true, procMount: 'Unmasked' }, ports: [{ containerPort: 8, hostPort: 9 }] },
    ),
    [
      'spec.securityContext.fsGroup: Invalid value: []int64{1}: group 1 must be in the ranges: [{10 20}]',
      'spec.securityContext.supplementalGroups: Invalid value: []int64{2}: group 2 must be in the ranges: [{10 20}]',
      'spec.securityContext.hostPID: Invalid value: true: Host PID is not allowed to be used',
      'pod.spec.securityContext.sysctls[0]: Forbidden: unsafe sysctl "kernel.msgmax" is not allowed',
      'spec.volumes[0]: Invalid value: "emptyDir": emptyDir volumes are not allowed to be used',
      'spec.runtimeClassName: Invalid value: "x"',
      `${CONTEXT}.privileged: Invalid value: true: Privileged containers are not allowed`,
      `${CONTEXT}.procMount: Invalid value: "Unmasked": ProcMountType is not allowed`,
      'spec.containers[0].hostPort: Invalid value: 9: Host port 9 is not allowed to be used. Allowed ports: []',
    ].join(' '),
  ],
]);

test('PodSecurityPolicy: a pod that changes is looked at by the policy that it was taken under before others', async (t) => {
  const validated: string[] = [];
  const witness: AdmissionPluginKind = {
    name: 'AlwaysAdmit',
    wants: [{ operations: ['update'], resources: ['core/pods'] }],
    create: () => ({
      validate: ({ auditAnnotations }) => {
        validated.push(...auditAnnotations.map(({ value }) => value));
      },
    }),
  };
  const world = await AdmissionWorld.start({ ...TABLE, plugins: [podSecurityPolicy, witness] });
  const [policies, last] = policy({}, {}, 'z');
  await world.created(policies, last);
  await world.created(PODS, podOf());
  await world.created(...policy({}, {}, 'a'));
  const relabel = (to: string) => world.write('patch', `${PODS}/it`, { body: { metadata: { labels: { to } } } });
  t.is((await relabel('one')).code, 200);
  t.is((await world.write('delete', `${policies}/z`)).code, 200);
  t.is((await relabel('two')).code, 200);
  t.deepEqual(validated, ['z', 'a']);
  await world.stop();
});
