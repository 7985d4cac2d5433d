// The columns of namespaces, nodes and events, and of the small objects that others refer to.
import type { Dialect } from '../../config/dialect.ts';
import type { JsonObject } from '../json/json-value.ts';
import { booleanAt, listAt, numberAt, partAt, partsAt, scalarTextAt, textAt } from '../json/object-fields.ts';
import { AGE, type Column, column, type KindTable, type KindTables, kindTable, NAME, wideColumn } from './column.ts';
import { conditionIn, isTrue } from './conditions.ts';
import {
  eventCount,
  firstSeen,
  involvedObject,
  involvedText,
  lastSeen,
  messageText,
  sourceText,
} from './event-cells.ts';
import { nodeAddress, nodeRoles, nodeStatus } from './node-cells.ts';

const spec = (object: JsonObject): JsonObject => partAt(object, 'spec');
const status = (object: JsonObject): JsonObject => partAt(object, 'status');

function nodeTable(dialect: Dialect): KindTable {
  const rolePrefix = dialect.spell('node-role.@label/');
  const roleLabel = dialect.spell('@label/role');
  const agentVersion = `${dialect.nodeAgent}Version`;
  const nodeInfo = (node: JsonObject): JsonObject => partAt(status(node), 'nodeInfo');
  const systemColumn = (name: string, member: string, description: string): Column =>
    wideColumn(name, 'string', description, (node) => textAt(nodeInfo(node), member, '<unknown>'));
  return kindTable([
    NAME,
    column('Status', 'string', 'Whether the node is healthy, and whether it takes new pods.', nodeStatus),
    column('Roles', 'string', 'What the node is for, as its labels say.', (node) =>
      nodeRoles(node, rolePrefix, roleLabel),
    ),
    AGE,
    column('Version', 'string', 'The version of the agent on the node.', (node) =>
      textAt(nodeInfo(node), agentVersion),
    ),
    wideColumn('Internal-IP', 'string', 'Its first address inside the cluster.', (node) =>
      nodeAddress(node, 'InternalIP'),
    ),
    wideColumn('External-IP', 'string', 'Its first address outside the cluster.', (node) =>
      nodeAddress(node, 'ExternalIP'),
    ),
    systemColumn('OS-Image', 'osImage', 'The operating system of the node, as it names itself.'),
    systemColumn('Kernel-Version', 'kernelVersion', 'The kernel of the node.'),
    systemColumn('Container-Runtime', 'containerRuntimeVersion', 'What runs containers on the node, and its version.'),
  ]);
}

const EVENT = kindTable([
  column('Last Seen', 'string', 'The time since it happened last.', lastSeen),
  column('Type', 'string', 'Whether it is normal or a warning.', (event) => textAt(event, 'type')),
  column('Reason', 'string', 'What happened, in one word.', (event) => textAt(event, 'reason')),
  column('Object', 'string', 'What it happened to.', involvedText),
  wideColumn('Subobject', 'string', 'Which part of the object it happened to.', (event) =>
    textAt(involvedObject(event), 'fieldPath'),
  ),
  wideColumn('Source', 'string', 'Who reported it, and from where.', sourceText),
  column('Message', 'string', 'What happened, in a sentence.', messageText),
  wideColumn('First Seen', 'string', 'The time since it happened first.', firstSeen),
  wideColumn('Count', 'string', 'How often it happened.', eventCount),
  { ...NAME, priority: 1 },
]);

/** `status.hard` with what is used of it, either of the entries that are limits or of the others. */
function quotaText(quota: JsonObject, ofLimits: boolean): string {
  const hard = partAt(status(quota), 'hard');
  const used = partAt(status(quota), 'used');
  return Object.keys(hard)
    .filter((resource) => resource.startsWith('limits.') === ofLimits)
    .sort()
    .map((resource) => `${resource}: ${scalarTextAt(used, resource, '0')}/${scalarTextAt(hard, resource, '0')}`)
    .join(', ');
}

function entries(object: JsonObject, member: string): number {
  return Object.keys(partAt(object, member)).length;
}

const HEALTH_COLUMNS: readonly Column[] = [
  column('Status', 'string', 'Whether the component is healthy.', (object) => {
    const healthy = healthOf(object);
    return healthy === undefined ? 'Unknown' : isTrue(healthy) ? 'Healthy' : 'Unhealthy';
  }),
  column('Message', 'string', 'What the component says of itself.', (object) =>
    textAt(healthOf(object) ?? {}, 'message'),
  ),
  column('Error', 'string', 'Why its health could not be told.', (object) => textAt(healthOf(object) ?? {}, 'error')),
];

function healthOf(component: JsonObject): JsonObject | undefined {
  return conditionIn(partsAt(component, 'conditions'), 'Healthy');
}

export function clusterTables(dialect: Dialect): KindTables {
  return { ...CLUSTER_TABLES, '/Node': nodeTable(dialect) };
}

const CLUSTER_TABLES: KindTables = {
  '/ComponentStatus': kindTable([NAME, ...HEALTH_COLUMNS]),
  '/ConfigMap': kindTable([
    NAME,
    column(
      'Data',
      'string',
      'How many entries it has.',
      (object) => entries(object, 'data') + entries(object, 'binaryData'),
    ),
    AGE,
  ]),
  '/Event': EVENT,
  'events.@group/Event': EVENT,
  '/Namespace': kindTable([
    NAME,
    column('Status', 'string', 'Whether it is in use or being removed.', (object) => textAt(status(object), 'phase')),
    AGE,
  ]),
  '/ResourceQuota': kindTable([
    NAME,
    AGE,
    column('Request', 'string', 'What is used and allowed, of everything but limits.', (object) =>
      quotaText(object, false),
    ),
    column('Limit', 'string', 'What is used and allowed, of the limits of containers.', (object) =>
      quotaText(object, true),
    ),
  ]),
  '/Secret': kindTable([
    NAME,
    column('Type', 'string', 'What the secret is for.', (object) => textAt(object, 'type')),
    column('Data', 'string', 'How many entries it has.', (object) => entries(object, 'data')),
    AGE,
  ]),
  '/ServiceAccount': kindTable([
    NAME,
    column('Secrets', 'string', 'How many secrets its pods may use.', (object) => listAt(object, 'secrets').length),
    AGE,
  ]),
  'coordination.@group/Lease': kindTable([
    NAME,
    column('Holder', 'string', 'Who holds the lease.', (object) => textAt(spec(object), 'holderIdentity')),
    AGE,
  ]),
  'node.@group/RuntimeClass': kindTable([
    NAME,
    column(
      'Handler',
      'string',
      'The configuration of the runtime that pods of the class use.',
      (object) => textAt(object, 'handler') || textAt(spec(object), 'runtimeHandler'),
    ),
    AGE,
  ]),
  'scheduling.@group/PriorityClass': kindTable([
    NAME,
    column('Value', 'integer', 'The priority of its pods; higher goes first.', (object) => numberAt(object, 'value')),
    column('Global-Default', 'boolean', 'Whether pods that name no class are of this one.', (object) =>
      booleanAt(object, 'globalDefault'),
    ),
    AGE,
  ]),
};
