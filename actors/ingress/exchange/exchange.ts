// One request on its way through the pipeline: what arrived, what has been found out about it, and its one answer.
import type { AccessAttributes, User } from '../../../api/authorization/attributes.ts';
import type { Query } from '../../../api/requests/query.ts';
import type { RequestInfo } from '../../../api/requests/request-info.ts';
import type { Random } from '../../../runtime/environment.ts';
import type { Series } from '../../../runtime/metrics/metrics.ts';
import type { BodyFlow, HeaderList, HttpRequest, HttpResponse } from '../../../transport/http.ts';
import { joinedHeaders } from '../../../transport/kept-headers.ts';
import type { MessageFraming } from '../../../transport/websocket/handshake.ts';
import type { RequestAudit } from '../../auditing/request-audit.ts';

/** What is known of a request as it arrives. */
export interface Arrival {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** Of identifiers: a request has one only where somebody asks for it. */
  readonly random: Pick<Random, 'uuid'>;
  /** What the request's messages and log lines carry (runtime/turn.ts). */
  readonly requestNumber: number;
  readonly startedMs: number;
  /** The body being read, for methods that have one; null when it is too large. */
  readonly body: Promise<Uint8Array | null> | undefined;
  /** The body of a proxied request, which is passed on as it arrives. */
  readonly bodyFlow: BodyFlow | undefined;
  readonly query: Query;
  readonly info: RequestInfo;
  /** What metrics and audit call the request: the verb of the API, or the method. */
  readonly verb: string;
  /** Watches and the like: not bound by in-flight limits nor by the request timeout. */
  readonly longRunning: boolean;
}

/** What the log says of a request as it came: headers and query may be let go before it ends. */
export interface LoggedArrival {
  readonly uri: string;
  readonly userAgent: string;
  readonly address: string;
}

/** The user of a request nobody has authenticated. */
const NOBODY: User = { name: '', uid: '', groups: [], extra: {} };

/** Who gives up what it was asked: this server, or where it passes requests on to extension servers. */
export type Component = 'apiserver' | 'aggregator';

/** What it was still to be answered with when it had been answered already. */
export class AnsweredBefore extends Error {
  readonly code: number;

  constructor(code: number, before: number) {
    super(`answered ${code} after ${before}`);
    this.code = code;
  }
}

const SWITCHING_PROTOCOLS = 101;
const NO_HEADERS: HeaderList = [];

export class Exchange implements Arrival {
  readonly request: HttpRequest;
  /** Where the answer goes. A step may put another in front of it. */
  response: HttpResponse;
  readonly random: Pick<Random, 'uuid'>;
  readonly requestNumber: number;
  readonly startedMs: number;
  readonly body: Promise<Uint8Array | null> | undefined;
  readonly bodyFlow: BodyFlow | undefined;
  /** As sent, without the query; of a client that was sent on to another port, what it asked for at first. */
  path: string;
  readonly query: Query;
  readonly info: RequestInfo;
  readonly verb: string;
  readonly longRunning: boolean;
  /** Set by authentication. */
  user: User = NOBODY;
  /** What authorization is asked about, once it has been. */
  access: AccessAttributes | undefined = undefined;
  /** When it was found out whose it is and whether they may; undefined: not yet. */
  admittedMs: number | undefined = undefined;
  /** When it was let through to be worked on; undefined: not yet. */
  begunMs: number | undefined = undefined;
  /** What its client gives it, where that is less than the server does (request-deadline.ts). */
  timeoutMs: number | undefined = undefined;
  /** The client's time for it is over: it has been answered and counted, whatever it still comes to. */
  isGivenUp = false;
  /** Set while it waits for something: called when it is given up. */
  onGivenUp: (() => void) | undefined = undefined;
  /** What every answer to it says of the flow it belongs to. */
  flowHeaders: HeaderList = NO_HEADERS;
  /** Who asked for it to be run as `user`. */
  impersonator: User | undefined = undefined;
  /** What its line in the log says of it as it came; undefined where none is wanted. */
  arrival: LoggedArrival | undefined = undefined;
  /** Records it; undefined where it is not recorded. */
  audit: RequestAudit | undefined = undefined;
  /** What the audit record says of the request; set by whoever finds it out. */
  auditAnnotations: Readonly<Record<string, string>> | undefined = undefined;
  /** Set by an answer that goes on when its request has been served: a watch. */
  ongoing: OngoingAnswer | undefined = undefined;
  /** Counts it while it is open, where it is long-running. */
  longRunningSeries: Series | undefined = undefined;
  /** It was not carried to its end, so that the server goes on: its answer says so. */
  terminatedBy: Component | undefined = undefined;
  /** Its answer had begun, and ended before it was whole. */
  isCutOff = false;
  /** Bytes of the answer so far, before they were compressed. */
  sentBytes = 0;
  #code = 0;
  #requestId: string | undefined = undefined;

  constructor(arrival: Arrival) {
    this.request = arrival.request;
    this.response = arrival.response;
    this.random = arrival.random;
    this.requestNumber = arrival.requestNumber;
    this.startedMs = arrival.startedMs;
    this.body = arrival.body;
    this.bodyFlow = arrival.bodyFlow;
    this.path = arrival.request.path;
    this.query = arrival.query;
    this.info = arrival.info;
    this.verb = arrival.verb;
    this.longRunning = arrival.longRunning;
  }

  /** What logs, traces and audit records call it: as its client has said itself, where it is recorded. */
  get requestId(): string {
    if (this.audit !== undefined) return this.audit.id;
    this.#requestId ??= this.random.uuid();
    return this.#requestId;
  }

  /** The HTTP status of the answer; 0 while none has begun. */
  get code(): number {
    return this.#code;
  }

  /** An answer has begun: nothing else can be said any more, only that one be cut off. */
  get isAnswered(): boolean {
    return this.#code !== 0;
  }

  /** Gives the whole answer. Throws where one has begun already. */
  answer(code: number, headers: HeaderList, body: Uint8Array | string): void {
    this.#begin(code);
    this.sentBytes = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
    this.response.respond(code, this.#withFlow(headers), body);
  }

  /** Begins an answer that is written to `response`. `isVerbatim` as for HttpResponse.start. Throws as `answer`. */
  start(code: number, headers: HeaderList, isVerbatim = false): void {
    this.#begin(code);
    this.response.start(code, this.#withFlow(headers), isVerbatim);
  }

  /** Ends an answer that has begun and cannot become whole, so that its client notices. */
  cutOff(): void {
    if (!this.response.aborted) this.isCutOff = true;
    this.response.abort();
  }

  /** Begins a WebSocket; see HttpResponse.startWebSocket. Throws as `answer`. */
  startWebSocket(protocol: string, framing: MessageFraming): void {
    this.#begin(SWITCHING_PROTOCOLS);
    this.response.startWebSocket(protocol, framing);
  }

  /** The connection leaves HTTP, and whoever takes it answers. Throws as `answer`. */
  leaveHttp(): void {
    this.#begin(SWITCHING_PROTOCOLS);
  }

  #withFlow(headers: HeaderList): HeaderList {
    return this.flowHeaders.length === 0 ? headers : joinedHeaders(headers, this.flowHeaders);
  }

  #begin(code: number): void {
    if (this.#code !== 0) throw new AnsweredBefore(code, this.#code);
    this.#code = code;
    this.audit?.started(code);
  }
}

/** An answer that ends by itself, after the pipeline is through with its request. */
export interface OngoingAnswer {
  readonly isEnded: boolean;
  /** Called once at the end. There may be tens of thousands of them, so that it keeps no more of the request than it takes. */
  onEnded: () => void;
}
