// What becomes of a request that is not served: its one answer, by the error that a step of the pipeline threw. Nothing is said to who has
// gone, and an answer that has begun is cut off.
import { internalError } from '../../../api/status/failures.ts';
import type { Status } from '../../../api/status/status.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import { isOrchError } from '../../../runtime/errors.ts';
import { RequestAborted } from '../../../transport/http.ts';
import { statusOfError } from '../../error-status.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { FilterFailed, filterFailure } from '../exchange/filter-failed.ts';
import { ResponseWithHeaders } from '../exchange/response-with-headers.ts';
import { sendStatus, sendText } from '../reads/answers.ts';
import type { Representations } from '../reads/representation.ts';

const UNAUTHORIZED = 401;
const TIMED_OUT = 504;

export interface RefusalParts {
  readonly context: Pick<ActorContext, 'log'>;
  readonly representations: Representations;
  /** What a refused client is told it can show (RFC 9110 11.6.1); undefined: nothing. */
  readonly challenge: string | undefined;
}

export class Refusals {
  readonly #parts: RefusalParts;

  constructor(parts: RefusalParts) {
    this.#parts = parts;
  }

  /** Answers with what an error comes to, if it can be answered still. */
  tell(exchange: Exchange, error: unknown): void {
    if (error instanceof RequestAborted || exchange.isGivenUp) return;
    if (exchange.response.aborted) {
      this.#abandoned(exchange, error);
      return;
    }
    if (exchange.isAnswered) {
      // The answer has begun: all that is left is to cut it off.
      this.#parts.context.log.error(
        { err: error, requestId: exchange.requestId, requestNumber: exchange.requestNumber },
        'answer cut off',
      );
      exchange.cutOff();
      return;
    }
    if (error instanceof FilterFailed) {
      sendText(exchange, 500, filterFailure(exchange.request, error));
      return;
    }
    if (isOrchError(error, 'Overloaded')) {
      exchange.terminatedBy = 'apiserver';
      sendText(exchange, 429, 'Too many requests, please try again later.\n', [['Retry-After', '1']]);
      return;
    }
    const { requestNumber, request } = exchange;
    const status = statusOfError(error, request.method);
    if (status !== undefined) {
      const { challenge } = this.#parts;
      if (status.code === UNAUTHORIZED && challenge !== undefined)
        exchange.response = new ResponseWithHeaders(exchange.response, [['WWW-Authenticate', challenge]]);
      if (status.code === TIMED_OUT) this.timedOut(exchange, status);
      else this.#sendStatus(exchange, status);
      return;
    }
    const { requestId } = exchange;
    this.#parts.context.log.error({ err: error, requestId, requestNumber, path: request.path }, 'request failed');
    exchange.audit?.panicked();
    exchange.terminatedBy = 'apiserver';
    this.#sendStatus(exchange, internalError('the request could not be handled'));
  }

  /** It took longer than it may. */
  timedOut(exchange: Exchange, status: Status): void {
    exchange.terminatedBy = 'apiserver';
    this.#sendStatus(exchange, status);
  }

  /** Nobody hears how it ended: of what was not done for that, the records say so. */
  #abandoned(exchange: Exchange, error: unknown): void {
    if (exchange.isAnswered || exchange.longRunning) return;
    const status = statusOfError(error, exchange.request.method);
    if (status?.code === TIMED_OUT) this.timedOut(exchange, status);
  }

  #sendStatus(exchange: Exchange, status: Status): void {
    sendStatus(exchange, status, this.#parts.representations.ofStatus(exchange));
  }
}
