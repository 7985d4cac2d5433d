// Which requests are recorded, and how far: asks the policy once who asks is known, and hands the events to the audit actor. There
// is one where auditing is on, and none where it is not.

import { isBodyLookedAt, objectOfPath } from '../../../api/audit/event.ts';
import { requestTexts } from '../../../api/audit/event-text.ts';
import type { AccessAttributes, User } from '../../../api/authorization/attributes.ts';
import { SAFE_METHODS } from '../../../api/verbs.ts';
import { type AuditLevel, isAtLeast } from '../../../config/audit-policy.ts';
import type { Dialect } from '../../../config/dialect.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import type { Clock, Random } from '../../../runtime/environment.ts';
import type { HttpRequest } from '../../../transport/http.ts';
import { canonicalIp } from '../../../values/ip.ts';
import type { AuditedBody } from '../../audit/protocol.ts';
import { AuditTaker, type AuditTakerParts, auditTotals, type RecordingSettings } from '../../auditing/audit-taker.ts';
import { ComponentAudit, type ComponentRecording } from '../../auditing/component-audit.ts';
import { RequestAudit } from '../../auditing/request-audit.ts';
import type { Admitted } from '../../auth/protocol.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { ResponseWithHeaders } from '../exchange/response-with-headers.ts';
import { BodyCapture, CapturedResponse } from './captured-response.ts';
import { HeldBytes, HeldResponse } from './held-response.ts';
import { TokenNotes } from './token-notes.ts';

const USER_AGENT_LENGTH_MAX = 1024;
const AUDIT_ID_LENGTH_MAX = 1024;
/** Addresses that proxies may add. */
const FORWARDED_MAX = 32;
export class Auditor {
  readonly #taker: AuditTaker;
  readonly #clock: Clock;
  readonly #tokenNotes: TokenNotes;
  readonly #heldBytes = new HeldBytes();
  /** Both events of a read are written together: a service is sent one after the other. */
  readonly #gathersReads: boolean;
  readonly #sourceIPs = new SourceIPs();

  constructor(parts: AuditTakerParts) {
    this.#taker = new AuditTaker(parts);
    this.#clock = parts.context.clock;
    this.#tokenNotes = new TokenNotes(parts.context.clock, parts.dialect);
    this.#gathersReads = parts.waits === 'together' && !parts.isStrict;
  }

  /** Begins to record a request. Sets `exchange.audit`, unless it is not to be recorded. `user`: null: nobody knows them. */
  begin(exchange: Exchange, user: User | null, access: AccessAttributes): RequestAudit | undefined {
    const taker = this.#taker;
    const decision = taker.decide(user, access);
    if (decision.level === 'None') return undefined;
    const { request, longRunning, startedMs } = exchange;
    const clock = this.#clock;
    const auditID = request.header('audit-id').slice(0, AUDIT_ID_LENGTH_MAX) || exchange.requestId;
    // Whoever is not let in has an event at the beginning of the answer alone.
    const isHeld = taker.isWaitedFor && !longRunning && user !== null;
    const header = ['Audit-Id', auditID] as const;
    const held = isHeld ? new HeldResponse(exchange.response, this.#heldBytes, header, taker.flush) : undefined;
    const isRecorded = isAtLeast(decision.level, 'RequestResponse') && !longRunning && isOfObjects(access);
    const capture = isRecorded ? new BodyCapture() : undefined;
    const said = {
      requestURI: request.query === '' ? request.path : `${request.path}?${request.query}`,
      verb: access.verb,
      user,
      sourceIPs: this.#sourceIPs.of(request),
      userAgent: userAgentOf(request),
      objectRef: access.isResource ? objectOfPath(access) : undefined,
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
      taker,
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
      audit.annotate(this.#taker.undecided);
      return;
    }
    audit.annotate(
      this.#taker.answerOf(refusal === undefined, (refusal === undefined ? reason : refusal.reason) ?? ''),
    );
  }

  /** Records requests of components beside those of clients. */
  ofComponents(recording: ComponentRecording, random: Pick<Random, 'uuid'>): ComponentAudit {
    return new ComponentAudit(this.#taker, recording, random);
  }

  /** What has come up in this turn goes to the audit actor now. */
  flush(): void {
    this.#taker.flush();
  }

  /** Answers whose end is held back. */
  get holding(): number {
    return this.#taker.holding;
  }
}

/** Undefined where no request is recorded. */
export function auditorFor(
  context: ActorContext,
  settings: RecordingSettings | undefined,
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

/** Undefined where nobody looks at it. Never rejects. */
function requestBodyOf(
  { body, request }: Exchange,
  { isResource, verb }: AccessAttributes,
  level: AuditLevel,
): Promise<AuditedBody | undefined> | undefined {
  if (body === undefined || !isResource || !isBodyLookedAt(verb, level)) return undefined;
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

/** Each in one spelling: what is the same address is said once. */
function forwardedFor(forwarded: string, real: string): readonly string[] {
  const addresses =
    forwarded === '' ? [] : forwarded.split(',', FORWARDED_MAX).flatMap((part) => canonicalIp(part.trim()) ?? []);
  const realIp = canonicalIp(real);
  return realIp === undefined || addresses.includes(realIp) ? addresses : [...addresses, realIp];
}
