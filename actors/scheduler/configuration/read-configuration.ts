// A configuration file of a scheduler, as a parsed value, becomes its configuration, or is refused with the path of what is
// wrong. Reading the file is bin/'s work. SPEC.md "Scheduler options", `--config`.
import { Section } from '../../../config/configuration-section.ts';
import type { Dialect } from '../../../config/dialect.ts';
import { hostPort } from '../../../values/host-text.ts';
import { parseIp } from '../../../values/ip.ts';
import type { PluginSets } from '../profiles/default-plugins.ts';
import {
  type ClientConnectionConfiguration,
  LEADER_LOCKS,
  type LeaderElectionConfiguration,
  type SchedulerConfiguration,
} from './configuration.ts';
import { defaultConfiguration } from './defaults.ts';
import { EXTENDER_MEMBERS, type FileReader, readExtenders } from './read-extenders.ts';
import { checkProfiles, PROFILE_MEMBERS, readProfile } from './read-profiles.ts';
import { configurationKinds, configurationVersions } from './versions.ts';

const MEMBERS = [
  'apiVersion',
  'kind',
  'parallelism',
  'leaderElection',
  'clientConnection',
  'healthzBindAddress',
  'metricsBindAddress',
  'enableProfiling',
  'enableContentionProfiling',
  'percentageOfNodesToScore',
  'podInitialBackoffSeconds',
  'podMaxBackoffSeconds',
  'profiles',
  'extenders',
  'pluginModules',
];
const PERCENT = { least: 0, most: 100 };
const SECONDS = { least: 1, most: 2 ** 31 - 1 };
const BURST = { least: 0, most: 2 ** 31 - 1 };
/** Below 0: no limit. */
const RATE = { least: -BURST.most, most: BURST.most, whole: false };
/** A renewal can come this much later than the retry period says. */
const RETRY_JITTER = 1.2;
/** `0.0.0.0:10251`, `[::1]:10251`, `:10251`. */
const BIND_ADDRESS = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/;
const PORT_MAX = 65_535;
const PORT_DEFAULT = 10_251;
const JSON_TYPE = 'application/json';

export interface ConfigurationSources {
  readonly dialect: Dialect;
  /** The sets that profiles are laid over. */
  readonly base: PluginSets;
  readonly readFile: FileReader;
}

/** Throws ConfigurationError. */
export function readConfiguration(content: unknown, sources: ConfigurationSources): SchedulerConfiguration {
  const { dialect, base, readFile } = sources;
  const defaults = defaultConfiguration(dialect);
  const file = new Section(content, '', MEMBERS);
  file.choice('apiVersion', configurationVersions(dialect), '');
  file.choice('kind', configurationKinds(dialect), '');
  const initialSeconds = file.number('podInitialBackoffSeconds', SECONDS, defaults.podInitialBackoffMs / 1000);
  const maxSeconds = file.number('podMaxBackoffSeconds', SECONDS, defaults.podMaxBackoffMs / 1000);
  if (maxSeconds < initialSeconds) file.fail('podMaxBackoffSeconds', 'must not be less than podInitialBackoffSeconds');
  const sections = file.sections('profiles', PROFILE_MEMBERS);
  const profiles =
    sections.length > 0
      ? sections.map((section) => readProfile(section, base, dialect, sections.length === 1))
      : defaults.profiles.map((profile) => ({ ...profile, sets: base }));
  checkProfiles(profiles);
  return {
    gates: defaults.gates,
    parallelism: file.number('parallelism', { least: 1, most: 2 ** 31 - 1 }, defaults.parallelism),
    profiles,
    extenders: readExtenders(file.sections('extenders', EXTENDER_MEMBERS), { readFile, dialect }),
    percentageOfNodesToScore: file.number('percentageOfNodesToScore', PERCENT, defaults.percentageOfNodesToScore),
    podInitialBackoffMs: initialSeconds * 1000,
    podMaxBackoffMs: maxSeconds * 1000,
    clientConnection: readConnection(file, defaults.clientConnection, [dialect.protobufMediaType, JSON_TYPE]),
    leaderElection: readLeaderElection(file, defaults.leaderElection),
    healthzBindAddress: readBindAddress(file, 'healthzBindAddress', defaults.healthzBindAddress),
    metricsBindAddress: readBindAddress(file, 'metricsBindAddress', defaults.metricsBindAddress),
    enableProfiling: file.flag('enableProfiling', defaults.enableProfiling),
    enableContentionProfiling: file.flag('enableContentionProfiling', defaults.enableContentionProfiling),
    pluginModules: file.texts('pluginModules'),
  };
}

