// What the actors of a server are told at start: plain data, since it crosses threads. Made by bin/ from the options and
// the data directory; each actor picks its part in its `actor.ts`.
import type { BuildInfo } from '../api/discovery/discovery.ts';
import type { AuditPolicy } from '../config/audit-policy.ts';
import { DIALECTS, type DialectName } from '../config/dialect.ts';
import type { ResourceEncryption } from '../config/encryption-configuration.ts';
import { type FeatureGates, parseFeatureGates } from '../config/feature-gates.ts';
import type { ServerOptions } from '../config/options.ts';
import type { TraceSettings } from '../config/trace-environment.ts';
import type { EtcdAccess } from '../storage/etcd/etcd-access.ts';
import type { TlsMaterial } from '../transport/http.ts';
import type { AgentTls } from '../transport/outgoing/agent-address.ts';
import type { AgentTlsFiles } from '../transport/outgoing/agent-tls.ts';
import type { ServiceConnection, ServiceCredentials } from '../transport/outgoing/connection-file.ts';
import type { EgressWays } from '../transport/outgoing/egress.ts';
import type { TlsFiles } from '../transport/tls/material-files.ts';
import type { PluginConfigurations } from './admission/plugins/plugin.ts';
import type { ServiceAccountIssuer } from './auth/authenticators/service-account-tokens.ts';
import type { TokenEntry } from './auth/authenticators/token-file.ts';
import type { AuthMethods } from './auth/methods.ts';
import type { SigningAuthority } from './controllers/options.ts';
import type { AuthorityFiles } from './followed-authorities.ts';
import type { OwnService } from './outside/own-service.ts';
import type { SchedulerConfiguration } from './scheduler/configuration/configuration.ts';
import type { RecordSettings } from './scheduler/recording/recorder.ts';

/** What is recorded, and by whom beside the log. */
export interface AuditSettings {
  readonly policy: AuditPolicy;
  /** Absent: no webhook is told. */
  readonly webhook?: ServiceConnection;
}

export interface ServerSettings {
  readonly dialect: DialectName;
  readonly options: ServerOptions;
  /** Absolute. */
  readonly dataDirectory: string;
  readonly storeEngine: 'level' | 'memory';
  /** The store outside this process. Absent: `storeEngine` says which one is inside. */
  readonly storeAccess?: EtcdAccess;
  /** Which keyspace of it this process serves (storage/etcd/served-keyspace.ts). Absent: any. */
  readonly servedKeyspace?: SharedArrayBuffer;
  /** What `--encryption-provider-config` says; absent when it names no file. */
  readonly encryption?: readonly ResourceEncryption[];
  /** What `--admission-control-config-file` says; absent when it names no file. */
  readonly admissionPlugins?: PluginConfigurations;
  /** Absent: no audit events are made. */
  readonly audit?: AuditSettings;
  /** Absent: requests are not traced. */
  readonly tracing?: TraceSettings;
  readonly tls: TlsMaterial | undefined;
  /** Where `tls` is from, to be read again when it changes. */
  readonly tlsFiles?: TlsFiles;
  /** Where the authorities of client certificates are from. */
  readonly authorityFiles?: AuthorityFiles;
  /** The authority that signed the serving certificate. */
  readonly caPem: string;
  readonly tokens: readonly TokenEntry[];
  /** Absent: none but the methods that need nothing of their own. */
  readonly authMethods?: AuthMethods;
  /** Absent: no token of a service account is known or issued. */
  readonly serviceAccounts?: ServiceAccountIssuer;
  /** Signs the certificates that are requested. Absent: nobody does. */
  readonly signingAuthority?: SigningAuthority;
  /** Absent: node agents are neither authenticated nor shown a certificate. */
  readonly nodeAgentTls?: AgentTls;
  /** The ways out. Absent: all are straight. */
  readonly egress?: EgressWays;
  /** Shown to extension servers and admission webhooks. Absent: nothing is. */
  readonly shownToServices?: ServiceCredentials;
  /** Absent: the server cannot be asked by itself. */
  readonly ownService?: OwnService;
  /** Where `nodeAgentTls` is from, to be read again when it changes. */
  readonly nodeAgentTlsFiles?: AgentTlsFiles;
  /**
   * Where the ingresses of all threads count requests (actors/ingress/fairness/seats.ts), made anew for each start of the process.
   * Absent: there is one ingress.
   */
  readonly requestSeats?: SharedArrayBuffer;
  /** The address members of the cluster reach this server at. */
  readonly advertiseAddress: string;
  readonly build: BuildInfo;
  readonly startedWallMs: number;
  /** Pods that name it are bound here; blank where there is no scheduler. */
  readonly schedulerName: string;
  /** Absent: the scheduler's defaults. */
  readonly schedulerConfiguration?: SchedulerConfiguration;
  /** Where all that is scheduled is recorded. Absent: nowhere. */
  readonly schedulingRecord?: RecordSettings;
}

/** Whether requests wait for their turn by priority, instead of being refused beyond the limits. */
export function isFair(settings: Pick<ServerSettings, 'options' | 'dialect'>): boolean {
  return settings.options.enablePriorityAndFairness && featureGates(settings).enabled('APIPriorityAndFairness');
}

/** `--feature-gates`. */
export function featureGates({ options, dialect }: Pick<ServerSettings, 'options' | 'dialect'>): FeatureGates {
  return parseFeatureGates(options.featureGates, DIALECTS[dialect]);
}

/** What the keys of stored objects begin with. */
export function storePrefixOf({ storePrefix }: ServerOptions): string {
  return storePrefix.replace(/\/+$/, '');
}
