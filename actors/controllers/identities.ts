// On whose behalf the controllers write: the API server itself, or the controller manager they stand in for.
import { serviceAccountUser } from '../../api/authorization/service-account-user.ts';
import type { Dialect } from '../../config/dialect.ts';
import { API_SERVER } from '../outside/own-service.ts';
import type { Identity } from './controller.ts';

/** For what the API server does by itself: its start-up hooks and options. */
export function apiServerIdentity(dialect: Dialect): Identity {
  return {
    user: API_SERVER,
    userAgent: dialect.spell('@short-apiserver'),
  };
}

/** For a control loop that has an account of its own: webhooks leave out the accounts of the system namespace. */
export function controllerIdentity(dialect: Dialect, account: string): Identity {
  return {
    user: serviceAccountUser(dialect.systemNamespace, account),
    userAgent: controllerManagerIdentity(dialect).userAgent,
  };
}

/** For the control loops that have none. */
export function controllerManagerIdentity(dialect: Dialect): Identity {
  return componentIdentity(dialect.spell('@short-controller-manager'));
}

/** For a program of the control plane by itself: `component` is its name. */
export function componentIdentity(component: string): Identity {
  return {
    user: { name: `system:${component}`, uid: '', groups: ['system:authenticated'], extra: {} },
    userAgent: component,
  };
}
