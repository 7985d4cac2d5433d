// The flow schemas and priority levels of a new cluster: which requests wait in which queue when the server is busy.
import type { Dialect } from '../../config/dialect.ts';
import type { BootstrapObject } from './bootstrap-object.ts';

/** Who: `<kind> <name>`; `ServiceAccount *` is every one of the system namespace. */
type SubjectRow = string;

/** `verbs`, `groups` (`core` is the core group) and `resources` are lists separated by blanks. */
interface ResourceRuleRow {
  readonly verbs: string;
  readonly groups: string;
  readonly resources: string;
  readonly namespace: string;
}

interface FlowSchemaRow {
  readonly name: string;
  /** Lower ones are tried first. */
  readonly precedence: number;
  readonly level: string;
  /** What tells one flow from another inside the level; absent: all requests are one flow. */
  readonly flowsBy?: 'ByUser' | 'ByNamespace';
  readonly subjects: readonly SubjectRow[];
  /** Absent: every request, on resources and on paths. */
  readonly resources?: readonly ResourceRuleRow[];
  /** Read requests on these paths only. */
  readonly paths?: readonly string[];
  readonly mandatory?: true;
}

interface PriorityLevelRow {
  readonly name: string;
  /** Absent: exempt from waiting. */
  readonly shares?: number;
  /** Absent: what exceeds the shares is refused at once. */
  readonly queuing?: { readonly queues: number; readonly handSize: number; readonly queueLengthLimit: number };
  readonly mandatory?: true;
}

const EVERYONE: readonly SubjectRow[] = ['Group system:unauthenticated', 'Group system:authenticated'];
const LOCK_VERBS = 'get create update';

function locks(configNamespace: string): readonly ResourceRuleRow[] {
  return [
    { verbs: LOCK_VERBS, groups: 'core', resources: 'endpoints configmaps', namespace: configNamespace },
    { verbs: LOCK_VERBS, groups: 'coordination.@group', resources: 'leases', namespace: '*' },
  ];
}

const FLOW_SCHEMAS: readonly FlowSchemaRow[] = [
  { name: 'exempt', precedence: 1, level: 'exempt', subjects: ['Group system:masters'], mandatory: true },
  { name: 'probes', precedence: 2, level: 'exempt', subjects: EVERYONE, paths: ['/healthz', '/readyz', '/livez'] },
  {
    name: 'system-leader-election',
    precedence: 100,
    level: 'leader-election',
    flowsBy: 'ByUser',
    subjects: ['User system:@short-controller-manager', 'User system:@short-scheduler', 'ServiceAccount *'],
    resources: locks('@short-system'),
  },
  {
    name: 'workload-leader-election',
    precedence: 200,
    level: 'leader-election',
    flowsBy: 'ByUser',
    subjects: ['ServiceAccount *'],
    resources: locks('*'),
  },
  { name: 'system-nodes', precedence: 500, level: 'system', flowsBy: 'ByUser', subjects: ['Group system:nodes'] },
  {
    name: '@short-controller-manager',
    precedence: 800,
    level: 'workload-high',
    flowsBy: 'ByNamespace',
    subjects: ['User system:@short-controller-manager'],
  },
  {
    name: '@short-scheduler',
    precedence: 800,
    level: 'workload-high',
    flowsBy: 'ByNamespace',
    subjects: ['User system:@short-scheduler'],
  },
  {
    name: '@short-system-service-accounts',
    precedence: 900,
    level: 'workload-high',
    flowsBy: 'ByNamespace',
    subjects: ['ServiceAccount *'],
  },
  {
    name: 'service-accounts',
    precedence: 9000,
    level: 'workload-low',
    flowsBy: 'ByUser',
    subjects: ['Group system:serviceaccounts'],
  },
  { name: 'global-default', precedence: 9900, level: 'global-default', flowsBy: 'ByUser', subjects: EVERYONE },
  {
    name: 'catch-all',
    precedence: 10000,
    level: 'catch-all',
    flowsBy: 'ByUser',
    subjects: EVERYONE,
    mandatory: true,
  },
];

const WIDE = { queues: 128, handSize: 6, queueLengthLimit: 50 };

const PRIORITY_LEVELS: readonly PriorityLevelRow[] = [
  { name: 'catch-all', shares: 5, mandatory: true },
  { name: 'exempt', mandatory: true },
  { name: 'global-default', shares: 20, queuing: WIDE },
  { name: 'leader-election', shares: 10, queuing: { queues: 16, handSize: 4, queueLengthLimit: 50 } },
  { name: 'system', shares: 30, queuing: { queues: 64, handSize: 6, queueLengthLimit: 50 } },
  { name: 'workload-high', shares: 40, queuing: WIDE },
  { name: 'workload-low', shares: 100, queuing: WIDE },
];

/**
 * The priority levels, then the flow schemas that name them: the mandatory ones, whose spec is fixed, or the suggested
 * ones, which belong to the operator once they are made.
 */
export function flowControlObjects(dialect: Dialect, which: 'mandatory' | 'suggested'): readonly BootstrapObject[] {
  const wanted = (row: { readonly mandatory?: true }) => (row.mandatory === true) === (which === 'mandatory');
  return [
    ...PRIORITY_LEVELS.filter(wanted).map((row) => priorityLevel(dialect, row)),
    ...FLOW_SCHEMAS.filter(wanted).map((row) => flowSchema(dialect, row)),
  ];
}

function object(dialect: Dialect, kind: string, name: string, spec: object): BootstrapObject {
  const apiVersion = dialect.spell('flowcontrol.apiserver.@group/v1beta1');
  return { apiVersion, kind, metadata: { name: dialect.spell(name) }, spec };
}

function priorityLevel(dialect: Dialect, { name, shares, queuing }: PriorityLevelRow): BootstrapObject {
  const kind = 'PriorityLevelConfiguration';
  if (shares === undefined) return object(dialect, kind, name, { type: 'Exempt' });
  const limitResponse = queuing === undefined ? { type: 'Reject' } : { type: 'Queue', queuing };
  return object(dialect, kind, name, { type: 'Limited', limited: { assuredConcurrencyShares: shares, limitResponse } });
}

function flowSchema(dialect: Dialect, row: FlowSchemaRow): BootstrapObject {
  return object(dialect, 'FlowSchema', row.name, {
    priorityLevelConfiguration: { name: row.level },
    matchingPrecedence: row.precedence,
    ...(row.flowsBy === undefined ? {} : { distinguisherMethod: { type: row.flowsBy } }),
    rules: [{ subjects: row.subjects.map((text) => subject(dialect, text)), ...requests(dialect, row) }],
  });
}

function requests(dialect: Dialect, { resources, paths }: FlowSchemaRow): object {
  if (paths !== undefined) return { nonResourceRules: [{ verbs: ['get'], nonResourceURLs: paths }] };
  if (resources !== undefined) return { resourceRules: resources.map((row) => resourceRule(dialect, row)) };
  return {
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  };
}

function resourceRule(dialect: Dialect, row: ResourceRuleRow): object {
  return {
    verbs: row.verbs.split(' '),
    apiGroups: [row.groups === 'core' ? '' : dialect.spell(row.groups)],
    resources: row.resources.split(' '),
    namespaces: [dialect.spell(row.namespace)],
  };
}

function subject(dialect: Dialect, text: SubjectRow): object {
  const [kind, name] = dialect.spell(text).split(' ') as [string, string];
  if (kind === 'ServiceAccount') return { kind, serviceAccount: { namespace: dialect.systemNamespace, name } };
  return kind === 'User' ? { kind, user: { name } } : { kind, group: { name } };
}
