// How many requests of a thread wait, are worked on and have been turned away, reads and writes apart, under Kubernetes' metric
// names. Long-running ones are not counted.
import type { Clock } from '../../../runtime/environment.ts';
import type { Metrics } from '../../../runtime/metrics/metrics.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { type SampledCount, sampledCount } from './sampled-count.ts';

const READ_VERBS: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'GET', 'HEAD', 'OPTIONS']);
const KINDS = ['readOnly', 'mutating'] as const;

export type RequestKind = (typeof KINDS)[number];

/** Whether a request only reads. */
export function kindOf({ verb }: Exchange): RequestKind {
  return READ_VERBS.has(verb) ? 'readOnly' : 'mutating';
}

/** How many requests of a kind are in a phase. */
export interface Counted {
  count: number;
  readonly sampled: SampledCount;
}

export class RequestCounts {
  readonly #running: Readonly<Record<RequestKind, Counted>>;
  readonly #waiting: Readonly<Record<RequestKind, Counted>>;
  readonly #metrics: Metrics;

  /** @param limits what the samples of those that run are parts of; above 0. */
  constructor(metrics: Metrics, clock: Clock, limits: Readonly<Record<RequestKind, number>>) {
    this.#metrics = metrics;
    const nowMs = clock.monotonicMs();
    const counted = (phase: 'executing' | 'waiting', kind: RequestKind): Counted => {
      const limit = phase === 'executing' ? limits[kind] : 1;
      const sampled = sampledCount(metrics, 'read_vs_write', { request_kind: kind }, { phase, limit, nowMs });
      return { count: 0, sampled };
    };
    this.#running = { readOnly: counted('executing', 'readOnly'), mutating: counted('executing', 'mutating') };
    this.#waiting = { readOnly: counted('waiting', 'readOnly'), mutating: counted('waiting', 'mutating') };
    metrics.beforeReading(() => this.#gauge(clock.monotonicMs()));
  }

  /** Of both kinds, with those that wait. */
  get count(): number {
    return KINDS.reduce((sum, kind) => sum + this.#running[kind].count + this.#waiting[kind].count, 0);
  }

  /** A request is worked on, until it is counted out again. */
  begin(exchange: Exchange, nowMs: number): Counted {
    return countIn(this.#running[kindOf(exchange)], nowMs);
  }

  /** A request waits; see `begin`. */
  wait(exchange: Exchange, nowMs: number): Counted {
    return countIn(this.#waiting[kindOf(exchange)], nowMs);
  }

  /** A request was turned away. */
  drop(exchange: Exchange): void {
    this.#metrics
      .counter('apiserver_dropped_requests_total', 'Requests turned away because of too many others.', {
        request_kind: kindOf(exchange),
      })
      .add(1);
  }

  #gauge(nowMs: number): void {
    for (const kind of KINDS) {
      const labels = { request_kind: kind };
      const running = this.#running[kind];
      this.#metrics
        .gauge('apiserver_current_inflight_requests', 'Requests being worked on.', labels)
        .set(running.count);
      const waiting = this.#waiting[kind];
      this.#metrics
        .gauge('apiserver_current_inqueue_requests', 'Requests waiting in queues.', labels)
        .set(waiting.count);
      running.sampled.settle(nowMs);
      waiting.sampled.settle(nowMs);
    }
  }
}

function countIn(counted: Counted, nowMs: number): Counted {
  counted.count++;
  counted.sampled.set(counted.count, nowMs);
  return counted;
}

/** The end of what `begin` or `wait` answered. */
export function countOut(counted: Counted, nowMs: number): void {
  counted.count--;
  counted.sampled.set(counted.count, nowMs);
}
