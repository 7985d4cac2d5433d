// How long the store took to answer commits, by what they did to which resource: what the original says of its requests to etcd.
import type { Clock } from '../../../runtime/environment.ts';
import type { HistogramSeries, Metrics } from '../../../runtime/metrics/metrics.ts';
import { resourceOf, storageKeyOf } from '../../../storage/object-key.ts';
import { EXPECT_ABSENT } from '../../store/protocol.ts';
import type { Draft } from './draft.ts';

const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 15, 30, 60];
/** Resources with series of their own: definitions that come and go must not make them for ever. */
const RESOURCES_MAX = 500;
const OTHERS = 'other';

type Verb = 'create' | 'update' | 'delete';

export class CommitTimes {
  readonly #clock: Clock;
  readonly #metrics: Metrics;
  readonly #name: string;
  readonly #series: Readonly<Record<Verb, Map<string, HistogramSeries>>> = {
    create: new Map(),
    update: new Map(),
    delete: new Map(),
  };

  /** `store`: what the dialect calls it. */
  constructor(clock: Clock, metrics: Metrics, store: string) {
    this.#clock = clock;
    this.#metrics = metrics;
    this.#name = `${store}_request_duration_seconds`;
  }

  nowMs(): number {
    return this.#clock.monotonicMs();
  }

  /** What was committed together was answered together. */
  observe(drafts: readonly Draft[], beganMs: number): void {
    const seconds = (this.#clock.monotonicMs() - beganMs) / 1000;
    for (const draft of drafts) this.#seriesOf(draft).observe(seconds);
  }

  #seriesOf(draft: Draft): HistogramSeries {
    const verb = draft.put === undefined ? 'delete' : draft.expect === EXPECT_ABSENT ? 'create' : 'update';
    const ofVerb = this.#series[verb];
    const storageKey = storageKeyOf(draft.key);
    const known = ofVerb.get(storageKey);
    if (known !== undefined) return known;
    const isRoom = ofVerb.size < RESOURCES_MAX;
    const labels = { operation: verb, type: isRoom ? resourceOf(storageKey) : OTHERS };
    const series = this.#metrics.histogram(this.#name, 'How long the store took to answer commits.', SECONDS, labels);
    if (isRoom) ofVerb.set(storageKey, series);
    return series;
  }
}
