// `orch scheduler`: a scheduler of its own against an API server, this one or any other of the same API. Reads the options and
// files, starts the parts, prints where it serves, and ends on a signal, or with exit code 1 when it no longer leads.
import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { Logger } from 'pino';
import type { SchedulerConfiguration } from '../../actors/scheduler/configuration/configuration.ts';
import { profilesOf } from '../../actors/scheduler/configuration/profiles.ts';
import { writtenConfiguration } from '../../actors/scheduler/configuration/write-configuration.ts';
import { loadOwnPlugins } from '../../actors/scheduler/driver/own-plugins.ts';
import type { Profile } from '../../actors/scheduler/framework/framework.ts';
import type { ApiServer } from '../../actors/scheduler/remote/api-server.ts';
import { RemoteScheduler } from '../../actors/scheduler/remote/remote-scheduler.ts';
import { DIALECTS } from '../../config/dialect.ts';
import { helpText } from '../../config/help.ts';
import type { SchedulerOptions } from '../../config/options.ts';
import { parseArguments } from '../../config/parse.ts';
import { OrchError } from '../../runtime/errors.ts';
import { makeFolder } from '../../runtime/files/make-folder.ts';
import { createLogger } from '../../runtime/logging/log.ts';
import { MetricsRegistry } from '../../runtime/metrics/metrics-registry.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { warn } from '../command-line/print-lines.ts';
import { idleEnvironment, idleFields, ignoredFlags, recordSettings } from '../files/scheduler-configuration.ts';
import { logSettings, logWarnings } from '../log-settings.ts';
import { IN_ITS_PLACE, idleProxy } from '../proxy-environment.ts';
import {
  exitAfter,
  type HeardSignals,
  hasTerminal,
  heardSignals,
  ignoreSignals,
  onEnding,
} from '../server/heard-signals.ts';
import { missingSuites } from '../server/serving-tls.ts';
import { versionText } from '../version.ts';
import { requireFile } from '../writable-places.ts';
import { SchedulerEndpoints } from './scheduler-endpoints.ts';
import { preparedScheduler, withOldLockNames } from './scheduler-server.ts';

export async function scheduler(argv: readonly string[]): Promise<void> {
  const parsed = parseArguments('scheduler', argv);
  if (parsed.action !== 'run') {
    process.stdout.write(`${parsed.action === 'help' ? helpText('scheduler') : versionText()}\n`);
    return;
  }
  const { options, given } = parsed;
  const notes = [
    ...parsed.warnings,
    parsed.standing,
    missingSuites(options),
    ...logWarnings(options),
    ignoredFlags(options.config, given),
    idleFields(options.config, false),
    idleEnvironment(process.env),
    idleProxy(process.env, IN_ITS_PLACE.scheduler),
  ];
  for (const note of notes) if (note !== undefined) warn(note);
  const dialect = DIALECTS[options.apiDialect];
  const settings = logSettings(options, new Date());
  const log = createLogger('scheduler', settings);
  const metrics = new MetricsRegistry();
  const { configuration, server } = await preparedScheduler(withOldLockNames(options, given), dialect, log, metrics);
  const own = await loadOwnPlugins(configuration.pluginModules);
  const profiles = profilesOf(configuration, dialect, own);
  const written = writtenConfiguration(configuration, dialect);
  if (options.writeConfigTo === '') {
    const signals = heardSignals(settings.files !== undefined || !hasTerminal());
    return serve({ options, configuration, profiles, written, server, metrics, log, signals });
  }
  requireFile(options.writeConfigTo, '--write-config-to');
  makeFolder(dirname(resolve(options.writeConfigTo)));
  // Keys of extenders may stand in it.
  writeFileSync(options.writeConfigTo, `${JSON.stringify(written, undefined, 2)}\n`, { mode: 0o600 });
}

interface Running {
  readonly options: SchedulerOptions;
  readonly configuration: SchedulerConfiguration;
  readonly profiles: readonly Profile[];
  readonly written: object;
  readonly server: ApiServer;
  readonly metrics: MetricsRegistry;
  readonly log: Logger;
  readonly signals: HeardSignals;
}

/** Until a signal, or until it no longer leads. */
async function serve(parts: Running): Promise<void> {
  const { options, configuration, profiles, written, server, metrics, log, signals } = parts;
  ignoreSignals(signals.ignored);
  const running = new RemoteScheduler({
    environment: realEnvironment,
    metrics,
    log,
    configuration,
    profiles,
    server,
    host: hostname(),
    record: recordSettings(options.schedulingRecord, options.schedulingRecordBytes),
    identity: `${hostname()}_${realEnvironment.random.uuid()}`,
    crash(error) {
      process.stderr.write(`orch: ${error.stack ?? error.message}\n`);
      process.exit(1);
    },
  });
  const health = (): string => running.health();
  const podResources = (): Promise<string> => running.podResources();
  const endpoints = new SchedulerEndpoints({ options, configuration, written, metrics, log, health, podResources });
  for (const line of await endpoints.open()) process.stdout.write(`${line}\n`);
  process.stdout.write(`ready in ${Math.round(performance.now())} ms\n`);
  await Promise.race([running.run(), signalled(signals.ending)]);
  await running.stop();
  await endpoints.close();
  if (endedBy === undefined) throw new OrchError('ActorDown', 'this scheduler does not lead any more');
  exitAfter(endedBy);
}

let endedBy: NodeJS.Signals | undefined;

/** Resolves at the first signal that asks for an end; a second ends the process at once. */
function signalled(ending: readonly NodeJS.Signals[]): Promise<void> {
  // Its timers do not keep the process alive.
  const alive = setInterval(() => {}, 2 ** 30);
  return new Promise((resolve) => {
    const end = (signal: NodeJS.Signals): void => {
      endedBy = signal;
      clearInterval(alive);
      resolve();
    };
    onEnding(ending, end, () => process.exit(1));
  });
}
