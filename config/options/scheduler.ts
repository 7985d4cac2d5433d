// The scheduler: its configuration, its connection to the API server, leader election, and the options that its
// configuration file has replaced.
import { INT32_MAX, optionGroup, SCHEDULER, WITH_SCHEDULER } from './option.ts';

const IN_CONFIG_FILE = 'set it in the file of --config';

const ONE_WORD = { pattern: /^\S+$/, says: 'a name of one word' };
/** Without one nobody would ever lead. */
const LOCK_NAME = { pattern: /./, says: 'the name of an object or namespace' };

export const schedulerOptions = optionGroup('Scheduler', SCHEDULER, [
  {
    name: 'write-config-to',
    type: 'path',
    description: 'Write the configuration in effect to this file and end.',
    effect: ['in force', 'the file that is written'],
  },
  {
    name: 'master',
    type: 'string',
    description: 'Address of the API server; wins over the connection file.',
    effect: ['in force', 'the server that is asked'],
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
      form: ONE_WORD,
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
    name: 'scheduling-record',
    type: 'path',
    description: 'Record all that the scheduler hears and decides in this file, anew with each start.',
    effect: ['in force', 'what orch schedule replay reads'],
  },
  {
    name: 'scheduling-record-bytes',
    type: 'int',
    unit: 'bytes',
    default: '268435456',
    bounds: [1, Number.MAX_SAFE_INTEGER],
    description: 'Size at which the record ends.',
    effect: ['in force', 'the record ends with the last whole line within it'],
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
    form: ONE_WORD,
    description: 'Pods whose spec.schedulerName is this are scheduled here.',
    deprecated: IN_CONFIG_FILE,
    effect: ['in force', 'which pods are bound'],
  },
  {
    name: 'address',
    type: 'ip',
    default: '0.0.0.0',
    description: 'Address of plain HTTP.',
    deprecated: 'use --bind-address',
    effect: ['in force', 'the address that is listened on without TLS'],
  },
  {
    name: 'port',
    type: 'int',
    default: '10251',
    bounds: [0, 65535],
    description: 'Port of plain HTTP without authentication; 0 switches it off.',
    deprecated: 'use --secure-port',
    effect: ['in force', 'the port that is listened on without TLS'],
  },
  {
    name: 'algorithm-provider',
    type: 'string',
    default: '',
    values: ['', 'DefaultProvider', 'ClusterAutoscalerProvider'],
    description: 'Default set of plugins.',
    deprecated: IN_CONFIG_FILE,
    effect: ['in force', 'whether nodes are filled up or evened out'],
  },
  {
    name: 'policy-config-file',
    type: 'path',
    description: 'Policy file.',
    deprecated: IN_CONFIG_FILE,
    effect: ['in force', 'what the predicates and priorities of the file say'],
  },
  {
    name: 'policy-configmap',
    type: 'string',
    description: 'Config map whose policy.cfg is the policy.',
    deprecated: IN_CONFIG_FILE,
    effect: ['in force', 'what the predicates and priorities of the map say'],
  },
  {
    name: 'policy-configmap-namespace',
    type: 'string',
    default: '@short-system',
    description: 'Namespace of that config map.',
    deprecated: IN_CONFIG_FILE,
    effect: ['in force', 'where the map is'],
  },
  {
    name: 'use-legacy-policy-config',
    type: 'bool',
    default: 'false',
    description: 'Take the policy file and ignore the config map.',
    deprecated: IN_CONFIG_FILE,
    effect: ['in force', 'whether the map is read'],
  },
  {
    name: 'orchconfig',
    type: 'path',
    aliases: ['kubeconfig'],
    description: 'Connection file: the API server and the credentials for it.',
    deprecated: IN_CONFIG_FILE,
    effect: ['in force', 'the server that is asked, and as whom'],
  },
  {
    name: 'orch-api-qps',
    type: 'float',
    aliases: ['kube-api-qps'],
    unit: 'requests per second',
    default: '50',
    description: 'Average rate of requests to the API server; below 0: no limit.',
    deprecated: IN_CONFIG_FILE,
    effect: ['in force', 'how fast requests follow each other'],
  },
  {
    name: 'orch-api-burst',
    type: 'int',
    aliases: ['kube-api-burst'],
    unit: 'requests',
    default: '100',
    bounds: [0, INT32_MAX],
    description: 'Requests that may go at once if the rate was not used up.',
    deprecated: IN_CONFIG_FILE,
    effect: ['in force', 'how many requests go at once'],
  },
  {
    name: 'orch-api-content-type',
    type: 'string',
    aliases: ['kube-api-content-type'],
    default: 'application/vnd.@brand.protobuf',
    values: ['application/vnd.@brand.protobuf', 'application/json'],
    description: 'Encoding of requests to the API server.',
    deprecated: IN_CONFIG_FILE,
    effect: ['in force', 'the encoding of objects that are sent, and that are read'],
  },
  {
    name: 'lock-object-name',
    type: 'string',
    default: '@short-scheduler',
    form: LOCK_NAME,
    description: 'Name of the leader-election object.',
    deprecated: 'use --leader-elect-resource-name',
    effect: ['in force', 'the object that the leader holds'],
  },
  {
    name: 'lock-object-namespace',
    type: 'string',
    default: '@short-system',
    form: LOCK_NAME,
    description: 'Namespace of the leader-election object.',
    deprecated: 'use --leader-elect-resource-namespace',
    effect: ['in force', 'the object that the leader holds'],
  },
]);

export const leaderElectionOptions = optionGroup('Leader election', SCHEDULER, [
  {
    name: 'leader-elect',
    type: 'bool',
    default: 'true',
    description: 'Become the leader before scheduling, so that several can stand by.',
    effect: ['in force', 'whether others stand by'],
  },
  {
    name: 'leader-elect-lease-duration',
    type: 'duration',
    default: '15s',
    bounds: [1, INT32_MAX],
    description: 'Time others wait after the last renewal they saw before they try to lead.',
    effect: ['in force', 'when others take over'],
  },
  {
    name: 'leader-elect-renew-deadline',
    type: 'duration',
    default: '10s',
    bounds: [1, INT32_MAX],
    description: 'Time the leader tries to renew before it gives up; at most the lease duration.',
    effect: ['in force', 'when a leader that is not heard ends'],
  },
  {
    name: 'leader-elect-retry-period',
    type: 'duration',
    default: '2s',
    bounds: [1, INT32_MAX],
    description: 'Time between tries to lead or to renew.',
    effect: ['in force', 'how often the leader says so'],
  },
  {
    name: 'leader-elect-resource-lock',
    type: 'string',
    default: 'leases',
    values: ['endpoints', 'configmaps', 'leases', 'endpointsleases', 'configmapsleases'],
    description: 'Kind of object that the lock is kept in.',
    effect: ['in force', 'the objects that the leader holds'],
  },
  {
    name: 'leader-elect-resource-name',
    type: 'string',
    default: '@short-scheduler',
    form: LOCK_NAME,
    description: 'Name of that object.',
    effect: ['in force', 'the object that the leader holds'],
  },
  {
    name: 'leader-elect-resource-namespace',
    type: 'string',
    default: '@short-system',
    form: LOCK_NAME,
    description: 'Namespace of that object.',
    effect: ['in force', 'the object that the leader holds'],
  },
]);
