// Acting as somebody else (`Impersonate-*` headers): what the one who asks must be allowed for it, and who they then are.
// Pure.
import type { AccessAttributes, User } from './attributes.ts';

/** Whom the headers name; the groups and the rest may be empty. */
export type ImpersonatedUser = User;

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;
const ANONYMOUS = 'system:anonymous';
const AUTHENTICATED = 'system:authenticated';
const UNAUTHENTICATED = 'system:unauthenticated';

/** Everything that must be allowed, each by itself. `authenticationGroup`: the API group of uids and extra fields. */
export function impersonationAccesses(
  { name, uid, groups, extra }: ImpersonatedUser,
  authenticationGroup: string,
): readonly AccessAttributes[] {
  const account = SERVICE_ACCOUNT.exec(name);
  const who =
    account === null
      ? access({ resource: 'users', name })
      : access({ resource: 'serviceaccounts', namespace: account[1]!, name: account[2]! });
  return [
    who,
    ...groups.map((group) => access({ resource: 'groups', name: group })),
    ...(uid === '' ? [] : [access({ group: authenticationGroup, resource: 'uids', name: uid })]),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) =>
        access({ group: authenticationGroup, resource: 'userextras', subresource: key, name: value }),
      ),
    ),
  ];
}

function access(changes: Partial<AccessAttributes>): AccessAttributes {
  return {
    verb: 'impersonate',
    isResource: true,
    group: '',
    version: 'v1',
    resource: '',
    subresource: '',
    namespace: '',
    name: '',
    path: '',
    ...changes,
  };
}

/** The user the request goes on as: with the groups that such a user would have had. */
export function impersonated(asked: ImpersonatedUser): User {
  const { name, groups } = asked;
  const account = SERVICE_ACCOUNT.exec(name);
  const implied =
    groups.length === 0 && account !== null ? ['system:serviceaccounts', `system:serviceaccounts:${account[1]}`] : [];
  const all = [...groups, ...implied];
  const general = name === ANONYMOUS ? UNAUTHENTICATED : AUTHENTICATED;
  // Whoever is nobody in particular stays so, be it in the other group as well.
  const isPlaced = all.includes(UNAUTHENTICATED) || all.includes(general);
  return { ...asked, groups: isPlaced ? all : [...all, general] };
}
