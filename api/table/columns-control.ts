// The columns of what governs the API itself: access, admission, flow control, extension services, certificates.
import { compareTexts } from '../../values/compare-texts.ts';
import type { JsonObject } from '../json/json-value.ts';
import { booleanAt, listAt, numberAt, partAt, partsAt, scalarTextAt, textAt, textsAt } from '../json/object-fields.ts';
import {
  AGE,
  type Column,
  column,
  type KindTable,
  type KindTables,
  kindTable,
  NAME,
  objectName,
  wideColumn,
} from './column.ts';
import { conditionOf } from './conditions.ts';
import { firstFew } from './first-few.ts';

const spec = (object: JsonObject): JsonObject => partAt(object, 'spec');
const status = (object: JsonObject): JsonObject => partAt(object, 'status');

function subjectsColumn(name: string, kind: string, description: string): Column {
  return wideColumn(name, 'string', description, (binding) =>
    partsAt(binding, 'subjects')
      .filter((subject) => subject.kind === kind)
      .map((subject) =>
        kind === 'ServiceAccount'
          ? `${textAt(subject, 'namespace')}/${textAt(subject, 'name')}`
          : textAt(subject, 'name'),
      )
      .join(', '),
  );
}

const BINDING: KindTable = kindTable([
  NAME,
  column('Role', 'string', 'The role that is given.', (binding) => {
    const role = partAt(binding, 'roleRef');
    return `${textAt(role, 'kind')}/${textAt(role, 'name')}`;
  }),
  AGE,
  subjectsColumn('Users', 'User', 'The users it is given to.'),
  subjectsColumn('Groups', 'Group', 'The groups it is given to.'),
  subjectsColumn('ServiceAccounts', 'ServiceAccount', 'The service accounts it is given to.'),
]);

const WEBHOOK_CONFIGURATION: KindTable = kindTable([
  NAME,
  column('Webhooks', 'integer', 'How many webhooks it configures.', (object) => listAt(object, 'webhooks').length),
  AGE,
]);

function serviceText(apiService: JsonObject): string {
  const { service } = spec(apiService);
  if (service === undefined || service === null) return 'Local';
  const reference = partAt(spec(apiService), 'service');
  return `${textAt(reference, 'namespace')}/${textAt(reference, 'name')}`;
}

function availabilityText(apiService: JsonObject): string {
  const available = conditionOf(apiService, 'Available');
  if (available === undefined) return 'Unknown';
  const state = textAt(available, 'status');
  const reason = textAt(available, 'reason');
  return state === 'True' || reason === '' ? state : `${state} (${reason})`;
}

/** Denial outweighs approval; failure and the certificate are told beside. */
function signingText(request: JsonObject): string {
  const has = (type: string): boolean => conditionOf(request, type) !== undefined;
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
  const failed = has('Failed') ? ',Failed' : '';
  const issued = textAt(status(request), 'certificate') === '' ? '' : ',Issued';
  return decision + failed + issued;
}

const POD_SECURITY_POLICY: KindTable = kindTable([
  NAME,
  column('Priv', 'string', 'Whether pods may run privileged containers.', (object) =>
    String(booleanAt(spec(object), 'privileged')),
  ),
  column('Caps', 'string', 'The capabilities pods may add.', (object) =>
    textsAt(spec(object), 'allowedCapabilities').join(','),
  ),
  ...(
    [
      ['SELinux', 'seLinux', 'Which SELinux labels pods may use.'],
      ['RunAsUser', 'runAsUser', 'Which users containers may run as.'],
      ['FsGroup', 'fsGroup', 'Which groups may own the volumes of pods.'],
      ['SupGroup', 'supplementalGroups', 'Which further groups containers may run with.'],
    ] as const
  ).map(([name, member, description]) =>
    column(name, 'string', description, (object) => textAt(partAt(spec(object), member), 'rule')),
  ),
  column('ReadOnlyRootFs', 'string', 'Whether the root file system of containers must be read-only.', (object) =>
    booleanAt(spec(object), 'readOnlyRootFilesystem'),
  ),
  column('Volumes', 'string', 'The types of volumes pods may use.', (object) =>
    textsAt(spec(object), 'volumes').join(','),
  ),
]);

/** Flow schemas are tried in this order. */
function byPrecedence(left: JsonObject, right: JsonObject): number {
  const difference = numberAt(spec(left), 'matchingPrecedence') - numberAt(spec(right), 'matchingPrecedence');
  if (difference !== 0) return difference;
  return compareTexts(objectName(left), objectName(right));
}

