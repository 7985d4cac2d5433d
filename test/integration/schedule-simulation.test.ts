// Goal: the scheduler inside says over HTTP what it would do with a pod, to whom may make that pod, and nothing is made. Method: real
// servers, real extenders.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { extenderService, keeping } from '../server/scheduler-extender.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { eventually, POD_SPEC } from './objects.ts';

const SIMULATE = '/schedule:simulate';
const PODS = '/api/v1/namespaces/default/pods';

interface Answer {
  readonly pod: string;
  readonly nodesTotal: number;
  readonly nodesFeasible: number;
  readonly nodesLeftOut: number;
  readonly refusedBy: Readonly<Record<string, number>>;
  readonly extenders: string;
  readonly nodes: readonly {
    readonly node: string;
    readonly total: number;
    readonly refusals: readonly { readonly plugin: string; readonly reasons: readonly string[] }[];
    readonly scores: readonly { readonly plugin: string }[];
  }[];
}

async function makeNode({ client }: ServerProcess, name: string, cpu: string): Promise<void> {
  const amounts = { cpu, pods: '10', memory: '8Gi' };
  const body = { metadata: { name }, status: { capacity: amounts, allocatable: amounts } };
  const { status, text } = await client.request('POST', '/api/v1/nodes', { body });
  if (status !== 201) throw new Error(text);
}

function podOf(cpu: string, spec: object = {}): object {
  const containers = [{ ...POD_SPEC.containers[0], resources: { requests: { cpu } } }];
  return { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'thought' }, spec: { ...POD_SPEC, containers, ...spec } };
}

const asked = async ({ client }: ServerProcess, body: object, query = ''): Promise<Answer> => {
  const { status, json, text } = await client.request('POST', `${SIMULATE}${query}`, { body });
  if (status !== 200) throw new Error(text);
  return json as unknown as Answer;
};

/** The scheduler has heard of so many nodes, and that they are ready. */
const knowing = (server: ServerProcess, count: number) =>
  eventually(
    () => asked(server, podOf('1m')),
    ({ nodesFeasible }) => nodesFeasible === count,
  );

for (const placement of ['single', 'default']) {
  test(`a pod that is not made is judged node by node, under the placement ${placement}`, async (t) => {
    const server = await startServer(t, { args: ['--placement', placement] });
    await makeNode(server, 'roomy', '8');
    await makeNode(server, 'small', '1');
    await knowing(server, 2);
    const { nodes, ...answer } = await asked(server, podOf('2'));
    t.regex(answer.pod, /^default\/thought-/);
    t.like(answer, { nodesFeasible: 1, nodesLeftOut: 0, refusedBy: { NodeResourcesFit: 1 }, extenders: 'none' });
    t.is(nodes[0]!.node, 'roomy');
    t.true(nodes[0]!.scores.some(({ plugin }) => plugin === 'NodeResourcesLeastAllocated'));
    t.deepEqual(nodes[1]!.refusals, [
      { plugin: 'NodeResourcesFit', reasons: ['Insufficient cpu'], resolvable: true },
    ] as never);
    const limited = await asked(server, podOf('9'), '?limit=1');
    t.like(limited, { nodesFeasible: 0, nodesLeftOut: 1, refusedBy: { NodeResourcesFit: 2 } });
    t.deepEqual((await server.client.get(PODS)).json.items, []);
  });
}

test('what cannot be answered is refused with the reason', async (t) => {
  const server = await startServer(t, {});
  const { client } = server;
  await makeNode(server, 'roomy', '8');
  await knowing(server, 1);
  for (const [path, body, status, message] of [
    [SIMULATE, { kind: 'Node' }, 400, /must be an object of kind Pod/],
    [SIMULATE, { ...podOf('1'), spec: {} }, 422, /spec.containers: Required value/],
    [SIMULATE, podOf('many'), 400, /many/],
    [SIMULATE, { ...podOf('1'), metadata: { namespace: 'nowhere' } }, 404, /namespaces "nowhere" not found/],
    [SIMULATE, podOf('1', { schedulerName: 'other' }), 400, /no profile of this scheduler/],
    [`${SIMULATE}?limit=0`, podOf('1'), 400, /limit: a whole number from 1 to 5000/],
  ] as const) {
    const answer = await client.request('POST', path, { body });
    t.is(answer.status, status, answer.text);
    t.regex(String(answer.json.message), message);
  }
  t.is((await client.get(SIMULATE)).status, 405);
  const alone = await startServer(t, { command: 'apiserver' });
  t.is((await alone.client.request('POST', SIMULATE, { body: podOf('1') })).status, 503);
});

test('the path and the right to create the pod are both asked for', async (t) => {
  const server = await startServer(t, { args: ['--authorization-mode', 'RBAC'] });
  const { client } = server;
  await makeNode(server, 'roomy', '8');
  await knowing(server, 1);
  const robot = '/api/v1/namespaces/default/serviceaccounts/default/token';
  const issued = await client.request('POST', robot, { body: { spec: {} } });
  const { token } = issued.json.status as { token: string };
  const simulate = () => client.request('POST', SIMULATE, { body: podOf('1'), token });
  const refused = await simulate();
  t.is(refused.status, 403);
  t.regex(String(refused.json.message), /cannot post path "\/schedule:simulate"/);
  const rbac = '/apis/rbac.authorization.orch.io/v1';
  const subject = { kind: 'ServiceAccount', name: 'default', namespace: 'default' };
  const grant = async (name: string, rule: object): Promise<void> => {
    const role = await client.request('POST', `${rbac}/clusterroles`, { body: { metadata: { name }, rules: [rule] } });
    t.is(role.status, 201, role.text);
    const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name };
    const body = { metadata: { name }, roleRef, subjects: [subject] };
    t.is((await client.request('POST', `${rbac}/clusterrolebindings`, { body })).status, 201);
  };
  await grant('asks', { nonResourceURLs: [SIMULATE], verbs: ['post'] });
  const half = await eventually(simulate, ({ json }) => !String(json.message).includes('path'));
  t.is(half.status, 403);
  t.regex(String(half.json.message), /cannot create resource "pods" in API group "" in the namespace "default"/);
  await grant('makes', { apiGroups: [''], resources: ['pods'], verbs: ['create'] });
  t.is((await eventually(simulate, ({ status }) => status !== 403)).status, 200);
});

test('extenders are asked about a pod that is not made', async (t) => {
  const service = await extenderService(t, {
    filter: keeping('n1', 'n2'),
    prioritize: () => [{ Host: 'n2', Score: 10 }],
  });
  const folder = mkdtempSync(join(tmpdir(), 'orch-simulation-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'scheduler.json');
  const extenders = [{ urlPrefix: service.url, filterVerb: 'filter', prioritizeVerb: 'prioritize', weight: 100 }];
  const file = { apiVersion: 'kubescheduler.config.k8s.io/v1beta1', kind: 'KubeSchedulerConfiguration', extenders };
  writeFileSync(path, JSON.stringify(file));
  const server = await startServer(t, { args: ['--config', path] });
  for (const name of ['n1', 'n2', 'n3']) await makeNode(server, name, '8');
  const { extenders: said, nodes } = await eventually(
    () => asked(server, podOf('1')),
    ({ nodesTotal, refusedBy }) => nodesTotal === 3 && Object.keys(refusedBy).join() === 'Extenders',
  );
  t.is(said, 'asked');
  t.is(nodes[0]!.node, 'n2');
  t.like(nodes[0]!.scores.at(-1), { plugin: 'Extenders' });
  t.like(nodes[2], { node: 'n3', refusals: [{ plugin: 'Extenders' }] as never });
});
