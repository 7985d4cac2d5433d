// A request's path, in order, each step one function: parse, authenticate, audit, in-flight, authorize, dispatch. A step
// that refuses throws a StatusError; nothing after it runs. Owns no state but counts.

import type { RemoteGroups } from '../../../api/aggregation/remote-groups.ts';
import type { User } from '../../../api/authorization/attributes.ts';
import { forbiddenAccess } from '../../../api/authorization/forbidden-access.ts';
import type { Own } from '../../../api/json/own-copy.ts';
import { parseQuery } from '../../../api/requests/query.ts';
import { parseRequestInfo, type RequestInfo } from '../../../api/requests/request-info.ts';
import { BODY_BYTES_MAX, unauthorized } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import { METHODS_WITH_BODY } from '../../../api/verbs.ts';
import type { ActorContext, AskMessage, Ref } from '../../../runtime/actor.ts';
import type { Clock, Timer } from '../../../runtime/environment.ts';
import type { HistogramSeries } from '../../../runtime/metrics/metrics.ts';
import type { Soon } from '../../../runtime/soon.ts';
import { acceptsGzip, GzipResponse, type GzipSlots } from '../../../transport/gzip-response.ts';
import { type HeaderList, type HttpRequest, type HttpResponse, RequestAborted } from '../../../transport/http.ts';
import type { RequestAudit } from '../../auditing/request-audit.ts';
import type { AccessRefusal, Admitted, AuthProtocol } from '../../auth/protocol.ts';
import { tooLate } from '../../error-status.ts';
import { filterSeconds } from '../../filter-seconds.ts';
import { remoteAt } from '../aggregation/remote-paths.ts';
import type { Auditor } from '../audit/auditor.ts';
import type { Invitation } from '../connect/upgrade-door.ts';
import { AnsweredBefore, Exchange } from '../exchange/exchange.ts';
import { FilterFailed } from '../exchange/filter-failed.ts';
import { ResponseWithHeaders } from '../exchange/response-with-headers.ts';
import type { RequestLimits } from '../fairness/request-limits.ts';
import type { Seat } from '../fairness/seat.ts';
import type { Tracer } from '../tracing/tracer.ts';
import type { ConnectionThrottle } from '../watch/connection-throttle.ts';
import { ThrottledResponse } from '../watch/throttled-response.ts';
import { loggedArrival, logRequest } from './httplog.ts';
import { impersonationOf } from './impersonation.ts';
import { type IdentityHeaders, proxiedIdentityOf } from './proxied-identity.ts';
import { type RefusalParts, Refusals } from './refusals.ts';
import { askedTimeoutMs } from './request-deadline.ts';
import type { RequestMetrics } from './request-metrics.ts';
import { logIfSlow } from './slow-requests.ts';
import { accessOf, authorizationOf, isLongRunning, isProxied, requireReadable } from './what-is-asked.ts';

export interface PipelineParts extends RefusalParts {
  readonly context: ActorContext;
  readonly auth: Ref<AuthProtocol>;
  readonly limits: RequestLimits;
  /** Undefined: no request is recorded. */
  readonly auditor: Auditor | undefined;
  /** Undefined: requests are not traced. */
  readonly tracer: Tracer | undefined;
  readonly metrics: RequestMetrics;
  /** What a WebSocket's bearer token is offered behind, as one of its protocols. */
  readonly bearerPrefix: string;
  /** Where an authenticating proxy says who asks; undefined where none is believed. */
  readonly identityHeaders: IdentityHeaders | undefined;
  /** For long answers to clients that take gzip; undefined: none is compressed. */
  readonly gzipSlots: GzipSlots | undefined;
  /** For long-running answers; undefined: each goes as fast as its client reads. */
  readonly throttle: ConnectionThrottle | undefined;
  readonly requestTimeoutMs: number;
  readonly remotes: RemoteGroups;
  readonly dispatch: (exchange: Exchange) => Soon<void>;
}

/** What is not of a resource and long all the same, and asked for every few seconds. */
const METRICS = '/metrics';

/** A request between its steps: what a later one needs of an earlier. */
class Run {
  readonly exchange: Exchange;
  limit: Timer | undefined = undefined;
  /** As whom it is to be run; null: the headers say so of nobody. */
  impersonate: User | null | undefined = undefined;
  refusal: AccessRefusal | undefined = undefined;
  /** Undefined: nothing is recorded. */
  recordedFromMs: number | undefined = undefined;
  seat: Seat | undefined = undefined;

