// Two operators, one on the Node client's informers and one on the Python client, each with half of the widgets: while these are made,
// changed and deleted the server is killed and stopped, and the definition of the widgets gets another member. In the end every widget
// must have been seen as it is, which takes that no event was lost: operators look at nothing twice.
import * as k8s from '@kubernetes/client-node';
import { eventually } from '../integration/objects.ts';
import type { Answer, HttpsClient } from '../server/https-client.ts';
import { type Scope, startServer } from '../server/server-process.ts';
import { NodeOperator } from './node-operator.ts';
import { runPython } from './python.ts';
import { WIDGETS, type Widget, widgetDefinition } from './widgets.ts';

const NAMESPACE = 'operated';
const OPERATORS = ['node', 'python'] as const;
const WRITERS = 8;
/** Of so many one is deleted again. */
const DELETED_EACH = 9;
const AGAIN_MS = 50;
const PYTHON_MS_MAX = 1_800_000;
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const COLLECTION = `/apis/${WIDGETS.group}/${WIDGETS.version}/namespaces/${NAMESPACE}/${WIDGETS.plural}`;
const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const MERGE = { 'content-type': 'application/merge-patch+json' };

export interface OperatorsReport {
  readonly widgets: number;
  readonly actedByNode: number;
  readonly actedByPython: number;
  /** Of Python's watch: those that went on where one was cut off. */
  readonly resumed: number;
}

/** Rejects where an operator does not come to an end, and where it has seen something else than there is. */
export async function operators(scope: Scope, widgets: number): Promise<OperatorsReport> {
  const server = await startServer(scope, { args: ['--api-dialect', 'kubernetes'], placement: 'default' });
  const { client } = server;
  await written(client, 'POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  await written(client, 'POST', DEFINITIONS, widgetDefinition(false));
  await eventually(
    () => client.get(COLLECTION),
    ({ status }) => status === 200,
  );
  const config = new k8s.KubeConfig();
  config.loadFromFile(server.kubeconfig);
  const node = new NodeOperator(config, NAMESPACE, 'operator=node');
  await node.start();
  scope.teardown(() => node.stop());
  const python = runPython('widget_operator.py', [server.kubeconfig, NAMESPACE, 'operator=python'], PYTHON_MS_MAX);
  // Whoever waits for it comes later.
  python.catch(() => {});

  const names = Array.from({ length: widgets }, (_, number) => `w-${number}`);
  const make = (name: string, number: number): Promise<Answer> => {
    const labels = { operator: OPERATORS[number % OPERATORS.length]! };
    return written(client, 'POST', COLLECTION, { ...KIND, metadata: { name, labels }, spec: { size: 1 } });
  };
  const change = (spec: Partial<Widget['spec']>) => (name: string) =>
    written(client, 'PATCH', `${COLLECTION}/${name}`, { spec });
  await Promise.all([
    each(names, make),
    halfway(client, widgets)
      .then(() => server.kill9())
      .then(() => server.restart()),
  ]);
  await Promise.all([each(names, change({ size: 2 })), redefine(client)]);
  await each(
    names.filter((_, number) => number % DELETED_EACH === 0),
    (name) => written(client, 'DELETE', `${COLLECTION}/${name}`, {}),
  );
  const kept = names.filter((_, number) => number % DELETED_EACH !== 0);
  await Promise.all([each(kept, change({ size: 3, color: 'blue' })), server.stop().then(() => server.restart())]);

  // Python says what it failed of.
  await Promise.race([untilSeen(client, kept), python]);
  const finished = { ...KIND, metadata: { name: 'finished', labels: { operator: 'python' } }, spec: { size: 0 } };
  await written(client, 'POST', COLLECTION, finished);
  const { acted, resumed } = JSON.parse(await python) as { readonly acted: number; readonly resumed: number };
  return { widgets, actedByNode: node.acted, actedByPython: acted, resumed };
}

const KIND = { apiVersion: `${WIDGETS.group}/${WIDGETS.version}`, kind: 'Widget' };

async function redefine(client: HttpsClient): Promise<void> {
  const path = `${DEFINITIONS}/${WIDGETS.plural}.${WIDGETS.group}`;
  const { spec } = widgetDefinition(true);
  await written(client, 'PATCH', path, { spec });
}

/** When half of the widgets are there. */
async function halfway(client: HttpsClient, widgets: number): Promise<void> {
  await eventually(
    () => client.get(`${COLLECTION}?limit=${Math.ceil(widgets / 2)}`),
    ({ json }) => (json.items?.length ?? 0) >= Math.ceil(widgets / 2),
  );
}

/** Every widget as it is, in its status and in its config map; and none of those that are gone. */
async function untilSeen(client: HttpsClient, kept: readonly string[]): Promise<void> {
  const wanted = JSON.stringify([...kept].sort());
  await eventually(
    async () => {
      const { json } = await client.get(COLLECTION);
      const widgets = (json.items ?? []) as unknown as readonly Widget[];
      const seen = widgets.filter(({ spec, status }) => status?.observedSize === spec.size && spec.color === 'blue');
      return JSON.stringify(seen.map(({ metadata }) => metadata.name).sort());
    },
    (seen) => seen === wanted,
  );
  await eventually(
    async () => {
      const { json } = await client.get(CONFIG_MAPS);
      const maps = (json.items ?? []) as unknown as readonly {
        metadata: { name: string };
        data?: Record<string, string>;
      }[];
      const owned = maps.filter(({ metadata }) => metadata.name.startsWith('w-'));
      const right = owned.filter(({ data }) => data?.size === '3' && data.color === 'blue');
      return `${owned.length - right.length} wrong, ${JSON.stringify(right.map(({ metadata }) => metadata.name).sort())}`;
    },
    (seen) => seen === `0 wrong, ${wanted}`,
  );
}

async function each(names: readonly string[], act: (name: string, number: number) => Promise<unknown>): Promise<void> {
  const left = [...names.entries()];
  const writer = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await act(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
}

/** Writes until the server says what became of it; that it was done already is as good. */
async function written(client: HttpsClient, method: string, path: string, body: object): Promise<Answer> {
  for (;;) {
    const headers = method === 'PATCH' ? { headers: MERGE } : {};
    const answer = await client.request(method, path, { body, ...headers }).catch(() => undefined);
    const done = { POST: 409, DELETE: 404 }[method];
    if (answer !== undefined && (answer.status < 300 || answer.status === done)) return answer;
    if (answer !== undefined && answer.status !== 429 && answer.status < 500)
      throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}
