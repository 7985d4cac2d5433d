// Who may do what besides the write itself, and who needs nobody's permission, whatever the modes of authorization.
import { type AccessAttributes, SUPERUSERS, type User } from '../../../api/authorization/attributes.ts';
import type { Ref } from '../../../runtime/actor.ts';
import type { AuthProtocol } from '../../auth/protocol.ts';
import type { Attributes } from '../attributes.ts';
import type { Authorization } from '../plugins/plugin.ts';

/** Superusers and components of this server may anything. */
export function mayAnything({ user, isInside }: { readonly user: User; readonly isInside?: boolean }): boolean {
  return isInside === true || user.groups.includes(SUPERUSERS);
}

/** Whether who asks for a write may also do what is said. */
export async function mayAccess(
  auth: () => Ref<AuthProtocol>,
  { user, asked }: Pick<Attributes, 'user' | 'asked'>,
  access: AccessAttributes,
): Promise<Authorization> {
  const { requestNumber, requestTimeoutMs: deadlineMs } = asked.reader;
  if (mayAnything(asked)) return { allowed: true, reason: '' };
  return auth().ask({ type: 'authorize', user, access }, { deadlineMs, requestNumber });
}
