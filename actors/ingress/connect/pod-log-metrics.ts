// How logs of pods are asked for, and where the node agent's certificate was not believed, under the original's names.
import type { Metrics, Series } from '../../../runtime/metrics/metrics.ts';

const PREFIX = 'kube_apiserver_pod_logs_pods_logs_';

export class PodLogMetrics {
  readonly #metrics: Metrics;
  readonly #untrusted: Series;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    const help = 'Requests for logs that failed since the certificate of the node agent was not believed.';
    this.#untrusted = metrics.counter(`${PREFIX}backend_tls_failure_total`, help);
  }

  /** `skipsVerification`: whoever the agent is. */
  asked(skipsVerification: boolean): void {
    const usage = skipsVerification ? 'skip_tls_allowed' : 'enforce_tls';
    const help = 'Requests for logs, by whether the certificate of the node agent is to be looked at.';
    this.#metrics.counter(`${PREFIX}insecure_backend_total`, help, { usage }).add(1);
  }

  untrusted(): void {
    this.#untrusted.add(1);
  }
}
