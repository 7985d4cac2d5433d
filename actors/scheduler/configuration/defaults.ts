// What holds where a scheduler's configuration says nothing.
import type { Dialect } from '../../../config/dialect.ts';
import { DEFAULT_GATES } from '../framework/gates.ts';
import { DEFAULT_PLUGINS } from '../profiles/default-plugins.ts';
import { PLUGIN_ARGS } from '../profiles/plugin-args.ts';
import type { ProfileConfiguration, SchedulerConfiguration } from './configuration.ts';

export const DEFAULT_SCHEDULER_NAME = 'default-scheduler';

/** A profile of the default plug-ins with their default arguments. */
export function defaultProfileConfiguration(schedulerName = DEFAULT_SCHEDULER_NAME): ProfileConfiguration {
  return { schedulerName, sets: DEFAULT_PLUGINS, args: PLUGIN_ARGS, ownArgs: {}, asksAllFilters: false };
}

/** What a scheduler goes by when nothing is said. */
export function defaultConfiguration(dialect: Dialect): SchedulerConfiguration {
  return {
    gates: DEFAULT_GATES,
    parallelism: 16,
    profiles: [defaultProfileConfiguration()],
    extenders: [],
    percentageOfNodesToScore: 0,
    podInitialBackoffMs: 1_000,
    podMaxBackoffMs: 10_000,
    clientConnection: {
      kubeconfig: '',
      acceptContentTypes: '',
      contentType: dialect.protobufMediaType,
      qps: 50,
      burst: 100,
    },
    leaderElection: {
      leaderElect: true,
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2_000,
      resourceLock: 'leases',
      resourceName: dialect.spell('@short-scheduler'),
      resourceNamespace: dialect.systemNamespace,
    },
    healthzBindAddress: '0.0.0.0:10251',
    metricsBindAddress: '0.0.0.0:10251',
    enableProfiling: true,
    enableContentionProfiling: true,
    pluginModules: [],
  };
}