/** Blank is no address to listen on, and a port of 0 neither; without a host it is every address of the machine, and without a port the usual one. */
function readBindAddress(file: Section, name: string, standard: string): string {
  const written = file.text(name, standard);
  const address = parseIp(written) === undefined ? written : hostPort(written, PORT_DEFAULT);
  const [, bracketed, plain = '', port = ''] = BIND_ADDRESS.exec(address) ?? [];
  const host = bracketed ?? plain;
  const isUsable = port !== '' && Number(port) <= PORT_MAX && (host === '' || parseIp(host) !== undefined);
  if (address !== '' && !isUsable) file.fail(name, 'must be an IP address and a port, such as 0.0.0.0:10251');
  return address;
}

function readConnection(
  file: Section,
  defaults: ClientConnectionConfiguration,
  encodings: readonly string[],
): ClientConnectionConfiguration {
  const section = file.section('clientConnection', ['kubeconfig', 'acceptContentTypes', 'contentType', 'qps', 'burst']);
  const acceptContentTypes = section.text('acceptContentTypes', defaults.acceptContentTypes);
  if (acceptContentTypes !== '' && !encodings.some((encoding) => acceptContentTypes.includes(encoding))) {
    section.fail('acceptContentTypes', `must have one of ${encodings.join(', ')}`);
  }
  return {
    kubeconfig: section.text('kubeconfig', defaults.kubeconfig),
    acceptContentTypes,
    contentType: section.choice('contentType', ['', ...encodings], defaults.contentType) || defaults.contentType,
    qps: section.number('qps', RATE, defaults.qps) || defaults.qps,
    burst: section.number('burst', BURST, defaults.burst) || defaults.burst,
  };
}

function readLeaderElection(file: Section, defaults: LeaderElectionConfiguration): LeaderElectionConfiguration {
  const section = file.section('leaderElection', [
    'leaderElect',
    'leaseDuration',
    'renewDeadline',
    'retryPeriod',
    'resourceLock',
    'resourceName',
    'resourceNamespace',
  ]);
  const election: LeaderElectionConfiguration = {
    leaderElect: section.flag('leaderElect', defaults.leaderElect),
    leaseDurationMs: section.durationMs('leaseDuration', defaults.leaseDurationMs) || defaults.leaseDurationMs,
    renewDeadlineMs: section.durationMs('renewDeadline', defaults.renewDeadlineMs) || defaults.renewDeadlineMs,
    retryPeriodMs: section.durationMs('retryPeriod', defaults.retryPeriodMs) || defaults.retryPeriodMs,
    resourceLock:
      section.text('resourceLock', '') === ''
        ? defaults.resourceLock
        : section.choice('resourceLock', LEADER_LOCKS, defaults.resourceLock),
    resourceName: section.text('resourceName', defaults.resourceName) || defaults.resourceName,
    resourceNamespace: section.text('resourceNamespace', defaults.resourceNamespace) || defaults.resourceNamespace,
  };
  if (!election.leaderElect) return election;
  if (election.renewDeadlineMs > election.leaseDurationMs) {
    section.fail('renewDeadline', 'must not exceed leaseDuration');
  }
  if (election.retryPeriodMs * RETRY_JITTER >= election.renewDeadlineMs) {
    section.fail('retryPeriod', 'leaves no time for a second try before renewDeadline');
  }
  return election;
}
