// The controllers as part of the server: their options, out of the server's settings.
import type { Registry } from '../../api/resources/registry.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import { type DefineActor, withSettings } from '../define.ts';
import type { ServerSettings } from '../server-settings.ts';
import { threadBuiltIns } from '../thread-registry.ts';
import { controllersActor } from './controllers.ts';
import { CustomTypes } from './custom-types.ts';
import type { ControllersOptions } from './options.ts';
import { settledOptions } from './settled-options.ts';

export const define: DefineActor = () => withSettings(controllersActor, controllersOptions);

function controllersOptions(settings: ServerSettings, context: ActorContext): ControllersOptions {
  const registry = threadBuiltIns(context, settings);
  return {
    ...settledOptions(settings, context),
    namespacedTypes: registry.resourcesByPreferredVersion(),
    apiGroups: registry.groups(),
    persistedTypes: persistedTypes(registry),
    customTypes: new CustomTypes(registry),
  };
}

/** Served types first, then the same in the versions that are not served. */
function persistedTypes(registry: Registry): readonly KnownType[] {
  const served = registry.all().filter(({ persisted }) => persisted);
  const storageKeys = new Set(served.map(({ storageKey }) => storageKey));
  const others = registry.known().filter((type) => type.persisted && storageKeys.has(type.storageKey));
  return [...served, ...others];
}
