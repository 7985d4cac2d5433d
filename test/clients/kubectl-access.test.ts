// Who kubectl is, and what it is told it may do: by a certificate, by a token, as somebody else; `kubectl auth`; and a client
// library that finds a token where a pod would.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as k8s from '@kubernetes/client-node';
import ava, { type ExecutionContext } from 'ava';
import { certificateAuthority, certificateOf } from '../server/credentials.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { type Scope, type ServerProcess, startServer } from '../server/server-process.ts';
import { Kubectl, kubectlPrograms, type Outcome, type Program } from './kubectl.ts';

const test = testNeeding(ava, ['kubectl']);

let files: string;
let server: ServerProcess;
const undo: (() => void | Promise<void>)[] = [];
const scope: Scope = { teardown: (step) => void undo.push(step) };

test.before(async () => {
  files = mkdtempSync(join(tmpdir(), 'orch-access-'));
  scope.teardown(() => rmSync(files, { recursive: true, force: true }));
  for (const name of ['people', 'strangers']) certificateAuthority(files, name);
  certificateOf(files, 'people', 'jane', '/CN=jane/O=dev');
  certificateOf(files, 'people', 'root', '/CN=root/O=system:masters');
  certificateOf(files, 'strangers', 'forged', '/CN=root/O=system:masters');
  writeFileSync(join(files, 'tokens.csv'), 'token-of-tom,tom,1,"dev,ops"\n');
  server = await startServer(scope, {
    args: [
      '--api-dialect=kubernetes',
      `--client-ca-file=${join(files, 'people.crt')}`,
      `--token-auth-file=${join(files, 'tokens.csv')}`,
    ],
  });
});

test.after.always(async () => {
  for (const step of undo.reverse()) await step();
});

interface Setup {
  /** The administrator's. */
  readonly kubectl: Kubectl;
  /** Arguments that select the test's own namespace. */
  readonly ns: readonly string[];
}

/** The same test once a kubectl, each time in a namespace in which the group `dev` may look at pods and change one config map. */
function withKubectls(
  title: string,
  namespace: string,
  body: (t: ExecutionContext, setup: Setup) => Promise<void>,
): void {
  const add = (program: Program): void => {
    test(program.isOlder ? `${title} (older kubectl)` : title, async (t) => {
      const kubectl = new Kubectl(server, program);
      t.teardown(() => kubectl.dispose());
      const ns = await kubectl.freshNamespace(namespace);
      await kubectl.ok([...ns, 'create', 'role', 'looker', '--verb=get,list,watch', '--resource=pods,pods/log']);
      const one = ['--verb=update', '--resource=configmaps', '--resource-name=mine'];
      await kubectl.ok([...ns, 'create', 'role', 'changer', ...one]);
      for (const role of ['looker', 'changer'])
        await kubectl.ok([...ns, 'create', 'rolebinding', role, `--role=${role}`, '--group=dev']);
      const may = (...what: readonly string[]): Promise<Outcome> =>
        kubectl.run([...ns, '--as=x', '--as-group=dev', 'auth', 'can-i', ...what]);
      for (const what of [
        ['list', 'pods'],
        ['update', 'configmaps/mine'],
      ])
        while ((await may(...what)).code !== 0);
      await body(t, { kubectl, ns });
    });
  };
  for (const program of kubectlPrograms()) add(program);
}

let connections = 0;

/** A connection file of somebody's own, and of one test's: the tests run at once, and one would read what another is writing. */
function connection(name: string, user: object): string {
  const path = join(files, `${name}-${++connections}.kubeconfig`);
  const certificateAuthorityData = Buffer.from(server.caPem).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 's', user: 'u' } }],
    clusters: [{ name: 's', cluster: { server: server.url, 'certificate-authority-data': certificateAuthorityData } }],
    users: [{ name: 'u', user }],
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

const certificate = (name: string): string[] => {
  const at = (ending: string): string => join(files, `${name}.${ending}`);
  return ['--kubeconfig', connection(name, { 'client-certificate': at('crt'), 'client-key': at('key') })];
};

const token = (name: string, text: string): string[] => ['--kubeconfig', connection(name, { token: text })];

