// The client libraries for Node and Python, listing one object of every type: each checks what it reads against its own types.
// They have the Kubernetes names of groups built in.
import * as k8s from '@kubernetes/client-node';
import ava from 'ava';
import { DIALECTS } from '../../config/dialect.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { Kubectl } from './kubectl.ts';
import { runPython } from './python.ts';
import { apiVersionOf, type BuiltIn, builtIns, makeZoo, ZOO } from './zoo.ts';

const test = testNeeding(ava, ['kubectl', 'python']);

const DIALECT = DIALECTS.kubernetes;
/** Far longer than a hundred lists take. */
const PATIENCE_MS = 240_000;

const undo: (() => void | Promise<void>)[] = [];
let server: ServerProcess | undefined;

test.before(async () => {
  // Python's class of the new group's events wants a time that events about nodes, as the original's, do not have.
  server = await startServer(
    { teardown: (step) => undo.push(step) },
    { args: ['--api-dialect', DIALECT.name, '--controllers=*,-nodelifecycle'], placement: 'default' },
  );
  const kubectl = new Kubectl(server);
  undo.push(() => kubectl.dispose());
  await makeZoo(kubectl, DIALECT);
  // Without what its controller reports, clients refuse an autoscaler: its conditions are required and null.
  const conditions = [{ type: 'AbleToScale', status: 'True' }];
  const { status, text } = await server.client.request(
    'PATCH',
    `/apis/autoscaling/v2beta2/namespaces/${ZOO}/horizontalpodautoscalers/web/status`,
    { body: { status: { conditions } }, headers: { 'content-type': 'application/merge-patch+json' } },
  );
  if (status !== 200) throw new Error(text);
});

test.after.always(async () => {
  for (const step of undo) await step();
});

const TYPES = builtIns(DIALECT).filter(({ verbs }) => verbs.includes('list'));
const titleOf = (type: BuiltIn): string => `${apiVersionOf(type)} ${type.kind}`;

interface TypedList {
  readonly items: readonly { readonly metadata?: k8s.V1ObjectMeta }[];
}
type Call = (settings: { namespace?: string }) => Promise<TypedList>;
type ApiClass = new (configuration: k8s.Configuration) => object & Record<string, Call>;

/** `rbac.authorization.k8s.io` in `v1` is read with RbacAuthorizationV1Api. */
function apiClassOf({ group, version }: BuiltIn): ApiClass | undefined {
  const words = (group === '' ? 'core' : group.replace(/\.k8s\.io$/, '')).split('.');
  const name = [...words, version].map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
  return (k8s as unknown as Record<string, ApiClass | undefined>)[`${name}Api`];
}

test('the client for Node lists every type that it has a class for', async (t) => {
  const config = new k8s.KubeConfig();
  config.loadFromFile(server!.kubeconfig);
  const read: string[] = [];
  const empty: string[] = [];
  for (const type of TYPES) {
    const apiClass = apiClassOf(type);
    if (apiClass === undefined) continue;
    const api = config.makeApiClient(apiClass as never) as InstanceType<ApiClass>;
    const { kind, namespaced } = type;
    const names = namespaced ? [`listNamespaced${kind}`, `list${kind}ForAllNamespaces`] : [`list${kind}`];
    for (const name of names) {
      if (typeof api[name] !== 'function') continue;
      const { items } = await api[name]({ namespace: ZOO });
      read.push(titleOf(type));
      const isTyped = items[0]?.metadata?.creationTimestamp instanceof Date || kind === 'ComponentStatus';
      if (!isTyped) empty.push(`${apiVersionOf(type)} ${name}`);
    }
  }
  t.deepEqual(empty, []);
  // What was served in 1.21 and is in a newer version only since.
  const groupsOf = (titles: readonly string[]): Set<string> =>
    new Set(titles.map((title) => title.replace(/\/.*/, '')));
  const groups = groupsOf(read);
  const unread = [...groupsOf(TYPES.map(titleOf))].filter((group) => !groups.has(group));
  t.deepEqual(unread.sort(), ['extensions', 'flowcontrol.apiserver.k8s.io']);
});

test('the client for Node reads what each group serves', async (t) => {
  const config = new k8s.KubeConfig();
  config.loadFromFile(server!.kubeconfig);
  for (const type of TYPES) {
    const apiClass = apiClassOf(type);
    if (apiClass === undefined) continue;
    const api = config.makeApiClient(apiClass as never) as unknown as k8s.AppsV1Api;
    const { resources } = await api.getAPIResources();
    t.true(
      resources.some(({ kind, name }) => kind === type.kind && name === type.plural),
      titleOf(type),
    );
  }
  const { gitVersion } = await config.makeApiClient(k8s.VersionApi).getCode();
  t.is(gitVersion, DIALECT.gitVersion);
  const { groups } = await config.makeApiClient(k8s.ApisApi).getAPIVersions();
  const served = new Set(TYPES.map(({ group }) => group).filter((group) => group !== ''));
  t.deepEqual(
    groups
      .map(({ name }) => name)
      .filter((name) => served.has(name))
      .sort(),
    [...served].sort(),
  );
});

interface PythonRow {
  readonly method: string;
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly items?: number;
  readonly status?: number;
  readonly message?: string;
}

test('the client for Python lists every type that it has a class for', async (t) => {
  const rows = JSON.parse(await runPython('list_everything.py', [server!.kubeconfig, ZOO], PATIENCE_MS)) as PythonRow[];
  const failed = rows.filter(({ message, status }) => message !== undefined && status !== 404);
  t.deepEqual(failed, []);
  const read = new Set(
    rows.filter(({ items }) => items !== undefined && items > 0).map((row) => `${row.apiVersion} ${row.kind}`),
  );
  // The version after ours has dropped what was in beta and the group that was before the others.
  const preferred = TYPES.filter(({ version, preferredVersion }) => version === preferredVersion);
  const missed = preferred.map((type) => `${titleOf(type)}List`).filter((title) => !read.has(title));
  t.deepEqual(missed, ['extensions/v1beta1 IngressList']);
  const absent = rows.filter(({ status }) => status === 404).map(({ method }) => method);
  t.deepEqual(
    absent.filter((method) => !/^\w+V\d+alpha\d+Api\./.test(method)),
    [],
  );
});
