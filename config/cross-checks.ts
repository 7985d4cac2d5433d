// Rules between options: what no row of the table can say alone. Each rule answers what is wrong, or nothing. Pure: no
// file is opened here, so a file that does not exist is found out by whoever reads it.

import { formatDurationMs } from '../values/duration.ts';
import { formatIpRange, hostBitCount, rangesOverlap } from '../values/ip.ts';
import { controllersProblem } from './controllers.ts';
import { DIALECTS } from './dialect.ts';
import { parseFeatureGates } from './feature-gates.ts';
import type { Program } from './options/option.ts';
import { NO_SCHEDULER } from './options/scheduler.ts';
import type { SchedulerOptions, ServerOptions, UpOptions } from './options.ts';

type Rule<Options> = (options: Options) => string | false;

/** What a scheduler says it is of. */
export const SCHEDULER_RELEASE = '1.21';
/** Addresses of services are counted in memory, so a range has at most 2^20 of them. */
const SERVICE_HOST_BITS_MAX = 20;
/** As in Kubernetes: a range of fewer than 8 may have no address for the server's own service, without which it never gets ready. */
const SERVICE_HOST_BITS_MIN = 3;
/** Tokens that end sooner would end under their users' hands; their seconds are a number of 32 bits. */
const TOKEN_MS_MIN = 3_600_000;
const TOKEN_MS_MAX = 2 ** 32 * 1000;
/** A renewal can come this much later than the retry period says. */
const RETRY_JITTER = 1.2;

function together(
  a: readonly [name: string, value: string],
  b: readonly [name: string, value: string],
): string | false {
  if ((a[1] === '') === (b[1] === '')) return false;
  const [given, missing] = a[1] === '' ? [b, a] : [a, b];
  return `--${given[0]} needs --${missing[0]} beside it`;
}

function namedTwice(option: string, names: readonly string[]): string | false {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice !== undefined && `--${option} names ${twice} twice`;
}

function serviceRangeProblem(options: ServerOptions): string | false {
  const { serviceClusterIpRange: ranges, featureGates, apiDialect } = options;
  const option = '--service-cluster-ip-range';
  const [first, second] = ranges;
  if (first === undefined) return `${option} names no range`;
  if (ranges.length > 2) return `${option} takes at most two ranges, not ${ranges.length}`;
  const tooLarge = ranges.find((range) => hostBitCount(range) > SERVICE_HOST_BITS_MAX);
  if (tooLarge !== undefined) return `${option} ${formatIpRange(tooLarge)} has more than 2^20 addresses`;
  const tooSmall = ranges.find((range) => hostBitCount(range) < SERVICE_HOST_BITS_MIN);
  if (tooSmall !== undefined) {
    return `${option} ${formatIpRange(tooSmall)}: the service cluster IP range must be at least 8 IP addresses`;
  }
  if (second === undefined) return false;
  if (rangesOverlap(first, second)) {
    return `${option}: ${formatIpRange(first)} and ${formatIpRange(second)} overlap`;
  }
  if (first.family === second.family) return `${option}: two ranges must be of different IP families`;
  const hasFamilies = parseFeatureGates(featureGates, DIALECTS[apiDialect]).enabled('IPv6DualStack');
  return !hasFamilies && `${option}: the second range needs the feature gate IPv6DualStack`;
}

function hiddenMetricsProblem(shown: string, release: string): string | false {
  const [major, minor] = release.split('.');
  const previous = `${major}.${Number(minor) - 1}`;
  return (
    shown !== '' &&
    shown !== previous &&
    `--show-hidden-metrics-for-version ${shown} is not ${previous}, the release before the one that is served`
  );
}

/** By the end of the option's name, and of its member's. */
const BATCH_NUMBERS = [
  ['buffer-size', 'BufferSize'],
  ['max-size', 'MaxSize'],
  ['throttle-qps', 'ThrottleQps'],
  ['throttle-burst', 'ThrottleBurst'],
] as const;

/** Of batches of no events none is ever whole, and at no rate none goes. */
function emptyBatches(options: ServerOptions, place: 'log' | 'webhook'): string | false {
  const audit = place === 'log' ? 'auditLog' : 'auditWebhook';
  if (options[`${audit}Mode` as const] !== 'batch') return false;
  const isThrottled = options[`${audit}BatchThrottleEnable` as const];
  const none = BATCH_NUMBERS.find(
    ([name, member]) =>
      (isThrottled || !name.startsWith('throttle')) && options[`${audit}Batch${member}` as const] === 0,
  );
  return none !== undefined && `--audit-${place}-batch-${none[0]} must not be 0 with --audit-${place}-mode batch`;
}

