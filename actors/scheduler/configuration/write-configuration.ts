// A scheduler's configuration as the object its file holds, everything said: reading it again gives the same configuration,
// whatever the defaults are by then. What `--write-config-to` writes and `configz` shows.
import type { Dialect } from '../../../config/dialect.ts';
import { formatDurationMs } from '../../../values/duration.ts';
import type { PluginSets } from '../profiles/default-plugins.ts';
import type { PluginArgs } from '../profiles/plugin-args.ts';
import { EXTENSION_POINTS } from '../profiles/plugin-table.ts';
import type {
  ExtenderConfiguration,
  ExtenderTls,
  PemSource,
  ProfileConfiguration,
  SchedulerConfiguration,
} from './configuration.ts';
import { configurationKinds, configurationVersions } from './versions.ts';

/** The object that a configuration file would hold, ready to be written as JSON. */
export function writtenConfiguration(configuration: SchedulerConfiguration, dialect: Dialect): object {
  const { clientConnection, leaderElection, profiles, extenders, pluginModules } = configuration;
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs, ...election } = leaderElection;
  return {
    apiVersion: configurationVersions(dialect)[0],
    kind: configurationKinds(dialect)[0],
    clientConnection,
    enableContentionProfiling: configuration.enableContentionProfiling,
    enableProfiling: configuration.enableProfiling,
    ...(extenders.length === 0 ? {} : { extenders: extenders.map(writtenExtender) }),
    healthzBindAddress: configuration.healthzBindAddress,
    leaderElection: {
      ...election,
      leaseDuration: formatDurationMs(leaseDurationMs),
      renewDeadline: formatDurationMs(renewDeadlineMs),
      retryPeriod: formatDurationMs(retryPeriodMs),
    },
    metricsBindAddress: configuration.metricsBindAddress,
    parallelism: configuration.parallelism,
    percentageOfNodesToScore: configuration.percentageOfNodesToScore,
    ...(pluginModules.length === 0 ? {} : { pluginModules }),
    podInitialBackoffSeconds: configuration.podInitialBackoffMs / 1000,
    podMaxBackoffSeconds: configuration.podMaxBackoffMs / 1000,
    profiles: profiles.map(writtenProfile),
  };
}

function writtenProfile({ schedulerName, sets, args, ownArgs, asksAllFilters }: ProfileConfiguration): object {
  const own = Object.entries(ownArgs).map(([name, value]) => ({ name, args: value }));
  const used = new Set(EXTENSION_POINTS.flatMap((point) => sets[point].map(({ name }) => name)));
  const builtIn = Object.entries(writtenArgs(args)).filter(([name]) => used.has(name));
  return {
    schedulerName,
    plugins: writtenSets(sets),
    pluginConfig: [...builtIn.map(([name, value]) => ({ name, args: value })), ...own],
    ...(asksAllFilters ? { asksAllFilters } : {}),
  };
}

function writtenSets(sets: PluginSets): object {
  return Object.fromEntries(
    EXTENSION_POINTS.map((point) => {
      const enabled = sets[point].map(({ name, weight }) => (point === 'score' ? { name, weight } : { name }));
      return [point, { disabled: [{ name: '*' }], ...(enabled.length === 0 ? {} : { enabled }) }];
    }),
  );
}

function writtenArgs(args: PluginArgs): Readonly<Record<string, object>> {
  const { NodeAffinity: affinity, PodTopologySpread: spread, VolumeBinding: volumes, ...others } = args;
  const required = affinity.addedRequired;
  const preferred = affinity.addedPreferred.map(({ weight, term }) => ({ weight, preference: term }));
  const addedAffinity = {
    ...(required === undefined
      ? {}
      : { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: required } }),
    ...(preferred.length === 0 ? {} : { preferredDuringSchedulingIgnoredDuringExecution: preferred }),
  };
  const defaultConstraints = spread.defaultConstraints.map(({ topologyKey, maxSkew, required: must }) => ({
    maxSkew,
    topologyKey,
    whenUnsatisfiable: must ? 'DoNotSchedule' : 'ScheduleAnyway',
  }));
  return {
    ...(others as unknown as Record<string, object>),
    NodeAffinity: { addedAffinity },
    PodTopologySpread: spread.systemDefaults
      ? { defaultingType: 'System' }
      : { defaultConstraints, defaultingType: 'List' },
    VolumeBinding: {
      bindTimeoutSeconds: volumes.bindTimeoutMs / 1000,
      ...(volumes.shape === undefined ? {} : { shape: volumes.shape }),
    },
  };
}

function writtenExtender({ httpTimeoutMs, enableHttps, tls, ...extender }: ExtenderConfiguration): object {
  return {
    ...extender,
    httpTimeout: formatDurationMs(httpTimeoutMs),
    enableHTTPS: enableHttps,
    ...(tls === undefined ? {} : { tlsConfig: writtenTls(tls) }),
  };
}

/** A key is written where it came from a file only by the name of that file. */
function writtenTls({ insecure, serverName, ca, cert, key }: ExtenderTls): object {
  const written = (name: string, { pem, file }: PemSource) => {
    if (file !== '') return { [`${name}File`]: file };
    return pem === '' ? {} : { [`${name}Data`]: Buffer.from(pem).toString('base64') };
  };
  return { insecure, serverName, ...written('ca', ca), ...written('cert', cert), ...written('key', key) };
}
