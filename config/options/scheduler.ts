// The scheduler: its configuration, its connection to the API server, leader election, and the options that its
// configuration file has replaced.
import { INT32_MAX, optionGroup, SCHEDULER, WITH_SCHEDULER } from './option.ts';

const IN_CONFIG_FILE = 'set it in the file of --config';

export const schedulerOptions = optionGroup('Scheduler', SCHEDULER, [
  { name: 'write-config-to', type: 'path', description: 'Write the configuration in effect to this file and end.' },
  {
    name: 'master',
    type: 'string',
    description: 'Address of the API server; wins over the connection file.',
  },
]);

/** The value of `--scheduler-name` that starts no scheduler in `up`. */
export const NO_SCHEDULER = 'off';

export const upSchedulerOptions = optionGroup(
  'Scheduler',
  ['up'],
  [
    {
      name: 'scheduler-name',
      type: 'string',
      default: 'default-scheduler',
      form: { pattern: /^\S+$/, says: 'a name of one word' },
      description: 'Pods whose spec.schedulerName is this are scheduled here; off starts no scheduler.',
      effect: ['in force', 'which pods are bound'],
    },
  ],
);

export const schedulingOptions = optionGroup('Scheduler', WITH_SCHEDULER, [
  {
    name: 'config',
    type: 'path',
    description: 'Configuration file of the scheduler; most of its deprecated options are then ignored.',
    effect: ['in force', 'the profiles, plug-ins and limits of the scheduler'],
  },
  {
    name: 'hard-pod-affinity-symmetric-weight',
    type: 'int',
    default: '1',
    bounds: [0, 100],
    description: 'Weight of the preference that a required pod affinity implies for the other side.',
    deprecated: IN_CONFIG_FILE,
    effect: ['in force', 'what a required affinity of a placed pod is worth to the pods it asks for'],
  },
]);

export const deprecatedSchedulerOptions = optionGroup('Deprecated', SCHEDULER, [
  {
    name: 'scheduler-name',
    type: 'string',
    default: 'default-scheduler',
    description: 'Pods whose spec.schedulerName is this are scheduled here.',
    deprecated: IN_CONFIG_FILE,
  },
  {
    name: 'address',
    type: 'ip',
    default: '0.0.0.0',
    description: 'Address of plain HTTP.',
    deprecated: 'use --bind-address',
  },
  {
    name: 'port',
    type: 'int',
    default: '10251',
    bounds: [0, 65535],
    description: 'Port of plain HTTP without authentication; 0 switches it off.',
    deprecated: 'use --secure-port',
  },
  {
    name: 'algorithm-provider',
    type: 'string',
    default: '',
    values: ['', 'DefaultProvider', 'ClusterAutoscalerProvider'],
    description: 'Default set of plugins.',
    deprecated: IN_CONFIG_FILE,
  },
  {
    name: 'policy-config-file',
    type: 'path',
    description: 'Policy file.',
    deprecated: IN_CONFIG_FILE,
  },
  {
    name: 'policy-configmap',
    type: 'string',
    description: 'Config map whose policy.cfg is the policy.',
    deprecated: IN_CONFIG_FILE,
  },
  {
    name: 'policy-configmap-namespace',
    type: 'string',
    default: '@short-system',
    description: 'Namespace of that config map.',
    deprecated: IN_CONFIG_FILE,
  },
  {
    name: 'use-legacy-policy-config',
    type: 'bool',
    default: 'false',
    description: 'Take the policy file and ignore the config map.',
    deprecated: IN_CONFIG_FILE,
  },
  {
    name: 'orchconfig',
    type: 'path',
    description: 'Connection file: the API server and the credentials for it.',
    deprecated: IN_CONFIG_FILE,
  },
  {
    name: 'orch-api-qps',
    type: 'float',
    unit: 'requests per second',
    default: '50',
    bounds: [0, INT32_MAX],
    description: 'Average rate of requests to the API server.',
    deprecated: IN_CONFIG_FILE,
  },
  {
    name: 'orch-api-burst',
    type: 'int',
    unit: 'requests',
    default: '100',
    bounds: [0, INT32_MAX],
    description: 'Requests that may go at once if the rate was not used up.',
    deprecated: IN_CONFIG_FILE,
  },
  {
    name: 'orch-api-content-type',
    type: 'string',
    default: 'application/vnd.@brand.protobuf',
    description: 'Encoding of requests to the API server.',
    deprecated: IN_CONFIG_FILE,
  },
  {
    name: 'lock-object-name',
    type: 'string',
    default: '@short-scheduler',
    description: 'Name of the leader-election object.',
    deprecated: 'use --leader-elect-resource-name',
  },
  {
    name: 'lock-object-namespace',
    type: 'string',
    default: '@short-system',
    description: 'Namespace of the leader-election object.',
    deprecated: 'use --leader-elect-resource-namespace',
  },
]);

export const leaderElectionOptions = optionGroup('Leader election', SCHEDULER, [
  {
    name: 'leader-elect',
    type: 'bool',
    default: 'true',
    description: 'Become the leader before scheduling, so that several can stand by.',
  },
  {
    name: 'leader-elect-lease-duration',
    type: 'duration',
    default: '15s',
    bounds: [1, INT32_MAX],
    description: 'Time others wait after the last renewal they saw before they try to lead.',
  },
  {
    name: 'leader-elect-renew-deadline',
    type: 'duration',
    default: '10s',
    bounds: [1, INT32_MAX],
    description: 'Time the leader tries to renew before it gives up; at most the lease duration.',
  },
  {
    name: 'leader-elect-retry-period',
    type: 'duration',
    default: '2s',
    bounds: [1, INT32_MAX],
    description: 'Time between tries to lead or to renew.',
  },
  {
    name: 'leader-elect-resource-lock',
    type: 'string',
    default: 'leases',
    values: ['endpoints', 'configmaps', 'leases', 'endpointsleases', 'configmapsleases'],
    description: 'Kind of object that the lock is kept in.',
  },
  {
    name: 'leader-elect-resource-name',
    type: 'string',
    default: '@short-scheduler',
    description: 'Name of that object.',
  },
  {
    name: 'leader-elect-resource-namespace',
    type: 'string',
    default: '@short-system',
    description: 'Namespace of that object.',
  },
]);