/** An event that may be larger than a batch would be sent in one that is too large; where none may have a byte, all are lost. */
function unfitTruncation(options: ServerOptions, place: 'log' | 'webhook'): string | false {
  const audit = place === 'log' ? 'auditLog' : 'auditWebhook';
  const event = options[`${audit}TruncateMaxEventSizeBytes` as const];
  const batch = options[`${audit}TruncateMaxBatchSizeBytes` as const];
  const option = `--audit-${place}-truncate-max`;
  if (event === 0) return `${option}-event-size must not be 0`;
  return batch < event && `${option}-batch-size ${batch} is less than ${option}-event-size ${event}`;
}

const SHARED_RULES: readonly Rule<ServerOptions | SchedulerOptions>[] = [
  ({ tlsCertFile, tlsPrivateKeyFile }) =>
    together(['tls-cert-file', tlsCertFile], ['tls-private-key-file', tlsPrivateKeyFile]),
  ({ storeCertfile, storeKeyfile }) => together(['store-certfile', storeCertfile], ['store-keyfile', storeKeyfile]),
];

const SERVER_RULES: readonly Rule<ServerOptions>[] = [
  ({ storeServers, storeEngine }) =>
    storeServers.length > 0 &&
    storeEngine === 'memory' &&
    '--store-servers and --store-engine memory name two stores; remove one of them',
  ({ storeServers, storeCafile, storeCertfile }) =>
    storeServers.length === 0 &&
    storeCafile + storeCertfile !== '' &&
    '--store-cafile and --store-certfile are of no use without --store-servers',
  ({ storeLayout, storeServers, apiDialect }) =>
    storeLayout !== 'own' &&
    (storeServers.length === 0 || apiDialect !== storeLayout) &&
    `--store-layout ${storeLayout} needs --store-servers and --api-dialect ${storeLayout}`,
  ({ showHiddenMetricsForVersion, emulatedRelease }) =>
    hiddenMetricsProblem(showHiddenMetricsForVersion, emulatedRelease),
  ({ enablePriorityAndFairness, maxRequestsInflight, maxMutatingRequestsInflight }) =>
    enablePriorityAndFairness &&
    maxRequestsInflight + maxMutatingRequestsInflight === 0 &&
    '--max-requests-inflight and --max-mutating-requests-inflight must not both be 0 with --enable-priority-and-fairness',
  ({ authorizationMode: modes }) => modes.length === 0 && '--authorization-mode names no mode',
  ({ authorizationMode: modes }) => namedTwice('authorization-mode', modes),
  ({ authorizationMode: modes, authorizationPolicyFile: file }) =>
    modes.includes('ABAC') !== (file !== '') &&
    (file === ''
      ? '--authorization-mode ABAC needs --authorization-policy-file'
      : '--authorization-policy-file needs --authorization-mode ABAC'),
  ({ authorizationMode: modes, authorizationWebhookConfigFile: file }) =>
    modes.includes('Webhook') !== (file !== '') &&
    (file === ''
      ? '--authorization-mode Webhook needs --authorization-webhook-config-file'
      : '--authorization-webhook-config-file needs --authorization-mode Webhook'),
  ({ requestheaderClientCaFile: file, requestheaderUsernameHeaders: names }) =>
    file !== '' && names.length === 0 && '--requestheader-client-ca-file needs --requestheader-username-headers',
  ({ auditPolicyFile, auditLogPath, auditWebhookConfigFile }) =>
    auditPolicyFile === '' &&
    auditLogPath + auditWebhookConfigFile !== '' &&
    `--audit-${auditLogPath === '' ? 'webhook-config-file' : 'log-path'} needs --audit-policy-file beside it`,
  ({ auditPolicyFile, auditLogPath, auditWebhookConfigFile }) =>
    auditPolicyFile !== '' &&
    auditLogPath + auditWebhookConfigFile === '' &&
    '--audit-policy-file needs --audit-log-path or --audit-webhook-config-file beside it',
  (options) => options.auditLogPath !== '' && emptyBatches(options, 'log'),
  (options) => options.auditWebhookConfigFile !== '' && emptyBatches(options, 'webhook'),
  (options) => options.auditLogPath !== '' && unfitTruncation(options, 'log'),
  (options) => options.auditWebhookConfigFile !== '' && unfitTruncation(options, 'webhook'),
  serviceRangeProblem,
  ({ controllers }) => controllersProblem(controllers) ?? false,
  ({ orchServiceNodePort: port, serviceNodePortRange: { first, last } }) =>
    port !== 0 &&
    (port < first || port > last) &&
    `--orch-service-node-port ${port} is outside --service-node-port-range ${first}-${last}`,
  ({ enableAdmissionPlugins, disableAdmissionPlugins }) => {
    const both = enableAdmissionPlugins.find((plugin) => disableAdmissionPlugins.includes(plugin));
    return both !== undefined && `--enable-admission-plugins and --disable-admission-plugins both name ${both}`;
  },
  ({ enableAdmissionPlugins }) => namedTwice('enable-admission-plugins', enableAdmissionPlugins),
  ({ disableAdmissionPlugins }) => namedTwice('disable-admission-plugins', disableAdmissionPlugins),
  ({ serviceAccountSigningKeyFile, serviceAccountKeyFile }) =>
    serviceAccountSigningKeyFile !== '' &&
    serviceAccountKeyFile.length === 0 &&
    '--service-account-signing-key-file needs --service-account-key-file beside it',
  ({ serviceAccountIssuer: issuer }) =>
    issuer.includes(':') && !URL.canParse(issuer) && `--service-account-issuer ${issuer} is not an address`,
  ({ serviceAccountJwksUri: uri }) =>
    uri !== '' &&
    !(URL.canParse(uri) && new URL(uri).protocol === 'https:') &&
    `--service-account-jwks-uri ${uri} is not an https address`,
  ({ serviceAccountMaxTokenExpirationMs: mostMs }) =>
    mostMs !== 0 &&
    (mostMs < TOKEN_MS_MIN || mostMs > TOKEN_MS_MAX) &&
    `--service-account-max-token-expiration ${formatDurationMs(mostMs)} is not between ` +
      `${formatDurationMs(TOKEN_MS_MIN)} and 2^32 seconds`,
  ({ proxyClientCertFile, proxyClientKeyFile }) =>
    together(['proxy-client-cert-file', proxyClientCertFile], ['proxy-client-key-file', proxyClientKeyFile]),
  ({ orchletClientCertificate, orchletClientKey }) =>
    together(['orchlet-client-certificate', orchletClientCertificate], ['orchlet-client-key', orchletClientKey]),
  ({ oidcIssuerUrl, oidcClientId }) => together(['oidc-issuer-url', oidcIssuerUrl], ['oidc-client-id', oidcClientId]),
  ({ storePrefix }) => storePrefix.includes('\0') && '--store-prefix holds a zero byte',
];

