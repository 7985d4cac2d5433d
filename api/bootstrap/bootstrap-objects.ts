// Everything a cluster has from its start, by who makes it. Objects only: when they are written, and how differences are
// reconciled, is up to the caller.
import type { Dialect } from '../../config/dialect.ts';
import type { Registry } from '../resources/registry.ts';
import type { BootstrapGroup } from './bootstrap-object.ts';
import { flowControlObjects } from './flow-control.ts';
import type { OwnServiceSettings } from './own-service.ts';
import { ownService } from './own-service.ts';
import { rbacObjects } from './rbac.ts';
import type { AuthenticationSettings } from './system-objects.ts';
import { apiServices, authenticationConfigMap, namespaces, priorityClasses } from './system-objects.ts';

export interface BootstrapSettings {
  readonly registry: Registry;
  readonly service: OwnServiceSettings;
  readonly authentication: AuthenticationSettings;
  /** RFC 3339, in UTC. */
  readonly now: string;
}

/**
 * The objects present after start, in an order in which they can be written: namespaces before what lies in them, roles
 * before bindings.
 */
export function bootstrapObjects(dialect: Dialect, settings: BootstrapSettings): readonly BootstrapGroup[] {
  const { registry, service, authentication, now } = settings;
  const flowControlHook = 'priority-and-fairness-config-producer';
  return [
    { hook: 'bootstrap-controller', upkeep: 'recreate', objects: namespaces(dialect) },
    { hook: 'bootstrap-controller', upkeep: 'restore', objects: ownService(dialect, service) },
    {
      hook: 'scheduling/bootstrap-system-priority-classes',
      upkeep: 'create',
      objects: priorityClasses(dialect),
    },
    {
      hook: 'start-cluster-authentication-info-controller',
      upkeep: 'restore',
      objects: [authenticationConfigMap(dialect, authentication)],
    },
    {
      hook: dialect.spell('@short-apiserver-autoregistration'),
      upkeep: 'restore',
      objects: apiServices(dialect, registry, now),
    },
    { hook: 'rbac/bootstrap-roles', upkeep: 'extend', objects: rbacObjects(dialect) },
    // Before the mandatory ones, whose presence would tell that this is not the first start.
    { hook: flowControlHook, upkeep: 'firstStart', objects: flowControlObjects(dialect, 'suggested') },
    { hook: flowControlHook, upkeep: 'restore', objects: flowControlObjects(dialect, 'mandatory') },
  ];
}
