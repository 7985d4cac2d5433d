// The ingress as part of the server: its options, out of the server's settings.
import { DIALECTS } from '../../config/dialect.ts';
import { type FeatureGates, parseFeatureGates } from '../../config/feature-gates.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import { Lazy } from '../../runtime/lazy.ts';
import { heapLimitBytes } from '../../runtime/memory/heap-limit.ts';
import { metricsRules } from '../../runtime/metrics/metrics-rules.ts';
import { NOTHING_SHOWN } from '../../transport/outgoing/connection-file.ts';
import { componentRecordingOf } from '../auditing/component-audit.ts';
import { type DefineActor, type OutsideWorld, withSettings } from '../define.ts';
import { isFair, type ServerSettings, storePrefixOf } from '../server-settings.ts';
import { startHooks } from '../start-hooks.ts';
import { threadRecords } from '../thread-records.ts';
import { registryOptions, threadRegistry, threadRemoteGroups } from '../thread-registry.ts';
import { ingressActor } from './ingress.ts';
import type { IngressOptions } from './options.ts';
import type { IdentityHeaders } from './pipeline/proxied-identity.ts';
import type { SendTraces } from './tracing/tracer.ts';

/** Of the heap of its thread, and of that of the pool's, for large objects that are rendered. */
const HEAP_SHARE = 0.2;

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
    heapRoomBytes: heapLimitBytes() * HEAP_SHARE,
    host: options.bindAddress,
    port: options.securePort,
    tls: settings.tls,
    tlsFiles: settings.tlsFiles,
    transportDirectives: options.strictTransportSecurityDirectives,
    originPatterns: options.corsAllowedOrigins,
    identityHeaders: identityHeadersOf(settings),
    ...recordedBy(settings),
    paging: { chunks: gates.enabled('APIListChunking'), remaining: gates.enabled('RemainingItemCount') },
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
    keyServices: keyServicesOf(settings),
    serverAddress: `${options.externalHostname || advertiseAddress}:${options.securePort}`,
    warningHeaders: gates.enabled('WarningHeaders'),
    tellsStorageVersions: gates.enabled('StorageVersionHash'),
    connect: connectOf(settings, gates),
    storePrefix: storePrefixOf(options),
    servesProfiles: options.profiling,
    metricsRules: metricsRules(options, options.emulatedRelease),
    build: settings.build,
    startedWallMs: settings.startedWallMs,
  };
}

/** The way to node agents, pods and services. */
function connectOf(
  { egress, nodeAgentTls = {}, nodeAgentTlsFiles, options }: ServerSettings,
  gates: FeatureGates,
): IngressOptions['connect'] {
  return {
    tls: nodeAgentTls,
    ...(nodeAgentTlsFiles === undefined ? {} : { tlsFiles: nodeAgentTlsFiles }),
    connectTimeoutMs: options.orchletTimeoutMs,
    way: egress?.cluster,
    addressTypes: options.orchletPreferredAddressTypes,
    port: options.orchletPort,
    permitsLoopback: options.orchletPermitLoopback,
    redirections: redirectionsOf(gates),
  };
}

/** How far streams follow their node agents. */
function redirectionsOf(gates: FeatureGates): IngressOptions['connect']['redirections'] {
  if (!gates.enabled('StreamingProxyRedirects')) return 'none';
  return gates.enabled('ValidateProxyRedirects') ? 'sameHost' : 'any';
}

/** How many services hold keys of the store. */
function keyServicesOf({ encryption = [] }: ServerSettings): number {
  return encryption.flatMap(({ providers }) => providers).filter(({ kind }) => kind === 'kms').length;
}

/** Who is told of requests beside their clients. */
function recordedBy(settings: ServerSettings): Pick<IngressOptions, 'audit' | 'tracing'> {
  return { audit: componentRecordingOf(settings), tracing: tracingOf(settings) };
}

function tracingOf({ tracing, build }: ServerSettings): IngressOptions['tracing'] {
  if (tracing === undefined) return undefined;
  const client = new Lazy(async () => (await import('../../transport/outgoing/otlp-client.ts')).otlpClient(tracing));
  const send: SendTraces = async (body) => {
    await (await client.get())(body);
  };
  return { settings: tracing, send, version: build.gitCommit };
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
