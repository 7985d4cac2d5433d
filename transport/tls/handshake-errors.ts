// Connections whose TLS handshake came to nothing, under the metric name of Kubernetes 1.21.
import type { Metrics, Series } from '../../runtime/metrics/metrics.ts';

/** The counter of a thread, which is at 0 from now on. */
export function handshakeErrors(metrics: Metrics): Series {
  return metrics.counter('apiserver_tls_handshake_errors_total', 'Connections whose TLS handshake came to nothing.');
}
