// kubectl as its users run it, against a real server, in both dialects.

import ava, { type ExecutionContext } from 'ava';
import { DIALECT_NAMES, DIALECTS, type DialectName } from '../../config/dialect.ts';
import type { ApiObject } from '../server/https-client.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { Kubectl } from './kubectl.ts';

const test = testNeeding(ava, ['kubectl']);

interface Setup {
  readonly server: ServerProcess;
  readonly kubectl: Kubectl;
}

const setups = new Map<DialectName, Setup>();
const undo: (() => void | Promise<void>)[] = [];

test.before(async () => {
  await Promise.all(
    DIALECT_NAMES.map(async (dialect) => {
      const server = await startServer(
        { teardown: (step) => undo.push(step) },
        { args: ['--api-dialect', dialect, '--placement', 'default'] },
      );
      const kubectl = new Kubectl(server);
      undo.push(() => kubectl.dispose());
      setups.set(dialect, { server, kubectl });
    }),
  );
});

test.after.always(async () => {
  for (const step of undo) await step();
});

type Body = (t: ExecutionContext, kubectl: Kubectl, dialect: DialectName) => Promise<void>;

/** The same test once a dialect. */
function inBothDialects(title: string, body: Body): void {
  for (const dialect of DIALECT_NAMES) {
    test.serial(`${title} (${dialect})`, (t) => body(t, setups.get(dialect)!.kubectl, dialect));
  }
}

async function freshNamespace(kubectl: Kubectl, name: string): Promise<string[]> {
  await kubectl.namespace(name);
  return ['-n', name];
}

const names = (output: string): string[] => output.split('\n').filter((line) => line !== '');

const MANIFEST = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 2
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: server
        image: example/server:1
        ports:
        - containerPort: 80
        resources:
          requests: {cpu: 100m, memory: 64Mi}
---
apiVersion: v1
kind: Service
metadata:
  name: web
  labels: {app: web}
spec:
  selector: {app: web}
  ports:
  - port: 80
    targetPort: 80
---
# A document that is only a comment is none.
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  mode: "on"
  text: |
    two
    lines
---
apiVersion: v1
kind: Secret
metadata:
  name: password
type: Opaque
stringData:
  word: swordfish
---
apiVersion: v1
kind: Pod
metadata:
  name: single
  labels: {app: single}
spec:
  containers:
  - name: main
    image: example/main:1