const FLOW_SCHEMA: KindTable = kindTable(
  [
    NAME,
    column('PriorityLevel', 'string', 'The priority level that serves its requests.', (object) =>
      textAt(partAt(spec(object), 'priorityLevelConfiguration'), 'name'),
    ),
    column('MatchingPrecedence', 'string', 'When it is tried; lower goes first.', (object) =>
      numberAt(spec(object), 'matchingPrecedence'),
    ),
    column('DistinguisherMethod', 'string', 'What tells its flows apart.', (object) =>
      textAt(partAt(spec(object), 'distinguisherMethod'), 'type', '<none>'),
    ),
    AGE,
    column('MissingPL', 'string', 'Whether the priority level it names is missing.', (object) => {
      const dangling = conditionOf(object, 'Dangling');
      return dangling === undefined ? '?' : textAt(dangling, 'status');
    }),
  ],
  { compare: byPrecedence },
);

const limited = (level: JsonObject): JsonObject => partAt(spec(level), 'limited');
const queuing = (level: JsonObject): JsonObject => partAt(partAt(limited(level), 'limitResponse'), 'queuing');

/** A number of a priority level, which only some levels have. */
function levelNumber(name: string, partOf: (level: JsonObject) => JsonObject, member: string, text: string): Column {
  return column(name, 'string', text, (object) => {
    const value = partOf(object)[member];
    return typeof value === 'number' ? value : '<none>';
  });
}

const PRIORITY_LEVEL: KindTable = kindTable([
  NAME,
  column('Type', 'string', 'Whether its requests are limited.', (object) => textAt(spec(object), 'type')),
  levelNumber(
    'AssuredConcurrencyShares',
    limited,
    'assuredConcurrencyShares',
    'Its share of the requests in progress.',
  ),
  levelNumber('Queues', queuing, 'queues', 'How many queues its requests wait in.'),
  levelNumber('HandSize', queuing, 'handSize', 'Among how many queues a flow picks.'),
  levelNumber('QueueLengthLimit', queuing, 'queueLengthLimit', 'How many requests may wait in a queue.'),
  AGE,
]);

const VERSIONS_SHOWN_MAX = 3;

function storageVersionsText(object: JsonObject): string {
  const versions = partsAt(status(object), 'storageVersions');
  if (versions.length === 0) return '<unset>';
  return firstFew(
    versions.map((version) => `${textAt(version, 'apiServerID')}=${textAt(version, 'encodingVersion')}`),
    VERSIONS_SHOWN_MAX,
  );
}

export const CONTROL_TABLES: KindTables = {
  'admissionregistration.@group/MutatingWebhookConfiguration': WEBHOOK_CONFIGURATION,
  'admissionregistration.@group/ValidatingWebhookConfiguration': WEBHOOK_CONFIGURATION,
  'apiregistration.@group/APIService': kindTable([
    NAME,
    column('Service', 'string', 'Who serves the group and version.', serviceText),
    column('Available', 'string', 'Whether it is being served, and if not, why.', availabilityText),
    AGE,
  ]),
  'certificates.@group/CertificateSigningRequest': kindTable([
    NAME,
    AGE,
    column('SignerName', 'string', 'Who is asked to sign.', (object) => textAt(spec(object), 'signerName', '<none>')),
    column('Requestor', 'string', 'Who asks.', (object) => textAt(spec(object), 'username')),
    column('Condition', 'string', 'What became of the request.', signingText),
  ]),
  'flowcontrol.apiserver.@group/FlowSchema': FLOW_SCHEMA,
  'flowcontrol.apiserver.@group/PriorityLevelConfiguration': PRIORITY_LEVEL,
  'internal.apiserver.@group/StorageVersion': kindTable([
    NAME,
    column('CommonEncodingVersion', 'string', 'The version all servers store in, if they agree.', (object) =>
      scalarTextAt(status(object), 'commonEncodingVersion', '<unset>'),
    ),
    column('StorageVersions', 'string', 'The version each server stores in.', storageVersionsText),
    AGE,
  ]),
  'policy/PodSecurityPolicy': POD_SECURITY_POLICY,
  'rbac.authorization.@group/ClusterRoleBinding': BINDING,
  'rbac.authorization.@group/RoleBinding': BINDING,
  '/Status': kindTable([
    column('Status', 'string', 'Whether it succeeded.', (object) => textAt(object, 'status')),
    column('Reason', 'string', 'Why it failed, in one word.', (object) => textAt(object, 'reason')),
    column('Message', 'string', 'What happened, in a sentence.', (object) => textAt(object, 'message')),
  ]),
};
