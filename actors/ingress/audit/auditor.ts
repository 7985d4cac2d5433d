// Which requests are recorded, and how far: asks the policy once who asks is known, and hands the events to the audit actor. There
// is one where auditing is on, and none where it is not.

import type { AuditedObject } from '../../../api/audit/event.ts';
import { requestTexts } from '../../../api/audit/event-text.ts';
import { auditDecision } from '../../../api/audit/policy.ts';
import type { AccessAttributes, User } from '../../../api/authorization/attributes.ts';
import { internalError } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import { SAFE_METHODS } from '../../../api/verbs.ts';
import { AUDIT_LEVELS, type AuditLevel, type AuditPolicy, isAtLeast } from '../../../config/audit-policy.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { ActorContext, Ref } from '../../../runtime/actor.ts';
import type { Metrics, Series } from '../../../runtime/metrics.ts';
import type { HttpRequest } from '../../../transport/http.ts';
import { parseIp } from '../../../values/ip.ts';
import type { AuditedBody, AuditProtocol, UnreadAuditEvent } from '../../audit/protocol.ts';
import type { Admitted } from '../../auth/protocol.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { ResponseWithHeaders } from '../pipeline/response-with-headers.ts';
import { BodyCapture, CapturedResponse } from './captured-response.ts';
import { type AuditWaits, EventGroups } from './event-groups.ts';
import { type Held, HeldBytes, HeldResponse } from './held-response.ts';
import { type EventTaker, RequestAudit } from './request-audit.ts';
import { TokenNotes } from './token-notes.ts';

/** Plain data. */
export interface AuditSettings {
  readonly policy: AuditPolicy;
  readonly waits: AuditWaits;
  /** A request is refused whose event a backend has not that must have it: it is known before it is served. */
  readonly isStrict: boolean;
}

interface AuditorParts extends AuditSettings {
  readonly context: Pick<ActorContext, 'clock' | 'metrics' | 'timers'>;
  readonly audit: Ref<AuditProtocol>;
  readonly dialect: Dialect;
  readonly requestTimeoutMs: number;
}

const USER_AGENT_LENGTH_MAX = 1024;
const AUDIT_ID_LENGTH_MAX = 1024;
/** Addresses that proxies may add. */
const FORWARDED_MAX = 32;
/** What their bodies say of the object that the request is about. */
const NAMING_VERBS: ReadonlySet<string> = new Set(['create', 'update']);

/** Events that went together, and the requests that go on when they are kept. */
interface Awaited {
  readonly kept: Promise<boolean>;
  readonly isOver: Promise<void>;
  requests: number;
}

export class Auditor implements EventTaker {
  readonly #parts: AuditorParts;
  readonly #levels: ReadonlyMap<AuditLevel, Series>;
  readonly #events: Series;
  readonly #rejected: Series;
  readonly #lostEvents: Series;
  readonly #decisionKey: string;
  readonly #reasonKey: string;
  readonly #tokenNotes: TokenNotes;
  readonly #groups: EventGroups;
  #lastAnswer: Readonly<Record<string, string>> | undefined;
  readonly #heldBytes = new HeldBytes();
  /** Both events of a read are written together: a service is sent one after the other. */
  readonly #gathersReads: boolean;
  readonly #sourceIPs = new SourceIPs();
  #awaited: Awaited | undefined;

