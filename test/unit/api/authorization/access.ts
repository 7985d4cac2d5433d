// Users and accesses for the tests of authorization.
import type { AccessAttributes, User } from '../../../../api/authorization/attributes.ts';

export function user(name: string, ...groups: string[]): User {
  return { name, uid: '', groups, extra: {} };
}

/** GET of the pod shop/web, but for the changes. */
export function access(changes: Partial<AccessAttributes>): AccessAttributes {
  return {
    verb: 'get',
    isResource: true,
    group: '',
    version: 'v1',
    resource: 'pods',
    subresource: '',
    namespace: 'shop',
    name: 'web',
    path: '',
    ...changes,
  };
}
