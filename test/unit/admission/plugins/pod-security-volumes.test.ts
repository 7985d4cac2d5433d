// PodSecurityPolicy: volumes, profiles and runtime classes.
import { PODS, podOf, testPlugin } from './plugin-cases.ts';
import { policy, TABLE, testPods } from './pod-security.ts';

const volume = (source: object, mount: object | undefined = undefined): object =>
  podOf(
    { volumes: [{ name: 'v', ...source }] },
    mount === undefined ? {} : { volumeMounts: [{ name: 'v', mountPath: '/v', ...mount }] },
  );
const only = (...volumes: readonly string[]) => policy({ volumes });
const denied = (type: string): string =>
  `spec.volumes[0]: Invalid value: "${type}": ${type} volumes are not allowed to be used`;
const TOKEN = { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } };
const ROOT = { configMap: { name: 'orch-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } };
const SPACE = {
  downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] },
};
const projected = (...sources: readonly object[]): object =>
  podOf({ volumes: [{ name: 'v', projected: { sources } }], serviceAccountName: 'robot' });

testPods([
  ['a pod with a volume of an allowed type', only('emptyDir'), volume({ emptyDir: {} }), {}],
  ['a pod with a volume where all are allowed', only('*'), volume({ nfs: { server: 's', path: '/' } }), {}],
  ['a pod with a volume of another type', only('secret'), volume({ emptyDir: {} }), denied('emptyDir')],
  ['a pod with a volume where none is allowed', only(), volume({ secret: { secretName: 's' } }), denied('secret')],
  ['a pod with a claim', only('persistentVolumeClaim'), volume({ persistentVolumeClaim: { claimName: 'c' } }), {}],
  ['a pod with a ceph volume', only('cephFS'), volume({ cephfs: { monitors: ['m'] } }), {}],
  [
    'a pod with a ceph volume that is not allowed',
    only('nfs'),
    volume({ cephfs: { monitors: ['m'] } }),
    denied('cephFS'),
  ],
  ['a pod with a git volume', only('nfs'), volume({ gitRepo: { repository: 'r' } }), denied('gitRepo')],
  ['a pod with a volume made for it', only('nfs'), volume({ hostPath: { path: '/' } }), denied('hostPath')],
  ['a pod with the token of its account where secrets are allowed', only('secret'), projected(TOKEN, ROOT, SPACE), {}],
  ['a pod with a token where projections are allowed', only('projected'), projected(TOKEN), {}],
  ['a pod with a token where only others are allowed', only('configMap'), projected(TOKEN), denied('projected')],
  [
    'a pod with a token for others where secrets are allowed',
    only('secret'),
    projected({ serviceAccountToken: { path: 'token', audience: 'others' } }),
    denied('projected'),
  ],
  [
    'a pod with a token elsewhere where secrets are allowed',
    only('secret'),
    projected({ serviceAccountToken: { path: 'elsewhere' } }),
    denied('projected'),
  ],
  [
    'a pod with another map beside its token',
    only('secret'),
    projected(TOKEN, { configMap: { name: 'other' } }),
    denied('projected'),
  ],
  [
    'a pod with a secret beside its token',
    only('secret'),
    projected(TOKEN, { secret: { name: 's' } }),
    denied('projected'),
  ],
  [
    'a pod with another field beside its token',
    only('secret'),
    projected(TOKEN, {
      downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } }] },
    }),
    denied('projected'),
  ],
]);

const paths = policy({ allowedHostPaths: [{ pathPrefix: '/foo' }, { pathPrefix: '/read', readOnly: true }] });
const host = (path: string, mount?: object): object => volume({ hostPath: { path } }, mount);
const notAllowed = (path: string): string =>
  `spec.volumes[0].hostPath.pathPrefix: Invalid value: "${path}": is not allowed to be used`;
testPods([
  ['a pod with an allowed path', paths, host('/foo', {}), {}],
  ['a pod with a path below an allowed one', paths, host('/foo/bar/', {}), {}],
  ['a pod with a path that only begins like an allowed one', paths, host('/food'), notAllowed('/food')],
  ['a pod with the root of its host', paths, host('/'), notAllowed('/')],
  ['a pod with any path where all are allowed', policy(), host('/etc', {}), {}],
  ['a pod that reads a path that it may read', paths, host('/read/me', { readOnly: true }), {}],
  [
    'a pod that writes a path that it may read',
    paths,
    host('/read', {}),
    'spec.containers[0].volumeMounts[0].readOnly: Invalid value: false: must be read-only',
  ],
  [
    'a pod that writes a path that it may read by one prefix and write by another',
    policy({ allowedHostPaths: [{ pathPrefix: '/a', readOnly: true }, { pathPrefix: '/a/b' }] }),
    host('/a/b/c', {}),
    {},
  ],
]);

