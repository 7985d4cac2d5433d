// Request counts and latencies under Kubernetes' metric names, labelled as its release 1.21 does. Labels come from the
// registry's words and from tables here only, so that no client can make up series.

import type { ResourceRequestInfo } from '../../../api/requests/request-info.ts';
import type { Registry } from '../../../api/resources/registry.ts';
import { EVERY_VERB, isOnCollection, VERBS } from '../../../api/verbs.ts';
import type { HistogramSeries, Labels, Metrics, Series } from '../../../runtime/metrics/metrics.ts';
import { SearchPace } from '../../../values/search-pace.ts';
import type { Component, Exchange } from '../exchange/exchange.ts';

/** Those of Kubernetes, and below them finer ones: most answers here take less than its least. */
const LATENCY_BUCKETS_SECONDS = [
  ...[0.001, 0.0025, 0.005, 0.01, 0.025],
  ...[0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1],
  ...[1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60],
];
/** What the verbs of resources and the methods on other paths are reported as: by method, but for lists and watches. */
const REPORTED_VERBS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.values(VERBS).map(({ method }) => [method, method])),
  HEAD: 'GET',
  ...Object.fromEntries(EVERY_VERB.map((verb) => [verb, VERBS[verb].method])),
  list: 'LIST',
  watch: 'WATCH',
  apply: 'APPLY',
};
const OTHER_VERB = 'other';
/** Other paths that are told apart, each with the checks below it as one. */
const HEALTH_PATH = /^\/(?:healthz|livez|readyz)(?=\/|$)/;
const COMPONENT: Component = 'apiserver';
/** The original tells two places apart where requests are given up; here whoever serves them is told of it. */
const LATE_SOURCE = 'rest-handler';
const APPLY_TYPE = 'application/apply-patch+yaml';

/** Bytes of answers to reads. */
const SIZE_BUCKETS = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
const SIZED_VERBS: ReadonlySet<string> = new Set(['GET', 'LIST']);

/** Kinds of requests whose series are found by comparing them, before a key is made of them. */
const RECENT_MAX = 8;

/** Of the series, among which those of types that are gone are dropped: see SearchPace. */
const UNSEARCHED = 1000;

/** Requests that are counted together, and where. */
interface RecentRequest {
  readonly verb: string;
  readonly code: number;
  readonly dryRun: string;
  readonly info: ResourceRequestInfo;
  readonly series: RequestSeries;
}

interface RequestSeries {
  readonly labels: Labels;
  readonly count: Series;
  /** Of reads only. */
  readonly sizes: HistogramSeries | undefined;
  readonly latency: HistogramSeries;
  /** See RequestMetrics.whenOver: made where it is asked for. */
  whenOver: (() => void) | undefined;
}

export class RequestMetrics {
  readonly #metrics: Metrics;
  readonly #registry: Registry;
  readonly #byLabels = new Map<string, RequestSeries>();
  readonly #recent: RecentRequest[] = [];
  #nextRecent = 0;
  readonly #pace = new SearchPace(UNSEARCHED);

  constructor(metrics: Metrics, registry: Registry) {
    this.#metrics = metrics;
    this.#registry = registry;
  }

