// The ClusterPort of a scheduler of its own: each write is a request to the API server.
import { DecodeError } from '../../../api/codec/decode-error.ts';
import { asObject } from '../../../api/json/object-fields.ts';
import { ApiUnanswered } from '../../../transport/outgoing/api-client.ts';
import type { Binding } from '../../admission/protocol.ts';
import type { BindingEnd } from '../core/decision.ts';
import { type ClusterPort, refusalIn } from '../driver/cluster-port.ts';
import { eventPort } from '../driver/event-port.ts';
import type { ApiServer } from './api-server.ts';
import { objectPath } from './resource-paths.ts';

export function httpPort(server: ApiServer): ClusterPort {
  // Behind some hundred bindings most events would be given up before their turn comes.
  const eventServer = server.apart();
  return {
    bind: (bindings) => Promise.all(bindings.map((binding) => bindOne(server, binding))),
    patchPodStatus: async (namespace, name, patch) =>
      (await server.mergePatch(objectPath('v1', 'pods', namespace, name, 'status'), patch)).status,
    async patchObject(resource, namespace, name, patch) {
      const { status, object } = await server.mergePatch(objectPath('v1', resource, namespace, name), patch);
      return refusalIn(status, object);
    },
    deletePod: (namespace, name, uid) =>
      server.remove(objectPath('v1', 'pods', namespace, name), {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        preconditions: { uid },
      }),
    ...eventPort(server.registry.dialect, {
      create: async (apiVersion, namespace, event) =>
        (await eventServer.create(objectPath(apiVersion, 'events', namespace), asObject(event))).status,
      patch: async (apiVersion, namespace, name, patch) =>
        (await eventServer.mergePatch(objectPath(apiVersion, 'events', namespace, name), patch)).status,
    }),
  };
}

async function bindOne(server: ApiServer, { namespace, name, uid, node }: Binding): Promise<BindingEnd> {
  const path = objectPath('v1', 'pods', namespace, name, 'binding');
  const binding = {
    kind: 'Binding',
    apiVersion: 'v1',
    metadata: { namespace, name, uid },
    target: { kind: 'Node', name: node },
  };
  try {
    const { status, object } = await server.create(path, binding);
    const message = refusalIn(status, object);
    return message === undefined ? { bound: true } : { bound: false, reason: reasonOf(status), message };
  } catch (error) {
    // What answered in a way that cannot be read may have bound the pod; the others of the batch have ends of their own.
    if (error instanceof DecodeError) return { bound: false, reason: 'unanswered' };
    if (!(error instanceof ApiUnanswered)) throw error;
    if (error.isOpen) return { bound: false, reason: 'unanswered' };
    return { bound: false, reason: 'failed', message: error.message };
  }
}

function reasonOf(status: number): 'gone' | 'taken' | 'failed' {
  if (status === 404) return 'gone';
  return status === 409 ? 'taken' : 'failed';
}
