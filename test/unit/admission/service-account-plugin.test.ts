// ServiceAccount: which account a pod runs as, what it gets of it, and which secrets it may name.
import test from 'ava';
import { AdmissionWorld, type Answer } from './admission-world.ts';

const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
const PODS = '/api/v1/namespaces/default/pods';
const MOUNT_PATH = '/var/run/secrets/orch.io/serviceaccount';

interface PodSpec {
  readonly serviceAccountName: string;
  readonly serviceAccount: string;
  readonly imagePullSecrets?: readonly { readonly name: string }[];
  readonly volumes?: readonly { readonly name: string; readonly projected?: unknown }[];
  readonly containers: readonly { readonly volumeMounts?: readonly { readonly name: string }[] }[];
  readonly initContainers?: readonly { readonly volumeMounts?: readonly { readonly name: string }[] }[];
}

const CONTAINER = { name: 'c', image: 'i' };
const specOf = (pod: Answer): PodSpec => pod.spec as unknown as PodSpec;

const pod = (spec: object = {}, metadata: object = {}) => ({
  metadata: { name: 'it', ...metadata },
  spec: { containers: [CONTAINER], ...spec },
});

/** The pod that comes of a body, beside the accounts. */
async function made(body: object, accounts: readonly object[] = []): Promise<{ code: number; body: Answer }> {
  const world = await AdmissionWorld.start();
  for (const account of accounts) {
    const { metadata } = account as { metadata: { name: string } };
    if (metadata.name === 'default') await world.write('update', `${ACCOUNTS}/default`, { body: account });
    else await world.created(ACCOUNTS, account);
  }
  const answer = await world.write('create', PODS, { body });
  await world.stop();
  return answer;
}