  constructor(exchange: Exchange) {
    this.exchange = exchange;
  }
}

export class Pipeline {
  readonly #parts: PipelineParts;
  readonly #refusals: Refusals;
  /** Undefined: there is no such filter. */
  readonly #auditSeconds: HistogramSeries | undefined;
  readonly #fairnessSeconds: HistogramSeries | undefined;

  constructor(parts: PipelineParts) {
    this.#parts = parts;
    this.#refusals = new Refusals(parts);
    const { context, auditor, limits } = parts;
    this.#auditSeconds = auditor && filterSeconds(context.metrics, 'audit');
    this.#fairnessSeconds = limits.isFair ? filterSeconds(context.metrics, 'priorityandfairness') : undefined;
  }

  /**
   * Serves one request; never throws, nor rejects. Each step goes on at once where what it waits for is there already, which it nearly
   * always is for what only reads: such a request has no promise.
   */
  serve(request: HttpRequest, response: HttpResponse): Soon<void> {
    const run = new Run(this.#parse(request, response));
    let going: Soon<void>;
    try {
      going = this.#ask(run);
    } catch (error) {
      this.#failed(run, error);
      return;
    }
    if (!(going instanceof Promise)) {
      this.#served(run);
      return;
    }
    return going.then(
      () => this.#served(run),
      (error: unknown) => this.#failed(run, error),
    );
  }

  #ask(run: Run): Soon<void> {
    const { exchange } = run;
    run.limit = this.#limited(exchange);
    run.impersonate = impersonationOf(exchange.request);
    const asking = this.#admission(exchange, run.impersonate);
    return asking instanceof Promise
      ? asking.then((admitted) => this.#record(run, admitted))
      : this.#record(run, asking);
  }

  #record(run: Run, admitted: Admitted): Soon<void> {
    const { context, auditor } = this.#parts;
    run.refusal = admitted.refusal;
    if (auditor !== undefined) run.recordedFromMs = context.clock.monotonicMs();
    const recording = this.#admitted(run.exchange, admitted, run.impersonate !== undefined);
    return recording === undefined ? this.#enter(run) : recording.then(() => this.#enter(run));
  }

  #enter(run: Run): Soon<void> {
    const { context, limits } = this.#parts;
    const { exchange, recordedFromMs } = run;
    if (run.impersonate === null) throw new FilterFailed(NOBODY_TO_IMPERSONATE);
    requireReadable(exchange);
    const admittedMs = context.clock.monotonicMs();
    exchange.admittedMs = admittedMs;
    if (recordedFromMs !== undefined) this.#auditSeconds?.observe((admittedMs - recordedFromMs) / 1000);
    // Answered already, while it was found out who asks: what has not been begun is not done.
    if (exchange.isGivenUp) throw new RequestAborted();
    const entering = limits.enter(exchange, admittedMs);
    return entering instanceof Promise
      ? entering.then((seat) => this.#begin(run, seat, context.clock.monotonicMs()))
      : this.#begin(run, entering, admittedMs);
  }

