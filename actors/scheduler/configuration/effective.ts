// What the flags, the configuration file and a legacy policy come to together. SPEC.md "Scheduler options".
import { ConfigurationError } from '../../../config/configuration-file.ts';
import type { Dialect } from '../../../config/dialect.ts';
import { hostPort } from '../../../values/host-text.ts';
import type { SchedulerGates } from '../framework/gates.ts';
import { DEFAULT_GATES } from '../framework/gates.ts';
import {
  AUTOSCALER_PLUGINS,
  DEFAULT_PLUGINS,
  type PluginSets,
  withSelectorSpread,
  withVolumeScores,
} from '../profiles/default-plugins.ts';
import { PLUGIN_ARGS } from '../profiles/plugin-args.ts';
import type { LeaderLock, SchedulerConfiguration } from './configuration.ts';
import { defaultConfiguration, defaultProfileConfiguration } from './defaults.ts';
import { readConfiguration } from './read-configuration.ts';
import type { FileReader } from './read-extenders.ts';
import { type PolicySources, readPolicy } from './read-policy.ts';

/** The flags that say something of it, as option names write them in camel case. */
export interface SchedulerFlags {
  readonly schedulerName: string;
  readonly hardPodAffinitySymmetricWeight: number;
  readonly algorithmProvider?: string;
  readonly address?: string;
  readonly port?: number;
  readonly profiling?: boolean;
  readonly contentionProfiling?: boolean;
  readonly orchconfig?: string;
  readonly orchApiQps?: number;
  readonly orchApiBurst?: number;
  readonly orchApiContentType?: string;
  readonly leaderElect?: boolean;
  readonly leaderElectLeaseDurationMs?: number;
  readonly leaderElectRenewDeadlineMs?: number;
  readonly leaderElectRetryPeriodMs?: number;
  readonly leaderElectResourceLock?: string;
  readonly leaderElectResourceName?: string;
  readonly leaderElectResourceNamespace?: string;
}

export interface EffectiveParts {
  readonly flags: SchedulerFlags;
  /** What the files hold, parsed; undefined where none is named. */
  readonly file: unknown;
  readonly policy: unknown;
  readonly dialect: Dialect;
  readonly readFile: FileReader;
  readonly gates?: SchedulerGates;
}

const PROVIDERS: Readonly<Record<string, PluginSets>> = {
  '': DEFAULT_PLUGINS,
  DefaultProvider: DEFAULT_PLUGINS,
  ClusterAutoscalerProvider: AUTOSCALER_PLUGINS,
};

/** Throws ConfigurationError. */
export function effectiveConfiguration({
  flags,
  file,
  policy,
  dialect,
  readFile,
  gates = DEFAULT_GATES,
}: EffectiveParts): SchedulerConfiguration {
  const provided = PROVIDERS[flags.algorithmProvider ?? ''] ?? DEFAULT_PLUGINS;
  const spread = gates.spreadsByTopology ? provided : withSelectorSpread(provided);
  const base = gates.scoresVolumeCapacity ? withVolumeScores(spread) : spread;
  const read =
    file === undefined ? fromFlags(flags, base, dialect) : readConfiguration(file, { dialect, base, readFile });
  const configuration = { ...(gates.spreadsByTopology ? read : withoutTopologyDefaults(read)), gates };
  if (!gates.scoresVolumeCapacity) checkNoVolumeShape(configuration);
  const overrides = policy !== undefined ? 'a policy' : flags.algorithmProvider ? '--algorithm-provider' : undefined;
  if (overrides !== undefined && configuresPlugins(file)) {
    throw new ConfigurationError('profiles', `plug-ins cannot be configured together with ${overrides}`);
  }
  return policy === undefined ? configuration : withPolicy(configuration, policy, { base, readFile, dialect, gates });
}

/** Pods that have no constraints are spread by their services and controllers then. */
function withoutTopologyDefaults(configuration: SchedulerConfiguration): SchedulerConfiguration {
  const profiles = configuration.profiles.map((profile) => {
    const { args } = profile;
    // Whoever has said something of it is heard.
    if (args.PodTopologySpread !== PLUGIN_ARGS.PodTopologySpread) return profile;
    return { ...profile, args: { ...args, PodTopologySpread: { defaultConstraints: [], systemDefaults: false } } };
  });
  return { ...configuration, profiles };
}

