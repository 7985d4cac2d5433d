// What is recorded of one request while it is served, and the events that come of it at the stages of its life. Knows nothing of who
// takes them.
import type { AuditEvent, AuditedStatus, RequestTexts } from '../../../api/audit/event.ts';
import type { AuditDecision } from '../../../api/audit/policy.ts';
import type { User } from '../../../api/authorization/attributes.ts';
import type { Status } from '../../../api/status/status.ts';
import { type AuditStage, isAtLeast } from '../../../config/audit-policy.ts';
import type { AuditAnnotation } from '../../admission/protocol.ts';
import type { AuditedBody, UnreadAuditEvent } from '../../audit/protocol.ts';
import type { BodyCapture } from './captured-response.ts';

/** What a request says of itself as it arrives. */
export type ArrivedEvent = Pick<
  AuditEvent,
  'auditID' | 'requestURI' | 'verb' | 'user' | 'sourceIPs' | 'userAgent' | 'objectRef' | 'receivedMs'
>;

/** Who makes something of the events. */
export interface EventTaker {
  /** Wall time. */
  nowMs(): number;
  /** Takes an event. Calls `settled` when it has come to something, which only the end of an answer waits for. */
  send(event: UnreadAuditEvent, settled?: () => void): void;
  /** Takes one that the request waits for, if it has to. Rejects with the StatusError that the request ends with. */
  keep(event: UnreadAuditEvent): Promise<void> | undefined;
}

export interface RequestAuditParts {
  readonly decision: AuditDecision;
  readonly arrived: ArrivedEvent;
  /** The same as it is said; undefined where nothing is. */
  readonly texts: RequestTexts | undefined;
  /** Nobody knows who asks: the beginning of the answer is all that is recorded. */
  readonly isRefused: boolean;
  /** The beginning of its answer is an event of its own. */
  readonly isLongRunning: boolean;
  /** The body that is recorded, or looked at for what the request is about. */
  readonly requestBody: Promise<AuditedBody | undefined> | undefined;
  readonly responseBody: BodyCapture | undefined;
  /** Lets the end of the answer go, where it waits for its event. */
  readonly release: (() => void) | undefined;
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
  #status: AuditedStatus | undefined;
  #annotations: Readonly<Record<string, string>> = NONE;
  #isPanic = false;
  #isBodyRead = false;

  constructor(parts: RequestAuditParts) {
    this.#parts = parts;
    parts.requestBody?.then(() => {
      this.#isBodyRead = true;
    }, NOTHING);
  }

  get level(): AuditDecision['level'] {
    return this.#parts.decision.level;
  }

  /** What all its events are known by: its client's choice, or ours. */
  get id(): string {
    return this.#parts.arrived.auditID;
  }

  /** The request is to be served. Undefined where nothing has to be waited for. */
  received(): Promise<void> | undefined {
    const { taker, arrived } = this.#parts;
    const event = this.#event('RequestReceived', undefined, arrived.receivedMs);
    return event && taker.keep(event);
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

  /** The answer is a Status. */
  answerStatus({ status, message, reason, details, code }: Status): void {
    this.#status = {
      ...(status === undefined ? undefined : { status }),
      ...(message === undefined ? undefined : { message }),
      ...(reason === undefined ? undefined : { reason }),
      ...(details === undefined ? undefined : { details }),
      ...(code === undefined ? undefined : { code }),
    };
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

  /** The answer is over, or its client is gone. */
  ended(): void {
    const { isRefused, requestBody, release, taker } = this.#parts;
    if (isRefused) return;
    if (this.#status === undefined) this.#closedEarly();
    const event = this.#isPanic ? this.#event('Panic', PANIC) : this.#event('ResponseComplete', this.#status);
    // Who was answered before the body was there may be waiting for the answer before sending it.
    if (event === undefined || (requestBody !== undefined && !this.#isBodyRead)) release?.();
    if (event === undefined) return;
    const responseBody = this.#parts.responseBody?.body;
    if (requestBody === undefined && responseBody === undefined) taker.send(event, release);
    else if (requestBody === undefined) taker.send({ ...event, responseBody }, release);
    else requestBody.then((body) => taker.send({ ...event, requestBody: body, responseBody }, release), NOTHING);
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
    const { decision, arrived, texts } = this.#parts;
    if (decision.omitStages.includes(stage)) return undefined;
    // Member by member: there are two for each request, and copying `arrived` whole takes twice as long as all the rest.
    return {
      texts,
      auditID: arrived.auditID,
      requestURI: arrived.requestURI,
      verb: arrived.verb,
      user: arrived.user,
      sourceIPs: arrived.sourceIPs,
      userAgent: arrived.userAgent,
      objectRef: arrived.objectRef,
      receivedMs: arrived.receivedMs,
      level: decision.level,
      stage,
      stageMs,
      impersonatedUser: this.impersonatedUser,
      responseStatus,
      annotations: this.#annotations,
      requestObject: undefined,
      responseObject: undefined,
      requestBody: undefined,
      responseBody: undefined,
    };
  }
}

/** A body is never rejected: who reads it for the event answers nothing instead. */
function NOTHING(): void {}
