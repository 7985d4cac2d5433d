// `orch scheduler`: a scheduler of its own against an API server, this one or any other of the same API. Reads the options and
// files, starts the parts, prints where it serves, and ends on a signal, or with exit code 1 when it no longer leads.
import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import type { SchedulerConfiguration } from '../actors/scheduler/configuration/configuration.ts';
import { profilesOf } from '../actors/scheduler/configuration/profiles.ts';
import { writtenConfiguration } from '../actors/scheduler/configuration/write-configuration.ts';
import { loadOwnPlugins } from '../actors/scheduler/driver/own-plugins.ts';
import type { Profile } from '../actors/scheduler/framework/framework.ts';
import { ApiServer } from '../actors/scheduler/remote/api-server.ts';
import { RemoteScheduler } from '../actors/scheduler/remote/remote-scheduler.ts';
import { objectPath } from '../actors/scheduler/remote/resource-paths.ts';
import { createRegistry } from '../api/resources/registry.ts';
import { DIALECTS, type Dialect } from '../config/dialect.ts';
import { helpText } from '../config/help.ts';
import type { SchedulerOptions } from '../config/options.ts';
import { parseArguments } from '../config/parse.ts';
import { OrchError } from '../runtime/errors.ts';
import { createLogger } from '../runtime/log.ts';
import { MetricsRegistry } from '../runtime/metrics-registry.ts';
import { realEnvironment } from '../runtime/real-environment.ts';
import { ApiClient, ApiUnanswered } from '../transport/outgoing/api-client.ts';
import { NOTHING_SHOWN, type ServiceConnection } from '../transport/outgoing/connection-file.ts';
import { connectionOf } from './auth-methods.ts';
import { logOptions } from './log-options.ts';
import { ignoredFlags, schedulerConfiguration } from './scheduler-configuration.ts';
import { SchedulerEndpoints } from './scheduler-endpoints.ts';
import { missingSuites } from './serving-tls.ts';
import { versionText } from './version.ts';

const POLICY_KEY = 'policy.cfg';

export async function scheduler(argv: readonly string[]): Promise<void> {
  const parsed = parseArguments('scheduler', argv);
  if (parsed.action !== 'run') {
    process.stdout.write(`${parsed.action === 'help' ? helpText('scheduler') : versionText()}\n`);
    return;
  }
  const { options, given } = parsed;
  const notes = [...parsed.warnings, parsed.standing, missingSuites(options), ignoredFlags(options.config, given)];
  for (const note of notes) if (note !== undefined) warn(note);
  const dialect = DIALECTS[options.apiDialect];
  const log = createLogger('scheduler', logOptions(options));
  const { configuration, server } = await prepared(withOldLockNames(options, given), dialect, log);
  const own = await loadOwnPlugins(configuration.pluginModules);
  const profiles = profilesOf(configuration, dialect, own);
  const written = writtenConfiguration(configuration, dialect);
  if (options.writeConfigTo === '') return serve({ options, configuration, profiles, written, server, log });
  writeFileSync(options.writeConfigTo, `${JSON.stringify(written, undefined, 2)}\n`);
}

/** What the files come to, and the server they name. Throws OrchError BadConfiguration. */
async function prepared(options: SchedulerOptions, dialect: Dialect, log: Logger) {
  const registry = createRegistry(dialect);
  const { disk, clock, timers } = realEnvironment;
  const serverOf = (configuration: SchedulerConfiguration): ApiServer => {
    const connection = {
      connection: serverConnection(configuration, options),
      readFile: (path: string) => disk.readFile(path),
      nowMs: () => clock.monotonicMs(),
      onRefused: (problem: string) => log.warn({ problem }, 'what was replaced is not used'),
    };
    const client = new ApiClient(connection, `orch-scheduler/${dialect.gitVersion}`);
    return new ApiServer({ client, registry, clock, timers, ...configuration.clientConnection });
  };
  const configuration = schedulerConfiguration(options);
  const server = serverOf(configuration);
  const policy = await policyOfCluster(options, server);
  return { configuration: policy === undefined ? configuration : schedulerConfiguration(options, policy), server };
}

