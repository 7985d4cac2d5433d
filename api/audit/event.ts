// An audit event (SPEC.md "Audit events"; Kubernetes 1.21 where that is silent): what is recorded of a request at one stage of its
// life, and the old line of text for it. Pure.

import { type AuditLevel, type AuditStage, isAtLeast } from '../../config/audit-policy.ts';
import type { AccessAttributes, User } from '../authorization/attributes.ts';
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

/** What a request is about, as far as its path says. */
export function objectOfPath(access: AccessAttributes): AuditedObject {
  const { group, version, resource, subresource, namespace, name } = access;
  return {
    resource,
    namespace,
    name,
    uid: '',
    apiGroup: group,
    apiVersion: version,
    resourceVersion: '',
    subresource,
  };
}

/** Requests whose bodies say what they are about; of a patch that is what it makes of it. */
export function isNamedByBody(verb: string): boolean {
  return verb === 'create' || verb === 'update';
}

/** Whether the body of a request about a resource is recorded, or looked at for what the request is about. */
export function isBodyLookedAt(verb: string, level: AuditLevel): boolean {
  return isAtLeast(level, 'Request') || isNamedByBody(verb);
}

/** Of a Status what is recorded of every answer. */
export type AuditedStatus = Partial<Pick<Status, 'status' | 'message' | 'reason' | 'details' | 'code'>>;

/** What an event says of its request, as JSON: made once for all of its events. `api/audit/event-text.ts` makes it. */
export interface RequestTexts {
  /** From the address that was asked for to who asked. */
  readonly asked: string;
  /** Where it came from. */
  readonly from: string;
  /** What it is about. One version says that in another way. */
  readonly about: string;
}

/** What all events of a request say of it. */
export interface AuditedRequest {
  /** Undefined: made from the members below. */
  readonly texts: RequestTexts | undefined;
  readonly level: AuditLevel;
  readonly auditID: string;
  /** With the query. */
  readonly requestURI: string;
  readonly verb: string;
  /** Null: nobody knows them. */
  readonly user: User | null;
  readonly sourceIPs: readonly string[];
  readonly userAgent: string;
  readonly objectRef: AuditedObject | undefined;
  /** Wall time. */
  readonly receivedMs: number;
}

export interface AuditEvent {
  readonly request: AuditedRequest;
  readonly stage: AuditStage;
  /** Wall time. */
  readonly stageMs: number;
  readonly impersonatedUser: User | undefined;
  readonly responseStatus: AuditedStatus | undefined;
  /** As a JSON value; undefined: it is not recorded. */
  readonly requestObject: unknown;
  readonly responseObject: unknown;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The line of text of `--audit-log-format=legacy`. */
export function legacyLine(event: AuditEvent): string {
  const { request, impersonatedUser, responseStatus } = event;
  const { user, objectRef, sourceIPs } = request;
  const quoted = (text: string): string => JSON.stringify(text);
  const groupsOf = ({ groups }: User): string => quoted(groups.map(quoted).join(','));
  const isKnown = user !== null && user.name !== '';
  const words = [
    `id=${quoted(request.auditID)}`,
    `stage=${quoted(event.stage)}`,
    `ip=${quoted(sourceIPs[0] ?? '<unknown>')}`,
    `method=${quoted(request.verb)}`,
    `user=${quoted(isKnown ? user.name : '<none>')}`,
    `groups=${isKnown && user.groups.length > 0 ? groupsOf(user) : '"<none>"'}`,
    `as=${quoted(impersonatedUser === undefined ? '<self>' : impersonatedUser.name)}`,
    `asgroups=${impersonatedUser === undefined ? '"<lookup>"' : groupsOf(impersonatedUser)}`,
    `namespace=${quoted(objectRef?.namespace || '<none>')}`,
    `uri=${quoted(request.requestURI)}`,
    `response="${responseStatus === undefined ? '<deferred>' : (responseStatus.code ?? 0)}"`,
  ];
  return `${new Date(request.receivedMs).toISOString()} AUDIT: ${words.join(' ')}`;
}

const TRUNCATED = 'audit.@group/truncated';

/** The event without what makes it large; `spell` is the dialect's. */
export function truncated(event: AuditEvent, spell: (text: string) => string): AuditEvent {
  const annotations = { ...event.annotations, [spell(TRUNCATED)]: 'true' };
  return { ...event, requestObject: undefined, responseObject: undefined, annotations };
}
