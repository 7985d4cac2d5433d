// Request counts and latencies under Kubernetes' metric names, labelled by verb and resource. Labels come from the
// registry's words only, so that no client can make up series.
import type { Registry } from '../../../api/resources/registry.ts';
import type { HistogramSeries, Labels, Metrics, Series } from '../../../runtime/metrics.ts';
import type { Exchange } from './exchange.ts';

const LATENCY_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const VERBS: ReadonlySet<string> = new Set([
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'GET',
  'HEAD',
  'OPTIONS',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
]);

interface RequestSeries {
  readonly count: Series;
  readonly latency: HistogramSeries;
}

export class RequestMetrics {
  readonly #metrics: Metrics;
  readonly #registry: Registry;
  readonly #byLabels = new Map<string, RequestSeries>();

  constructor(metrics: Metrics, registry: Registry) {
    this.#metrics = metrics;
    this.#registry = registry;
  }

  observe(exchange: Exchange, latencyMs: number): void {
    const series = this.#seriesOf(exchange);
    series.count.add(1);
    if (!exchange.longRunning) series.latency.observe(latencyMs / 1000);
  }

  #seriesOf({ info, verb, code }: Exchange): RequestSeries {
    const key = info.isResource
      ? `${verb}|${code}|${info.group}|${info.version}|${info.resource}|${info.subresource}|${scopeOf(info)}`
      : `${verb}|${code}`;
    const known = this.#byLabels.get(key);
    if (known !== undefined) return known;
    const labels = this.#labels(info, verb);
    const series = {
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
    };
    // Only what the registry knows is kept by its own key: a client's made-up paths share the series without names.
    if (!info.isResource || labels.resource !== '') this.#byLabels.set(key, series);
    return series;
  }

  #labels(info: Exchange['info'], verb: string): Labels {
    const knownVerb = VERBS.has(verb) ? verb.toUpperCase() : 'OTHER';
    if (!info.isResource) return { verb: knownVerb, group: '', version: '', resource: '', subresource: '', scope: '' };
    const type = this.#registry.byPath(info.group, info.version, info.resource);
    if (type === undefined || (info.subresource !== '' && !type.subresources.has(info.subresource))) {
      return { verb: knownVerb, group: '', version: '', resource: '', subresource: '', scope: '' };
    }
    const { group, version, resource, subresource } = info;
    return { verb: knownVerb, group, version, resource, subresource, scope: scopeOf(info) };
  }
}

function scopeOf(info: { readonly name: string; readonly namespace: string }): string {
  return info.name !== '' ? 'resource' : info.namespace !== '' ? 'namespace' : 'cluster';
}
