// On whose behalf the controllers write: the API server itself, or the controller manager they stand in for.
import { serviceAccountUser } from '../../api/authorization/service-account-user.ts';
import type { Dialect } from '../../config/dialect.ts';
import type { Identity } from './controller.ts';

/** For what the API server does by itself: its start-up hooks and options. */
export function apiServerIdentity(dialect: Dialect): Identity {
  return {
    user: { name: 'system:apiserver', uid: '', groups: ['system:masters'], extra: {} },
    userAgent: dialect.spell('@short-apiserver'),
  };
}

/**
 * For the garbage collector, which changes who owns what: the account whose role lets it delete everything, as
 * OwnerReferencesPermissionEnforcement asks of whoever does.
 */
export function garbageCollectorIdentity(dialect: Dialect): Identity {
  return {
    user: serviceAccountUser(dialect.systemNamespace, 'generic-garbage-collector'),
    userAgent: controllerManagerIdentity(dialect).userAgent,
  };
}

/** For the other control loops. */
export function controllerManagerIdentity(dialect: Dialect): Identity {
  return {
    user: {
      name: dialect.spell('system:@short-controller-manager'),
      uid: '',
      groups: ['system:authenticated'],
      extra: {},
    },
    userAgent: dialect.spell('@short-controller-manager'),
  };
}
