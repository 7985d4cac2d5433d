// Roles and bindings are written by those who hold what they grant, or may escalate or bind: the auth actor judges.
import type { Grant } from '../../../api/authorization/grant.ts';
import { metadataOf } from '../../../api/metadata/object-meta.ts';
import { forbidden, notFound } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { Attributes } from '../attributes.ts';
import type { WriteContext } from '../write-context.ts';
import { mayAnything } from './permission.ts';

/** Throws 403 with what is not held, and 404 for a role that is bound and not there. */
export function requireGrant(
  attributes: Attributes,
  grant: Grant | undefined,
  write: WriteContext,
): Promise<void> | undefined {
  return grant === undefined || mayAnything(attributes.asked) ? undefined : judge(attributes, grant, write);
}

async function judge(
  { asked: { namespace, user, name }, object, type }: Attributes,
  sought: Grant,
  write: WriteContext,
): Promise<void> {
  // Who may escalate roles by name may do so where the path names the role: not by a POST to all of them.
  const grant = sought.verb === 'escalate' ? { ...sought, name } : sought;
  const answer = await write
    .auth()
    .ask(
      { type: 'mayGrant', user, namespace, grant },
      { deadlineMs: write.requestTimeoutMs, requestNumber: write.requestNumber },
    );
  if (answer.isRoleMissing) throw new StatusError(notFound({ group: type.group, plural: grant.resource }, grant.name));
  if (answer.problem !== '') {
    throw new StatusError(forbidden(type, metadataOf(object).name ?? '', answer.problem));
  }
}