const flex = (driver: string): object => volume({ flexVolume: { driver } });
const csi = (driver: string): object => volume({ csi: { driver } });
testPods([
  ['a pod with an allowed flex driver', policy({ allowedFlexVolumes: [{ driver: 'x/a' }] }), flex('x/a'), {}],
  [
    'a pod with another flex driver',
    policy({ allowedFlexVolumes: [{ driver: 'x/a' }] }),
    flex('x/b'),
    'spec.volumes[0].driver: Invalid value: "x/b": Flexvolume driver is not allowed to be used',
  ],
  ['a pod with any flex driver', policy(), flex('x/b'), {}],
  ['a pod with an allowed CSI driver', policy({ allowedCSIDrivers: [{ name: 'a.b' }] }), csi('a.b'), {}],
  [
    'a pod with another CSI driver',
    policy({ allowedCSIDrivers: [{ name: 'a.b' }] }),
    csi('c.d'),
    'spec.volumes[0].csi.driver: Invalid value: "c.d": Inline CSI driver is not allowed to be used',
  ],
  ['a pod with any CSI driver', policy(), csi('c.d'), {}],
]);

const POD_SECCOMP = 'seccomp.security.alpha.orch.io/pod';
const ALLOWED_SECCOMP = 'seccomp.security.alpha.orch.io/allowedProfileNames';
const ITS_SECCOMP = 'container.seccomp.security.alpha.orch.io/c';
const seccomp = (allowed: string | undefined, standard?: string) =>
  policy(
    {},
    {
      ...(allowed === undefined ? undefined : { [ALLOWED_SECCOMP]: allowed }),
      ...(standard === undefined ? undefined : { 'seccomp.security.alpha.orch.io/defaultProfileName': standard }),
    },
  );
const noted = (annotations: object): object => podOf({}, {}, { annotations });
const profiled = (seccompProfile: object): object => podOf({ securityContext: { seccompProfile } });
const DEFAULT = { type: 'RuntimeDefault' };
const both = (said: (key: string) => string): string =>
  [POD_SECCOMP, ITS_SECCOMP].map((key) => `pod.metadata.annotations[${key}]: Forbidden: ${said(key)}`).join(' ');
const wrong = (profile: string, valid: string): string =>
  both(() => `${profile} is not an allowed seccomp profile. Valid values are ${valid}`);
testPods([
  [
    'a pod without a seccomp profile',
    seccomp('*', 'runtime/default'),
    podOf(),
    {
      metadata: { annotations: { [POD_SECCOMP]: 'runtime/default' } },
      spec: { securityContext: { seccompProfile: DEFAULT } },
    },
  ],
  ['a pod without a seccomp profile where none is set', seccomp('*'), podOf(), { spec: { securityContext: {} } }],
  [
    'a pod with an allowed seccomp profile',
    seccomp('localhost/a,unconfined'),
    noted({ [POD_SECCOMP]: 'localhost/a' }),
    {},
  ],
  [
    'a pod with an allowed seccomp profile in the field',
    seccomp('localhost/a'),
    profiled({ type: 'Localhost', localhostProfile: 'a' }),
    {},
  ],
  [
    'a pod with the older name of an allowed profile',
    seccomp('runtime/default'),
    noted({ [POD_SECCOMP]: 'docker/default' }),
    {},
  ],
  ['a pod with the newer name of an allowed profile', seccomp('docker/default'), profiled(DEFAULT), {}],
  [
    'a pod with another seccomp profile',
    seccomp('runtime/default'),
    noted({ [POD_SECCOMP]: 'unconfined' }),
    wrong('unconfined', 'runtime/default'),
  ],
  [
    'a pod with another seccomp profile in the field',
    seccomp('runtime/default'),
    profiled({ type: 'Unconfined' }),
    wrong('unconfined', 'runtime/default'),
  ],
  [
    'a pod with a seccomp profile where none is allowed',
    policy(),
    profiled(DEFAULT),
    both(() => 'seccomp may not be set'),
  ],
  ['a pod without a seccomp profile where one is required', seccomp('unconfined'), podOf(), wrong('', 'unconfined')],
  [
    'a container with a seccomp profile of its own',
    seccomp('runtime/default', 'runtime/default'),
    podOf({}, { securityContext: { seccompProfile: { type: 'Unconfined' } } }),
    `pod.metadata.annotations[${ITS_SECCOMP}]: Forbidden: unconfined is not an allowed seccomp profile. ` +
      'Valid values are runtime/default',
  ],
]);

