// Requests on their way through the pipeline, with as much of them as a test is about.
import { type Arrival, Exchange } from '../../../actors/ingress/exchange/exchange.ts';
import { parseQuery } from '../../../api/requests/query.ts';
import type { HttpResponse } from '../../../transport/http.ts';

/** An exchange of which nothing is known but what is given, over a response or none. */
export function exchangeOver(response: Partial<HttpResponse> = {}, arrival: Partial<Arrival> = {}): Exchange {
  return new Exchange({
    random: { uuid: () => 'a-request' },
    requestNumber: 1,
    startedMs: 0,
    body: undefined,
    bodyFlow: undefined,
    query: parseQuery(''),
    verb: 'get',
    longRunning: false,
    request: {} as Arrival['request'],
    info: {} as Arrival['info'],
    ...arrival,
    response: response as HttpResponse,
  });
}
