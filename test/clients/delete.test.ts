// What kubectl's users see of deletion: cascades, waits, finalizers, namespaces. In both dialects, against real servers.

import ava, { type ExecutionContext } from 'ava';
import { DIALECT_NAMES, DIALECTS, type DialectName } from '../../config/dialect.ts';
import { eventually } from '../integration/objects.ts';
import type { ApiMetadata } from '../server/https-client.ts';
import { testNeeding } from '../server/machine-tools.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { Kubectl } from './kubectl.ts';

const test = testNeeding(ava, ['kubectl']);

const kubectls = new Map<DialectName, Kubectl>();
const undo: (() => void | Promise<void>)[] = [];
const scope = { teardown: (step: () => void | Promise<void>) => undo.push(step) };

async function kubectlOf(args: readonly string[]): Promise<{ server: ServerProcess; kubectl: Kubectl }> {
  const server = await startServer(scope, { args });
  const kubectl = new Kubectl(server);
  undo.push(() => kubectl.dispose());
  return { server, kubectl };
}

test.before(async () => {
  for (const dialect of DIALECT_NAMES)
    kubectls.set(dialect, (await kubectlOf(['--api-dialect', dialect, '--placement', 'default'])).kubectl);
});

test.after.always(async () => {
  for (const step of undo) await step();
});

type Body = (t: ExecutionContext, kubectl: Kubectl, dialect: DialectName) => Promise<void>;

/** The same test once a dialect. */
function inBothDialects(title: string, body: Body): void {
  for (const dialect of DIALECT_NAMES)
    test.serial(`${title} (${dialect})`, (t) => body(t, kubectls.get(dialect)!, dialect));
}

interface Owned {
  readonly metadata: ApiMetadata & { readonly ownerReferences?: readonly { readonly name: string }[] };
}

const POD_SPEC = { containers: [{ name: 'main', image: 'example/main:1' }] };
const LABELS = { app: 'web' };
const TEMPLATE = { metadata: { labels: LABELS }, spec: POD_SPEC };
const SELECTOR = { matchLabels: LABELS };

/** A deployment, its replica set and two pods, as the controllers of a cluster would make them. */
async function webIn(kubectl: Kubectl, namespace: string): Promise<string[]> {
  await kubectl.namespace(namespace);
  const here = ['-n', namespace];
  const spec = { replicas: 2, selector: SELECTOR, template: TEMPLATE };
  const create = async (kind: string, apiVersion: string, name: string, body: object, owner?: object) => {
    const metadata = { name, labels: LABELS, ...(owner === undefined ? {} : { ownerReferences: [owner] }) };
    const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
    const path = `${root}/namespaces/${namespace}/${kind.toLowerCase()}s`;
    const { uid } = (await kubectl.made(path, { kind, apiVersion, metadata, spec: body })).metadata;
    return { kind, apiVersion, name, uid, controller: true, blockOwnerDeletion: true };
  };
  const deployment = await create('Deployment', 'apps/v1', 'web', spec);
  const replicaSet = await create('ReplicaSet', 'apps/v1', 'web-1', spec, deployment);
  await create('Pod', 'v1', 'web-1-a', POD_SPEC, replicaSet);
  await create('Pod', 'v1', 'web-1-b', POD_SPEC, replicaSet);
  return here;
}

const namesOf = (output: string): string[] => output.split('\n').filter((line) => line !== '');

async function all(kubectl: Kubectl, here: readonly string[]): Promise<string[]> {
  return namesOf(await kubectl.ok(['get', 'deployments,replicasets,pods', ...here, '-o', 'name']));
}

const PODS = ['pod/web-1-a', 'pod/web-1-b'];

inBothDialects('delete --cascade=background takes the owner at once, and all below it soon', async (t, kubectl) => {
  const here = await webIn(kubectl, 'background');
  const output = await kubectl.ok(['delete', 'deployment', 'web', ...here, '--cascade=background', '--wait']);
  t.regex(output, /deployment\.apps "web" deleted/);
  await kubectl.waitUntilGone(['replicaset/web-1', ...here]);
  await kubectl.waitUntilGone([...PODS, ...here]);
  t.deepEqual(await all(kubectl, here), []);
});

