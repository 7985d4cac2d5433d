// The registry of resource types, built once a thread and shared by its actors: it is the same everywhere and never
// changes.
import { createRegistry, type Registry } from '../api/resources/registry.ts';
import { DIALECTS } from '../config/dialect.ts';
import { parseFeatureGates } from '../config/feature-gates.ts';
import type { ActorContext } from '../runtime/actor.ts';
import type { ServerSettings } from './server-settings.ts';

export function threadRegistry(context: ActorContext, settings: ServerSettings): Registry {
  return context.threadLocal('registry', () => registryFor(settings));
}

/** The registry that the settings ask for. Throws RuntimeConfigError. */
export function registryFor({ dialect, options }: Pick<ServerSettings, 'dialect' | 'options'>): Registry {
  const gates = parseFeatureGates(options.featureGates, DIALECTS[dialect]);
  return createRegistry(DIALECTS[dialect], {
    runtimeConfig: runtimeConfigPairs(options.runtimeConfig),
    featureGates: { EphemeralContainers: gates.enabled('EphemeralContainers') },
  });
}

function runtimeConfigPairs(config: ServerSettings['options']['runtimeConfig']): string[] {
  return [...config].map(([key, value]) => `${key}=${value}`);
}
