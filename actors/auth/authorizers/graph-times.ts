// How long the graph of the node authorizer takes to follow the cluster, under the metric name of Kubernetes 1.21. Not on the
// path of a request.
import type { Clock } from '../../../runtime/environment.ts';
import type { HistogramSeries, Metrics } from '../../../runtime/metrics/metrics.ts';

const OPERATIONS = [
  'AddPod',
  'DeletePod',
  'AddPV',
  'DeletePV',
  'AddVolumeAttachment',
  'DeleteVolumeAttachment',
  'SetNodeConfigMap',
] as const;
/** What is done to the graph. */
export type GraphOperation = (typeof OPERATIONS)[number];

/** What measuring takes of its surroundings. */
export interface MeasuredWorld {
  readonly metrics: Metrics;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** Twice as long each, from a tenth of a millisecond on. */
const BUCKETS = Array.from({ length: 12 }, (_, index) => 0.0001 * 2 ** index);

export class GraphTimes {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #series: ReadonlyMap<GraphOperation, HistogramSeries>;

  constructor({ metrics, clock }: MeasuredWorld) {
    this.#clock = clock;
    this.#series = new Map(
      OPERATIONS.map((operation) => [
        operation,
        metrics.histogram(
          'node_authorizer_graph_actions_duration_seconds',
          'How long changes of the graph of the node authorizer took.',
          BUCKETS,
          { operation },
        ),
      ]),
    );
  }

  /** Does what is to be done to the graph, and measures it. */
  timed(operation: GraphOperation, act: () => void): void {
    const beganMs = this.#clock.monotonicMs();
    act();
    this.#series.get(operation)!.observe((this.#clock.monotonicMs() - beganMs) / 1000);
  }
}
