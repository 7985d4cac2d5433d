// What the controllers are told of the server's settings. Apart from the actor: the ingress has to know which objects they make at
// the start, and loads nothing of how.
import { runningControllers } from '../../config/controllers.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import { featureGates, isFair, type ServerSettings } from '../server-settings.ts';
import { threadBuiltIns } from '../thread-registry.ts';
import type { ControllersOptions } from './options.ts';

/** All that does not come of the types that there are. */
export type SettledOptions = Omit<
  ControllersOptions,
  'namespacedTypes' | 'apiGroups' | 'persistedTypes' | 'customTypes'
>;

/** Of the server's settings what the controllers need, and the built-in types. */
export function settledOptions(settings: ServerSettings, context: ActorContext): SettledOptions {
  const { options } = settings;
  const registry = threadBuiltIns(context, settings);
  const gates = featureGates(settings);
  return {
    dialect: settings.dialect,
    isServed: ({ group, version, resource }) => registry.byPath(group, version, resource) !== undefined,
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
    ...(gates.enabled('APIServerIdentity') ? { identityLeases: identityLeases(options) } : {}),
    keepsStorageVersions: gates.enabled('StorageVersionAPI') && gates.enabled('APIServerIdentity'),
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
