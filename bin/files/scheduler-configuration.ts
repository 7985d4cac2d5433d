// Reads the files that set a scheduler up: its configuration, a legacy policy, and what these name. YAML or JSON.
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { SchedulerConfiguration } from '../../actors/scheduler/configuration/configuration.ts';
import {
  effectiveConfiguration,
  FLAGS_IN_FILE,
  type SchedulerFlags,
} from '../../actors/scheduler/configuration/effective.ts';
import type { SchedulerGates } from '../../actors/scheduler/framework/gates.ts';
import type { RecordSettings } from '../../actors/scheduler/recording/recorder.ts';
import { isJsonObject } from '../../api/json/json-value.ts';
import { ConfigurationError } from '../../config/configuration-file.ts';
import { DIALECT_NAMES, DIALECTS, type DialectName } from '../../config/dialect.ts';
import { parseFeatureGates } from '../../config/feature-gates.ts';
import { OrchError } from '../../runtime/errors.ts';
import { requireFile } from '../writable-places.ts';
import { contentOf, operatorText } from './operator-file.ts';

/** Of the environment: the built-in disks of a kind that a node attaches. Either dialect's name will do. */
const DISKS_MAX = DIALECT_NAMES.map((name) => `${DIALECTS[name].short.toUpperCase()}_MAX_PD_VOLS`);

/** The gate by which nodes may leave built-in disks to a CSI driver, by the name of the disks' provisioner. */
const MIGRATIONS = [
  { disks: 'aws-ebs', gate: 'CSIMigrationAWS' },
  { disks: 'gce-pd', gate: 'CSIMigrationGCE' },
  { disks: 'azure-disk', gate: 'CSIMigrationAzureDisk' },
  { disks: 'cinder', gate: 'CSIMigrationOpenStack' },
] as const;

export interface SchedulerFiles extends SchedulerFlags {
  readonly config: string;
  readonly policyConfigFile?: string;
  readonly apiDialect: DialectName;
  readonly featureGates: string;
}

/**
 * The configuration in effect. `policyText`: of a config map, where the policy is kept in one. Throws OrchError
 * BadConfiguration that names the file and the path in it.
 */
export function schedulerConfiguration(files: SchedulerFiles, policyText?: string): SchedulerConfiguration {
  const { config, policyConfigFile = '', apiDialect, featureGates } = files;
  const policyPath = policyText === undefined ? policyConfigFile : '';
  const policy = policyText ?? (policyPath === '' ? undefined : operatorText(policyPath));
  const configuration = named(policyPath || config || 'the flags', () =>
    effectiveConfiguration({
      flags: files,
      file: config === '' ? undefined : named(config, () => contentOf(operatorText(config))),
      policy: policy === undefined ? undefined : named(policyPath || 'policy.cfg', () => contentOf(policy)),
      dialect: DIALECTS[apiDialect],
      readFile: (path) => operatorText(path),
      gates: schedulerGates(featureGates, apiDialect),
    }),
  );
  const from = dirname(resolve(config));
  const pluginModules = configuration.pluginModules.map((path) => pathToFileURL(resolve(from, path)).href);
  return { ...configuration, pluginModules };
}

/** What `--feature-gates` says of those that the scheduler knows. */
function schedulerGates(featureGates: string, apiDialect: DialectName): SchedulerGates {
  const gates = parseFeatureGates(featureGates, DIALECTS[apiDialect]);
  const builtInDisksMax = disksMaxOf(process.env);
  return {
    ...(builtInDisksMax === undefined ? {} : { builtInDisksMax }),
    spreadsByTopology: gates.enabled('DefaultPodTopologySpread'),
    prefersNominatedNode: gates.enabled('PreferNominatedNode'),
    balancesAttachedVolumes: gates.enabled('BalanceAttachedNodeVolumes'),
    scoresVolumeCapacity: gates.enabled('VolumeCapacityPriority'),
    countsLocalStorage: gates.enabled('LocalStorageCapacityIsolation'),
    heedsStorageCapacity: gates.enabled('CSIStorageCapacity'),
    migratedDisks: MIGRATIONS.flatMap(({ disks, gate }) =>
      gates.enabled('CSIMigration') && gates.enabled(gate) ? [disks] : [],
    ),
  };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What is no number above zero counts for nothing, as in the original. */
function disksMaxOf(environment: Environment): number | undefined {
  const text = DISKS_MAX.map((name) => environment[name] ?? '').find((each) => each !== '') ?? '';
  return /^\+?\d{1,15}$/.test(text) && Number(text) > 0 ? Number(text) : undefined;
}

/** That the environment limits the disks of nodes to what is no number, in one line. */
export function idleEnvironment(environment: Environment): string | undefined {
  const name = DISKS_MAX.find((each) => (environment[each] ?? '') !== '');
  if (name === undefined || disksMaxOf(environment) !== undefined) return undefined;
  return `${name} in the environment: not in force, since ${JSON.stringify(environment[name])} is no whole number above 0`;
}

/** `--scheduling-record` and its size; undefined where nothing is recorded. Throws OrchError BadConfiguration. */
export function recordSettings(path: string, bytesMax: number): RecordSettings | undefined {
  requireFile(path, '--scheduling-record');
  return path === '' ? undefined : { path: resolve(path), bytesMax };
}

/** The flags that were given and are of no use beside a configuration file, in one line. */
export function ignoredFlags(config: string, given: ReadonlySet<string>): string | undefined {
  const ignored = config === '' ? [] : FLAGS_IN_FILE.filter((name) => given.has(name));
  if (ignored.length === 0) return undefined;
  return `ignored, since --config is given: ${ignored.map((name) => `--${name}`).join(', ')}`;
}

/** Fields that change nothing in this scheduler: why, and the value that nothing else is expected of. */
const IDLE_FIELDS = {
  parallelism: { of: 16, why: 'nodes are looked at one after the other' },
  enableContentionProfiling: { of: false, why: 'the one thread of a scheduler waits for no other' },
} as const;

/** Fields that change nothing where the scheduler is part of a server: it asks nobody over the network, and serves nothing itself. */
const IDLE_IN_SERVER = [
  'clientConnection',
  'leaderElection',
  'healthzBindAddress',
  'metricsBindAddress',
  'enableProfiling',
] as const;

/** What a configuration file asks for and does not get, in one line. A file that cannot be read is told of where it is used. */
export function idleFields(config: string, isInServer: boolean): string | undefined {
  const content = config === '' ? undefined : unlessUnreadable(() => contentOf(operatorText(config)));
  if (!isJsonObject(content)) return undefined;
  const idle = Object.entries(IDLE_FIELDS).filter(
    ([name, { of }]) => content[name] !== undefined && content[name] !== of,
  );
  const ofOthers = isInServer ? IDLE_IN_SERVER.filter((name) => content[name] !== undefined) : [];
  const told = [
    ...idle.map(([name, { why }]) => `${name} (${why})`),
    ...(ofOthers.length === 0 ? [] : [`${ofOthers.join(', ')} (for orch scheduler alone)`]),
  ];
  return told.length === 0 ? undefined : `${config}: not in force: ${told.join(', ')}`;
}

function unlessUnreadable(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Says which file is meant in what goes wrong. */
function named<Value>(path: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof OrchError) throw error;
    const message =
      error instanceof ConfigurationError ? error.message : String((error as Error).message).split('\n', 1)[0];
    throw new OrchError('BadConfiguration', `${path}: ${message}`);
  }
}