testPlugin('PodSecurityPolicy', TABLE, [
  {
    what: 'a pod that is given a seccomp annotation which its policy allows',
    present: [seccomp('*'), [PODS, podOf()]],
    verb: 'patch',
    path: `${PODS}/it`,
    body: { metadata: { annotations: { [POD_SECCOMP]: 'runtime/default' } } },
    becomes: { metadata: { annotations: { [POD_SECCOMP]: 'runtime/default' } }, spec: { securityContext: {} } },
  },
  {
    what: 'a pod that a policy leaves as it is, which has its seccomp profile in an annotation',
    present: [
      policy({ defaultAddCapabilities: ['KILL'] }, { [ALLOWED_SECCOMP]: '*' }, 'a'),
      policy({}, { [ALLOWED_SECCOMP]: '*' }, 'b'),
    ],
    path: PODS,
    body: noted({ [POD_SECCOMP]: 'runtime/default' }),
    becomes: {
      metadata: { annotations: { 'orch.io/psp': 'b' } },
      spec: { securityContext: { seccompProfile: DEFAULT } },
    },
  },
]);

const ARMOR = 'container.apparmor.security.beta.orch.io/c';
const armor = (allowed: string | undefined, standard?: string) =>
  policy(
    {},
    {
      ...(allowed === undefined ? undefined : { 'apparmor.security.beta.orch.io/allowedProfileNames': allowed }),
      ...(standard === undefined ? undefined : { 'apparmor.security.beta.orch.io/defaultProfileName': standard }),
    },
  );
testPods([
  [
    'a container without an AppArmor profile',
    armor('runtime/default', 'runtime/default'),
    podOf(),
    { metadata: { annotations: { [ARMOR]: 'runtime/default' } } },
  ],
  [
    'a container with an allowed AppArmor profile',
    armor('localhost/a,localhost/b'),
    noted({ [ARMOR]: 'localhost/b' }),
    {},
  ],
  ['a container with any AppArmor profile', policy(), noted({ [ARMOR]: 'localhost/b' }), {}],
  [
    'a container with another AppArmor profile',
    armor('localhost/a'),
    noted({ [ARMOR]: 'localhost/b' }),
    `pod.metadata.annotations[${ARMOR}]: Forbidden: localhost/b is not an allowed profile. Allowed values: "localhost/a"`,
  ],
  [
    'a container without the AppArmor profile that it must have',
    armor('localhost/a'),
    podOf(),
    `pod.metadata.annotations[${ARMOR}]: Forbidden: AppArmor profile must be set`,
  ],
]);

const classes = (allowed: readonly string[], standard?: string) =>
  policy({
    runtimeClass: { allowedRuntimeClassNames: allowed, ...(standard && { defaultRuntimeClassName: standard }) },
  });
testPods([
  ['a pod without a runtime class', classes(['a'], 'a'), podOf(), { spec: { runtimeClassName: 'a' } }],
  [
    'a pod without a runtime class where none is set',
    classes(['a']),
    podOf(),
    { spec: { runtimeClassName: undefined } },
  ],
  ['a pod with an allowed runtime class', classes(['a', 'b']), podOf({ runtimeClassName: 'b' }), {}],
  ['a pod with any runtime class', classes(['*']), podOf({ runtimeClassName: 'x' }), {}],
  ['a pod with a runtime class where the policy says nothing', policy(), podOf({ runtimeClassName: 'x' }), {}],
  [
    'a pod with another runtime class',
    classes(['a']),
    podOf({ runtimeClassName: 'x' }),
    'spec.runtimeClassName: Invalid value: "x"',
  ],
]);
