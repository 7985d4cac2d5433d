// Requests to the API server counted and timed, under the names that Kubernetes' client library has for them. Passes everything on.
import type { Clock } from '../../../runtime/environment.ts';
import type { Metrics } from '../../../runtime/metrics.ts';
import type { ApiClient } from '../../../transport/outgoing/api-client.ts';

type Client = Pick<ApiClient, 'call' | 'parts'>;

const SECONDS = Array.from({ length: 10 }, (_, at) => Number((0.001 * 2 ** at).toPrecision(4)));
/** What the code of a request without an answer is. */
const NO_ANSWER = '<error>';
const PATHS = '/%7Bprefix%7D';

/** `url`: where the server is. */
export function countedClient(client: Client, url: string, metrics: Metrics, clock: Clock): Client {
  const { host, origin } = new URL(url);
  const count = async <T>(method: string, codeOf: (answer: T) => number, answer: Promise<T>): Promise<T> => {
    const startedMs = clock.monotonicMs();
    let code = NO_ANSWER;
    try {
      const given = await answer;
      code = String(codeOf(given));
      return given;
    } finally {
      const labels = { code, host, method };
      metrics.counter('rest_client_requests_total', 'Requests by code, method and host.', labels).add(1);
      metrics
        .histogram('rest_client_request_duration_seconds', 'How long requests took.', SECONDS, {
          verb: method,
          url: `${origin}${PATHS}`,
        })
        .observe((clock.monotonicMs() - startedMs) / 1000);
    }
  };
  return {
    call: (call, deadlineMs) => count(call.method, ({ status }) => status, client.call(call, deadlineMs)),
    parts: (call, onPart, signal) => count(call.method, (status) => status, client.parts(call, onPart, signal)),
  };
}