  constructor(parts: AuditorParts) {
    this.#parts = parts;
    const { metrics } = parts.context;
    this.#decisionKey = parts.dialect.spell('authorization.@group/decision');
    this.#reasonKey = parts.dialect.spell('authorization.@group/reason');
    this.#tokenNotes = new TokenNotes(parts.context.clock, parts.dialect);
    this.#levels = new Map(
      AUDIT_LEVELS.map((level) => [
        level,
        metrics.counter('apiserver_audit_level_total', 'Requests by the level of the policy that they go by.', {
          level,
        }),
      ]),
    );
    const { events, rejected, lost } = auditTotals(metrics);
    this.#events = events;
    this.#rejected = rejected;
    this.#lostEvents = lost;
    const { context, waits, isStrict, audit, requestTimeoutMs } = parts;
    this.#gathersReads = waits === 'together' && !isStrict;
    const onLost = (count: number): void => this.#lost(count);
    this.#groups = new EventGroups({ waits, audit, timers: context.timers, requestTimeoutMs, onLost });
  }

  /** Begins to record a request. Sets `exchange.audit`, unless it is not to be recorded. `user`: null: nobody knows them. */
  begin(exchange: Exchange, user: User | null, access: AccessAttributes): RequestAudit | undefined {
    const decision = auditDecision(this.#parts.policy, user, access);
    this.#levels.get(decision.level)?.add(1);
    if (decision.level === 'None') return undefined;
    const { request, longRunning, startedMs } = exchange;
    const { clock } = this.#parts.context;
    const auditID = request.header('audit-id').slice(0, AUDIT_ID_LENGTH_MAX) || exchange.requestId;
    // Whoever is not let in has an event at the beginning of the answer alone.
    const isHeld = this.#parts.waits !== 'none' && !longRunning && user !== null;
    const header = ['Audit-Id', auditID] as const;
    const held = isHeld ? new HeldResponse(exchange.response, this.#heldBytes, header, this.#groups.flush) : undefined;
    const isRecorded = isAtLeast(decision.level, 'RequestResponse') && !longRunning && isOfObjects(access);
    const capture = isRecorded ? new BodyCapture() : undefined;
    const said = {
      requestURI: request.query === '' ? request.path : `${request.path}?${request.query}`,
      verb: access.verb,
      user,
      sourceIPs: this.#sourceIPs.of(request),
      userAgent: userAgentOf(request),
      objectRef: access.isResource ? objectOf(access) : undefined,
    };
    const requestBody = requestBodyOf(exchange, access, decision.level);
    const audit = new RequestAudit({
      omitStages: decision.omitStages,
      request: {
        // What a body says of its object is not known yet.
        texts: requestBody === undefined ? requestTexts(said) : undefined,
        level: decision.level,
        auditID,
        requestURI: said.requestURI,
        verb: said.verb,
        user,
        sourceIPs: said.sourceIPs,
        userAgent: said.userAgent,
        objectRef: said.objectRef,
        receivedMs: clock.nowMs() - Math.round(clock.monotonicMs() - startedMs),
      },
      isRefused: user === null,
      isLongRunning: longRunning,
      isHarmless: held !== undefined && this.#gathersReads && SAFE_METHODS.has(request.method),
      requestBody,
      responseBody: capture,
      held,
      taker: this,
    });
    const note = user?.renewalSeconds === undefined ? undefined : this.#tokenNotes.of(user.name, user.renewalSeconds);
    if (note !== undefined) audit.annotate(note);
    const named = held ?? new ResponseWithHeaders(exchange.response, [header]);
    exchange.response = capture === undefined ? named : new CapturedResponse(named, capture);
    exchange.audit = audit;
    return audit;
  }

  /** It is known whom the request runs as, and whether it may. Undefined or a promise as RequestAudit.received. */
  admitted(audit: RequestAudit, admitted: Admitted, isImpersonating: boolean): Promise<void> | undefined {
    // Its event says nothing yet of what comes after it.
    const received = audit.received();
    if (admitted.refusal !== undefined) audit.refused();
    this.#annotate(audit, admitted, isImpersonating);
    return received;
  }

  #annotate(audit: RequestAudit, { user, impersonator, refusal, reason }: Admitted, isImpersonating: boolean): void {
    if (impersonator !== undefined && user !== null) audit.impersonatedUser = user;
    // Whether somebody may act as another is no question about the request itself.
    if (isImpersonating && impersonator === undefined) return;
    if (refusal?.error !== undefined) {
      // Nothing has been decided.
      audit.annotate({ [this.#reasonKey]: 'internal error' });
      return;
    }
    audit.annotate(this.#answerOf(refusal === undefined, (refusal === undefined ? reason : refusal.reason) ?? ''));
  }

  /** Most requests are admitted for the same reason as the last. */
  #answerOf(isAllowed: boolean, reason: string): Readonly<Record<string, string>> {
    const last = this.#lastAnswer;
    const decision = isAllowed ? 'allow' : 'forbid';
    if (last?.[this.#reasonKey] === reason && last[this.#decisionKey] === decision) return last;
    const answer = { [this.#decisionKey]: decision, [this.#reasonKey]: reason };
    this.#lastAnswer = answer;
    return answer;
  }

  /** What has come up in this turn goes to the audit actor now. */
  flush(): void {
    this.#groups.flush();
  }

  nowMs(): number {
    return this.#parts.context.clock.nowMs();
  }

  send(event: UnreadAuditEvent, held?: Held): void {
    this.#events.add(1);
    this.#groups.add(event, held);
  }

  /** Answers whose end is held back. */
  get holding(): number {
    return this.#groups.waiting;
  }

  keep(event: UnreadAuditEvent): Promise<void> | undefined {
    this.#events.add(1);
    if (this.#parts.waits === 'none') {
      this.#groups.add(event);
      return undefined;
    }
    const kept = this.#groups.keep(event);
    if (this.#awaited?.kept !== kept) this.#awaited = this.#await(kept);
    this.#awaited.requests++;
    return this.#awaited.isOver;
  }

  #await(kept: Promise<boolean>): Awaited {
    const isOver = kept.then((isKept) => {
      if (isKept) return;
      this.#rejected.add(awaited.requests);
      throw new StatusError(internalError('failed to store audit event'));
    });
    const awaited: Awaited = { kept, isOver, requests: 0 };
    return awaited;
  }

  #lost(count: number): void {
    this.#lostEvents.add(count);
  }
}

/** What a scraper finds whether or not anything is recorded: at 0 where nothing is. */
function auditTotals(metrics: Metrics) {
  return {
    events: metrics.counter('apiserver_audit_event_total', 'Audit events made.'),
    rejected: metrics.counter(
      'apiserver_audit_requests_rejected_total',
      'Requests refused since their audit event was not kept.',
    ),
    lost: metrics.counter('apiserver_audit_error_total', 'Audit events that were not recorded, by who lost them.', {
      plugin: 'buffered',
    }),
  };
}

/** Undefined where no request is recorded. */
export function auditorFor(
  context: ActorContext,
  settings: AuditSettings | undefined,
  dialect: Dialect,
  requestTimeoutMs: number,
): Auditor | undefined {
  auditTotals(context.metrics);
  return settings && new Auditor({ ...settings, context, audit: context.ref('audit'), dialect, requestTimeoutMs });
}

/** Answers at other paths are no objects of the API: an OpenAPI document of megabytes is in no event. */
function isOfObjects({ isResource, path }: AccessAttributes): boolean {
  return isResource || path.startsWith('/api');
}

function objectOf({ group, version, resource, subresource, namespace, name }: AccessAttributes): AuditedObject {
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

/** Undefined where nobody looks at it. Never rejects. */
function requestBodyOf(
  { body, request }: Exchange,
  { isResource, verb }: AccessAttributes,
  level: AuditLevel,
): Promise<AuditedBody | undefined> | undefined {
  if (body === undefined || !isResource) return undefined;
  if (!isAtLeast(level, 'Request') && !NAMING_VERBS.has(verb)) return undefined;
  const contentType = request.header('content-type');
  return body.then(
    (bytes) => (bytes === null ? undefined : { contentType, bytes }),
    () => undefined,
  );
}

function userAgentOf(request: HttpRequest): string {
  const text = request.header('user-agent');
  return text.length > USER_AGENT_LENGTH_MAX ? `${text.slice(0, USER_AGENT_LENGTH_MAX)}...TRUNCATED` : text;
}

/** Where requests come from, as proxies say it, and last where the connection comes from. */
class SourceIPs {
  #last: readonly string[] = [];

  /** The same list for requests behind each other that come straight from one address. */
  of(request: HttpRequest): readonly string[] {
    const forwarded = request.header('x-forwarded-for');
    const real = request.header('x-real-ip');
    const { remoteAddress } = request;
    if (forwarded === '' && real === '') {
      if (this.#last[0] !== remoteAddress) this.#last = remoteAddress === '' ? [] : [remoteAddress];
      return this.#last;
    }
    const addresses = forwardedFor(forwarded, real.trim());
    return remoteAddress === '' || addresses.at(-1) === remoteAddress ? addresses : [...addresses, remoteAddress];
  }
}

function forwardedFor(forwarded: string, real: string): readonly string[] {
  const addresses =
    forwarded === ''
      ? []
      : forwarded
          .split(',', FORWARDED_MAX)
          .map((part) => part.trim())
          .filter(isIp);
  return real !== '' && isIp(real) && !addresses.includes(real) ? [...addresses, real] : addresses;
}

function isIp(text: string): boolean {
  return parseIp(text) !== undefined;
}
