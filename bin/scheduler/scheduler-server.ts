// The configuration in effect of `orch scheduler` and `orch schedule`, and the API server that it names.
import type { Logger } from 'pino';
import type { SchedulerConfiguration } from '../../actors/scheduler/configuration/configuration.ts';
import { ApiServer } from '../../actors/scheduler/remote/api-server.ts';
import { objectPath } from '../../actors/scheduler/remote/resource-paths.ts';
import { createRegistry } from '../../api/resources/registry.ts';
import type { Dialect } from '../../config/dialect.ts';
import type { SchedulerOptions } from '../../config/options.ts';
import { OrchError } from '../../runtime/errors.ts';
import type { Metrics } from '../../runtime/metrics/metrics.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { ApiClient, ApiUnanswered } from '../../transport/outgoing/api-client.ts';
import { NOTHING_SHOWN, type ServiceConnection } from '../../transport/outgoing/connection-file.ts';
import { restClientCalls, restClientPace } from '../../transport/outgoing/rest-client-metrics.ts';
import { connectionOf } from '../files/auth-methods.ts';
import { schedulerConfiguration } from '../files/scheduler-configuration.ts';

const POLICY_KEY = 'policy.cfg';

/** What the files come to, and the server they name. Throws OrchError BadConfiguration. */
export async function preparedScheduler(options: SchedulerOptions, dialect: Dialect, log: Logger, metrics: Metrics) {
  const registry = createRegistry(dialect);
  const { disk, clock, timers } = realEnvironment;
  const serverOf = (configuration: SchedulerConfiguration): ApiServer => {
    const connection = serverConnection(configuration, options);
    const parts = {
      connection,
      readFile: (path: string) => disk.readFile(path),
      nowMs: () => clock.monotonicMs(),
      onRefused: (problem: string) => log.warn({ problem }, 'what was replaced is not used'),
      onCall: restClientCalls(metrics, connection.url),
    };
    const client = new ApiClient(parts, `orch-scheduler/${dialect.gitVersion}`);
    const onWaited = restClientPace(metrics, connection.url);
    return new ApiServer({ client, registry, clock, timers, onWaited, ...configuration.clientConnection });
  };
  const configuration = schedulerConfiguration(options);
  const server = serverOf(configuration);
  const policy = await policyOfCluster(options, server);
  return { configuration: policy === undefined ? configuration : schedulerConfiguration(options, policy), server };
}

/** The deprecated names of the lock hold where the newer are not given. */
export function withOldLockNames(options: SchedulerOptions, given: ReadonlySet<string>): SchedulerOptions {
  const isNew = (name: string): boolean => given.has(name);
  return {
    ...options,
    ...(isNew('leader-elect-resource-name') ? {} : { leaderElectResourceName: options.lockObjectName }),
    ...(isNew('leader-elect-resource-namespace') ? {} : { leaderElectResourceNamespace: options.lockObjectNamespace }),
  };
}

/** How the server is reached that the configuration or --master names. Throws OrchError BadConfiguration. */
export function serverConnection(
  { clientConnection }: SchedulerConfiguration,
  { master, config }: SchedulerOptions,
): ServiceConnection {
  const { kubeconfig } = clientConnection;
  if (kubeconfig === '' && master === '') {
    throw new OrchError(
      'BadConfiguration',
      config === ''
        ? 'no API server is named: give --orchconfig or --master'
        : `no API server is named: give clientConnection.kubeconfig in ${config}, or --master (beside --config, --orchconfig is ignored)`,
    );
  }
  if (master !== '' && (!URL.canParse(master) || !/^https?:$/.test(new URL(master).protocol))) {
    throw new OrchError('BadConfiguration', '--master must be an http or https address');
  }
  if (kubeconfig !== '') return connectionOf(kubeconfig, master);
  return { ...NOTHING_SHOWN, url: master.replace(/\/+$/, ''), caPem: '', insecure: false, serverName: '' };
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
