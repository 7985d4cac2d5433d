// What is served and how it shows itself: the dialect, API versions, feature gates, profiling, metrics, logs, and the
// options that print something instead of starting.
import { ALL_PROGRAMS, INT32_MAX, optionGroup, SCHEDULER, SERVER } from './option.ts';

export const dialectOptions = optionGroup('Features', ALL_PROGRAMS, [
  {
    name: 'api-dialect',
    type: 'string',
    default: 'orch',
    values: ['orch', 'kubernetes'],
    description: 'Names that the API is spoken in; a data folder belongs to the one it was made with.',
    inForce: true,
  },
  {
    name: 'feature-gates',
    type: 'settings',
    description: 'Features switched on or off, as in Name=true,Name=false.',
    inForce: true,
  },
]);

export const featureOptions = optionGroup('Features', SERVER, [
  {
    name: 'runtime-config',
    type: 'switches',
    form: {
      pattern: /^(?:api\/(?:all|ga|beta|alpha|legacy)|v\d+|[a-z0-9.-]+\/v\d+[a-z0-9]*(?:\/[a-z0-9]+)?)$/,
      says: 'v1, group/version, group/version/resource, api/all, api/ga, api/beta, api/alpha or api/legacy',
    },
    deprecatedValues: ['api/legacy'],
    description: 'API versions switched on or off: v1, group/version, api/all, api/ga, api/beta, api/alpha.',
    inForce: true,
  },
  {
    name: 'emulated-release',
    type: 'string',
    default: '1.21',
    values: ['1.16', '1.17', '1.18', '1.19', '1.20', '1.21', '1.22', '1.23', '1.24', '1.25'],
    description: 'Release whose removals of API versions apply, and whose deprecations clients are warned of.',
    inForce: true,
  },
  { name: 'profiling', type: 'bool', default: 'true', description: 'Serve profiles under /debug/pprof/.' },
  {
    name: 'contention-profiling',
    type: 'bool',
    default: 'false',
    description: 'Profile waiting for locks, when profiling is on.',
  },
]);

export const schedulerProfilingOptions = optionGroup('Features', SCHEDULER, [
  {
    name: 'profiling',
    type: 'bool',
    default: 'true',
    description: 'Serve profiles under /debug/pprof/.',
    deprecated: 'set it in the file of --config',
  },
  {
    name: 'contention-profiling',
    type: 'bool',
    default: 'true',
    description: 'Profile waiting for locks, when profiling is on.',
    deprecated: 'set it in the file of --config',
  },
]);

export const metricsOptions = optionGroup('Metrics', ALL_PROGRAMS, [
  {
    name: 'show-hidden-metrics-for-version',
    type: 'string',
    form: { pattern: /^(?:\d{1,3}\.\d{1,3})?$/, says: 'major.minor' },
    description: 'Previous minor release whose hidden metrics are shown again.',
  },
  {
    name: 'disabled-metrics',
    type: 'list',
    description: 'Full names of metrics not to serve; wins over showing hidden ones.',
  },
  {
    name: 'allow-metric-labels',
    type: 'sequence',
    form: { pattern: /^[^=,]+,[^=,]+=.*$/, says: 'metric,label=value,value' },
    description: 'Values a label of a metric may take; any other is counted as unexpected.',
  },
]);

export const loggingOptions = optionGroup('Logging', ALL_PROGRAMS, [
  {
    name: 'v',
    shorthand: 'v',
    type: 'int',
    default: '0',
    bounds: [0, INT32_MAX],
    description: 'How much is logged: the higher, the more.',
    inForce: true,
  },
  {
    name: 'logging-format',
    type: 'string',
    default: 'text',
    values: ['text', 'json'],
    description: 'Form of the log; json is alpha.',
    inForce: true,
  },
  {
    name: 'vmodule',
    type: 'list',
    form: { pattern: /^[^=,]+=\d{1,10}$/, says: 'pattern=N' },
    description: 'Other amounts of logging for certain modules.',
  },
  {
    name: 'log-backtrace-at',
    type: 'string',
    default: ':0',
    form: { pattern: /^[^:]*:\d{1,10}$/, says: 'file:N' },
    description: 'Log the stack when this line logs.',
  },
  { name: 'log-dir', type: 'path', description: 'Folder to write log files in.' },
  { name: 'log-file', type: 'path', description: 'File to write the log to.' },
  {
    name: 'log-file-max-size',
    type: 'int',
    unit: 'megabytes',
    default: '1800',
    bounds: [0, INT32_MAX],
    description: 'Size the log file may reach; 0 for no limit.',
  },
  {
    name: 'log-flush-frequency',
    type: 'duration',
    default: '5s',
    description: 'Longest time between flushes of the log.',
  },
  { name: 'logtostderr', type: 'bool', default: 'true', description: 'Log to standard error instead of files.' },
  { name: 'alsologtostderr', type: 'bool', default: 'false', description: 'Log to standard error and to files.' },
  {
    name: 'stderrthreshold',
    type: 'string',
    default: '2',
    values: ['0', '1', '2', '3', 'INFO', 'WARNING', 'ERROR', 'FATAL'],
    description: 'Severity from which on lines for files go to standard error too.',
  },
  { name: 'one-output', type: 'bool', default: 'false', description: 'Write a line only to the log of its severity.' },
  { name: 'add-dir-header', type: 'bool', default: 'false', description: 'Put the folder in the header of a line.' },
  { name: 'skip-headers', type: 'bool', default: 'false', description: 'Leave out the header of a line.' },
  { name: 'skip-log-headers', type: 'bool', default: 'false', description: 'Leave out the header of a log file.' },
  {
    name: 'experimental-logging-sanitization',
    type: 'bool',
    default: 'false',
    description: 'Drop fields marked as sensitive from the log; secrets and tokens are never logged anyway.',
  },
]);

export const actionOptions = optionGroup('Information', ALL_PROGRAMS, [
  { name: 'help', shorthand: 'h', type: 'action', description: 'Print this text and end.', inForce: true },
  { name: 'version', type: 'action', description: 'Print the version and end.', inForce: true },
]);