const UP_RULES: readonly Rule<UpOptions>[] = [
  ({ schedulerName, config, schedulingRecord }) =>
    schedulerName === NO_SCHEDULER &&
    config + schedulingRecord !== '' &&
    `--${config === '' ? 'scheduling-record' : 'config'} is for a scheduler, and --scheduler-name ${NO_SCHEDULER} starts none`,
];

const SCHEDULER_RULES: readonly Rule<SchedulerOptions>[] = [
  ({ storeCafile, storeCertfile }) =>
    storeCafile + storeCertfile !== '' && '--store-cafile and --store-certfile are of no use to a scheduler',
  ({ showHiddenMetricsForVersion }) => hiddenMetricsProblem(showHiddenMetricsForVersion, SCHEDULER_RELEASE),
  ({ leaderElect, leaderElectRenewDeadlineMs: renewMs, leaderElectLeaseDurationMs: leaseMs }) =>
    leaderElect &&
    renewMs > leaseMs &&
    `--leader-elect-renew-deadline ${formatDurationMs(renewMs)} exceeds --leader-elect-lease-duration ` +
      formatDurationMs(leaseMs),
  ({ leaderElect, leaderElectRenewDeadlineMs: renewMs, leaderElectRetryPeriodMs: retryMs }) =>
    leaderElect &&
    renewMs <= retryMs * RETRY_JITTER &&
    `--leader-elect-renew-deadline ${formatDurationMs(renewMs)} leaves no time for a second try after ` +
      `--leader-elect-retry-period ${formatDurationMs(retryMs)}`,
];

function problemsOf<Options>(rules: readonly Rule<Options>[], options: Options): readonly string[] {
  return rules.map((rule) => rule(options)).filter((problem) => problem !== false);
}

/** Every rule between options that is broken, one line each. */
export function crossCheck(program: Program, options: ServerOptions | SchedulerOptions): readonly string[] {
  return [...problemsOf(SHARED_RULES, options), ...OWN_PROBLEMS[program](options)];
}

const OWN_PROBLEMS: Readonly<Record<Program, (options: ServerOptions | SchedulerOptions) => readonly string[]>> = {
  scheduler: (options) => problemsOf(SCHEDULER_RULES, options as SchedulerOptions),
  apiserver: (options) => problemsOf(SERVER_RULES, options as ServerOptions),
  up: (options) => [...problemsOf(SERVER_RULES, options as UpOptions), ...problemsOf(UP_RULES, options as UpOptions)],
};
