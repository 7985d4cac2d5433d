// The 403 that says what a user may not do, in the words that clients know.
import type { AccessAttributes } from '../authorization/attributes.ts';
import { forbidden, forbiddenPath } from './failures.ts';
import type { Status } from './status.ts';

/** `reason`: of the authorizer that refused; empty for none. */
export function forbiddenAccess(user: string, access: AccessAttributes, reason: string): Status {
  const because = reason === '' ? '' : `: ${reason}`;
  const { verb, resource, subresource, group, namespace, name, path } = access;
  if (!access.isResource) return forbiddenPath(`User "${user}" cannot ${verb} path "${path}"${because}`);
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const detail = `User "${user}" cannot ${verb} resource "${what}" in API group "${group}" ${where}${because}`;
  return forbidden({ group, plural: resource }, name, detail);
}
