// How many requests of a thread wait, are worked on and have been turned away, reads and writes apart, under Kubernetes' metric
// names. Long-running ones are not counted.
import type { Metrics } from '../../../runtime/metrics.ts';
import type { Exchange } from './exchange.ts';

const READ_VERBS: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'GET', 'HEAD', 'OPTIONS']);
const KINDS = ['readOnly', 'mutating'] as const;

export type RequestKind = (typeof KINDS)[number];

/** Whether a request only reads. */
export function kindOf({ verb }: Exchange): RequestKind {
  return READ_VERBS.has(verb) ? 'readOnly' : 'mutating';
}

export class RequestCounts {
  readonly #running = { readOnly: 0, mutating: 0 };
  readonly #waiting = { readOnly: 0, mutating: 0 };
  readonly #metrics: Metrics;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    metrics.beforeReading(() => this.#gauge());
  }

  /** Of both kinds, with those that wait. */
  get count(): number {
    const { readOnly, mutating } = this.#running;
    return readOnly + mutating + this.#waiting.readOnly + this.#waiting.mutating;
  }

  /** A request is worked on, until what is returned is called. */
  begin(exchange: Exchange): () => void {
    return counted(this.#running, kindOf(exchange));
  }

  wait(exchange: Exchange): () => void {
    return counted(this.#waiting, kindOf(exchange));
  }

  /** A request was turned away. */
  drop(exchange: Exchange): void {
    this.#metrics
      .counter('apiserver_dropped_requests_total', 'Requests turned away because of too many others.', {
        request_kind: kindOf(exchange),
      })
      .add(1);
  }

  #gauge(): void {
    for (const kind of KINDS) {
      const labels = { request_kind: kind };
      const running = this.#running[kind];
      this.#metrics.gauge('apiserver_current_inflight_requests', 'Requests being worked on.', labels).set(running);
      const waiting = this.#waiting[kind];
      this.#metrics.gauge('apiserver_current_inqueue_requests', 'Requests waiting in queues.', labels).set(waiting);
    }
  }
}

function counted(counts: Record<RequestKind, number>, kind: RequestKind): () => void {
  counts[kind]++;
  return () => {
    counts[kind]--;
  };
}