interface Running {
  readonly options: SchedulerOptions;
  readonly configuration: SchedulerConfiguration;
  readonly profiles: readonly Profile[];
  readonly written: object;
  readonly server: ApiServer;
  readonly log: Logger;
}

/** Until a signal, or until it no longer leads. */
async function serve({ options, configuration, profiles, written, server, log }: Running): Promise<void> {
  const metrics = new MetricsRegistry();
  const running = new RemoteScheduler({
    environment: realEnvironment,
    metrics,
    log,
    configuration,
    profiles,
    server,
    identity: `${hostname()}_${realEnvironment.random.uuid()}`,
    crash(error) {
      process.stderr.write(`orch: ${error.stack ?? error.message}\n`);
      process.exit(1);
    },
  });
  const health = (): string => running.health();
  const endpoints = new SchedulerEndpoints({ options, configuration, written, metrics, log, health });
  for (const line of await endpoints.open()) process.stdout.write(`${line}\n`);
  process.stdout.write(`ready in ${Math.round(performance.now())} ms\n`);
  await Promise.race([running.run(), signalled()]);
  await running.stop();
  await endpoints.close();
  if (!isSignalled) throw new OrchError('ActorDown', 'this scheduler does not lead any more');
  process.exit(0);
}

let isSignalled = false;

/** Resolves at the first signal that asks for an end; a second ends the process at once. */
function signalled(): Promise<void> {
  // Its timers do not keep the process alive.
  const alive = setInterval(() => {}, 2 ** 30);
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (isSignalled) process.exit(1);
        isSignalled = true;
        clearInterval(alive);
        resolve();
      });
    }
  });
}

function warn(text: string): void {
  process.stderr.write(`warning: ${text}\n`);
}

/** The deprecated names of the lock hold where the newer are not given. */
function withOldLockNames(options: SchedulerOptions, given: ReadonlySet<string>): SchedulerOptions {
  const isNew = (name: string): boolean => given.has(name);
  return {
    ...options,
    ...(isNew('leader-elect-resource-name') ? {} : { leaderElectResourceName: options.lockObjectName }),
    ...(isNew('leader-elect-resource-namespace') ? {} : { leaderElectResourceNamespace: options.lockObjectNamespace }),
  };
}

/** Throws OrchError BadConfiguration. */
function serverConnection(
  { clientConnection }: SchedulerConfiguration,
  { master }: SchedulerOptions,
): ServiceConnection {
  const { kubeconfig } = clientConnection;
  if (kubeconfig === '' && master === '') {
    throw new OrchError(
      'BadConfiguration',
      'no API server is named: give --orchconfig, --master, or clientConnection.kubeconfig',
    );
  }
  if (master !== '' && (!URL.canParse(master) || !/^https?:$/.test(new URL(master).protocol))) {
    throw new OrchError('BadConfiguration', '--master must be an http or https address');
  }
  const named: ServiceConnection =
    kubeconfig === ''
      ? { ...NOTHING_SHOWN, url: master, caPem: '', insecure: false, serverName: '' }
      : connectionOf(kubeconfig);
  return master === '' ? named : { ...named, url: master.replace(/\/+$/, '') };
}

/** The policy that a config map holds, where one is named and the file is not to go before it. */
async function policyOfCluster(options: SchedulerOptions, server: ApiServer): Promise<string | undefined> {
  const { policyConfigmap: name, policyConfigmapNamespace: namespace, useLegacyPolicyConfig } = options;
  if (name === '' || useLegacyPolicyConfig) return undefined;
  const where = `config map ${namespace}/${name}`;
  try {
    const { status, object } = await server.get(objectPath('v1', 'configmaps', namespace, name));
    if (status !== 200) throw new OrchError('BadConfiguration', `the ${where} cannot be read (${status})`);
    const text = (object.data as Readonly<Record<string, unknown>> | undefined)?.[POLICY_KEY];
    if (typeof text !== 'string') throw new OrchError('BadConfiguration', `the ${where} holds no ${POLICY_KEY}`);
    return text;
  } catch (error) {
    if (!(error instanceof ApiUnanswered)) throw error;
    throw new OrchError('BadConfiguration', `the ${where} cannot be read: ${error.message}`);
  }
}
