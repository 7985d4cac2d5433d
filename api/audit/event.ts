// An audit event (SPEC.md "Audit events"; Kubernetes 1.21 where that is silent): what is recorded of a request at one stage of its
// life, and how the versions of the audit group and the old line of text say it. Pure.
import type { AuditLevel, AuditStage } from '../../config/audit-policy.ts';
import type { User } from '../authorization/attributes.ts';
import type { Status } from '../status/status.ts';

/** What a request is about. Empty texts are left out. */
export interface AuditedObject {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resourceVersion: string;
  readonly subresource: string;
}

/** Of a Status what is recorded of every answer. */
export type AuditedStatus = Partial<Pick<Status, 'status' | 'message' | 'reason' | 'details' | 'code'>>;

export interface AuditEvent {
  readonly level: AuditLevel;
  readonly auditID: string;
  readonly stage: AuditStage;
  /** With the query. */
  readonly requestURI: string;
  readonly verb: string;
  /** Null: nobody knows them. */
  readonly user: User | null;
  readonly impersonatedUser: User | undefined;
  readonly sourceIPs: readonly string[];
  readonly userAgent: string;
  readonly objectRef: AuditedObject | undefined;
  readonly responseStatus: AuditedStatus | undefined;
  /** As a JSON value; undefined: it is not recorded. */
  readonly requestObject: unknown;
  readonly responseObject: unknown;
  /** Wall time. */
  readonly receivedMs: number;
  readonly stageMs: number;
  readonly annotations: Readonly<Record<string, string>>;
}

export type AuditVersion = 'v1' | 'v1beta1' | 'v1alpha1';

const ALPHA: AuditVersion = 'v1alpha1';

/** The event as one version of the audit group `group` says it, without the members that it has nothing for. */
export function eventIn(version: AuditVersion, group: string, event: AuditEvent): object {
  const { level, auditID, stage, requestURI, verb, user, impersonatedUser, sourceIPs, userAgent } = event;
  const received = microTime(event.receivedMs);
  const reached = microTime(event.stageMs);
  return {
    kind: 'Event',
    apiVersion: `${group}/${version}`,
    ...(version === 'v1' ? undefined : { metadata: { creationTimestamp: time(event.receivedMs) } }),
    level,
    ...(version === 'v1' ? undefined : { timestamp: time(event.stageMs) }),
    auditID,
    stage,
    requestURI,
    verb,
    user: user === null ? {} : userOf(user),
    ...(impersonatedUser === undefined ? undefined : { impersonatedUser: userOf(impersonatedUser) }),
    ...(sourceIPs.length === 0 ? undefined : { sourceIPs }),
    ...(userAgent === '' ? undefined : { userAgent }),
    ...(event.objectRef === undefined ? undefined : { objectRef: referenceIn(version, event.objectRef) }),
    ...(event.responseStatus === undefined ? undefined : { responseStatus: { metadata: {}, ...event.responseStatus } }),
    ...(event.requestObject === undefined ? undefined : { requestObject: event.requestObject }),
    ...(event.responseObject === undefined ? undefined : { responseObject: event.responseObject }),
    requestReceivedTimestamp: received,
    stageTimestamp: reached,
    ...annotationsOf(event),
  };
}

/** Several of them, as a webhook is sent them. */
export function eventList(version: AuditVersion, group: string, items: readonly object[]): object {
  return { kind: 'EventList', apiVersion: `${group}/${version}`, metadata: {}, items };
}

/** The line of text of `--audit-log-format=legacy`. */
export function legacyLine(event: AuditEvent): string {
  const { user, impersonatedUser, objectRef, responseStatus, sourceIPs } = event;
  const quoted = (text: string): string => JSON.stringify(text);
  const groupsOf = ({ groups }: User): string => quoted(groups.map(quoted).join(','));
  const isKnown = user !== null && user.name !== '';
  const words = [
    `id=${quoted(event.auditID)}`,
    `stage=${quoted(event.stage)}`,
    `ip=${quoted(sourceIPs[0] ?? '<unknown>')}`,
    `method=${quoted(event.verb)}`,
    `user=${quoted(isKnown ? user.name : '<none>')}`,
    `groups=${isKnown && user.groups.length > 0 ? groupsOf(user) : '"<none>"'}`,
    `as=${quoted(impersonatedUser === undefined ? '<self>' : impersonatedUser.name)}`,
    `asgroups=${impersonatedUser === undefined ? '"<lookup>"' : groupsOf(impersonatedUser)}`,
    `namespace=${quoted(objectRef?.namespace || '<none>')}`,
    `uri=${quoted(event.requestURI)}`,
    `response="${responseStatus === undefined ? '<deferred>' : (responseStatus.code ?? 0)}"`,
  ];
  return `${new Date(event.receivedMs).toISOString()} AUDIT: ${words.join(' ')}`;
}

const TRUNCATED = 'audit.@group/truncated';

/** The event without what makes it large; `spell` is the dialect's. */
export function truncated(event: AuditEvent, spell: (text: string) => string): AuditEvent {
  const annotations = { ...event.annotations, [spell(TRUNCATED)]: 'true' };
  return { ...event, requestObject: undefined, responseObject: undefined, annotations };
}

function userOf({ name, uid, groups, extra }: User): object {
  return {
    username: name,
    ...(uid === '' ? undefined : { uid }),
    ...(groups.length === 0 ? undefined : { groups }),
    ...(Object.keys(extra).length === 0 ? undefined : { extra }),
  };
}

function referenceIn(version: AuditVersion, { apiGroup, apiVersion, ...named }: AuditedObject): object {
  const home =
    version === ALPHA
      ? { apiVersion: apiGroup === '' ? apiVersion : `${apiGroup}/${apiVersion}` }
      : { apiGroup, apiVersion };
  return Object.fromEntries(Object.entries({ ...named, ...home }).filter(([, text]) => text !== ''));
}

function annotationsOf({ annotations }: AuditEvent): object | undefined {
  const entries = Object.entries(annotations);
  if (entries.length === 0) return undefined;
  return { annotations: Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

function time(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -5)}Z`;
}

/** Milliseconds are what the clock has. */
function microTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`;
}