`;

inBothDialects('kubectl version reports the server, and cluster-independent raw paths answer', async (t, kubectl) => {
  const version = await kubectl.json<{ serverVersion: { gitVersion: string; major: string; minor: string } }>([
    'version',
  ]);
  t.is(version.serverVersion.gitVersion, 'v1.21.0+orch');
  t.is(`${version.serverVersion.major}.${version.serverVersion.minor}`, '1.21');
  t.is(await kubectl.ok(['get', '--raw', '/readyz']), 'ok');
  const groups = JSON.parse(await kubectl.ok(['get', '--raw', '/apis'])) as { groups: { name: string }[] };
  t.true(groups.groups.some(({ name }) => name === 'apps'));
  t.regex(await kubectl.ok(['get', '--raw', '/readyz?verbose']), /^\[\+\]ping ok\n/);
});

inBothDialects(
  'kubectl api-resources lists built-in types with their groups and short names',
  async (t, kubectl, dialect) => {
    const lines = (await kubectl.ok(['api-resources', '--no-headers']))
      .split('\n')
      .map((line) => line.split(/\s+/).join(' '));
    t.true(lines.includes('pods po v1 true Pod'));
    t.true(lines.includes('namespaces ns v1 false Namespace'));
    t.true(lines.includes('deployments deploy apps/v1 true Deployment'));
    t.true(lines.includes(`roles rbac.authorization.${DIALECTS[dialect].groupDomain}/v1 true Role`));
    const versions = names(await kubectl.ok(['api-versions']));
    t.true(versions.includes('apps/v1'));
    t.true(versions.includes(`storage.${DIALECTS[dialect].groupDomain}/v1`));
  },
);

inBothDialects('kubectl get ns shows the namespaces a cluster starts with', async (t, kubectl, dialect) => {
  const { systemNamespace, publicNamespace, nodeLeaseNamespace } = DIALECTS[dialect];
  const listed = names(await kubectl.ok(['get', 'ns', '-o', 'name']));
  for (const name of ['default', systemNamespace, publicNamespace, nodeLeaseNamespace]) {
    t.true(listed.includes(`namespace/${name}`), name);
  }
});

inBothDialects(
  'kubectl creates a namespace and a configmap, and prints them as name, yaml and json',
  async (t, kubectl) => {
    t.is(await kubectl.ok(['create', 'namespace', 'printing']), 'namespace/printing created\n');
    const created = await kubectl.ok(['-n', 'printing', 'create', 'configmap', 'one', '--from-literal=key=value: 1']);
    t.is(created, 'configmap/one created\n');
    t.is(await kubectl.ok(['-n', 'printing', 'get', 'configmap', 'one', '-o', 'name']), 'configmap/one\n');
    t.is(await kubectl.ok(['-n', 'printing', 'get', 'cm/one', '-o', 'jsonpath={.data.key}']), 'value: 1');
    t.regex(await kubectl.ok(['-n', 'printing', 'get', 'cm', 'one', '-o', 'yaml']), /^data:\n {2}key: 'value: 1'$/m);
    const object = await kubectl.json<ApiObject>(['-n', 'printing', 'get', 'cm', 'one']);
    t.like(object, { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'one', namespace: 'printing' } });
    const list = await kubectl.json<ApiObject>(['-n', 'printing', 'get', 'cm']);
    t.true(list.items?.some(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'one'));
    t.regex(await kubectl.ok(['-n', 'printing', 'get', 'cm']), /^NAME +.*AGE *$/m);
  },
);

inBothDialects('kubectl create -f takes several documents with validation on', async (t, kubectl) => {
  const ns = await freshNamespace(kubectl, 'manifest');
  const created = names(await kubectl.ok([...ns, 'create', '-f', '-'], MANIFEST));
  t.deepEqual(created, [
    'deployment.apps/web created',
    'service/web created',
    'configmap/settings created',
    'secret/password created',
    'pod/single created',
  ]);
  const secret = await kubectl.json<ApiObject>([...ns, 'get', 'secret', 'password']);
  t.deepEqual(secret.data, { word: Buffer.from('swordfish').toString('base64') });
  const settings = await kubectl.json<ApiObject>([...ns, 'get', 'cm', 'settings']);
  t.deepEqual(settings.data, { mode: 'on', text: 'two\nlines\n' });
  const deployment = await kubectl.json<ApiObject>([...ns, 'get', 'deploy', 'web']);
  t.like(deployment.spec, { replicas: 2, progressDeadlineSeconds: 600, revisionHistoryLimit: 10 });
  const all = await kubectl.ok(['get', 'deploy,svc,cm,secret,pod', '-A', '-o', 'name']);
  for (const name of ['deployment.apps/web', 'service/web', 'configmap/settings', 'secret/password', 'pod/single']) {
    t.true(names(all).includes(name), name);
  }
  t.regex(await kubectl.ok(['get', 'pods', '-A']), /^manifest +single /m);
  const again = await kubectl.refused([...ns, 'create', '-f', '-'], MANIFEST);
  t.regex(
    again,
    /Error from server \(AlreadyExists\): error when creating "STDIN": deployments\.apps "web" already exists/,
  );
});

inBothDialects('kubectl refuses a manifest with an unknown field before it is sent', async (t, kubectl, dialect) => {
  const ns = await freshNamespace(kubectl, 'unknown-field');
  const manifest = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndaata: {a: b}\n';
  if (kubectl.isOlder && dialect === 'orch') {
    // Older ones find the types in OpenAPI by an extension's Kubernetes name; what they do not find they do not check.
    await kubectl.ok([...ns, 'create', '-f', '-'], manifest);
    t.false('daata' in (await kubectl.json<object>([...ns, 'get', 'cm', 'a'])));
    return;
  }
  t.regex(await kubectl.refused([...ns, 'create', '-f', '-'], manifest), /unknown field "?.*daata/);
  t.is(await kubectl.ok([...ns, 'get', 'cm', 'a', '--ignore-not-found']), '');
});

inBothDialects('kubectl selects by labels and by fields', async (t, kubectl) => {
  const ns = await freshNamespace(kubectl, 'selecting');
  for (const name of ['a', 'b', 'c']) await kubectl.ok([...ns, 'create', 'configmap', name]);
  t.is(await kubectl.ok([...ns, 'label', 'cm', 'a', 'tier=front']), 'configmap/a labeled\n');
  await kubectl.ok([...ns, 'label', 'cm', 'b', 'c', 'tier=back']);
  await kubectl.ok([...ns, 'label', 'cm', 'c', 'extra=']);
  const select = async (...args: string[]) => names(await kubectl.ok([...ns, 'get', 'cm', '-o', 'name', ...args]));
  t.deepEqual(await select('-l', 'tier=back'), ['configmap/b', 'configmap/c']);
  t.deepEqual(await select('-l', 'tier in (front, back),!extra'), ['configmap/a', 'configmap/b']);
  t.deepEqual(await select('-l', 'tier,tier!=back'), ['configmap/a']);
  t.deepEqual(await select('--field-selector', 'metadata.name=b'), ['configmap/b']);
  await kubectl.ok([...ns, 'label', 'cm', 'c', 'tier-']);
  t.deepEqual(await select('-l', 'tier=back'), ['configmap/b']);
  t.regex(await kubectl.refused([...ns, 'label', 'cm', 'a', 'tier=other']), /already has a value/);
  await kubectl.ok([...ns, 'label', '--overwrite', 'cm', 'a', 'tier=other']);
  t.deepEqual(await select('-l', 'tier=other'), ['configmap/a']);
});

inBothDialects('kubectl annotates, patches, replaces and scales', async (t, kubectl) => {
  const ns = await freshNamespace(kubectl, 'changing');
  await kubectl.ok([...ns, 'create', '-f', '-'], MANIFEST);
  t.is(await kubectl.ok([...ns, 'annotate', 'svc', 'web', 'note=one, two']), 'service/web annotated\n');
  const merge = ['--type', 'merge', '-p', '{"data":{"text":null,"new":"1"}}'];
  t.is(await kubectl.ok([...ns, 'patch', 'cm', 'settings', ...merge]), 'configmap/settings patched\n');
  t.deepEqual((await kubectl.json<ApiObject>([...ns, 'get', 'cm', 'settings'])).data, { mode: 'on', new: '1' });
  t.is(await kubectl.ok([...ns, 'patch', 'cm', 'settings', ...merge]), 'configmap/settings patched (no change)\n');
  const steps = '[{"op":"test","path":"/data/new","value":"1"},{"op":"replace","path":"/data/new","value":"2"}]';
  await kubectl.ok([...ns, 'patch', 'cm', 'settings', '--type', 'json', '-p', steps]);
  t.regex(
    await kubectl.refused([...ns, 'patch', 'cm', 'settings', '--type', 'json', '-p', steps]),
    /rejected our request|request is invalid/,
  );

  const stored = await kubectl.json<ApiObject & { data: Record<string, string> }>([...ns, 'get', 'cm', 'settings']);
  const replaced = JSON.stringify({ ...stored, data: { only: 'this' } });
  t.is(await kubectl.ok([...ns, 'replace', '-f', '-'], replaced), 'configmap/settings replaced\n');
  t.deepEqual((await kubectl.json<ApiObject>([...ns, 'get', 'cm', 'settings'])).data, { only: 'this' });
  t.regex(await kubectl.refused([...ns, 'replace', '-f', '-'], replaced), /\(Conflict\)/);

  t.is(await kubectl.ok([...ns, 'scale', 'deploy', 'web', '--replicas=5']), 'deployment.apps/web scaled\n');
  const scaled = await kubectl.json<ApiObject>([...ns, 'get', 'deploy', 'web']);
  t.is(scaled.spec?.replicas, 5);
  t.is(scaled.metadata.generation, 2);
  const wrong = await kubectl.refused([...ns, 'scale', 'deploy', 'web', '--current-replicas=3', '--replicas=1']);
  t.regex(wrong, /replicas/);
});

inBothDialects('kubectl get -w shows a pod being bound once a node with room is there', async (t, kubectl, dialect) => {
  const ns = await freshNamespace(kubectl, 'binding');
  const watched = kubectl.follow({ teardown: (step) => t.teardown(step) }, [
    ...ns,
    'get',
    'pods',
    '-w',
    '-o',
    'jsonpath={.metadata.name}={.spec.nodeName}{"\\n"}',
  ]);
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'wanting' },
    spec: {
      nodeSelector: { room: dialect },
      tolerations: [{ operator: 'Exists' }],
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image: 'example/main:1', resources: { requests: { cpu: '500m' } } }],
    },
  };
  await kubectl.ok([...ns, 'create', '-f', '-'], JSON.stringify(pod));
  await watched.lineMatching(/^wanting=$/);
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'machine', labels: { room: dialect } },
    // Pods of other tests stay unbound: no node agent would let go of them.
    spec: { taints: [{ key: 'reserved', effect: 'NoSchedule' }] },
    status: {
      capacity: { cpu: '4', memory: '8Gi', pods: '110' },
      allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  };
  await kubectl.ok(['create', '-f', '-'], JSON.stringify(node));
  await watched.lineMatching(/^wanting=machine$/);
  const bound = await kubectl.json<ApiObject & { status: { conditions: { type: string; status: string }[] } }>([
    ...ns,
    'get',
    'pod',
    'wanting',
  ]);
  t.like(
    bound.status.conditions.find(({ type }) => type === 'PodScheduled'),
    { status: 'True' },
  );
  t.is(
    names(await kubectl.ok(['get', 'pods', '-A', '--field-selector', 'spec.nodeName=machine', '-o', 'name'])).length,
    1,
  );
});

inBothDialects('kubectl deletes by name, by label, and all', async (t, kubectl) => {
  const ns = await freshNamespace(kubectl, 'deleting');
  for (const name of ['a', 'b', 'c', 'd']) await kubectl.ok([...ns, 'create', 'quota', name]);
  await kubectl.ok([...ns, 'label', 'quota', 'b', 'c', 'gone=soon']);
  const left = async () => names(await kubectl.ok([...ns, 'get', 'quota', '-o', 'name']));
  t.is(await kubectl.ok([...ns, 'delete', 'quota', 'a']), 'resourcequota "a" deleted\n');
  t.deepEqual(await left(), ['resourcequota/b', 'resourcequota/c', 'resourcequota/d']);
  await kubectl.ok([...ns, 'delete', 'quota', '-l', 'gone=soon']);
  t.deepEqual(await left(), ['resourcequota/d']);
  await kubectl.ok([...ns, 'delete', 'quota', '--all']);
  t.deepEqual(await left(), []);
});

inBothDialects('kubectl delete ns waits until the namespace and what is in it are gone', async (t, kubectl) => {
  const ns = await freshNamespace(kubectl, 'leaving');
  await kubectl.ok([...ns, 'create', '-f', '-'], MANIFEST);
  t.is(await kubectl.ok(['delete', 'ns', 'leaving']), 'namespace "leaving" deleted\n');
  t.regex(await kubectl.refused(['get', 'ns', 'leaving']), /\(NotFound\)/);
  t.is(await kubectl.ok(['get', 'deploy,svc,cm,secret,pod', ...ns, '-o', 'name']), '');
  const late = await kubectl.refused([...ns, 'create', 'configmap', 'late']);
  t.regex(late, /namespaces "leaving" not found/);
});

// explain finds a type by an OpenAPI extension whose name carries the brand, so the other dialect has it under a name that
// kubectl does not know.
test.serial('kubectl explain describes a type and its fields', async (t) => {
  const { kubectl } = setups.get('kubernetes')!;
  const pod = await kubectl.ok(['explain', 'pod']);
  t.regex(pod, /^KIND: +Pod$/m);
  t.regex(pod, /^ +spec\t<(?:Object|PodSpec)>/m);
  const container = await kubectl.ok(['explain', 'deployment.spec.template.spec.containers']);
  t.regex(container, /^ +name\t<string> -required-$/m);
  // The client breaks lines where it likes.
  const words = (text: string): string => text.replaceAll(/\s+/g, ' ');
  t.regex(words(pod), /DESCRIPTION: One or more containers that run together on a node/);
  t.regex(words(pod), /spec <\w+> What is to run, and how\./);
  t.regex(words(container), /image <string> The image to run\./);
  t.regex(words(container), /DESCRIPTION: The containers\. There is at least one/);
  const policy = words(await kubectl.ok(['explain', 'pod.spec.restartPolicy']));
  t.regex(policy, /started again\. Always when left out\. Known values: "Always", "OnFailure", "Never"\./);
  t.regex(await kubectl.refused(['explain', 'pod.spec.nonsense']), /field "nonsense" does not exist/);
});

inBothDialects('kubectl says what is missing: an object, a resource, a namespace', async (t, kubectl) => {
  t.is(await kubectl.refused(['get', 'pod', 'nobody']), 'Error from server (NotFound): pods "nobody" not found\n');
  t.regex(
    await kubectl.refused(['get', 'deploy', 'nobody']),
    /^Error from server \(NotFound\): deployments\.apps "nobody" not found$/m,
  );
  t.is(await kubectl.refused(['get', 'nonsense']), `error: the server doesn't have a resource type "nonsense"\n`);
  t.is(
    await kubectl.refused(['get', '--raw', '/api/v1/nonsense']),
    'Error from server (NotFound): the server could not find the requested resource\n',
  );
  t.regex(await kubectl.refused(['-n', 'nowhere', 'create', 'configmap', 'a']), /namespaces "nowhere" not found/);
  t.is(await kubectl.ok(['-n', 'nowhere', 'get', 'pods', '-o', 'name']), '');
});

