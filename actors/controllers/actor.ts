// The controllers as part of the server: their options, out of the server's settings.
import type { Registry } from '../../api/resources/registry.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import { writtenVersions } from '../../storage/etcd/original/written-versions.ts';
import { type DefineActor, withSettings } from '../define.ts';
import type { ServerSettings } from '../server-settings.ts';
import { threadBuiltIns } from '../thread-registry.ts';
import { controllersActor } from './controllers.ts';
import { CustomTypes } from './custom-types.ts';
import type { ControllersOptions, StoredType } from './options.ts';
import { settledOptions } from './settled-options.ts';

export const define: DefineActor = () => withSettings(controllersActor, controllersOptions);

function controllersOptions(settings: ServerSettings, context: ActorContext): ControllersOptions {
  const registry = threadBuiltIns(context, settings);
  return {
    ...settledOptions(settings, context),
    namespacedTypes: registry.resourcesByPreferredVersion(),
    apiGroups: registry.groups(),
    persistedTypes: persistedTypes(registry, settings.options.storeLayout !== 'own'),
    customTypes: new CustomTypes(registry),
  };
}

/** Served types first, then the same in the versions that are not served. `isOriginal`: the store has the original's layout. */
function persistedTypes(registry: Registry, isOriginal: boolean): readonly StoredType[] {
  const served = registry.all().filter(({ persisted }) => persisted);
  const storageKeys = new Set(served.map(({ storageKey }) => storageKey));
  const others = registry.known().filter((type) => type.persisted && storageKeys.has(type.storageKey));
  const written = isOriginal ? writtenVersions(registry.dialect) : undefined;
  return [...served, ...others].map((type) => {
    const storageApiVersion = written?.get(type.storageKey);
    return storageApiVersion === undefined ? type : { ...type, storageApiVersion };
  });
}