test('a pod that names no account runs as the default one, with its token, authority and namespace mounted', async (t) => {
  const { body } = await made(pod({ initContainers: [{ ...CONTAINER, name: 'first' }] }));
  const spec = specOf(body);
  t.is(spec.serviceAccountName, 'default');
  t.is(spec.serviceAccount, 'default');
  const [volume] = spec.volumes!;
  t.regex(volume!.name, /^orch-api-access-[a-z0-9]{5}$/);
  t.deepEqual(volume!.projected, {
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
      { configMap: { name: 'orch-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
    defaultMode: 420,
  });
  const mount = [{ name: volume!.name, readOnly: true, mountPath: MOUNT_PATH }];
  t.deepEqual(spec.containers[0]?.volumeMounts, mount);
  t.deepEqual(spec.initContainers?.[0]?.volumeMounts, mount);
});

const OWN = { name: 'own', mountPath: MOUNT_PATH };

test('containers that have something mounted there keep it; a pod of such containers gets no volume', async (t) => {
  const volumes = [{ name: 'own', emptyDir: {} }];
  const all = await made(pod({ volumes, containers: [{ ...CONTAINER, volumeMounts: [OWN] }] }));
  t.deepEqual(specOf(all.body).volumes, volumes);
  const some = await made(
    pod({
      volumes,
      containers: [
        { ...CONTAINER, volumeMounts: [OWN] },
        { ...CONTAINER, name: 'd' },
      ],
    }),
  );
  const spec = specOf(some.body);
  t.deepEqual(
    spec.containers.map(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name.replace(/-[a-z0-9]{5}$/, ''))),
    [['own'], ['orch-api-access']],
  );
  t.is(spec.volumes?.length, 2);
});

test('a volume that is there by such a name is mounted in place of another', async (t) => {
  const name = 'orch-api-access-abcde';
  const { body } = await made(pod({ volumes: [{ name, emptyDir: {} }] }));
  t.deepEqual(specOf(body).volumes, [{ name, emptyDir: {} }]);
  t.is(specOf(body).containers[0]?.volumeMounts?.[0]?.name, name);
});

for (const [what, ofPod, ofAccount, isMounted] of [
  ['neither says', undefined, undefined, true],
  ['the account says no', undefined, false, false],
  ['the pod says no', false, undefined, false],
  ['the pod says yes, the account no', true, false, true],
  ['the pod says no, the account yes', false, true, false],
] as const) {
  test(`a token is ${isMounted ? '' : 'not '}mounted where ${what}`, async (t) => {
    const mounts = (value: boolean | undefined) => (value === undefined ? {} : { automountServiceAccountToken: value });
    const account = { metadata: { name: 'default' }, ...mounts(ofAccount) };
    const { body } = await made(pod(mounts(ofPod)), [account]);
    t.is(specOf(body).volumes?.length ?? 0, isMounted ? 1 : 0);
  });
}

test("a pod without pull secrets gets its account's, and one with some keeps them", async (t) => {
  const accounts = [{ metadata: { name: 'builder' }, imagePullSecrets: [{ name: 'registry' }, { name: 'mirror' }] }];
  const without = await made(pod({ serviceAccountName: 'builder' }), accounts);
  t.deepEqual(specOf(without.body).imagePullSecrets, [{ name: 'registry' }, { name: 'mirror' }]);
  t.is(specOf(without.body).serviceAccount, 'builder');
  const own = [{ name: 'own' }];
  const having = await made(pod({ serviceAccountName: 'builder', imagePullSecrets: own }), accounts);
  t.deepEqual(specOf(having.body).imagePullSecrets, own);
});

test('a pod of an account that is not there is refused, in a dry run as well, and by the name it will be given', async (t) => {
  const world = await AdmissionWorld.start();
  const absent = 'error looking up service account default/nobody: serviceaccount "nobody" not found';
  for (const [metadata, shown] of [
    [{ name: 'it' }, 'it'],
    [{ generateName: 'some-' }, 'some-'],
  ] as const)
    for (const parameters of [{}, { dryRun: ['All'] }]) {
      const body = { metadata, spec: { serviceAccountName: 'nobody', containers: [CONTAINER] } };
      const answer = await world.write('create', PODS, { body, parameters });
      t.is(answer.code, 403);
      t.is(answer.body.message, `pods "${shown}" is forbidden: ${absent}`);
    }
  await world.stop();
});

test('the default account is waited for while it is on its way, and not for ever', async (t) => {
  const world = await AdmissionWorld.start({ namespaces: [] });
  await world.created('/api/v1/namespaces', { metadata: { name: 'default' } });
  const refused = await world.write('create', PODS, { body: pod() });
  t.is(
    refused.body.message,
    'pods "it" is forbidden: error looking up service account default/default: serviceaccount "default" not found',
  );
  const waiting = world.soon('create', PODS, { body: pod() });
  await world.created(ACCOUNTS, { metadata: { name: 'default' } });
  t.is((await world.during(waiting)).code, 201);
  await world.stop();
});

const limited = (annotation: string) => ({
  metadata: { name: 'limited', annotations: { 'orch.io/enforce-mountable-secrets': annotation } },
  secrets: [{ name: 'known' }],
  imagePullSecrets: [{ name: 'registry' }],
});
const env = (name: string) => [{ name: 'V', valueFrom: { secretKeyRef: { name, key: 'k' } } }];
const volumeOf = (secretName: string) => [{ name: 'v', secret: { secretName } }];
const ENDING = 'is not allowed because service account limited does not reference that';

for (const [what, spec, problem] of [
  ['a volume of a known secret', { volumes: volumeOf('known') }, ''],
  [
    'a volume of another secret',
    { volumes: volumeOf('other') },
    `volume with secret.secretName="other" ${ENDING} secret`,
  ],
  ['a variable of a known secret', { containers: [{ ...CONTAINER, env: env('known') }] }, ''],
  [
    'a variable of another secret',
    { containers: [{ ...CONTAINER, env: env('other') }] },
    `container c with envVar V referencing secret.secretName="other" ${ENDING} secret`,
  ],
  [
    'a variable of another secret at the beginning',
    { initContainers: [{ ...CONTAINER, name: 'first', env: env('other') }] },
    `init container first with envVar V referencing secret.secretName="other" ${ENDING} secret`,
  ],
  ['a known pull secret', { imagePullSecrets: [{ name: 'registry' }] }, ''],
  [
    'another pull secret',
    { imagePullSecrets: [{ name: 'registry' }, { name: 'other' }] },
    `imagePullSecrets[1].name="other" ${ENDING} imagePullSecret`,
  ],
] as const) {
  test(`an account that limits secrets ${problem === '' ? 'lets' : 'does not let'} its pods have ${what}`, async (t) => {
    const body = pod({ serviceAccountName: 'limited', ...spec });
    const answer = await made(body, [limited('true')]);
    t.is(answer.code, problem === '' ? 201 : 403, answer.body.message);
    if (problem !== '') t.is(answer.body.message, `pods "it" is forbidden: ${problem}`);
    t.is((await made(body, [limited('false')])).code, 201);
  });
}

for (const [what, spec, problem] of [
  ['nothing', {}, ''],
  ['an account', { serviceAccountName: 'default' }, 'a mirror pod may not reference service accounts'],
  ['a secret', { volumes: volumeOf('known') }, 'a mirror pod may not reference secrets'],
  [
    'a secret in its environment',
    { containers: [{ ...CONTAINER, env: env('known') }] },
    'a mirror pod may not reference secrets',
  ],
  [
    'a token',
    { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 'p' } }] } }] },
    'a mirror pod may not use ServiceAccountToken volume projections',
  ],
] as const) {
  test(`a mirror pod that names ${what} is ${problem === '' ? 'left as it is' : 'refused'}`, async (t) => {
    const metadata = { annotations: { 'orch.io/config.mirror': 'x' } };
    const answer = await made(pod({ nodeName: 'n', ...spec }, metadata));
    t.is(answer.code, problem === '' ? 201 : 403, answer.body.message);
    if (problem !== '') t.is(answer.body.message, `pods "it" is forbidden: ${problem}`);
    else t.is(specOf(answer.body).volumes ?? undefined, undefined);
  });
}

