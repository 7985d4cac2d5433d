// The columns of pods and of what makes pods: what a person looks for first, and the rest on request.
import type { JsonObject } from '../json/json-value.ts';
import { booleanAt, numberAt, partAt, partsAt, textAt } from '../json/object-fields.ts';
import { AGE, type Column, column, type KindTables, kindTable, NAME, summaryTable, wideColumn } from './column.ts';
import { containerColumns, containersText, specTemplate } from './containers.ts';
import { type PodSummary, podSummary, readinessGatesText } from './pod-status.ts';
import { labelsText, selectorText } from './selector-text.ts';

const spec = (object: JsonObject): JsonObject => partAt(object, 'spec');
const status = (object: JsonObject): JsonObject => partAt(object, 'status');

const podColumn = column<PodSummary>;

const POD = summaryTable<PodSummary>(
  podSummary,
  [
    NAME,
    podColumn(
      'Ready',
      'string',
      'How many containers are ready, of how many.',
      (_pod, _context, { readyContainers, containers }) => `${readyContainers}/${containers}`,
    ),
    podColumn(
      'Status',
      'string',
      'How far the pod has come, or what holds it up, over all its containers.',
      (_pod, _context, summary) => summary.status,
    ),
    podColumn(
      'Restarts',
      'integer',
      'How often containers of the pod were started again.',
      (_pod, _context, { restarts }) => restarts,
    ),
    AGE,
    wideColumn('IP', 'string', 'The first address of the pod, once it has one.', podIp),
    wideColumn('Node', 'string', 'The node the pod is bound to.', (pod) => textAt(spec(pod), 'nodeName', '<none>')),
    wideColumn('Nominated Node', 'string', 'The node where room is being made for the pod.', (pod) =>
      textAt(status(pod), 'nominatedNodeName', '<none>'),
    ),
    wideColumn('Readiness Gates', 'string', 'How many extra readiness conditions are met, of how many.', (pod) =>
      readinessGatesText(pod),
    ),
  ],
  { conditions: podConditions },
);

/** The address list, or the single address that older node agents report. */
function podIp(pod: JsonObject): string {
  const first = partsAt(status(pod), 'podIPs')[0];
  return (first === undefined ? '' : textAt(first, 'ip')) || textAt(status(pod), 'podIP', '<none>');
}

const SUCCEEDED = [
  { type: 'Completed', status: 'True', reason: 'Succeeded', message: 'All containers of the pod ended well.' },
] as const;
const FAILED = [
  {
    type: 'Completed',
    status: 'True',
    reason: 'Failed',
    message: 'The pod ended, at least one container with a failure.',
  },
] as const;

/** A row that clients may grey out: the pod is over. */
function podConditions(pod: JsonObject): typeof SUCCEEDED | typeof FAILED | undefined {
  const phase = status(pod).phase;
  return phase === 'Succeeded' ? SUCCEEDED : phase === 'Failed' ? FAILED : undefined;
}

const SELECTOR = wideColumn('Selector', 'string', 'Which pods belong to the object, by their labels.', (object) =>
  selectorText(spec(object).selector),
);

/** Ready and wanted replicas as one text. */
const READY_OF_WANTED = column('Ready', 'string', 'How many pods are ready, of how many wanted.', (object) => {
  return `${numberAt(status(object), 'readyReplicas')}/${numberAt(spec(object), 'replicas')}`;
});

/** The counters of replica sets and replication controllers. */
const REPLICA_COUNTS: readonly Column[] = [
  column('Desired', 'integer', 'How many pods are wanted.', (object) => numberAt(spec(object), 'replicas')),
  column('Current', 'integer', 'How many pods there are.', (object) => numberAt(status(object), 'replicas')),
  column('Ready', 'integer', 'How many pods are ready.', (object) => numberAt(status(object), 'readyReplicas')),
];

const DAEMON_COUNTS: readonly Column[] = (
  [
    ['Desired', 'desiredNumberScheduled', 'How many nodes should run the pod.'],
    ['Current', 'currentNumberScheduled', 'How many of those nodes run it.'],
    ['Ready', 'numberReady', 'On how many of them the pod is ready.'],
    ['Up-to-date', 'updatedNumberScheduled', 'How many run the pod of the current template.'],
    ['Available', 'numberAvailable', 'On how many the pod has been ready for long enough.'],
  ] as const
).map(([name, member, description]) =>
  column(name, 'integer', description, (object) => numberAt(status(object), member)),
);

function controllerText(revision: JsonObject): string {
  const owners = partsAt(partAt(revision, 'metadata'), 'ownerReferences');
  const owner = owners.find((candidate) => booleanAt(candidate, 'controller'));
  if (owner === undefined) return '<none>';
  const apiVersion = textAt(owner, 'apiVersion');
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : `.${apiVersion.slice(0, slash)}`;
  return `${(textAt(owner, 'kind') + group).toLowerCase()}/${textAt(owner, 'name')}`;
}

const template = (object: JsonObject): JsonObject => partAt(object, 'template');

export const WORKLOAD_TABLES: KindTables = {
  '/Pod': POD,
  '/PodTemplate': kindTable([
    NAME,
    column('Containers', 'string', 'The names of the containers in the template.', (object) =>
      containersText(template(object), 'name'),
    ),
    column('Images', 'string', 'The images of the containers in the template.', (object) =>
      containersText(template(object), 'image'),
    ),
    column('Pod Labels', 'string', 'The labels that pods of the template get.', (object) =>
      labelsText(partAt(template(object), 'metadata').labels),
    ),
  ]),
  '/ReplicationController': kindTable([
    NAME,
    ...REPLICA_COUNTS,
    AGE,
    ...containerColumns(specTemplate),
    wideColumn('Selector', 'string', 'Which pods belong to the controller, by their labels.', (object) =>
      labelsText(spec(object).selector),
    ),
  ]),
  'apps/ReplicaSet': kindTable([NAME, ...REPLICA_COUNTS, AGE, ...containerColumns(specTemplate), SELECTOR]),
  'apps/Deployment': kindTable([
    NAME,
    READY_OF_WANTED,
    column('Up-to-date', 'string', 'How many pods are of the current template.', (object) =>
      numberAt(status(object), 'updatedReplicas'),
    ),
    column('Available', 'string', 'How many pods have been ready for long enough.', (object) =>
      numberAt(status(object), 'availableReplicas'),
    ),
    AGE,
    ...containerColumns(specTemplate),
    SELECTOR,
  ]),
  'apps/StatefulSet': kindTable([NAME, READY_OF_WANTED, AGE, ...containerColumns(specTemplate)]),
  'apps/DaemonSet': kindTable([
    NAME,
    ...DAEMON_COUNTS,
    column('Node Selector', 'string', 'The labels a node needs to run the pod.', (object) =>
      labelsText(partAt(specTemplate(object), 'spec').nodeSelector),
    ),
    AGE,
    ...containerColumns(specTemplate),
    SELECTOR,
  ]),
  'apps/ControllerRevision': kindTable([
    NAME,
    column('Controller', 'string', 'What the revision is a revision of.', controllerText),
    column('Revision', 'string', 'Its number; later ones are higher.', (object) => numberAt(object, 'revision')),
    AGE,
  ]),
};
