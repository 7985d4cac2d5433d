// Calls of API servers and of webhooks under the names that Kubernetes' client library has for its own, in its release 1.21. Says
// where each went and what came of it; calls nobody itself. Addresses are an operator's: no client's words make a series.
import type { HistogramSeries, Metrics } from '../../runtime/metrics/metrics.ts';
import type { ConnectionSecretsParts, OnCall } from './connection-secrets.ts';
import { egressDials } from './egress-metrics.ts';

const SECONDS = Array.from({ length: 10 }, (_, at) => Number((0.001 * 2 ** at).toPrecision(4)));
/** What the code of a call without an answer is. */
const NO_ANSWER = '<error>';
const PATHS = '/%7Bprefix%7D';
/** Scheme, and host with the port where one is given. Who is shown to be calling is nobody's to read. */
const ORIGIN = /^(https?:\/\/)(?:[^/?#]*@)?([^/?#]*)/;
const DELEGATED_SECONDS = [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10];

/** Counts and times the calls of a client. `url`: where it calls, as the operator wrote it. */
export function restClientCalls(metrics: Metrics, url: string): OnCall {
  const { host, urlLabel } = labelsOf(url);
  const seconds = secondsByVerb(metrics, 'rest_client_request_duration_seconds', 'How long calls took.', urlLabel);
  return (method, code, tookMs) => {
    const labels = { code: code === undefined ? NO_ANSWER : String(code), host, method };
    metrics.counter('rest_client_requests_total', 'Calls by code, method and host.', labels).add(1);
    if (tookMs !== undefined) seconds(method).observe(tookMs / 1000);
  };
}

/** All that is told of the client of a webhook. `url`: as for restClientCalls. */
export function webhookCalls(
  metrics: Metrics,
  url: string,
): Required<Pick<ConnectionSecretsParts, 'onCall' | 'onDial' | 'onNameless'>> {
  const help = 'Connections to webhooks whose certificates name them in the subject alone.';
  const nameless = metrics.counter('apiserver_webhooks_x509_missing_san_total', help);
  return {
    onCall: restClientCalls(metrics, url),
    onDial: egressDials(metrics),
    onNameless: () => nameless.add(1),
  };
}

/** Times how long calls waited for their turn. */
export function restClientPace(metrics: Metrics, url: string): (method: string, waitedMs: number) => void {
  const help = 'How long calls waited for their turn.';
  const seconds = secondsByVerb(metrics, 'rest_client_rate_limiter_duration_seconds', help, labelsOf(url).urlLabel);
  return (method, waitedMs) => seconds(method).observe(waitedMs / 1000);
}

/** Counts and times the reviews by which another server decides for this one: who asks (`authn`), or whether they may (`authz`). */
export function delegatedCalls(metrics: Metrics, what: 'authn' | 'authz'): OnCall {
  const name = `apiserver_delegated_${what}_request`;
  return (_method, code, tookMs = 0) => {
    const labels = { code: code === undefined ? NO_ANSWER : String(code) };
    metrics.counter(`${name}_total`, 'Reviews asked of another server, by code.', labels).add(1);
    metrics
      .histogram(`${name}_duration_seconds`, 'How long reviews of another server took.', DELEGATED_SECONDS, labels)
      .observe(tookMs / 1000);
  };
}

function labelsOf(url: string): { readonly host: string; readonly urlLabel: string } {
  const [, scheme = '', host = ''] = ORIGIN.exec(url) ?? [];
  return { host, urlLabel: `${scheme}${host}${PATHS}` };
}

/** Nothing is declared before the first call, as there. */
function secondsByVerb(metrics: Metrics, name: string, help: string, url: string): (verb: string) => HistogramSeries {
  return (verb) => metrics.histogram(name, help, SECONDS, { verb, url });
}