withKubectls('kubectl is whom its certificate or its token names', 'as-whom', async (t, { kubectl, ns }) => {
  const refusedTo = (who: string): RegExp =>
    new RegExp(`Error from server \\(Forbidden\\): secrets is forbidden: User "${who}" cannot list resource "secrets"`);
  for (const [who, flags] of [
    ['jane', certificate('jane')],
    ['tom', token('tom', 'token-of-tom')],
  ] as const) {
    t.is((await kubectl.run([...flags, ...ns, 'get', 'pods'])).code, 0, who);
    t.regex(await kubectl.refused([...flags, ...ns, 'get', 'secrets']), refusedTo(who));
  }
  t.is((await kubectl.run([...certificate('root'), ...ns, 'get', 'secrets'])).code, 0);
  for (const flags of [certificate('forged'), token('nobody', 'nobodys-token')])
    t.regex(await kubectl.refused([...flags, ...ns, 'get', 'pods']), /must be logged in|Unauthorized/);
});

withKubectls(
  'kubectl --as and --as-group run as others, for those who may',
  'as-others',
  async (t, { kubectl, ns }) => {
    const dev = ['--as=ann', '--as-group=dev'];
    t.is((await kubectl.run([...dev, ...ns, 'get', 'pods'])).code, 0);
    t.regex(await kubectl.refused(['--as=ann', ...ns, 'get', 'pods']), /User "ann" cannot list resource "pods"/);
    const robot = `--as=system:serviceaccount:${ns[1]}:robot`;
    t.regex(
      await kubectl.refused([robot, ...ns, 'get', 'pods']),
      /User "system:serviceaccount:[a-z-]+:robot" cannot list/,
    );
    const tom = token('tom', 'token-of-tom');
    t.regex(
      await kubectl.refused([...tom, '--as=ann', ...ns, 'get', 'pods']),
      /users "ann" is forbidden: User "tom" cannot impersonate resource "users" in API group "" at the cluster scope/,
    );
    await kubectl.ok(['create', 'clusterrole', `be-${ns[1]}`, '--verb=impersonate', '--resource=users']);
    await kubectl.ok(['create', 'clusterrolebinding', `be-${ns[1]}`, `--clusterrole=be-${ns[1]}`, '--user=tom']);
    while (!(await kubectl.refused([...tom, '--as=ann', ...ns, 'get', 'pods'])).includes('User "ann"'));
    t.regex(
      await kubectl.refused([...tom, ...dev, ...ns, 'get', 'pods']),
      /groups "dev" is forbidden: User "tom" cannot/,
    );
  },
);

/** The lines of a table without its head, blanks as one. */
function rows(text: string): string[] {
  return text
    .split('\n')
    .slice(1)
    .map((line) => line.replace(/ +/g, ' ').trim())
    .filter((line) => line !== '');
}

withKubectls('kubectl auth can-i says what one may do', 'may', async (t, { kubectl, ns }) => {
  const tom = [...token('tom', 'token-of-tom'), ...ns];
  const asked: readonly (readonly [what: string, answer: string])[] = [
    ['list pods', 'yes'],
    ['get pods --subresource=log', 'yes'],
    ['delete pods', 'no'],
    ['update configmaps', 'no'],
    ['update configmaps/mine', 'yes'],
    ['update configmaps/other', 'no'],
    ['list pods --all-namespaces', 'no'],
    ['get /version', 'yes'],
    ['get /metrics', 'no'],
    ['create selfsubjectaccessreviews.authorization.k8s.io', 'yes'],
  ];
  for (const [what, answer] of asked) {
    const { code, stdout } = await kubectl.run([...tom, 'auth', 'can-i', ...what.split(' ')]);
    t.is(stdout.split('\n')[0]?.split(' ')[0], answer, what);
    t.is(code, answer === 'yes' ? 0 : 1, what);
  }
  const listed = rows(await kubectl.ok([...tom, 'auth', 'can-i', '--list']));
  for (const row of [
    'pods/log [] [] [get list watch]',
    'pods [] [] [get list watch]',
    'configmaps [] [mine] [update]',
    'selfsubjectrulesreviews.authorization.k8s.io [] [] [create]',
    '[/version] [] [get]',
  ])
    t.true(listed.includes(row), `${row} in ${listed.join('\n')}`);
  t.false(listed.some((row) => row.startsWith('*.*') || row.startsWith('secrets')));
});

