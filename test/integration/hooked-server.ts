// A server with a service of webhooks beside it, and writes of config maps that the webhooks hear of: what the tests of admission
// webhooks share.
import { type Scope, type ServerProcess, startServer } from '../server/server-process.ts';
import { type Behaviour, type WebhookService, webhookService } from '../server/webhook-service.ts';

export const GROUP = '/apis/admissionregistration.orch.io';
export const MAPS = '/api/v1/namespaces/default/configmaps';
const KINDS = { mutating: 'MutatingWebhookConfiguration', validating: 'ValidatingWebhookConfiguration' } as const;

export type Webhook = Readonly<Record<string, unknown>>;

export interface World {
  readonly server: ServerProcess;
  readonly hooks: WebhookService;
}

export async function world(
  scope: Scope,
  behaviours: Readonly<Record<string, Behaviour>>,
  args: string[] = [],
): Promise<World> {
  const hooks = await webhookService(scope, behaviours);
  return { server: await startServer(scope, { args }), hooks };
}

/** A webhook that hears of the config maps whose label `case` is its path. */
export function webhookAt({ url, caBundle }: WebhookService, path: string, more: Webhook = {}): Webhook {
  return {
    name: `${path}.example.org`,
    clientConfig: { url: `${url}/${path}`, caBundle },
    rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    objectSelector: { matchLabels: { case: path } },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    // The most there may be: the webhook answers from the process of the tests, and one that is late does not count where it is ignored.
    timeoutSeconds: 30,
    ...more,
  };
}

export async function configure(
  { server }: World,
  kind: keyof typeof KINDS,
  name: string,
  webhooks: readonly Webhook[],
  version = 'v1',
): Promise<void> {
  const body = {
    apiVersion: `admissionregistration.orch.io/${version}`,
    kind: KINDS[kind],
    metadata: { name },
    webhooks,
  };
  const made = await server.client.request('POST', `${GROUP}/${version}/${kind}webhookconfigurations`, { body });
  if (made.status !== 201) throw new Error(made.text);
}

/** A config map for a case. */
export function map(name: string, label: string, data: object = {}): object {
  return { metadata: { name, labels: { case: label } }, data };
}

export function created({ server }: World, body: object, query = ''): ReturnType<typeof server.client.get> {
  return server.client.request('POST', `${MAPS}${query}`, { body });
}

/** An operation of a patch. */
export const set = (key: string, value: string): object => ({ op: 'add', path: `/data/${key}`, value });