  #begin(run: Run, seat: Seat, begunMs: number): Soon<void> {
    const { metrics, dispatch } = this.#parts;
    const { exchange, refusal } = run;
    run.seat = seat;
    exchange.begunMs = begunMs;
    this.#fairnessSeconds?.observe((begunMs - exchange.admittedMs!) / 1000);
    // It counts among those worked on, as any other.
    if (refusal !== undefined) throw refused(exchange, refusal);
    if (exchange.longRunning) metrics.begin(exchange);
    return dispatch(exchange);
  }

  #served(run: Run): void {
    const endedMs = this.#parts.context.clock.monotonicMs();
    run.seat?.leave(endedMs);
    this.#end(run, undefined, endedMs);
  }

  #failed(run: Run, error: unknown): void {
    run.seat?.leave(this.#parts.context.clock.monotonicMs());
    this.#refusals.tell(run.exchange, error);
    this.#end(run, error);
  }

  /** `endedMs`: absent: now. */
  #end({ exchange, limit }: Run, failed: unknown, endedMs?: number): void {
    limit?.cancel();
    const { ongoing } = exchange;
    if (exchange.isGivenUp) {
      if (exchange.begunMs !== undefined) this.#parts.metrics.cameLate(!exchange.isCutOff && isDone(failed));
      return;
    }
    if (ongoing === undefined || ongoing.isEnded) this.#finish(exchange, endedMs);
    else ongoing.onEnded = this.#whenOver(exchange);
  }

  /** What is done when its answer, which goes on, is over. */
  #whenOver(exchange: Exchange): () => void {
    const { metrics, tracer } = this.#parts;
    const { arrival, audit } = exchange;
    if (tracer !== undefined || arrival !== undefined) return () => this.#finish(exchange);
    const count = metrics.whenOver(exchange);
    if (audit === undefined) return count;
    const { clock } = this.#parts.context;
    return recordedToo(count, audit, exchange.auditAnnotations, clock, exchange.startedMs + this.#mostMs(exchange));
  }

  /** Serves a request that was admitted before, and has come again to where it can be; never throws. */
  async serveAdmitted(request: HttpRequest, response: HttpResponse, earlier: Invitation): Promise<void> {
    const { context } = this.#parts;
    const { info, verb, query } = earlier;
    const exchange = new Exchange({
      request,
      response,
      random: context.random,
      requestNumber: context.nextRequestNumber(),
      startedMs: context.clock.monotonicMs(),
      body: undefined,
      bodyFlow: undefined,
      query: parseQuery(query),
      info,
      verb,
      longRunning: true,
    });
    exchange.path = earlier.path;
    exchange.arrival = loggedArrival(context.log, request);
    exchange.user = earlier.user;
    exchange.impersonator = earlier.impersonator;
    this.#parts.metrics.begin(exchange);
    try {
      await this.#parts.auditor?.begin(exchange, earlier.impersonator ?? earlier.user, accessOf(exchange))?.received();
      await this.#parts.dispatch(exchange);
    } catch (error) {
      this.#refusals.tell(exchange, error);
    }
    this.#finish(exchange);
  }

  /**
   * Gives the request up when its client's own time for it is over, or the server's for one whose body may never be whole; what
   * it still comes to is not sent. Without a body it ends by itself: whatever it asks for has a deadline.
   */
  #limited(exchange: Exchange): Timer | undefined {
    if (exchange.longRunning) return undefined;
    const { requestTimeoutMs } = this.#parts;
    const ownMs = exchange.body === undefined ? undefined : requestTimeoutMs;
    exchange.timeoutMs = this.#askedTimeoutMs(exchange);
    const timeoutMs = exchange.timeoutMs ?? ownMs;
    if (timeoutMs === undefined) return undefined;
    return this.#parts.context.timers.after(timeoutMs, () => {
      exchange.isGivenUp = true;
      exchange.onGivenUp?.();
      if (exchange.isAnswered) exchange.cutOff();
      else this.#refusals.timedOut(exchange, tooLate());
      this.#finish(exchange);
    });
  }

  /** What makes no sense is refused before anybody is asked who asks, and recorded so. */
  #askedTimeoutMs(exchange: Exchange): number | undefined {
    try {
      return askedTimeoutMs(exchange.query, this.#parts.requestTimeoutMs);
    } catch (error) {
      this.#parts.auditor?.begin(exchange, null, accessOf(exchange));
      throw error;
    }
  }

  #parse(request: HttpRequest, response: HttpResponse): Exchange {
    const { context } = this.#parts;
    const { clock, random } = context;
    const query = parseQuery(request.query);
    const info = parseRequestInfo(request.method, request.path, query);
    // The listener holds the body only for this turn.
    const isPassedOn = isProxied(info);
    const bodyFlow = isPassedOn && request.bringsBody ? request.bodyFlow() : undefined;
    const body = !isPassedOn && this.#isRead(request, info) ? request.body(BODY_BYTES_MAX) : undefined;
    body?.catch(() => {});
    const longRunning = isLongRunning(info);
    const exchange = new Exchange({
      request,
      response: info.isResource || request.path === METRICS ? this.#paced(request, response, longRunning) : response,
      random,
      requestNumber: context.nextRequestNumber(),
      startedMs: clock.monotonicMs(),
      body,
      bodyFlow,
      query,
      info,
      verb: info.isResource && info.verb !== '' ? info.verb : request.method,
      longRunning,
    });
    exchange.arrival = loggedArrival(context.log, request);
    return exchange;
  }

  /** Whether a body is read whole. What another server answers may have one whatever its method. */
  #isRead(request: HttpRequest, info: RequestInfo): boolean {
    if (METHODS_WITH_BODY.has(request.method)) return true;
    return remoteAt(this.#parts.remotes, info) !== undefined && request.bringsBody;
  }

  /** The response as it is to be sent: long answers compressed, long-running ones within their connection's allowance. */
  #paced(request: HttpRequest, response: HttpResponse, longRunning: boolean): HttpResponse {
    const { context, gzipSlots, throttle } = this.#parts;
    if (longRunning) {
      return throttle === undefined
        ? response
        : new ThrottledResponse(response, request.connection, throttle, context.timers);
    }
    const compresses = gzipSlots !== undefined && acceptsGzip(request.header('accept-encoding'));
    return compresses ? new GzipResponse(response, gzipSlots) : response;
  }

  /** Asks whose request it is, and whether they may. */
  #admission(exchange: Exchange, impersonate: User | null | undefined): Soon<Admitted> {
    const { auth, bearerPrefix, identityHeaders, requestTimeoutMs } = this.#parts;
    const { request, requestNumber } = exchange;
    const { peerCertificate } = request;
    const proxied = identityHeaders === undefined ? undefined : proxiedIdentityOf(request, identityHeaders);
    const message: Own<AskMessage<AuthProtocol, 'admit'>> = {
      type: 'admit',
      authorization: authorizationOf(request, bearerPrefix),
      access: accessOf(exchange),
    };
    if (peerCertificate !== undefined) message.peerCertificate = peerCertificate;
    if (proxied !== undefined) message.proxied = proxied;
    if (impersonate !== undefined) message.impersonate = impersonate;
    return auth.askSoon(message, { deadlineMs: requestTimeoutMs, requestNumber });
  }

  /** Sets the user, and begins the request's record. Throws 401. Resolves where the record must be kept before it goes on. */
  #admitted(exchange: Exchange, admitted: Admitted, isImpersonated: boolean): Promise<void> | undefined {
    const { auditor } = this.#parts;
    const { user, impersonator } = admitted;
    if (user === null) {
      auditor?.begin(exchange, null, accessOf(exchange));
      throw new StatusError(unauthorized());
    }
    exchange.user = user;
    if (impersonator !== undefined) exchange.impersonator = impersonator;
    const audit = auditor?.begin(exchange, impersonator ?? user, accessOf(exchange));
    return audit && auditor?.admitted(audit, admitted, isImpersonated);
  }

  /** `endedMs`: absent: now. */
  #finish(exchange: Exchange, endedMs?: number): void {
    const { context, metrics, tracer } = this.#parts;
    const latencyMs = (endedMs ?? context.clock.monotonicMs()) - exchange.startedMs;
    metrics.observe(exchange, latencyMs);
    logIfSlow(context.log, exchange, latencyMs);
    tracer?.ended(exchange, latencyMs);
    logRequest(context.log, exchange, latencyMs);
    if (exchange.audit !== undefined)
      endRecord(exchange.audit, exchange.auditAnnotations, this.#mostMs(exchange) - latencyMs);
  }

  /** How long the request may take in all. */
  #mostMs({ timeoutMs }: Exchange): number {
    return timeoutMs ?? this.#parts.requestTimeoutMs;
  }
}

