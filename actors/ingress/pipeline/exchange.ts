// One request on its way through the pipeline: what arrived, what has been found out about it, and where the answer goes.
import type { Query } from '../../../api/query.ts';
import type { RequestInfo } from '../../../api/request-info.ts';
import type { BodyFlow, HttpRequest, HttpResponse } from '../../../transport/exchange.ts';
import type { User } from '../../auth/protocol.ts';

export interface Exchange {
  readonly request: HttpRequest;
  /** Where the answer goes. A step may put another in front of it. */
  response: HttpResponse;
  readonly requestId: string;
  readonly startedMs: number;
  /** The body being read, for methods that have one; null when it is too large. */
  readonly body: Promise<Uint8Array | null> | undefined;
  /** The body of a proxied request, which is passed on as it arrives. */
  readonly bodyFlow: BodyFlow | undefined;
  /** Emptied where an answer goes on for long: nothing is looked up in it then. */
  query: Query;
  /** An answer that goes on for long may share an equal one. */
  info: RequestInfo;
  /** What metrics and audit call the request: the verb of the API, or the method. */
  readonly verb: string;
  /** Set by authentication. */
  user: User;
  /** Set by the answer. */
  code: number;
  /** What the audit record says of the request; set by whoever finds it out. */
  auditAnnotations?: Readonly<Record<string, string>>;
  /** Set by an answer that goes on when its request has been served: a watch. */
  ongoing?: OngoingAnswer;
  /** Watches and the like: not bound by in-flight limits nor by the request timeout. */
  readonly longRunning: boolean;
}

/** An answer that ends by itself, after the pipeline is through with its request. */
export interface OngoingAnswer {
  readonly isEnded: boolean;
  /** Called once at the end, with the exchange it answers. One for all of them: there may be tens of thousands. */
  onEnded: (exchange: Exchange) => void;
}

/** The user of a request nobody has authenticated. */
export const NOBODY: User = { name: '', uid: '', groups: [], extra: {} };
