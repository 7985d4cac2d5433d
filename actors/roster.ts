// The only list of actors there is, and which part of the server's settings it gets. Each worker thread imports
// this module and creates the actors its placement names.

import type { Registry } from '../api/resources/registry.ts';
import type { KnownType } from '../api/resources/resource-table.ts';
import { DIALECTS } from '../config/dialect.ts';
import { parseFeatureGates } from '../config/feature-gates.ts';
import type { ActorContext, ActorDefinition } from '../runtime/actor.ts';
import { createJobPool, type JobPool } from '../runtime/job-pool.ts';
import type { StoredEncryption } from '../storage/encryption/stored-encryption.ts';
import type { StorageEngine } from '../storage/engine.ts';
import { LevelEngine } from '../storage/level-engine.ts';
import { MemoryEngine } from '../storage/memory-engine.ts';
import { type OpenListener, openListener } from '../transport/open-listener.ts';
import { type AdmissionOptions, admissionActor } from './admission/admission.ts';
import { runningPlugins } from './admission/plugins/plugins.ts';
import { auditActor } from './audit/audit.ts';
import { type AuthOptions, authActor } from './auth/auth.ts';
import type { AuthorizationMode } from './auth/authorizers/modes.ts';
import { hookChecks } from './controllers/bootstrap-objects.ts';
import { controllersActor } from './controllers/controllers.ts';
import type { ControllersOptions } from './controllers/options.ts';
import { type HubOptions, hubActor } from './hub/hub.ts';
import { type IngressOptions, ingressActor } from './ingress/ingress.ts';
import type { IdentityHeaders } from './ingress/pipeline/proxied-identity.ts';
import { type SchedulerOptions, schedulerActor } from './scheduler/scheduler.ts';
import type { ServerSettings } from './server-settings.ts';
import { type StoreOptions, storeActor } from './store/store.ts';
import { StoredVersions } from './store/stored-versions.ts';
import { threadRecords } from './thread-records.ts';
import { registryOptions, threadRegistry } from './thread-registry.ts';

/** What actors own outside the process. A simulation puts its own in these places, and only in these. */
export interface OutsideWorld {
  /** The store's engine, unopened. */
  readonly engine: (settings: ServerSettings, context: ActorContext) => StorageEngine;
  readonly openListener: (context: ActorContext) => OpenListener;
  /** The pool of the actor's thread. */
  readonly jobs: (context: ActorContext) => JobPool;
}

/** Every actor, with its part of the settings. */
export function rosterFor(outside: OutsideWorld): readonly ActorDefinition<ServerSettings>[] {
  return [
    withSettings(ingressActor, (settings, context) => ingressOptions(settings, context, outside)),
    withSettings(authActor, authOptions),
    withSettings(auditActor, () => ({})),
    withSettings(admissionActor, admissionOptions),
    withSettings(hubActor, hubOptions),
    withSettings(storeActor, (settings, context) => storeOptions(settings, context, outside)),
    withSettings(schedulerActor, schedulerOptions),
    withSettings(controllersActor, controllersOptions),
  ];
}

export const roster: readonly ActorDefinition<ServerSettings>[] = rosterFor({
  engine: engineOf,
  openListener: () => openListener,
  jobs: (context) => context.threadLocal('jobs', createJobPool),
});

function engineOf({ options, dialect, dataDirectory, storeEngine }: ServerSettings, context: ActorContext) {
  if (storeEngine === 'memory') return new MemoryEngine(context.random.bytes(32));
  return new LevelEngine({ directory: dataDirectory, prefix: storePrefixOf(options), dialect });
}

function storePrefixOf({ storePrefix }: ServerSettings['options']): string {
  return storePrefix.replace(/\/+$/, '');
}

/** An actor that picks its options out of the server's settings. */
function withSettings<Options>(
  definition: ActorDefinition<Options>,
  pick: (settings: ServerSettings, context: ActorContext) => Options,
): ActorDefinition<ServerSettings> {
  return { ...definition, create: (context, settings) => definition.create(context, pick(settings, context)) };
}

function ingressOptions(settings: ServerSettings, context: ActorContext, outside: OutsideWorld): IngressOptions {
  const { options, advertiseAddress } = settings;
  const gates = parseFeatureGates(options.featureGates, DIALECTS[settings.dialect]);
  return {
    registry: threadRegistry(context, settings),
    records: threadRecords(context, settings),
    openapi: { dialect: settings.dialect, ...registryOptions(settings) },
    listener: options.ingress,
    openListener: outside.openListener(context),
    jobs: outside.jobs(context),
    host: options.bindAddress,
    port: options.securePort,
    tls: settings.tls,
    identityHeaders: identityHeadersOf(settings),
    streamsPerConnectionMax: options.http2MaxStreamsPerConnection,
    connectionBytesPerSecondMax: options.maxConnectionBytesPerSec,
    compressesAnswers: gates.enabled('APIResponseCompression'),
    sharedPort: options.permitPortSharing || context.refs('ingress').length > 1,
    requestTimeoutMs: options.requestTimeoutMs,
    minRequestTimeoutMs: options.minRequestTimeoutSeconds * 1000,
    readsInFlightMax: options.maxRequestsInflight,
    writesInFlightMax: options.maxMutatingRequestsInflight,
    livezGracePeriodMs: options.livezGracePeriodMs,
    healthcheckTimeoutMs: options.storeHealthcheckTimeoutMs,
    startHooks:
      context.refs('controllers').length === 0
        ? []
        : hookChecks(DIALECTS[settings.dialect], controllersOptions(settings, context)),
    keyServices: (settings.encryption ?? []).flatMap(({ providers }) => providers).filter(({ kind }) => kind === 'kms')
      .length,
    serverAddress: `${options.externalHostname || advertiseAddress}:${options.securePort}`,
    warningHeaders: gates.enabled('WarningHeaders'),
    connect: {
      tls: settings.nodeAgentTls ?? {},
      connectTimeoutMs: options.orchletTimeoutMs,
      addressTypes: options.orchletPreferredAddressTypes,
      port: options.orchletPort,
      permitsLoopback: options.orchletPermitLoopback,
    },
    storePrefix: storePrefixOf(options),
    build: settings.build,
    startedWallMs: settings.startedWallMs,
  };
}