/** In a scope of its own, in which there is no exchange to be kept. */
function recordedToo(
  count: () => void,
  audit: RequestAudit,
  annotations: Exchange['auditAnnotations'],
  clock: Pick<Clock, 'monotonicMs'>,
  endsMs: number,
): () => void {
  return () => {
    count();
    endRecord(audit, annotations, endsMs - clock.monotonicMs());
  };
}

function endRecord(audit: RequestAudit, annotations: Exchange['auditAnnotations'], leftMs: number): void {
  if (annotations !== undefined) audit.annotate(annotations);
  audit.ended(leftMs);
}

const BAD_REQUEST = 400;
const NOBODY_TO_IMPERSONATE =
  'the headers ask to act as no user, with empty groups, or with groups, a uid or extra fields of nobody';
const NOSNIFF: HeaderList = [['X-Content-Type-Options', 'nosniff']];

function refused(exchange: Exchange, { user, access, reason, error }: AccessRefusal): Error {
  if (error !== undefined) return new FilterFailed(error);
  exchange.response = new ResponseWithHeaders(exchange.response, NOSNIFF);
  return new StatusError(forbiddenAccess(user.name, access, reason));
}

/** Whether a request that was given up meanwhile has been carried out. `failed`: what it ended with; undefined: with nothing to say. */
function isDone(failed: unknown): boolean {
  return failed === undefined || (failed instanceof AnsweredBefore && failed.code < BAD_REQUEST);
}