test('an update of a pod is not asked about its account', async (t) => {
  const world = await AdmissionWorld.start();
  await world.created(PODS, pod());
  await world.write('delete', `${ACCOUNTS}/default`);
  const answer = await world.write('patch', `${PODS}/it`, { body: { metadata: { labels: { a: 'b' } } } });
  t.is(answer.code, 200);
  await world.stop();
});

test("without tokens of their own, pods get the one in their account's secret, once there is one", async (t) => {
  const world = await AdmissionWorld.start({ featureGates: 'BoundServiceAccountTokenVolume=false' });
  const early = await world.write('create', PODS, { body: pod() });
  t.is(early.code, 500);
  t.is(early.body.reason, 'ServerTimeout');
  t.is(
    early.body.message,
    'No API token found for service account "default", retry after the token is automatically created and added to the service account',
  );
  const { uid } = (await world.stored(`${ACCOUNTS}/default`))!.metadata;
  const secret = (name: string, of: string | undefined) => ({
    metadata: {
      name,
      annotations: { 'orch.io/service-account.name': 'default', 'orch.io/service-account.uid': of ?? '' },
    },
    type: 'orch.io/service-account-token',
  });
  await world.created('/api/v1/namespaces/default/secrets', secret('of-another', 'u'));
  await world.created('/api/v1/namespaces/default/secrets', secret('own', uid));
  const secrets = [{ name: 'gone' }, { name: 'of-another' }, { name: 'own' }];
  await world.write('patch', `${ACCOUNTS}/default`, { body: { secrets } });
  const { body } = await world.write('create', PODS, { body: pod() });
  const spec = specOf(body);
  t.deepEqual(spec.volumes, [{ name: 'own', secret: { secretName: 'own', defaultMode: 420 } }]);
  t.deepEqual(spec.containers[0]?.volumeMounts, [{ name: 'own', readOnly: true, mountPath: MOUNT_PATH }]);
  const taken = await world.write('create', PODS, {
    body: pod({ volumes: [{ name: 'own', emptyDir: {} }] }, { name: 'other' }),
  });
  t.regex(specOf(taken.body).volumes?.[1]?.name ?? '', /^own-[a-z0-9]{5}$/);
  await world.stop();
});

test('a pod gets what its account has now, not what it had for the pod before', async (t) => {
  const world = await AdmissionWorld.start();
  const pulledWith = async (name: string): Promise<unknown> => {
    const { body } = await world.write('create', PODS, { body: pod({}, { name }) });
    return (body.spec as { imagePullSecrets?: unknown }).imagePullSecrets;
  };
  t.is(await pulledWith('first'), undefined);
  await world.write('patch', `${ACCOUNTS}/default`, { body: { imagePullSecrets: [{ name: 'pull' }] } });
  t.deepEqual(await pulledWith('second'), [{ name: 'pull' }]);
  await world.stop();
});
