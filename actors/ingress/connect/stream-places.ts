// How many requests that are passed on to others may be open at once on a thread. A backend that hangs keeps its requests for as long as
// their clients wait, so there are places for each as well: no backend may hold more of them than are left for all others. One that hangs
// takes half, a second one half of the rest, and whoever comes after them still finds some.
import { tooManyRequests } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { Metrics, Series } from '../../../runtime/metrics/metrics.ts';
import type { Exchange } from '../exchange/exchange.ts';

/** Of a thread, for each kind of backends. */
const PLACES = 2000;
const RETRY_SECONDS = 1;

/** What backends are called in refusals and in the metrics. */
interface BackendWords {
  /** For whoever is told that there is no place. */
  readonly plural: string;
  readonly label: string;
}

export const CLUSTER_MEMBERS: BackendWords = { plural: 'node agents, pods and services', label: 'clusterMember' };
export const EXTENSION_SERVERS: BackendWords = { plural: 'extension servers', label: 'extensionServer' };

type Asking = Pick<Exchange, 'terminatedBy'>;

export class StreamPlaces {
  readonly #words: BackendWords;
  readonly #refused: Series;
  readonly #taken = new Map<string, number>();
  #open = 0;

  constructor(words: BackendWords, metrics: Metrics) {
    this.#words = words;
    const help = 'Requests that were not passed on, since as many as may be were open, by what they were for.';
    this.#refused = metrics.counter('orch_ingress_streams_refused_total', help, { backend: words.label });
  }

  /** Serves a request in one of all places. Throws 429 where there is none. */
  async during(exchange: Asking, serve: () => Promise<void>): Promise<void> {
    if (this.#open >= PLACES) throw this.#refusal(exchange, this.#words.plural);
    this.#open++;
    try {
      await serve();
    } finally {
      this.#open--;
    }
  }

  /** Within `during`, from when it is known where the request goes. Throws 429 where that backend has its share. */
  async at(exchange: Asking, backend: string, serve: () => Promise<void>): Promise<void> {
    const taken = this.#taken.get(backend) ?? 0;
    // The request has one of those that are open.
    if (taken > PLACES - this.#open) throw this.#refusal(exchange, backend);
    this.#taken.set(backend, taken + 1);
    try {
      await serve();
    } finally {
      const left = this.#taken.get(backend)! - 1;
      if (left === 0) this.#taken.delete(backend);
      else this.#taken.set(backend, left);
    }
  }

  #refusal(exchange: Asking, to: string): StatusError {
    this.#refused.add(1);
    exchange.terminatedBy = 'apiserver';
    return new StatusError(tooManyRequests(`too many requests to ${to} are open`, RETRY_SECONDS));
  }
}
