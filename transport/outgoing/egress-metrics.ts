// Tunnels that were asked of egress proxies, under the original's names: how long they took, and at which stage others failed.
import type { Metrics } from '../../runtime/metrics/metrics.ts';
import type { OnDial } from './egress.ts';

const SECONDS = [0.005, 0.025, 0.1, 0.5, 2.5, 12.5];
/** The one way that proxies are spoken with. */
const PROTOCOL = 'http_connect';

/** What counts each attempt to open a tunnel. */
export function egressDials(metrics: Metrics): OnDial {
  return ({ socketPath }, outcome) => {
    const labels = { protocol: PROTOCOL, transport: socketPath === '' ? 'tcp' : 'uds' };
    if (typeof outcome === 'number')
      metrics
        .histogram('apiserver_egress_dialer_dial_duration_seconds', 'How long tunnels took to stand.', SECONDS, labels)
        .observe(outcome / 1000);
    else
      metrics
        .counter('apiserver_egress_dialer_dial_failure_count', 'Tunnels that came to nothing, by the stage.', {
          ...labels,
          stage: outcome,
        })
        .add(1);
  };
}