inBothDialects(
  'an object is read, applied and watched in every version that is served',
  async (t, kubectl, dialect) => {
    const group = `networking.${DIALECTS[dialect].groupDomain}`;
    const inNamespace = await freshNamespace(kubectl, 'versions');
    const older = {
      apiVersion: `${group}/v1beta1`,
      kind: 'Ingress',
      metadata: { name: 'web' },
      spec: { backend: { serviceName: 'web', servicePort: 80 } },
    };
    const applied = await kubectl.run([...inNamespace, 'apply', '-f', '-'], JSON.stringify(older));
    t.is(applied.code, 0, applied.stderr);
    t.true(
      applied.stderr.includes(
        `Warning: ${group}/v1beta1 Ingress is deprecated in v1.19+, unavailable in v1.22+; use ${group}/v1 Ingress`,
      ),
      applied.stderr,
    );
    const read = (name: string) => kubectl.json<ApiObject>([...inNamespace, 'get', name, 'web']);
    const inV1 = await read(`ingresses.v1.${group}`);
    t.deepEqual(inV1.spec, { defaultBackend: { service: { name: 'web', port: { number: 80 } } } });
    t.is((await read('ingresses.v1beta1.extensions')).apiVersion, 'extensions/v1beta1');
    t.deepEqual((await read(`ingresses.v1beta1.${group}`)).spec, older.spec);
    const newer = { ...older, apiVersion: `${group}/v1`, spec: inV1.spec };
    t.regex(await kubectl.ok([...inNamespace, 'apply', '-f', '-'], JSON.stringify(newer)), /configured|unchanged/);
    const versions = names(await kubectl.ok(['api-versions']));
    for (const version of [`${group}/v1beta1`, 'extensions/v1beta1', 'autoscaling/v2beta2', 'batch/v1beta1'])
      t.true(versions.includes(version), version);
  },
);
