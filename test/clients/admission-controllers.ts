// Two admission controllers as users of clusters write them, with the Node client: one changes pods and bindings, one guards images,
// scales and namespaces. Both put themselves into the cluster, and ask it when they are asked. Nothing here is part of a server.
import * as k8s from '@kubernetes/client-node';
import type { Scope } from '../server/server-process.ts';
import {
  type Behaviour,
  patchOf,
  type Review,
  type WebhookService,
  webhookService,
} from '../server/webhook-service.ts';

type Subject = Review['request']['object'];

const ALLOWED = { allowed: true };
const REPLICAS_MAX = 10;

function denied(message: string): object {
  return { allowed: false, status: { code: 403, reason: 'Forbidden', message } };
}

/** A webhook as its configuration has it. */
function webhookFor(
  { url, caBundle }: WebhookService,
  path: string,
  operations: readonly string[],
  group: string,
  resource: string,
): k8s.V1MutatingWebhook {
  return {
    name: `${path}.controllers.example`,
    clientConfig: { url: `${url}/${path}`, caBundle },
    rules: [{ operations: [...operations], apiGroups: [group], apiVersions: ['v1'], resources: [resource] }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 20,
  };
}

/** Adds a container to pods of namespaces that ask for it, and to pods the zone of the node that they are bound to. */
export async function startInjector(scope: Scope, config: k8s.KubeConfig): Promise<void> {
  const core = config.makeApiClient(k8s.CoreV1Api);
  const inject: Behaviour = async ({ review: { request } }) => {
    const { metadata } = await core.readNamespace({ name: String(request.namespace) });
    if (metadata?.labels?.inject !== 'yes') return ALLOWED;
    return patchOf(
      { op: 'add', path: '/spec/containers/-', value: { name: 'proxy', image: 'registry.example/proxy:1' } },
      { op: 'add', path: '/metadata/annotations', value: { injected: 'proxy' } },
    );
  };
  const place: Behaviour = async ({ review: { request } }) => {
    const { target } = request.object as Subject & { target: { name: string } };
    const { metadata } = await core.readNode({ name: target.name });
    const zone = metadata?.labels?.zone ?? 'nowhere';
    return patchOf({ op: 'add', path: '/metadata/annotations', value: { zone } });
  };
  const service = await webhookService(scope, { inject, place });
  await config.makeApiClient(k8s.AdmissionregistrationV1Api).createMutatingWebhookConfiguration({
    body: {
      metadata: { name: 'injector' },
      webhooks: [
        webhookFor(service, 'inject', ['CREATE'], '', 'pods'),
        webhookFor(service, 'place', ['CREATE'], '', 'pods/binding'),
      ],
    },
  });
}

/** Lets pods have only images of the registries that a config map names, scales stay small, and protected namespaces be. */
export async function startGuard(scope: Scope, config: k8s.KubeConfig): Promise<void> {
  const core = config.makeApiClient(k8s.CoreV1Api);
  const images: Behaviour = async ({ review: { request } }) => {
    const { data } = await core.readNamespacedConfigMap({ name: 'registries', namespace: 'default' });
    const { spec } = request.object as unknown as k8s.V1Pod;
    const named = (spec?.containers ?? []).map(({ image = '' }) => image);
    const foreign = named.find(
      (image) => !Object.values(data ?? {}).some((registry) => image.startsWith(`${registry}/`)),
    );
    if (foreign !== undefined) return denied(`${foreign} is of no known registry`);
    const untagged = named.filter((image) => !image.includes(':'));
    return { allowed: true, warnings: untagged.map((image) => `${image} has no tag`) };
  };
  const scales: Behaviour = ({ review: { request } }) => {
    const { spec } = request.object as unknown as k8s.V1Scale;
    return (spec?.replicas ?? 0) <= REPLICAS_MAX ? ALLOWED : denied(`at most ${REPLICAS_MAX} replicas`);
  };
  const namespaces: Behaviour = ({ review: { request } }) => {
    const { metadata } = request.oldObject as NonNullable<Subject>;
    return metadata.labels?.protected === 'yes' ? denied('it is protected') : ALLOWED;
  };
  const shells: Behaviour = () => denied('no shells here');
  const service = await webhookService(scope, { images, scales, namespaces, shells });
  await config.makeApiClient(k8s.AdmissionregistrationV1Api).createValidatingWebhookConfiguration({
    body: {
      metadata: { name: 'guard' },
      webhooks: [
        webhookFor(service, 'images', ['CREATE', 'UPDATE'], '', 'pods'),
        webhookFor(service, 'scales', ['UPDATE'], 'apps', 'deployments/scale'),
        webhookFor(service, 'namespaces', ['DELETE'], '', 'namespaces'),
        webhookFor(service, 'shells', ['CONNECT'], '', 'pods/exec'),
      ],
    },
  });
}
