// The types that a thread knows, shared by its actors: the built-in ones, and those of the definitions that its hub has
// applied. A thread without a hub knows the built-in ones.
import { RemoteGroups } from '../api/aggregation/remote-groups.ts';
import { TypeCatalog } from '../api/catalog/catalog.ts';
import { minorOf } from '../api/resources/deprecation.ts';
import { createRegistry, type Registry, type RegistryOptions } from '../api/resources/registry.ts';
import { DIALECTS } from '../config/dialect.ts';
import { parseFeatureGates } from '../config/feature-gates.ts';
import type { ActorContext } from '../runtime/actor.ts';
import type { ServerSettings } from './server-settings.ts';

/** The types that the thread knows now. It changes with definitions: ask again instead of keeping it. */
export function threadRegistry(context: ActorContext, settings: ServerSettings): Registry {
  return threadCatalog(context, settings).registry;
}

/** The thread's catalog; the hub of the thread keeps it up to date. */
export function threadCatalog(context: ActorContext, settings: ServerSettings): TypeCatalog {
  return context.threadLocal(
    'types',
    () => new TypeCatalog(threadBuiltIns(context, settings), settings.options.storeLayout !== 'own'),
  );
}

/** Which groups other servers answer for; the hub of the thread keeps it up to date. */
export function threadRemoteGroups(context: ActorContext, { dialect }: ServerSettings): RemoteGroups {
  return context.threadLocal('remote groups', () => new RemoteGroups(DIALECTS[dialect]));
}

/** The registry of built-in types, built once a thread; it never changes. */
export function threadBuiltIns(context: ActorContext, settings: ServerSettings): Registry {
  return context.threadLocal('registry', () => registryFor(settings));
}

/** By dialect and options. One in a server; tests make many servers. */
const registries = new Map<string, Registry>();

/** The registry of built-in types that the settings ask for, one for all who ask for the same. Throws RuntimeConfigError. */
export function registryFor(settings: Pick<ServerSettings, 'dialect' | 'options'>): Registry {
  const options = registryOptions(settings);
  const name = JSON.stringify([settings.dialect, options]);
  let registry = registries.get(name);
  if (registry === undefined) {
    registry = createRegistry(DIALECTS[settings.dialect], options);
    registries.set(name, registry);
  }
  return registry;
}

/** What of the settings decides which types there are. Plain data. */
export function registryOptions({
  dialect,
  options,
}: Pick<ServerSettings, 'dialect' | 'options'>): Required<RegistryOptions> {
  const gates = parseFeatureGates(options.featureGates, DIALECTS[dialect]);
  return {
    runtimeConfig: [...options.runtimeConfig].map(([key, value]) => `${key}=${value}`),
    storageVersions: options.storageVersions,
    minorRelease: minorOf(options.emulatedRelease),
    featureGates: {
      EphemeralContainers: gates.enabled('EphemeralContainers'),
      CSIStorageCapacity: gates.enabled('CSIStorageCapacity'),
    },
  };
}
