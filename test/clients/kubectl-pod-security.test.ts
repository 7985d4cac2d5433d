// kubectl in a cluster that holds pods to pod security policies: whose pods are taken under which.
import ava from 'ava';
import { eventually } from '../integration/objects.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { startServer } from '../server/server-process.ts';
import { Kubectl } from './kubectl.ts';

const test = testNeeding(ava, ['kubectl']);

const ANY = { rule: 'RunAsAny' };
const policy = (name: string, spec: object): object => ({
  apiVersion: 'policy/v1beta1',
  kind: 'PodSecurityPolicy',
  metadata: { name },
  spec: { runAsUser: ANY, seLinux: ANY, fsGroup: ANY, supplementalGroups: ANY, ...spec },
});

test('a user makes pods under the policy that a role lets him use, and no others', async (t) => {
  const server = await startServer(t, {
    args: ['--api-dialect=kubernetes', '--enable-admission-plugins=PodSecurityPolicy', '--allow-privileged'],
  });
  const kubectl = new Kubectl(server);
  t.teardown(() => kubectl.dispose());
  const items = [
    policy('open', { privileged: true, volumes: ['*'], hostNetwork: true }),
    policy('strict', {
      runAsUser: { rule: 'MustRunAsNonRoot' },
      allowPrivilegeEscalation: false,
      requiredDropCapabilities: ['ALL'],
      volumes: ['secret', 'emptyDir'],
    }),
  ];
  await kubectl.ok(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const using = ['--verb=use', '--resource=podsecuritypolicies', '--resource-name=strict'];
  await kubectl.ok(['create', 'clusterrole', 'strict-pods', ...using]);
  await kubectl.ok(['create', 'role', 'writer', '--verb=*', '--resource=pods']);
  await kubectl.ok(['create', 'rolebinding', 'writes', '--role=writer', '--user=dev']);
  const dev = ['--as=dev'];
  // Grants count as soon as the thread that decides has heard of them.
  const untilMay = (...what: readonly string[]): Promise<unknown> =>
    eventually(
      () => kubectl.run([...dev, 'auth', 'can-i', ...what]),
      ({ code }) => code === 0,
    );
  await kubectl.accountIn('default');
  await untilMay('create', 'pods');
  const run = (name: string, ...more: readonly string[]): string[] => [...dev, 'run', name, '--image=i', ...more];
  t.is(
    await kubectl.refused(run('web')),
    'Error from server (Forbidden): pods "web" is forbidden: PodSecurityPolicy: unable to admit pod: []\n',
  );
  await kubectl.ok(['create', 'rolebinding', 'strict-dev', '--clusterrole=strict-pods', '--user=dev']);
  await untilMay('use', 'podsecuritypolicies/strict');
  t.is(await kubectl.ok(run('web')), 'pod/web created\n');
  const of = (name: string, path: string): Promise<string> =>
    kubectl.ok(['get', 'pod', name, '-o', `jsonpath=${path}`]);
  t.is(await of('web', '{.metadata.annotations.kubernetes\\.io/psp}'), 'strict');
  t.deepEqual(JSON.parse(await of('web', '{.spec.containers[0].securityContext}')), {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    runAsNonRoot: true,
  });
  t.is(
    await kubectl.refused(run('root', '--privileged')),
    'Error from server (Forbidden): pods "root" is forbidden: PodSecurityPolicy: unable to admit pod: ' +
      '[spec.containers[0].securityContext.privileged: Invalid value: true: Privileged containers are not allowed]\n',
  );
  // A superuser may use every policy; what changes nothing goes first.
  await kubectl.ok(['run', 'root', '--image=i', '--privileged']);
  t.is(await of('root', '{.metadata.annotations.kubernetes\\.io/psp}'), 'open');
  t.is(await kubectl.ok([...dev, 'label', 'pod', 'web', 'a=b']), 'pod/web labeled\n');
  t.regex(
    await kubectl.ok(['get', 'psp', 'strict']),
    /^strict +false +RunAsAny +MustRunAsNonRoot +RunAsAny +RunAsAny +false +secret,emptyDir$/m,
  );
});
