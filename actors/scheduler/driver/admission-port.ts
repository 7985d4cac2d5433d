// The ClusterPort of the scheduler that runs in this process: everything goes through admission, as the user that the
// cluster's roles know as the scheduler.

import type { User } from '../../../api/authorization/attributes.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { Ref } from '../../../runtime/actor.ts';
import type { AdmissionProtocol, WriteReply, WriteRequest, WriteTarget } from '../../admission/protocol.ts';
import { type ClusterPort, refusalIn } from './cluster-port.ts';
import { eventPort } from './event-port.ts';

const BIND_DEADLINE_MS = 10_000;
const WRITE_DEADLINE_MS = 10_000;
const MERGE_PATCH = 'application/merge-patch+json';
const GROUPS = ['system:authenticated'];
const utf8 = new TextEncoder();

/** The port to this process's admission. */
export function admissionPort(admission: Ref<AdmissionProtocol>, dialect: Dialect): ClusterPort {
  // What managedFields name, too.
  const userAgent = dialect.spell('@short-scheduler');
  const user: User = { name: `system:${userAgent}`, uid: '', groups: GROUPS, extra: {} };

  const ask = async (
    verb: WriteRequest['verb'],
    target: WriteTarget,
    contentType: string,
    body: object,
  ): Promise<WriteReply> => {
    const payload = utf8.encode(JSON.stringify(body));
    const request: WriteRequest = {
      verb,
      target,
      user,
      userAgent,
      parameters: {},
      contentType,
      payload,
      isInside: true,
    };
    return admission.ask<'write'>({ type: 'write', ...request }, { deadlineMs: WRITE_DEADLINE_MS });
  };
  const write = async (...given: Parameters<typeof ask>): Promise<number> => (await ask(...given)).code;

  return {
    async bind(bindings) {
      const reply = await admission.ask<'bind'>(
        { type: 'bind', bindings, user, userAgent },
        { deadlineMs: BIND_DEADLINE_MS },
      );
      return reply.outcomes;
    },
    patchPodStatus: (namespace, name, patch) =>
      write('patch', coreTarget('pods', 'status', namespace, name), MERGE_PATCH, patch),
    async patchObject(resource, namespace, name, patch) {
      const reply = await ask('patch', coreTarget(resource, '', namespace, name), MERGE_PATCH, patch);
      return refusalIn(reply.code, 'body' in reply ? reply.body : undefined);
    },
    deletePod: (namespace, name, uid) =>
      write('delete', coreTarget('pods', '', namespace, name), 'application/json', {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        preconditions: { uid },
      }),
    ...eventPort(dialect, {
      create: (apiVersion, namespace, event) =>
        write('create', eventTarget(apiVersion, namespace, ''), 'application/json', event),
      patch: (apiVersion, namespace, name, patch) =>
        write('patch', eventTarget(apiVersion, namespace, name), MERGE_PATCH, patch),
    }),
  };
}

function eventTarget(apiVersion: string, namespace: string, name: string): WriteTarget {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  return { ...coreTarget('events', '', namespace, name), group, version };
}

function coreTarget(resource: string, subresource: string, namespace: string, name: string): WriteTarget {
  return { group: '', version: 'v1', resource, subresource, namespace, name };
}
