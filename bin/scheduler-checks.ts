// What `orch check-config scheduler` looks at: everything that a scheduler of its own is given, without asking anybody: a policy or
// authorities that only the cluster knows are looked at when it starts.
import { profilesOf } from '../actors/scheduler/configuration/profiles.ts';
import { DIALECTS } from '../config/dialect.ts';
import type { SchedulerOptions } from '../config/options.ts';
import { MetricsRegistry } from '../runtime/metrics-registry.ts';
import { SchedulerAccess } from './scheduler-access.ts';
import { clientAuthorities } from './scheduler-authorities.ts';
import { schedulerConfiguration } from './scheduler-configuration.ts';
import { serverConnection } from './scheduler-server.ts';
import { schedulerTls } from './scheduler-tls.ts';
import { checkOrigins } from './serving-tls.ts';
import { requireFile } from './writable-places.ts';

/** Each throws what a start would. */
export const SCHEDULER_CHECKS: readonly ((options: SchedulerOptions) => unknown)[] = [
  profilesAndServer,
  access,
  // A folder for a pair that would be made is not touched.
  (options) => schedulerTls({ ...options, certDir: '' }, ''),
  (options) => checkOrigins(options),
  ({ logtostderr, logFile }) => requireFile(logtostderr ? '' : logFile, '--log-file'),
  ({ schedulingRecord }) => requireFile(schedulingRecord, '--scheduling-record'),
];

/** Plug-ins of the operator's own are not loaded. */
function profilesAndServer(options: SchedulerOptions): void {
  const configuration = schedulerConfiguration(options);
  if (configuration.pluginModules.length === 0) profilesOf(configuration, DIALECTS[options.apiDialect]);
  serverConnection(configuration, options);
}

async function access(options: SchedulerOptions): Promise<void> {
  const authorities = await clientAuthorities({ ...options, authenticationSkipLookup: true }, () => {});
  new SchedulerAccess(options, authorities, new MetricsRegistry());
}
