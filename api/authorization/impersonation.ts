// Acting as somebody else (`Impersonate-*` headers): what the one who asks must be allowed for it, and who they then are.
// Pure.
import { textProblems } from '../metadata/formats.ts';
import type { AccessAttributes, User } from './attributes.ts';
import { serviceAccountGroups } from './service-account-user.ts';

/** Whom the headers name; the groups and the rest may be empty. */
export type ImpersonatedUser = User;

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** Namespace and name of the service account that is called so; undefined for what no service account can be called. */
function accountOf(user: string): readonly [namespace: string, name: string] | undefined {
  const [, namespace, name] = SERVICE_ACCOUNT.exec(user) ?? [];
  if (namespace === undefined || name === undefined) return undefined;
  const problems = [...textProblems('dns1123Label', namespace), ...textProblems('dns1123Subdomain', name)];
  return problems.length > 0 ? undefined : [namespace, name];
}

const ANONYMOUS = 'system:anonymous';
const AUTHENTICATED = 'system:authenticated';
const UNAUTHENTICATED = 'system:unauthenticated';

/** Everything that must be allowed, each by itself. `authenticationGroup`: the API group of uids and extra fields. */
export function impersonationAccesses(
  { name, uid, groups, extra }: ImpersonatedUser,
  authenticationGroup: string,
): readonly AccessAttributes[] {
  const account = accountOf(name);
  const who =
    account === undefined
      ? access({ resource: 'users', name })
      : access({ resource: 'serviceaccounts', namespace: account[0], name: account[1] });
  return [
    who,
    ...groups.map((group) => access({ resource: 'groups', name: group })),
    ...(uid === '' ? [] : [access({ group: authenticationGroup, version: 'v1', resource: 'uids', name: uid })]),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) =>
        access({ group: authenticationGroup, version: 'v1', resource: 'userextras', subresource: key, name: value }),
      ),
    ),
  ];
}

/** Users, groups and service accounts are of no version, as in the original: a webhook is told of none. */
function access(changes: Partial<AccessAttributes>): AccessAttributes {
  return {
    verb: 'impersonate',
    isResource: true,
    group: '',
    version: '',
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
  const account = groups.length === 0 ? accountOf(name) : undefined;
  const implied = account === undefined ? [] : serviceAccountGroups(account[0]);
  const all = [...groups, ...implied];
  const general = name === ANONYMOUS ? UNAUTHENTICATED : AUTHENTICATED;
  // Whoever is nobody in particular stays so, be it in the other group as well.
  const isPlaced = all.includes(UNAUTHENTICATED) || all.includes(general);
  return { ...asked, groups: isPlaced ? all : [...all, general] };
}
