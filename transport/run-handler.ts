// Calls the ingress with one request, whichever listener carried it, and keeps what it throws away from the process.
import type { HttpRequest, HttpResponse, ListenerOptions } from './http.ts';
import { FAILURE_HEADERS, HANDLER_FAILURE_BODY } from './http-status.ts';

/** A response that can tell whether an answer has been begun. */
export interface TrackedResponse extends HttpResponse {
  readonly isUntouched: boolean;
}

/**
 * Runs the handler of a listener. A throw, or a rejection where the handler is asynchronous, is answered 500 when nothing has been
 * sent, cuts the connection otherwise, and is passed to `onError`. Never throws.
 */
export function runHandler(
  { handler, ownHeaders = [] }: Pick<ListenerOptions, 'handler' | 'ownHeaders'>,
  request: HttpRequest,
  response: TrackedResponse,
  onError: (error: unknown) => void,
): void {
  const fail = (error: unknown): void => {
    if (response.isUntouched) response.respond(500, [...FAILURE_HEADERS, ...ownHeaders], HANDLER_FAILURE_BODY);
    else response.abort();
    onError(error);
  };
  try {
    const outcome: unknown = handler(request, response);
    if (outcome instanceof Promise) outcome.catch(fail);
  } catch (error) {
    fail(error);
  }
}