inBothDialects('delete --cascade=foreground --wait returns when all below the owner are gone', async (t, kubectl) => {
  const here = await webIn(kubectl, 'foreground');
  await kubectl.ok(['delete', 'deployment', 'web', ...here, '--cascade=foreground', '--wait']);
  t.deepEqual(await all(kubectl, here), []);
});

inBothDialects('a foreground deletion waits for a finalizer far below', async (t, kubectl) => {
  const here = await webIn(kubectl, 'held');
  const hold = (finalizers: readonly string[]) =>
    kubectl.ok(['patch', 'pod/web-1-a', ...here, '--type=merge', '-p', JSON.stringify({ metadata: { finalizers } })]);
  await hold(['example.com/held']);
  await kubectl.ok(['delete', 'deployment', 'web', ...here, '--cascade=foreground', '--wait=false']);
  const left = await eventually(
    () => all(kubectl, here),
    (names) => !names.includes('pod/web-1-b'),
  );
  t.deepEqual(left, ['deployment.apps/web', 'replicaset.apps/web-1', 'pod/web-1-a']);
  const { metadata } = await kubectl.json<Owned>(['get', 'replicaset', 'web-1', ...here]);
  t.deepEqual(metadata.finalizers, ['foregroundDeletion']);
  t.truthy(metadata.deletionTimestamp);
  const refused = await kubectl.refused([
    'patch',
    'pod/web-1-a',
    ...here,
    '--type=merge',
    '-p',
    JSON.stringify({ metadata: { finalizers: ['example.com/held', 'example.com/more'] } }),
  ]);
  t.regex(refused, /no new finalizers can be added if the object is being deleted/);
  await hold([]);
  await kubectl.waitUntilGone(['deployment/web', ...here]);
  t.deepEqual(await all(kubectl, here), []);
});

inBothDialects('delete --cascade=orphan leaves what was owned, without the owner', async (t, kubectl) => {
  const here = await webIn(kubectl, 'orphan');
  await kubectl.ok(['delete', 'deployment', 'web', ...here, '--cascade=orphan', '--wait']);
  t.deepEqual(await all(kubectl, here), ['replicaset.apps/web-1', ...PODS]);
  const set = await kubectl.json<Owned>(['get', 'replicaset', 'web-1', ...here]);
  t.is(set.metadata.ownerReferences, undefined);
  t.is(set.metadata.deletionTimestamp, undefined);
  const pod = await kubectl.json<Owned>(['get', 'pod', 'web-1-a', ...here]);
  t.deepEqual(
    pod.metadata.ownerReferences?.map(({ name }) => name),
    ['web-1'],
  );
});

inBothDialects('kinds that orphan by default do so for clients that do not say', async (t, kubectl) => {
  await kubectl.namespace('defaults');
  const here = ['-n', 'defaults'];
  const job = {
    kind: 'Job',
    apiVersion: 'batch/v1',
    metadata: { name: 'work' },
    spec: { template: { spec: { ...POD_SPEC, restartPolicy: 'Never' } } },
  };
  const made = JSON.parse(await kubectl.ok(['create', ...here, '-o', 'json', '-f', '-'], JSON.stringify(job))) as Owned;
  const owner = { kind: 'Job', apiVersion: 'batch/v1', name: 'work', uid: made.metadata.uid };
  const pod = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'worker', ownerReferences: [owner] }, spec: POD_SPEC };
  await kubectl.ok(['create', ...here, '-f', '-'], JSON.stringify(pod));
  await kubectl.ok(['delete', '--raw', '/apis/batch/v1/namespaces/defaults/jobs/work']);
  await kubectl.waitUntilGone(['job/work', ...here]);
  const left = await kubectl.json<Owned>(['get', 'pod', 'worker', ...here]);
  t.is(left.metadata.ownerReferences, undefined);
});

