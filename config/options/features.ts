// What is served and how it shows itself: the dialect, API versions, feature gates, profiling, metrics, logs, and the
// options that print something instead of starting.
import { ALL_PROGRAMS, INT32_MAX, optionGroup, SCHEDULER, SERVER, TIMER_MS_MAX } from './option.ts';

export const dialectOptions = optionGroup('Features', ALL_PROGRAMS, [
  {
    name: 'api-dialect',
    type: 'string',
    default: 'orch',
    values: ['orch', 'kubernetes'],
    description: 'Names that the API is spoken in; a data folder belongs to the one it was made with.',
    effect: ['in force', 'the names of groups, labels and media types'],
  },
  {
    name: 'feature-gates',
    type: 'settings',
    description: 'Features switched on or off, as in Name=true,Name=false.',
    effect: ['in force', 'what the gates below say of themselves'],
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
    effect: ['in force', 'which paths exist, and discovery'],
  },
  {
    name: 'emulated-release',
    type: 'string',
    default: '1.21',
    values: ['1.16', '1.17', '1.18', '1.19', '1.20', '1.21', '1.22', '1.23', '1.24', '1.25'],
    description: 'Release whose removals of API versions apply, and whose deprecations clients are warned of.',
    effect: ['in force', 'which versions are served, and the warnings of the others'],
  },
  {
    name: 'profiling',
    type: 'bool',
    default: 'true',
    description: 'Serve profiles under /debug/pprof/.',
    effect: ['in force', 'profiles of the threads, at /debug/pprof/'],
  },
  {
    name: 'contention-profiling',
    type: 'bool',
    default: 'false',
    description: 'Measure how long messages wait in mailboxes, when profiling is on.',
    effect: ['in force', 'the profiles block and mutex are filled'],
  },
]);

export const schedulerProfilingOptions = optionGroup('Features', SCHEDULER, [
  {
    name: 'profiling',
    type: 'bool',
    default: 'true',
    description: 'Serve profiles under /debug/pprof/.',
    deprecated: 'set it in the file of --config',
    effect: ['in force', 'profiles of the scheduler, at /debug/pprof/'],
  },
  {
    name: 'contention-profiling',
    type: 'bool',
    default: 'true',
    description: 'Profile waiting for locks, when profiling is on.',
    deprecated: 'set it in the file of --config',
    effect: ['not in force', 'the one thread of a scheduler waits for no other'],
  },
]);

export const metricsOptions = optionGroup('Metrics', ALL_PROGRAMS, [
  {
    name: 'show-hidden-metrics-for-version',
    type: 'string',
    form: { pattern: /^(?:\d{1,3}\.\d{1,3})?$/, says: 'major.minor' },
    description: 'Previous minor release, whose metrics that were hidden since are shown again.',
    effect: ['in force', 'deprecated metrics that this release would not show'],
  },
  {
    name: 'disabled-metrics',
    type: 'list',
    description: 'Full names of metrics not to serve; wins over showing hidden ones.',
    effect: ['in force', 'metrics that are not at /metrics'],
  },
  {
    name: 'allow-metric-labels',
    type: 'sequence',
    form: { pattern: /^[^=,]+,[^=,]+=.*$/, says: 'metric,label=value,value' },
    description: 'Values a label of a metric may take; any other is counted as unexpected.',
    effect: ['in force', 'other values of the label are shown as `unexpected`'],
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
    effect: ['in force', 'how much is logged; while it runs, a PUT to /debug/flags/v changes it'],
  },
  {
    name: 'logging-format',
    type: 'string',
    default: 'text',
    values: ['text', 'json'],
    description: 'Form of the log; json is alpha.',
    effect: ['in force', 'the form of log lines'],
  },
  {
    name: 'vmodule',
    type: 'list',
    form: { pattern: /^[^=,]+=\d{1,10}$/, says: 'pattern=N' },
    description: 'Other amounts of logging for certain modules.',
    effect: ['in force', 'how much the lines of certain source files are shown'],
  },
  {
    name: 'log-backtrace-at',
    type: 'string',
    default: ':0',
    form: { pattern: /^[^:]*:\d{1,10}$/, says: 'file:N' },
    description: 'Log the stack when this line logs.',
    effect: ['in force', 'the lines of that place show how it was reached'],
  },
  {
    name: 'log-dir',
    type: 'path',
    description: 'Folder to write log files in.',
    effect: ['in force', 'files of the log, one a severity, without --logtostderr'],
  },
  {
    name: 'log-file',
    type: 'path',
    description: 'File to write the log to.',
    effect: ['in force', 'the file of the log, without --logtostderr'],
  },
  {
    name: 'log-file-max-size',
    type: 'int',
    unit: 'megabytes',
    default: '1800',
    bounds: [0, INT32_MAX],
    description: 'Size the log file may reach; 0 for no limit.',
    effect: ['in force', 'when the file of the log is begun anew'],
  },
  {
    name: 'log-flush-frequency',
    type: 'duration',
    default: '5s',
    bounds: [0, TIMER_MS_MAX],
    description: 'Longest time until what was written to files of the log is on the disk; 0 leaves it to the system.',
    effect: ['in force', 'what of the log files a machine that fails can lose'],
  },
  {
    name: 'logtostderr',
    type: 'bool',
    default: 'true',
    description: 'Log to standard error instead of files.',
    effect: ['in force', 'whether lines go to standard error or to files'],
  },
  {
    name: 'alsologtostderr',
    type: 'bool',
    default: 'false',
    description: 'Log to standard error and to files.',
    effect: ['in force', 'lines that go to files go to standard error too'],
  },
  {
    name: 'stderrthreshold',
    type: 'string',
    default: '2',
    values: ['0', '1', '2', '3', 'INFO', 'WARNING', 'ERROR', 'FATAL', 'info', 'warning', 'error', 'fatal'],
    description: 'Severity from which on lines for files go to standard error too.',
    effect: ['in force', 'which of those lines go to standard error too'],
  },
  {
    name: 'one-output',
    type: 'bool',
    default: 'false',
    description: 'Write a line only to the log of its severity.',
    effect: ['in force', 'a line is in the file of its own severity only'],
  },
  {
    name: 'add-dir-header',
    type: 'bool',
    default: 'false',
    description: 'Put the folder in the header of a line.',
    effect: ['in force', 'the folder is in the header of a line'],
  },
  {
    name: 'skip-headers',
    type: 'bool',
    default: 'false',
    description: 'Leave out the header of a line.',
    effect: ['in force', 'lines have no header'],
  },
  {
    name: 'skip-log-headers',
    type: 'bool',
    default: 'false',
    description: 'Leave out the header of a log file.',
    effect: ['in force', 'files of the log begin with the first line'],
  },
  {
    name: 'experimental-logging-sanitization',
    type: 'bool',
    default: 'false',
    description:
      'Replace lines of the log that hold something sensitive; tokens and secrets are cut out of them anyway.',
    effect: ['in force', 'a line with a token, password or key at any depth says that and no more'],
  },
]);

export const actionOptions = optionGroup('Information', ALL_PROGRAMS, [
  {
    name: 'help',
    shorthand: 'h',
    type: 'action',
    description: 'Print this text and end.',
    effect: ['in force', 'the text'],
  },
  { name: 'version', type: 'action', description: 'Print the version and end.', effect: ['in force', 'the text'] },
]);
