// How a scheduler is set up: what its configuration file, a legacy policy and its flags come to. Plain data, since it
// crosses threads.

import type { SchedulerGates } from '../framework/gates.ts';
import type { PluginSets } from '../profiles/default-plugins.ts';
import type { PluginArgs } from '../profiles/plugin-args.ts';

export interface ProfileConfiguration {
  readonly schedulerName: string;
  /** In effect: what runs where, in order. */
  readonly sets: PluginSets;
  readonly args: PluginArgs;
  /** What the file says of plug-ins that are not built in, by name. */
  readonly ownArgs: Readonly<Record<string, unknown>>;
  /** A node that one filter refuses is shown to the others too, for their reasons. */
  readonly asksAllFilters: boolean;
}

/** Somebody outside who is asked about nodes over HTTP. */
export interface ExtenderConfiguration {
  readonly urlPrefix: string;
  /** What is appended to the address to ask for each; empty: it is not asked. */
  readonly filterVerb: string;
  readonly preemptVerb: string;
  readonly prioritizeVerb: string;
  readonly bindVerb: string;
  readonly weight: number;
  readonly httpTimeoutMs: number;
  readonly enableHttps: boolean;
  readonly tls: ExtenderTls | undefined;
  /** It keeps the nodes itself, so that names will do. */
  readonly nodeCacheCapable: boolean;
  /** Resources that it looks after: it is asked about pods that request one, or about all where none is named. */
  readonly managedResources: readonly ManagedResource[];
  /** Where it cannot be asked, the others decide. */
  readonly ignorable: boolean;
}

export interface ManagedResource {
  readonly name: string;
  readonly ignoredByScheduler: boolean;
}

export interface ExtenderTls {
  readonly insecure: boolean;
  readonly serverName: string;
  readonly ca: PemSource;
  readonly cert: PemSource;
  readonly key: PemSource;
}

/** A PEM text, and the file it was read from, if from one. */
export interface PemSource {
  readonly pem: string;
  readonly file: string;
}

export const LEADER_LOCKS = ['endpoints', 'configmaps', 'leases', 'endpointsleases', 'configmapsleases'] as const;
export type LeaderLock = (typeof LEADER_LOCKS)[number];

export interface LeaderElectionConfiguration {
  readonly leaderElect: boolean;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly resourceLock: LeaderLock;
  readonly resourceName: string;
  readonly resourceNamespace: string;
}

export interface ClientConnectionConfiguration {
  /** Path of the connection file. */
  readonly kubeconfig: string;
  readonly acceptContentTypes: string;
  readonly contentType: string;
  readonly qps: number;
  readonly burst: number;
}

export interface SchedulerConfiguration {
  readonly gates: SchedulerGates;
  /** Kept for who reads the configuration: this scheduler looks at nodes one after the other. */
  readonly parallelism: number;
  readonly profiles: readonly ProfileConfiguration[];
  readonly extenders: readonly ExtenderConfiguration[];
  /** 0: adapts to the size of the cluster. */
  readonly percentageOfNodesToScore: number;
  readonly podInitialBackoffMs: number;
  readonly podMaxBackoffMs: number;
  readonly clientConnection: ClientConnectionConfiguration;
  readonly leaderElection: LeaderElectionConfiguration;
  /** `address:port`; empty: not served. */
  readonly healthzBindAddress: string;
  readonly metricsBindAddress: string;
  readonly enableProfiling: boolean;
  readonly enableContentionProfiling: boolean;
  /** Modules with plug-ins of the operator's own, as the file names them. */
  readonly pluginModules: readonly string[];
}
