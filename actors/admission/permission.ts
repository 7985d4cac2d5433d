// Who needs nobody's permission, whatever the modes of authorization.
import { SUPERUSERS, type User } from '../../api/authorization/attributes.ts';

/** Superusers and components of this server may anything. */
export function mayAnything({ user, isInside }: { readonly user: User; readonly isInside?: boolean }): boolean {
  return isInside === true || user.groups.includes(SUPERUSERS);
}
