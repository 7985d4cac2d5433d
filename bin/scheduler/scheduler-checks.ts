// What `orch check-config scheduler` looks at: everything that a scheduler of its own is given, without asking anybody: a policy or
// authorities that only the cluster knows are looked at when it starts.
import type { SchedulerConfiguration } from '../../actors/scheduler/configuration/configuration.ts';
import { profilesOf } from '../../actors/scheduler/configuration/profiles.ts';
import { loadOwnPlugins } from '../../actors/scheduler/driver/own-plugins.ts';
import { DIALECTS } from '../../config/dialect.ts';
import type { SchedulerOptions, UpOptions } from '../../config/options.ts';
import { MetricsRegistry } from '../../runtime/metrics/metrics-registry.ts';
import { schedulerConfiguration } from '../files/scheduler-configuration.ts';
import { checkLogPlace } from '../log-settings.ts';
import { checkCertificateFolder } from '../server/certificate-folder.ts';
import { checkOrigins } from '../server/serving-tls.ts';
import { requireFile } from '../writable-places.ts';
import { SchedulerAccess } from './scheduler-access.ts';
import { clientAuthorities, ownAuthorities } from './scheduler-authorities.ts';
import { serverConnection } from './scheduler-server.ts';
import { schedulerTls } from './scheduler-tls.ts';

/** Each throws what a start would. */
export const SCHEDULER_CHECKS: readonly ((options: SchedulerOptions) => unknown)[] = [
  profilesAndServer,
  access,
  // A folder for a pair that would be made is not touched.
  (options) => schedulerTls({ ...options, certDir: '' }, ''),
  (options) => checkCertificateFolder(options),
  (options) => checkOrigins(options),
  (options) => checkLogPlace(options),
  ({ schedulingRecord }) => requireFile(schedulingRecord, '--scheduling-record'),
];

async function profilesAndServer(options: SchedulerOptions): Promise<void> {
  const configuration = await checkedProfiles(options);
  serverConnection(configuration, options);
}

/** The configuration that the options name, of which profiles can be made. Loads plug-ins of the operator's own, as a start does. */
export async function checkedProfiles(options: SchedulerOptions | UpOptions): Promise<SchedulerConfiguration> {
  const configuration = schedulerConfiguration(options);
  profilesOf(configuration, DIALECTS[options.apiDialect], await loadOwnPlugins(configuration.pluginModules));
  return configuration;
}

function access(options: SchedulerOptions): void {
  const authorities = clientAuthorities(options, ownAuthorities(options), {});
  new SchedulerAccess(options, authorities, new MetricsRegistry());
}
