// The roles inside system namespaces, and who is bound to them. Data only.
import type { RuleRow } from './rbac-rules.ts';
import { READ, RECORD_EVENTS } from './rbac-rules.ts';

export interface RoleRow {
  readonly name: string;
  readonly namespace: string;
  readonly rules: readonly RuleRow[];
  /** As in CLUSTER_ROLE_SUBJECTS. */
  readonly subjects: readonly string[];
  /** Absent: the role's. */
  readonly bindingName?: string;
}

const SYSTEM = '@short-system';
const PUBLIC = '@short-public';

/** A component that elects its leader by a lock in a config map of its own name. */
function leaderLocking(component: string): RoleRow {
  return {
    name: `system::leader-locking-${component}`,
    namespace: SYSTEM,
    rules: [
      ['watch', 'core', 'configmaps'],
      ['get update', 'core', 'configmaps', component],
    ],
    subjects: [`User system:${component}`, `ServiceAccount ${component}`],
  };
}

function controller(name: string, namespace: string, rules: readonly RuleRow[]): RoleRow {
  return { name: `system:controller:${name}`, namespace, rules, subjects: [`ServiceAccount ${name}`] };
}

export const ROLES: readonly RoleRow[] = [
  controller('bootstrap-signer', PUBLIC, [
    [READ, 'core', 'configmaps'],
    ['update', 'core', 'configmaps', 'cluster-info'],
    RECORD_EVENTS,
  ]),
  {
    name: 'extension-apiserver-authentication-reader',
    namespace: SYSTEM,
    rules: [[READ, 'core', 'configmaps', 'extension-apiserver-authentication']],
    subjects: ['User system:@short-controller-manager', 'User system:@short-scheduler'],
    bindingName: 'system::extension-apiserver-authentication-reader',
  },
  controller('bootstrap-signer', SYSTEM, [[READ, 'core', 'secrets']]),
  controller('cloud-provider', SYSTEM, [['create get list watch', 'core', 'configmaps']]),
  controller('token-cleaner', SYSTEM, [['delete get list watch', 'core', 'secrets'], RECORD_EVENTS]),
  leaderLocking('@short-controller-manager'),
  leaderLocking('@short-scheduler'),
];