/** Undefined where no proxy is believed. */
function identityHeadersOf({ authMethods, options }: ServerSettings): IdentityHeaders | undefined {
  if (authMethods?.proxy === undefined) return undefined;
  const lower = (names: readonly string[]): readonly string[] => names.map((name) => name.trim().toLowerCase());
  return {
    names: lower(options.requestheaderUsernameHeaders),
    groups: lower(options.requestheaderGroupHeaders),
    extraPrefixes: lower(options.requestheaderExtraHeadersPrefix),
  };
}

function authOptions({ dialect, options, tokens, serviceAccounts, authMethods }: ServerSettings): AuthOptions {
  return {
    methods: authMethods ?? {},
    tokens,
    dialect: DIALECTS[dialect],
    serviceAccounts,
    anonymous: options.anonymousAuth,
    // The option table refuses modes that are not in force.
    modes: options.authorizationMode as readonly AuthorizationMode[],
  };
}

function admissionOptions(settings: ServerSettings, context: ActorContext): AdmissionOptions {
  const { options } = settings;
  const gates = parseFeatureGates(options.featureGates, DIALECTS[settings.dialect]);
  return {
    registry: threadRegistry(context, settings),
    requestTimeoutMs: options.requestTimeoutMs,
    serverSideApply: gates.enabled('ServerSideApply'),
    deletion: {
      collectsGarbage: options.enableGarbageCollector,
      collectionWorkers: options.deleteCollectionWorkers,
    },
    plugins: runningPlugins(options.enableAdmissionPlugins, options.disableAdmissionPlugins),
    network: { clusterIpRanges: options.serviceClusterIpRange, nodePorts: options.serviceNodePortRange },
    validation: { allowPrivileged: options.allowPrivileged, gate: (name) => gates.enabled(name) },
  };
}

function hubOptions(settings: ServerSettings, context: ActorContext): HubOptions {
  const registry = threadRegistry(context, settings);
  return {
    selectableFields: (storageKey) => registry.storageType(storageKey)?.storedFields ?? [],
    initialEventsEndAnnotation: registry.dialect.spell('@group/initial-events-end'),
    records: threadRecords(context, settings),
  };
}

function storeOptions(settings: ServerSettings, context: ActorContext, outside: OutsideWorld): StoreOptions {
  const { options, dialect, encryption } = settings;
  const versions = new StoredVersions(() => threadRegistry(context, settings));
  const encrypted = async (): Promise<StoredEncryption> => {
    const { encryptionFor } = await import('./encryption-at-rest.ts');
    return encryptionFor(encryption ?? [], threadRegistry(context, settings), context);
  };
  return {
    ...(encryption === undefined ? {} : { encryption: encrypted }),
    engine: (context) => outside.engine(settings, context),
    media: options.storageMediaType === DIALECTS[dialect].protobufMediaType ? 'protobuf' : 'json',
    compactionIntervalMs: options.storeCompactionIntervalMs,
    healthcheckTimeoutMs: options.storeHealthcheckTimeoutMs,
    historyBytesMax: options.storeHistoryBytes,
    measures: {
      objectCountMs: options.storeCountMetricPollPeriodMs,
      diskSizeMs: options.storeDbMetricPollIntervalMs,
    },
    currentVersion: (key, value) => versions.current(key, value),
  };
}

function schedulerOptions({ dialect, schedulerName }: ServerSettings): SchedulerOptions {
  return { dialect: DIALECTS[dialect], schedulerName };
}

/** Served types first, then the same in the versions that are not served. */
function persistedTypes(registry: Registry): readonly KnownType[] {
  const served = registry.all().filter(({ persisted }) => persisted);
  const storageKeys = new Set(served.map(({ storageKey }) => storageKey));
  const others = registry.known().filter((type) => type.persisted && storageKeys.has(type.storageKey));
  return [...served, ...others];
}

function controllersOptions(settings: ServerSettings, context: ActorContext): ControllersOptions {
  const { options } = settings;
  const registry = threadRegistry(context, settings);
  return {
    dialect: settings.dialect,
    isServed: ({ group, version, resource }) => registry.byPath(group, version, resource) !== undefined,
    namespacedTypes: registry.resourcesByPreferredVersion(),
    persistedTypes: persistedTypes(registry),
    collectsGarbage: options.enableGarbageCollector,
    caPem: settings.caPem,
    eventTtlMs: options.eventTtlMs,
    serviceRange: options.serviceClusterIpRange[0]!,
    serviceNodePort: options.orchServiceNodePort,
    advertiseAddress: settings.advertiseAddress,
    securePort: options.securePort,
    endpointReconcilerType: options.endpointReconcilerType,
    apiserverCount: options.apiserverCount,
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
