// Objects and paths that the tests of the API use.
import { randomUUID } from 'node:crypto';
import type { ApiMetadata, ApiObject, HttpsClient } from '../server/https-client.ts';

/** A namespace of this test's own; answers the path below which its namespaced types are. */
export async function freshNamespace(client: HttpsClient): Promise<Namespace> {
  const name = `test-${randomUUID().slice(0, 8)}`;
  // A server that is still busy with its own start may have no room for it, which is no failure.
  const answer = await eventually(
    () => client.request('POST', '/api/v1/namespaces', { body: { metadata: { name } } }),
    ({ status }) => status !== 429,
  );
  if (answer.status !== 201) throw new Error(`no namespace could be made: ${answer.text}`);
  const core = `/api/v1/namespaces/${name}`;
  await furnished(client, name);
  return { name, core, configMaps: `${core}/configmaps`, apps: `/apis/apps/v1/namespaces/${name}` };
}

/** Where controllers give every namespace a config map with the authority, returns when it is there: watches of all are of the test's own. */
async function furnished(client: HttpsClient, namespace: string): Promise<void> {
  const inDefault = await client.get('/api/v1/namespaces/default/configmaps');
  const isGift = ({ metadata }: { readonly metadata: { readonly name?: string } }) =>
    metadata.name?.endsWith('-root-ca.crt');
  const gift = inDefault.status === 200 ? inDefault.json.items?.find(isGift) : undefined;
  if (gift === undefined) return;
  await eventually(
    () => client.get(`/api/v1/namespaces/${namespace}/configmaps/${gift.metadata.name}`),
    ({ status }) => status !== 404,
  );
}

/** A namespace that pods can be made in. */
export async function namespaceForPods(client: HttpsClient): Promise<Namespace> {
  const namespace = await freshNamespace(client);
  await accountIn(client, namespace.name);
  return namespace;
}

/** Returns when pods can be made in a namespace: on a busy machine its account comes later than admission waits for it. */
export async function accountIn(client: HttpsClient, namespace = 'default'): Promise<void> {
  await eventually(
    () => client.get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`),
    ({ status }) => status === 200,
  );
}

/**
 * Arguments of a server on which a node stays as it was made. Elsewhere one that says nothing of itself is tainted after a minute, which
 * is less than a busy machine may take to bring a pod there.
 */
export const NODES_STAY: readonly string[] = [
  '--controllers=*,-nodelifecycle',
  '--disable-admission-plugins=TaintNodesByCondition',
];

export interface Namespace {
  readonly name: string;
  readonly core: string;
  readonly configMaps: string;
  readonly apps: string;
}

export function configMap(metadata: ApiMetadata, data: Readonly<Record<string, string>> = {}): ApiObject {
  return { kind: 'ConfigMap', apiVersion: 'v1', metadata, data };
}

/** Creates a configmap and answers it as stored. */
export async function createConfigMap(
  client: HttpsClient,
  { configMaps }: Namespace,
  metadata: ApiMetadata,
  data?: Readonly<Record<string, string>>,
): Promise<ApiObject> {
  const answer = await client.request('POST', configMaps, { body: configMap(metadata, data) });
  if (answer.status !== 201) throw new Error(`no configmap could be made: ${answer.text}`);
  return answer.json;
}

export const POD_SPEC = { containers: [{ name: 'main', image: 'example/main:1' }] } as const;

export function deployment(name: string, replicas: number): object {
  const labels = { app: name };
  return {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: POD_SPEC } },
  };
}

/** Asks again until the answer is as wanted. The test's own timeout ends what never comes. */
export async function eventually<T>(ask: () => Promise<T>, isWanted: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export function namesOf(list: ApiObject): string[] {
  return (list.items ?? []).map(({ metadata }) => metadata.name ?? '');
}

/** How many secrets there are, once every namespace has its account and every account its token. */
export async function settledSecrets(client: HttpsClient): Promise<number> {
  const itemsOf = async (path: string): Promise<readonly ApiObject[]> => (await client.get(path)).json.items ?? [];
  await eventually(
    async () => ({
      namespaces: await itemsOf('/api/v1/namespaces'),
      accounts: await itemsOf('/api/v1/serviceaccounts'),
    }),
    ({ namespaces, accounts }) =>
      namespaces.every(({ metadata: { name } }) => accounts.some(({ metadata }) => metadata.namespace === name)) &&
      accounts.every((account) => 'secrets' in account),
  );
  return (await itemsOf('/api/v1/secrets')).length;
}