withKubectls(
  'kubectl auth reconcile brings roles and bindings to what a file says',
  'files',
  async (t, { kubectl, ns }) => {
    const name = ns[1]!;
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    const list = (verbs: readonly string[], users: readonly string[]): string =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'List',
        items: [
          {
            apiVersion,
            kind: 'ClusterRole',
            metadata: { name },
            rules: [{ apiGroups: [''], resources: ['pods'], verbs }],
          },
          {
            apiVersion,
            kind: 'ClusterRoleBinding',
            metadata: { name },
            roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
            subjects: users.map((user) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user })),
          },
        ],
      });
    const read = async (kind: string, path: string): Promise<string> =>
      kubectl.ok(['get', kind, name, '-o', `jsonpath=${path}`]);
    await kubectl.ok(['auth', 'reconcile', '-f', '-'], list(['get'], ['una']));
    await kubectl.ok(['auth', 'reconcile', '-f', '-'], list(['list'], ['bob']));
    t.is(await read('clusterrole', '{.rules[*].verbs[*]}'), 'get list');
    t.is(await read('clusterrolebinding', '{.subjects[*].name}'), 'una bob');
    await kubectl.ok(['auth', 'reconcile', '--dry-run=client', '-f', '-'], list(['watch'], ['eve']));
    t.is(await read('clusterrolebinding', '{.subjects[*].name}'), 'una bob');
    const exactly = ['auth', 'reconcile', '--remove-extra-permissions', '--remove-extra-subjects', '-f', '-'];
    await kubectl.ok(exactly, list(['list'], ['bob']));
    t.is(await read('clusterrole', '{.rules[*].verbs[*]}'), 'list');
    t.is(await read('clusterrolebinding', '{.subjects[*].name}'), 'bob');
    const refused = await kubectl.refused([...token('tom', 'token-of-tom'), ...exactly], list(['list'], ['tom']));
    t.regex(refused, /User "tom" cannot get resource "clusterroles"/);
  },
);

/** A token as `kubectl create token` asks for it, which older ones do not know. */
async function issued(kubectl: Kubectl, ns: readonly string[]): Promise<string> {
  if (!kubectl.isOlder) return kubectl.ok([...ns, 'create', 'token', 'robot']);
  const path = `/api/v1/namespaces/${ns[1]}/serviceaccounts/robot/token`;
  const request = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} });
  const answer = JSON.parse(await kubectl.ok(['create', '--raw', path, '-f', '-'], request)) as {
    status: { token: string };
  };
  return answer.status.token;
}

test.serial('a client library takes the token that a pod would find', async (t) => {
  const kubectl = new Kubectl(server);
  t.teardown(() => kubectl.dispose());
  const ns = await kubectl.freshNamespace('in-cluster');
  await kubectl.ok([...ns, 'create', 'serviceaccount', 'robot']);
  await kubectl.ok([...ns, 'create', 'rolebinding', 'robot', '--clusterrole=view', `--serviceaccount=${ns[1]}:robot`]);
  const root = mkdtempSync(join(tmpdir(), 'orch-pod-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const mounted = join(root, 'var/run/secrets/kubernetes.io/serviceaccount');
  mkdirSync(mounted, { recursive: true });
  writeFileSync(join(mounted, 'token'), (await issued(kubectl, ns)).trim());
  writeFileSync(join(mounted, 'ca.crt'), server.caPem);
  writeFileSync(join(mounted, 'namespace'), ns[1]!);
  process.env.KUBERNETES_SERVICE_HOST = '127.0.0.1';
  process.env.KUBERNETES_SERVICE_PORT = String(server.port);
  const config = new k8s.KubeConfig();
  config.loadFromCluster(root);
  const core = config.makeApiClient(k8s.CoreV1Api);
  const namespace = readFileSync(join(mounted, 'namespace'), 'utf8');
  for (;;) {
    const listed = await core.listNamespacedPod({ namespace }).catch((error: k8s.ApiException<unknown>) => error.code);
    if (typeof listed === 'object') break;
    t.is(listed, 403);
  }
  await t.throwsAsync(core.listNamespacedSecret({ namespace }), { message: /cannot list resource .*secrets/ });
  await kubectl.ok([...ns, 'delete', 'serviceaccount', 'robot']);
  await t.throwsAsync(core.listNamespacedPod({ namespace }), { message: /401|Unauthorized/ });
});