  /** Counts a long-running request in. `observe` counts it out. */
  begin(exchange: Exchange): void {
    exchange.longRunningSeries = this.#metrics.gauge(
      'apiserver_longrunning_gauge',
      'Long-running requests that are open, by verb and resource.',
      this.#labels(exchange, exchange.verb),
    );
    exchange.longRunningSeries.add(1);
  }

  /** Counts what a request came to after it had been given up. */
  cameLate(isDone: boolean): void {
    const labels = { source: LATE_SOURCE, status: isDone ? 'ok' : 'error' };
    this.#metrics
      .counter('apiserver_request_post_timeout_total', 'What requests came to after their time was over.', labels)
      .add(1);
  }

  observe(exchange: Exchange, latencyMs: number): void {
    const series = this.#seriesOf(exchange);
    series.count.add(1);
    if (exchange.isCutOff) this.#cutOff(exchange);
    if (exchange.terminatedBy !== undefined) this.#terminated(exchange, exchange.terminatedBy);
    if (!exchange.longRunning) {
      series.latency.observe(latencyMs / 1000);
      series.sizes?.observe(exchange.sentBytes);
    }
    exchange.longRunningSeries?.add(-1);
    exchange.longRunningSeries = undefined;
  }

  /**
   * In place of `observe`, for a long-running answer that has begun and goes on: counts it when it is over. One function for all
   * that are counted alike.
   */
  whenOver(exchange: Exchange): () => void {
    const series = this.#seriesOf(exchange);
    const { longRunningSeries } = exchange;
    series.whenOver ??= () => {
      series.count.add(1);
      longRunningSeries?.add(-1);
    };
    return series.whenOver;
  }

  #cutOff(exchange: Exchange): void {
    const { component: _, ...labels } = this.#labels(exchange, exchange.verb);
    this.#metrics
      .counter('apiserver_request_aborts_total', 'Requests whose answers ended before they were whole.', labels)
      .add(1);
  }

  #terminated(exchange: Exchange, component: Component): void {
    const labels = { ...this.#labels(exchange, exchange.verb), component, code: String(exchange.code) };
    this.#metrics
      .counter('apiserver_request_terminations_total', 'Requests that were turned away in self-defence.', labels)
      .add(1);
  }

  #seriesOf(exchange: Exchange): RequestSeries {
    const { info, code } = exchange;
    const verb = exchange.verb === 'patch' && isApply(exchange) ? 'apply' : exchange.verb;
    const dryRun = dryRunOf(exchange);
    if (!info.isResource)
      return this.#seriesBy(`${verb}|${code}|${dryRun}|${otherPathOf(info.path)}`, exchange, verb, dryRun);
    for (const one of this.#recent) {
      if (one.verb === verb && one.code === code && one.dryRun === dryRun && isAlike(one.info, info)) return one.series;
    }
    const { group, version, resource, subresource } = info;
    const key = `${verb}|${code}|${dryRun}|${group}|${version}|${resource}|${subresource}|${scopeOf(exchange)}`;
    const series = this.#seriesBy(key, exchange, verb, dryRun);
    // What nobody knows yet may be a type's tomorrow.
    if (this.#byLabels.has(key)) this.#recent[this.#nextRecent++ % RECENT_MAX] = { verb, code, dryRun, info, series };
    return series;
  }

  #seriesBy(key: string, exchange: Exchange, verb: string, dryRun: string): RequestSeries {
    const known = this.#byLabels.get(key);
    if (known !== undefined) return known;
    const { info, code } = exchange;
    const labels = { ...this.#labels(exchange, verb), dry_run: dryRun };
    const series: RequestSeries = {
      labels,
      count: this.#metrics.counter('apiserver_request_total', 'Requests by verb, resource and HTTP code.', {
        ...labels,
        code: String(code),
      }),
      latency: this.#metrics.histogram(
        'apiserver_request_duration_seconds',
        'Time to the whole answer.',
        LATENCY_BUCKETS_SECONDS,
        labels,
      ),
      sizes: this.#sizesOf(exchange, verb),
      whenOver: undefined,
    };
    // Only what the registry knows is kept by its own key: a client's made-up paths share the series without names.
    if (!info.isResource || labels.resource !== '') this.#keep(key, series);
    return series;
  }

  #keep(key: string, series: RequestSeries): void {
    this.#byLabels.set(key, series);
    if (this.#pace.isDue(this.#byLabels.size)) this.#forgetGone();
  }

  /** Definitions that come and go must not make series for ever. */
  #forgetGone(): void {
    this.#metrics.forget((labels) => this.#isOfGoneType(labels));
    for (const [key, { labels }] of this.#byLabels) if (this.#isOfGoneType(labels)) this.#byLabels.delete(key);
    this.#recent.length = 0;
    this.#nextRecent = 0;
    this.#pace.searched(this.#byLabels.size);
  }

  #isOfGoneType({ group, version, resource = '' }: Labels): boolean {
    if (resource === '' || group === undefined || version === undefined) return false;
    return this.#registry.byPath(group, version, resource) === undefined;
  }

  #sizesOf(exchange: Exchange, verb: string): HistogramSeries | undefined {
    const labels = this.#labels(exchange, verb);
    if (!SIZED_VERBS.has(labels.verb!)) return undefined;
    return this.#metrics.histogram('apiserver_response_sizes', 'Bytes of answers to reads.', SIZE_BUCKETS, labels);
  }

  #labels(exchange: Exchange, verb: string): Labels & { readonly component: string; readonly resource: string } {
    const { info } = exchange;
    const reported = Object.hasOwn(REPORTED_VERBS, verb) ? REPORTED_VERBS[verb]! : OTHER_VERB;
    const nameless = { group: '', version: '', resource: '', subresource: '', scope: '' };
    const common = { verb: reported, component: COMPONENT };
    if (!info.isResource) return { ...common, ...nameless, subresource: otherPathOf(info.path) };
    const { group, version, resource, subresource } = info;
    const type = this.#registry.byPath(group, version, resource);
    if (type === undefined || (subresource !== '' && !type.subresources.has(subresource)))
      return { ...common, ...nameless };
    return { ...common, group, version, resource, subresource, scope: scopeOf(exchange) };
  }
}

/** Whether requests with the same verb are about the same kind of objects in the same scope. */
function isAlike(a: ResourceRequestInfo, b: ResourceRequestInfo): boolean {
  if (a.resource !== b.resource || a.group !== b.group || a.version !== b.version) return false;
  return a.subresource === b.subresource && (a.namespace === '') === (b.namespace === '');
}

function isApply({ request }: Exchange): boolean {
  return request.header('content-type').startsWith(APPLY_TYPE);
}

/** `All`, empty, or `invalid` for anything else. */
function dryRunOf({ query }: Exchange): string {
  if (query.get('dryRun') === undefined) return '';
  return query.all('dryRun').every((value) => value === 'All') ? 'All' : 'invalid';
}

/** One object, those of a namespace, or all. */
function scopeOf({ info, verb }: Exchange): string {
  if (!info.isResource) return '';
  if (!isOnCollection(verb) || verb === 'create') return 'resource';
  return info.namespace !== '' ? 'namespace' : 'cluster';
}

function otherPathOf(path: string): string {
  return HEALTH_PATH.exec(path)?.[0] ?? '';
}
