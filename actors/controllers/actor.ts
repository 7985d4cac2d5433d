// The controllers as part of the server: their options, out of the server's settings.
import type { Registry } from '../../api/resources/registry.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { runningControllers } from '../../config/controllers.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import { type DefineActor, withSettings } from '../define.ts';
import { featureGates, isFair, type ServerSettings } from '../server-settings.ts';
import { threadBuiltIns } from '../thread-registry.ts';
import { controllersActor } from './controllers.ts';
import { CustomTypes } from './custom-types.ts';
import type { ControllersOptions } from './options.ts';

export const define: DefineActor = () => withSettings(controllersActor, controllersOptions);

export function controllersOptions(settings: ServerSettings, context: ActorContext): ControllersOptions {
  const { options } = settings;
  const registry = threadBuiltIns(context, settings);
  return {
    dialect: settings.dialect,
    isServed: ({ group, version, resource }) => registry.byPath(group, version, resource) !== undefined,
    namespacedTypes: registry.resourcesByPreferredVersion(),
    apiGroups: registry.groups(),
    persistedTypes: persistedTypes(registry),
    customTypes: new CustomTypes(registry),
    isFair: isFair(settings),
    running: runningControllers(options.controllers),
    collectsGarbage: options.enableGarbageCollector,
    caPem: settings.caPem,
    issuesTokens: (settings.serviceAccounts?.signingKeyPem ?? '') !== '',
    // In the original's layout they end with their leases.
    eventTtlMs: options.storeLayout === 'own' ? options.eventTtlMs : 0,
    serviceRange: options.serviceClusterIpRange[0]!,
    serviceNodePort: options.orchServiceNodePort,
    advertiseAddress: settings.advertiseAddress,
    securePort: options.securePort,
    endpointReconcilerType: options.endpointReconcilerType,
    sharesStore: settings.storeAccess !== undefined,
    hasScheduler: settings.schedulerName !== '',
    apiserverCount: options.apiserverCount,
    ...(featureGates(settings).enabled('APIServerIdentity') ? { identityLeases: identityLeases(options) } : {}),
    ...(settings.signingAuthority === undefined ? {} : { signingAuthority: settings.signingAuthority }),
    ...(settings.authorityFiles === undefined ? {} : { authorityFiles: settings.authorityFiles }),
    authentication: {
      clientCaPem: settings.authMethods?.clientCaPem ?? '',
      requestHeaderCaPem: settings.authMethods?.proxy?.caPem ?? '',
      requestHeaderAllowedNames: options.requestheaderAllowedNames,
      requestHeaderUsernameHeaders: options.requestheaderUsernameHeaders,
      requestHeaderGroupHeaders: options.requestheaderGroupHeaders,
      requestHeaderExtraHeaderPrefixes: options.requestheaderExtraHeadersPrefix,
    },
  };
}

function identityLeases(options: ServerSettings['options']): ControllersOptions['identityLeases'] & object {
  const { identityLeaseDurationSeconds, identityLeaseRenewIntervalSeconds } = options;
  return { durationSeconds: identityLeaseDurationSeconds, renewIntervalSeconds: identityLeaseRenewIntervalSeconds };
}

/** Served types first, then the same in the versions that are not served. */
function persistedTypes(registry: Registry): readonly KnownType[] {
  const served = registry.all().filter(({ persisted }) => persisted);
  const storageKeys = new Set(served.map(({ storageKey }) => storageKey));
  const others = registry.known().filter((type) => type.persisted && storageKeys.has(type.storageKey));
  return [...served, ...others];
}
