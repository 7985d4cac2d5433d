// A PUT or an apply that finds nothing makes the object where its type says so. Who asks has been let in to change one: whether they
// may create it as well, the auth actor is asked here.

import { forbiddenAccess } from '../../../api/authorization/forbidden-access.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { internalError } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { WriteReply, WriteRequest } from '../protocol.ts';
import { mayAnything } from '../steps/permission.ts';
import type { WriteContext } from '../write-context.ts';
import { type Creation, createObject, requireLivingDefinition } from './create.ts';

/** As `createObject`; throws 403 for who may not create it, and 500 where that cannot be decided. */
export async function createMissing(
  write: WriteContext,
  request: WriteRequest,
  type: KnownType,
  object: JsonObject,
  creation: Creation,
): Promise<WriteReply> {
  if (!mayAnything(request)) await requireMayCreate(write, request);
  requireLivingDefinition(type);
  return createObject(write, request, type, object, creation);
}

async function requireMayCreate(write: WriteContext, { user, target }: WriteRequest): Promise<void> {
  const { group, version, resource, namespace, name } = target;
  const access = {
    verb: 'create',
    isResource: true,
    group,
    version,
    resource,
    subresource: '',
    namespace,
    name,
    path: '',
  };
  const { allowed, reason, error } = await write
    .auth()
    .ask(
      { type: 'authorize', user, access },
      { deadlineMs: write.requestTimeoutMs, requestNumber: write.requestNumber },
    );
  if (allowed) return;
  throw new StatusError(error === undefined ? forbiddenAccess(user.name, access, reason) : internalError(error));
}