inBothDialects('what has its only owner in another namespace is deleted, and an event says so', async (t, kubectl) => {
  await kubectl.namespace('near');
  await kubectl.namespace('far');
  const owner = JSON.parse(await kubectl.ok(['create', 'configmap', 'owner', '-n', 'far', '-o', 'json'])) as Owned;
  const ownerReferences = [{ kind: 'ConfigMap', apiVersion: 'v1', name: 'owner', uid: owner.metadata.uid }];
  const owned = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'owned', ownerReferences } };
  await kubectl.ok(['create', '-n', 'near', '-f', '-'], JSON.stringify(owned));
  const events = ['get', 'events', '-n', 'near', '--field-selector', 'involvedObject.name=owned'];
  const output = await eventually(
    () => kubectl.ok([...events, '--no-headers']),
    (text) => text !== '',
  );
  t.regex(output, /Warning +OwnerRefInvalidNamespace +configmap\/owned/);
  await kubectl.waitUntilGone(['configmap/owned', '-n', 'near']);
});

inBothDialects(
  'a namespace says what it waits for, takes nothing new, and goes in the end',
  async (t, kubectl, dialect) => {
    const here = await webIn(kubectl, 'doomed');
    for (const [kind, ...args] of [
      ['configmap', 'c', '--from-literal=a=b'],
      ['secret', 'generic', 's'],
      ['service', 'clusterip', 'v', '--tcp=80'],
      ['serviceaccount', 'a'],
      ['poddisruptionbudget', 'b', '--selector=app=web', '--min-available=1'],
      ['quota', 'q'],
    ])
      await kubectl.ok(['create', kind!, ...args, ...here]);
    const hold = (finalizers: string) =>
      kubectl.ok(['patch', 'configmap/c', ...here, '--type=merge', '-p', `{"metadata":{"finalizers":${finalizers}}}`]);
    await hold('["example.com/held"]');
    await kubectl.ok(['delete', 'namespace', 'doomed', '--wait=false']);
    t.regex(await kubectl.refused(['create', 'configmap', 'late', ...here]), /is forbidden/);
    interface Namespace {
      readonly status: { phase: string; conditions?: { type: string; status: string; message: string }[] };
    }
    const { status } = await eventually(
      () => kubectl.json<Namespace>(['get', 'namespace', 'doomed']),
      ({ status }) => status.conditions?.some(({ type }) => type === 'NamespaceFinalizersRemaining') ?? false,
    );
    t.is(status.phase, 'Terminating');
    const messageOf = (wanted: string) => status.conditions?.find(({ type }) => type === wanted)?.message ?? '';
    t.regex(messageOf('NamespaceContentRemaining'), /configmaps\. has 1 resource instances/);
    t.regex(messageOf('NamespaceFinalizersRemaining'), /example\.com\/held in 1 resource instances/);
    t.deepEqual(await all(kubectl, here), []);
    await hold('[]');
    await kubectl.waitUntilGone(['namespace/doomed']);
    t.deepEqual(
      namesOf(await kubectl.ok(['get', 'namespace', DIALECTS[dialect].systemNamespace, '-o', 'name'])).length,
      1,
    );
  },
);

inBothDialects('a namespace can be asked to wait for what is in it', async (t, kubectl) => {
  await webIn(kubectl, 'patient');
  await kubectl.ok(['delete', 'namespace', 'patient', '--cascade=foreground', '--wait']);
  t.regex(await kubectl.refused(['get', 'namespace', 'patient']), /not found/);
});

test.serial('without a garbage collector nothing cascades, and nobody waits for it', async (t) => {
  const { kubectl } = await kubectlOf(['--enable-garbage-collector=false']);
  const here = await webIn(kubectl, 'manual');
  await kubectl.ok(['delete', 'deployment', 'web', ...here, '--cascade=foreground', '--wait']);
  t.deepEqual(await all(kubectl, here), ['replicaset.apps/web-1', ...PODS]);
});
