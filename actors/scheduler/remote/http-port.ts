// The ClusterPort of a scheduler of its own: each write is a request to the API server.
import { asObject } from '../../../api/json/object-fields.ts';
import { ApiUnanswered } from '../../../transport/outgoing/api-client.ts';
import type { Binding } from '../../admission/protocol.ts';
import type { BindingEnd } from '../core/decision.ts';
import type { ClusterPort } from '../driver/cluster-port.ts';
import { eventPort } from '../driver/event-port.ts';
import type { ApiServer } from './api-server.ts';
import { objectPath } from './resource-paths.ts';

export function httpPort(server: ApiServer): ClusterPort {
  return {
    bind: (bindings) => Promise.all(bindings.map((binding) => bindOne(server, binding))),
    patchPodStatus: (namespace, name, patch) =>
      server.mergePatch(objectPath('v1', 'pods', namespace, name, 'status'), patch),
    patchObject: (resource, namespace, name, patch) =>
      server.mergePatch(objectPath('v1', resource, namespace, name), patch),
    deletePod: (namespace, name, uid) =>
      server.remove(objectPath('v1', 'pods', namespace, name), {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        preconditions: { uid },
      }),
    ...eventPort(server.registry.dialect, {
      create: async (apiVersion, namespace, event) =>
        (await server.create(objectPath(apiVersion, 'events', namespace), asObject(event))).status,
      patch: (apiVersion, namespace, name, patch) =>
        server.mergePatch(objectPath(apiVersion, 'events', namespace, name), patch),
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
    if (status < 300) return { bound: true };
    const message = typeof object.message === 'string' ? object.message : `the server answered ${status}`;
    return { bound: false, reason: reasonOf(status), message };
  } catch (error) {
    if (!(error instanceof ApiUnanswered)) throw error;
    if (error.isOpen) return { bound: false, reason: 'unanswered' };
    return { bound: false, reason: 'failed', message: error.message };
  }
}

function reasonOf(status: number): 'gone' | 'taken' | 'failed' {
  if (status === 404) return 'gone';
  return status === 409 ? 'taken' : 'failed';
}