/** Throws ConfigurationError: a shape that would score nothing was meant to. */
function checkNoVolumeShape({ profiles }: SchedulerConfiguration): void {
  for (const { schedulerName, args } of profiles) {
    if (args.VolumeBinding.shape === undefined) continue;
    throw new ConfigurationError(
      'profiles',
      `the profile ${schedulerName} gives VolumeBinding a shape, which is for the feature gate VolumeCapacityPriority`,
    );
  }
}

function withPolicy(
  configuration: SchedulerConfiguration,
  policy: unknown,
  sources: PolicySources,
): SchedulerConfiguration {
  const [profile, second] = configuration.profiles;
  if (second !== undefined)
    throw new ConfigurationError('profiles', 'a policy is for one profile, and there are several');
  const { extenders, ...said } = readPolicy(policy, sources);
  return { ...configuration, profiles: [{ ...profile!, ...said }], extenders };
}

function configuresPlugins(file: unknown): boolean {
  if (file === undefined) return false;
  const profiles = (file as { readonly profiles?: unknown }).profiles;
  return Array.isArray(profiles) && profiles.some((profile) => profile?.plugins || profile?.pluginConfig);
}

function fromFlags(flags: SchedulerFlags, base: PluginSets, dialect: Dialect): SchedulerConfiguration {
  const defaults = defaultConfiguration(dialect);
  const { clientConnection: connection, leaderElection: election } = defaults;
  const profile = defaultProfileConfiguration(flags.schedulerName);
  const hardPodAffinityWeight = flags.hardPodAffinitySymmetricWeight;
  const served = flags.port === 0 ? '' : hostPort(flags.address ?? '0.0.0.0', flags.port ?? 10_251);
  return {
    ...defaults,
    profiles: [{ ...profile, sets: base, args: { ...profile.args, InterPodAffinity: { hardPodAffinityWeight } } }],
    healthzBindAddress: served,
    metricsBindAddress: served,
    enableProfiling: flags.profiling ?? defaults.enableProfiling,
    enableContentionProfiling: flags.contentionProfiling ?? defaults.enableContentionProfiling,
    clientConnection: {
      ...connection,
      kubeconfig: flags.orchconfig ?? connection.kubeconfig,
      contentType: flags.orchApiContentType || connection.contentType,
      qps: flags.orchApiQps || connection.qps,
      burst: flags.orchApiBurst || connection.burst,
    },
    leaderElection: {
      leaderElect: flags.leaderElect ?? election.leaderElect,
      leaseDurationMs: flags.leaderElectLeaseDurationMs ?? election.leaseDurationMs,
      renewDeadlineMs: flags.leaderElectRenewDeadlineMs ?? election.renewDeadlineMs,
      retryPeriodMs: flags.leaderElectRetryPeriodMs ?? election.retryPeriodMs,
      resourceLock: (flags.leaderElectResourceLock as LeaderLock | undefined) ?? election.resourceLock,
      resourceName: flags.leaderElectResourceName ?? election.resourceName,
      resourceNamespace: flags.leaderElectResourceNamespace ?? election.resourceNamespace,
    },
  };
}

/** The flags that a configuration file makes of no use: they are ignored beside `--config`, and it is said. */
export const FLAGS_IN_FILE: readonly string[] = [
  'scheduler-name',
  'hard-pod-affinity-symmetric-weight',
  'address',
  'port',
  'profiling',
  'contention-profiling',
  'orchconfig',
  'orch-api-qps',
  'orch-api-burst',
  'orch-api-content-type',
  'lock-object-name',
  'lock-object-namespace',
  'leader-elect',
  'leader-elect-lease-duration',
  'leader-elect-renew-deadline',
  'leader-elect-retry-period',
  'leader-elect-resource-lock',
  'leader-elect-resource-name',
  'leader-elect-resource-namespace',
];
