// What is recorded of one request while it is served, and the events that come of it at the stages of its life. Knows nothing of who
// takes them.
import type { AuditedRequest, AuditedStatus } from '../../api/audit/event.ts';
import type { AuditDecision } from '../../api/audit/policy.ts';
import type { User } from '../../api/authorization/attributes.ts';
import type { Status } from '../../api/status/status.ts';
import { type AuditLevel, type AuditStage, isAtLeast } from '../../config/audit-policy.ts';
import type { Soon } from '../../runtime/soon.ts';
import type { AuditAnnotation } from '../admission/protocol.ts';
import type { AuditedBody, UnreadAuditEvent } from '../audit/protocol.ts';
import type { Held } from './audit-event-groups.ts';

/** Who makes something of the events. */
export interface EventTaker {
  /** Wall time. */
  nowMs(): number;
  /** Takes an event, which only the end of an answer waits for, so long at most; undefined: as long as any request may take. */
  send(event: UnreadAuditEvent, held?: Held, heldMs?: number): void;
  /** Takes one that the request waits for, if it has to. Rejects with the StatusError that the request ends with. */
  keep(event: UnreadAuditEvent): Promise<void> | undefined;
}

export interface RequestAuditParts {
  readonly omitStages: AuditDecision['omitStages'];
  readonly request: AuditedRequest;
  /** Nobody knows who asks: the beginning of the answer is all that is recorded. */
  readonly isRefused: boolean;
  /** The beginning of its answer is an event of its own. */
  readonly isLongRunning: boolean;
  /**
   * Nothing comes of it before its answer goes out, which waits for its events: it need not wait for the first of them before it
   * is served.
   */
  readonly isHarmless: boolean;
  /** The body that is recorded, or looked at for what the request is about. */
  readonly requestBody: Soon<AuditedBody | undefined>;
  /** What is in it when the answer has ended. */
  readonly responseBody: { readonly body: AuditedBody | undefined } | undefined;
  /** The end of the answer, where it waits for its event. */
  readonly held: Held | undefined;
  readonly taker: EventTaker;
}

const CLOSED_EARLY: AuditedStatus = { status: 'Success', message: 'Connection closed early', code: 200 };
const NONE: Readonly<Record<string, string>> = {};
const PANIC: AuditedStatus = {
  status: 'Failure',
  message: "APIServer panic'd: the request could not be handled",
  reason: 'InternalError',
  code: 500,
};

export class RequestAudit {
  /** Whom the request runs as, where that is somebody else than who asks. */
  impersonatedUser: User | undefined = undefined;
  readonly #parts: RequestAuditParts;
  #requestBody: RequestAuditParts['requestBody'];
  #status: AuditedStatus | undefined;
  /** At the beginning of an answer, and at the end of one that is not captured. */
  #answer: Status | undefined;
  #annotations: Readonly<Record<string, string>> = NONE;
  #isPanic = false;
  #isBodyRead = false;

  constructor(parts: RequestAuditParts) {
    this.#parts = parts;
    this.#requestBody = parts.requestBody;
    if (parts.requestBody instanceof Promise) {
      parts.requestBody.then(() => {
        this.#isBodyRead = true;
      }, NOTHING);
    }
  }

  get level(): AuditLevel {
    return this.#parts.request.level;
  }

  /** What all its events are known by: its client's choice, or ours. */
  get id(): string {
    return this.#parts.request.auditID;
  }

  /** The request is to be served. Undefined where nothing has to be waited for. */
  received(): Promise<void> | undefined {
    const { taker, request, isHarmless } = this.#parts;
    const event = this.#event('RequestReceived', undefined, request.receivedMs);
    if (event === undefined) return undefined;
    if (!isHarmless) return taker.keep(event);
    taker.send(event);
    return undefined;
  }

  /** Says something of the request. What was said first holds. */
  annotate(annotations: Readonly<Record<string, string>>): void {
    this.#annotations = this.#annotations === NONE ? annotations : { ...annotations, ...this.#annotations };
  }

  /** As `annotate`, with what is recorded from some level on. */
  annotateBy(annotations: readonly AuditAnnotation[]): void {
    const { level } = this;
    for (const { key, value, level: least } of annotations) {
      if (isAtLeast(level, least)) this.annotate({ [key]: value });
    }
  }

  /** The request is refused before its body is looked at. */
  refused(): void {
    this.#requestBody = undefined;
  }

  /** The answer is a Status. What it tells in words is recorded as an answer alone: it may quote what was sent. */
  answerStatus(answer: Status): void {
    const { status, reason, code } = answer;
    this.#status = {
      ...(status === undefined ? undefined : { status }),
      ...(reason === undefined ? undefined : { reason }),
      ...(code === undefined ? undefined : { code }),
    };
    if (isAtLeast(this.level, 'RequestResponse')) this.#answer = answer;
  }

  /** The answer begins. */
  started(code: number): void {
    this.#status = this.#status === undefined ? { code } : { ...this.#status, code };
    const { isLongRunning, isRefused, taker } = this.#parts;
    if (!isLongRunning && !isRefused) return;
    const event = this.#event('ResponseStarted', this.#status);
    if (event !== undefined) taker.send(event);
  }

  /** Nobody has foreseen what the request came to. */
  panicked(): void {
    this.#isPanic = true;
  }

  /** The answer is over, or its client is gone. `leftMs`: of the request's time, beyond which its answer is held back by nothing. */
  ended(leftMs?: number): void {
    const { isRefused, taker } = this.#parts;
    const requestBody = this.#requestBody;
    if (isRefused) return;
    if (this.#status === undefined) this.#closedEarly();
    const event = this.#isPanic ? this.#event('Panic', PANIC) : this.#event('ResponseComplete', this.#status);
    const isLate = leftMs !== undefined && leftMs <= 0;
    // Who was answered before the body was there may be waiting for the answer before sending it.
    const isDue = event === undefined || isLate || (requestBody instanceof Promise && !this.#isBodyRead);
    if (isDue) this.#parts.held?.release();
    if (event === undefined) return;
    const held = isDue ? undefined : this.#parts.held;
    const responseBody = this.#parts.responseBody?.body;
    if (requestBody === undefined && responseBody === undefined) taker.send(event, held, leftMs);
    else if (!(requestBody instanceof Promise)) taker.send({ ...event, requestBody, responseBody }, held, leftMs);
    else requestBody.then((body) => taker.send({ ...event, requestBody: body, responseBody }, held, leftMs), NOTHING);
  }

  #closedEarly(): void {
    const { isLongRunning, taker } = this.#parts;
    this.#status = CLOSED_EARLY;
    const event = isLongRunning ? this.#event('ResponseStarted', CLOSED_EARLY) : undefined;
    if (event !== undefined) taker.send(event);
  }

  /** Undefined for a stage that is left out. */
  #event(
    stage: AuditStage,
    responseStatus: AuditedStatus | undefined,
    stageMs = this.#parts.taker.nowMs(),
  ): UnreadAuditEvent | undefined {
    const { omitStages, request } = this.#parts;
    if (omitStages.includes(stage)) return undefined;
    return {
      request,
      stage,
      stageMs,
      impersonatedUser: this.impersonatedUser,
      responseStatus,
      annotations: this.#annotations,
      requestObject: undefined,
      responseObject: stage === 'RequestReceived' ? undefined : this.#answer,
      requestBody: undefined,
      responseBody: undefined,
    };
  }
}

/** A body is never rejected: who reads it for the event answers nothing instead. */
function NOTHING(): void {}
