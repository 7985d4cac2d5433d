// The option table: every setting of every program, put together from one file an area, and the typed result of reading
// them. Help, documentation, parsing and checks all follow from these rows; an option is added here and nowhere else.
import { admissionOptions } from './options/admission.ts';
import { auditOptions, auditWebhookOptions } from './options/audit.ts';
import {
  authenticationOptions,
  delegatedAuthenticationOptions,
  oidcOptions,
  schedulerAuthenticationOptions,
  serviceAccountOptions,
} from './options/authentication.ts';
import {
  authorizationOptions,
  delegatedAuthorizationOptions,
  schedulerAuthorizationOptions,
} from './options/authorization.ts';
import { deprecatedServerOptions } from './options/deprecated.ts';
import {
  actionOptions,
  dialectOptions,
  featureOptions,
  loggingOptions,
  metricsOptions,
  schedulerProfilingOptions,
} from './options/features.ts';
import { nodeAgentOptions } from './options/nodes.ts';
import { type Option, type OptionsOf, optionsOf, type Program } from './options/option.ts';
import {
  deprecatedSchedulerOptions,
  leaderElectionOptions,
  schedulerOptions,
  schedulingOptions,
  upSchedulerOptions,
} from './options/scheduler.ts';
import { schedulerPortOptions, secureServingOptions, serverPortOptions } from './options/secure-serving.ts';
import { genericOptions, limitOptions, orchOptions, serviceOptions } from './options/server.ts';
import { storageOptions, storeTransportOptions, watchCacheOptions } from './options/storage.ts';

const SERVER_GROUPS = [
  orchOptions,
  genericOptions,
  serverPortOptions,
  authenticationOptions,
  serviceAccountOptions,
  oidcOptions,
  authorizationOptions,
  auditOptions,
  auditWebhookOptions,
  admissionOptions,
  storageOptions,
  watchCacheOptions,
  limitOptions,
  serviceOptions,
  nodeAgentOptions,
  featureOptions,
  deprecatedServerOptions,
] as const;

const SHARED_GROUPS = [
  secureServingOptions,
  delegatedAuthenticationOptions,
  delegatedAuthorizationOptions,
  storeTransportOptions,
  dialectOptions,
  metricsOptions,
  loggingOptions,
  actionOptions,
] as const;

const SCHEDULER_GROUPS = [
  schedulerOptions,
  schedulerPortOptions,
  schedulerAuthenticationOptions,
  schedulerAuthorizationOptions,
  schedulerProfilingOptions,
  schedulingOptions,
  leaderElectionOptions,
  deprecatedSchedulerOptions,
] as const;

const UP_GROUPS = [upSchedulerOptions] as const;

/** The headings of help and documentation, in order. */
export const GROUP_TITLES: readonly string[] = [
  'Orch',
  'Scheduler',
  'Generic',
  'Secure serving',
  'Authentication',
  'Service accounts',
  'OpenID Connect',
  'Authorization',
  'Audit',
  'Admission',
  'Store',
  'Watch cache',
  'Limits',
  'Services and endpoints',
  'Node agents',
  'Leader election',
  'Features',
  'Metrics',
  'Logging',
  'Information',
  'Deprecated',
];

/** Every option of every program. A name can occur twice, for different programs. */
export const OPTIONS: readonly Option[] = optionsOf([
  ...SERVER_GROUPS,
  ...SHARED_GROUPS,
  ...UP_GROUPS,
  ...SCHEDULER_GROUPS,
]);

type SharedOptions = OptionsOf<(typeof SHARED_GROUPS)[number]>;

/** The options of `apiserver`, and those of `up` that it shares with it. SPEC.md, "API server options". */
export type ServerOptions = OptionsOf<(typeof SERVER_GROUPS)[number]> & SharedOptions;

/** The options of `up`: the API server's, and how its scheduler chooses. */
export type UpOptions = ServerOptions & OptionsOf<(typeof UP_GROUPS)[number]> & OptionsOf<typeof schedulingOptions>;

/** The options of `scheduler`. SPEC.md, "Scheduler options". */
export type SchedulerOptions = OptionsOf<(typeof SCHEDULER_GROUPS)[number]> & SharedOptions;

/** What `parseArguments` answers for a program. */
export interface OptionsByProgram {
  readonly apiserver: ServerOptions;
  readonly scheduler: SchedulerOptions;
  readonly up: UpOptions;
}

/** The options that `program` takes. */
export function programOptions(program: Program): readonly Option[] {
  return OPTIONS.filter(({ programs }) => programs.includes(program));
}
