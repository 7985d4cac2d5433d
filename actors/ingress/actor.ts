// The ingress as part of the server: its options, out of the server's settings.
import { DIALECTS } from '../../config/dialect.ts';
import { parseFeatureGates } from '../../config/feature-gates.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import { metricsRules } from '../../runtime/metrics-rules.ts';
import { NOTHING_SHOWN } from '../../transport/outgoing/connection-file.ts';
import { type DefineActor, type OutsideWorld, withSettings } from '../define.ts';
import { isFair, type ServerSettings, storePrefixOf } from '../server-settings.ts';
import { startHooks } from '../start-hooks.ts';
import { threadRecords } from '../thread-records.ts';
import { registryOptions, threadRegistry, threadRemoteGroups } from '../thread-registry.ts';
import { ingressActor } from './ingress.ts';
import type { IngressOptions } from './options.ts';
import type { IdentityHeaders } from './pipeline/proxied-identity.ts';

export const define: DefineActor = (outside) =>
  withSettings(ingressActor, (settings, context) => ingressOptions(settings, context, outside));

function ingressOptions(settings: ServerSettings, context: ActorContext, outside: OutsideWorld): IngressOptions {
  const { options, advertiseAddress } = settings;
  const gates = parseFeatureGates(options.featureGates, DIALECTS[settings.dialect]);
  return {
    registry: threadRegistry(context, settings),
    remotes: threadRemoteGroups(context, settings),
    aggregation: {
      callsEndpoints: options.enableAggregatorRouting,
      shown: settings.shownToServices ?? NOTHING_SHOWN,
      way: settings.egress?.cluster,
    },
    records: threadRecords(context, settings),
    openapi: { dialect: settings.dialect, ...registryOptions(settings) },
    listener: options.ingress,
    openListener: outside.openListener(context),
    jobs: outside.jobs(context),
    host: options.bindAddress,
    port: options.securePort,
    tls: settings.tls,
    tlsFiles: settings.tlsFiles,
    transportDirectives: options.strictTransportSecurityDirectives,
    originPatterns: options.corsAllowedOrigins,
    identityHeaders: identityHeadersOf(settings),
    audit: auditOf(settings),
    takesPasswords: settings.authMethods?.passwords !== undefined,
    streamsPerConnectionMax: options.http2MaxStreamsPerConnection,
    goawayChance: options.goawayChance,
    connectionBytesPerSecondMax: options.maxConnectionBytesPerSec,
    compressesAnswers: gates.enabled('APIResponseCompression'),
    sharedPort: options.permitPortSharing || context.refs('ingress').length > 1,
    requestTimeoutMs: options.requestTimeoutMs,
    minRequestTimeoutMs: options.minRequestTimeoutSeconds * 1000,
    readsInFlightMax: options.maxRequestsInflight,
    writesInFlightMax: options.maxMutatingRequestsInflight,
    fairness: isFair(settings),
    requestSeats: settings.requestSeats,
    livezGracePeriodMs: options.livezGracePeriodMs,
    healthcheckTimeoutMs: options.storeHealthcheckTimeoutMs,
    startHooks: startHooks(settings, context),
    keyServices: (settings.encryption ?? []).flatMap(({ providers }) => providers).filter(({ kind }) => kind === 'kms')
      .length,
    serverAddress: `${options.externalHostname || advertiseAddress}:${options.securePort}`,
    warningHeaders: gates.enabled('WarningHeaders'),
    connect: {
      tls: settings.nodeAgentTls ?? {},
      ...(settings.nodeAgentTlsFiles === undefined ? {} : { tlsFiles: settings.nodeAgentTlsFiles }),
      connectTimeoutMs: options.orchletTimeoutMs,
      way: settings.egress?.cluster,
      addressTypes: options.orchletPreferredAddressTypes,
      port: options.orchletPort,
      permitsLoopback: options.orchletPermitLoopback,
    },
    storePrefix: storePrefixOf(options),
    servesProfiles: options.profiling,
    metricsRules: metricsRules(options, options.emulatedRelease),
    build: settings.build,
    startedWallMs: settings.startedWallMs,
  };
}

/** Undefined where no request is recorded. */
function auditOf({ audit, options }: ServerSettings): IngressOptions['audit'] {
  if (audit === undefined) return undefined;
  const { auditLogPath, auditLogMode, auditWebhookMode } = options;
  const modes = [
    ...(auditLogPath === '' ? [] : [auditLogMode]),
    ...(audit.webhook === undefined ? [] : [auditWebhookMode]),
  ];
  return { policy: audit.policy, waits: modes.some((mode) => mode !== 'batch') };
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
