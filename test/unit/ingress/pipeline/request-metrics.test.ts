// Goal: requests are counted by their types, for as long as there are these types.
import test from 'ava';
import type { Exchange } from '../../../../actors/ingress/exchange/exchange.ts';
import { RequestMetrics } from '../../../../actors/ingress/pipeline/request-metrics.ts';
import { parseQuery } from '../../../../api/requests/query.ts';
import { createRegistry, type Registry } from '../../../../api/resources/registry.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { MetricsRegistry } from '../../../../runtime/metrics/metrics-registry.ts';

const NO_QUERY = { get: () => undefined, all: () => [] };

function world() {
  const types = new Set<string>();
  const metrics = new MetricsRegistry();
  const byPath = (_group: string, _version: string, resource: string) =>
    types.has(resource) ? { subresources: new Set() } : undefined;
  const requests = new RequestMetrics(metrics, { byPath } as unknown as Registry);
  const observe = (resource: string): void => {
    const at = { group: 'example.com', version: 'v1', namespace: 'a', name: 'b', subresource: '' };
    const info = { isResource: true, verb: 'get', resource, ...at };
    requests.observe({ verb: 'get', code: 200, query: NO_QUERY, info, sentBytes: 1 } as unknown as Exchange, 1);
  };
  /** How often each resource was counted. */
  const counted = (name = 'apiserver_request_total'): Readonly<Record<string, number>> => {
    const family = metrics.reading().find((one) => one.name === name);
    return Object.fromEntries(
      (family?.series ?? []).map(({ labels, value, counts }) => [
        labels.resource,
        counts === undefined ? value : counts.reduce((sum, count) => sum + count, 0),
      ]),
    );
  };
  return { types, requests, metrics, observe, counted };
}

test('what a request comes to after its time is counted by whether it was done', (t) => {
  const { requests, metrics } = world();
  for (const isDone of [true, false, true]) requests.cameLate(isDone);
  const late = metrics.reading().find(({ name }) => name === 'apiserver_request_post_timeout_total');
  t.deepEqual(
    late?.series.map(({ labels, value }) => [labels.source, labels.status, value]),
    [
      ['rest-handler', 'ok', 2],
      ['rest-handler', 'error', 1],
    ],
  );
});

test('the series of types that come and go are dropped, and those of types that stay go on', (t) => {
  const { types, observe, counted } = world();
  types.add('stays');
  observe('stays');
  for (let number = 0; number < 5000; number += 1) {
    types.add(`thing${number}`);
    observe(`thing${number}`);
    types.delete(`thing${number}`);
  }
  observe('stays');
  const families = ['apiserver_request_total', 'apiserver_request_duration_seconds', 'apiserver_response_sizes'];
  for (const family of families) {
    t.is(counted(family).stays, 2, family);
    t.true(Object.keys(counted(family)).length <= 1000, family);
  }
});

test('a type that comes back is counted anew, and more types than are looked through at first are all counted', (t) => {
  const { types, observe, counted } = world();
  const names = Array.from({ length: 3000 }, (_, number) => `thing${number}`);
  for (const name of names) types.add(name);
  for (const name of names) observe(name);
  t.is(Object.keys(counted()).length, 3000);
  types.clear();
  for (let number = 0; number < 3000; number += 1) {
    types.add(`other${number}`);
    observe(`other${number}`);
    types.delete(`other${number}`);
  }
  t.is(counted().thing1, undefined);
  types.add('thing1');
  observe('thing1');
  t.is(counted().thing1, 1);
});

/** One `get` of a pod in a namespace that took half a second, but for what is said. */
const GET_POD = {
  ...{ verb: 'get', group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'a', code: 200 },
  ...{ latencyMs: 500, longRunning: false, query: '', contentType: 'application/json', sentBytes: 5 },
};

/** What is counted of requests, in their order. */
function metricsOf(...requests: readonly Partial<typeof GET_POD>[]) {
  const metrics = new MetricsRegistry();
  const requestMetrics = new RequestMetrics(metrics, createRegistry(DIALECTS.orch));
  for (const given of requests) {
    const { verb, code, latencyMs, longRunning, query, contentType, sentBytes, ...of } = { ...GET_POD, ...given };
    const info = { isResource: true, name: 'b', path: '', verb, ...of };
    const request = { header: () => contentType };
    requestMetrics.observe(
      { verb, code, longRunning, query: parseQuery(query), request, info, sentBytes } as unknown as Exchange,
      latencyMs,
    );
  }
  return (name: string) => metrics.reading().find((family) => family.name === name)?.series ?? [];
}

test('requests are counted apart by what they are about, and by what they came to', (t) => {
  const different: readonly Partial<typeof GET_POD>[] = [
    {},
    { code: 404 },
    { verb: 'delete' },
    { query: 'dryRun=All' },
    { query: 'dryRun=None' },
    { resource: 'services' },
    { resource: 'pods', subresource: 'status' },
    { group: 'apps', resource: 'deployments' },
    { group: 'autoscaling', resource: 'horizontalpodautoscalers' },
    { group: 'autoscaling', version: 'v2beta2', resource: 'horizontalpodautoscalers' },
    { verb: 'list' },
    { verb: 'list', namespace: '' },
    { verb: 'patch' },
    { verb: 'patch', contentType: 'application/apply-patch+yaml' },
  ];
  const told = metricsOf(...different, ...different);
  const counted = told('apiserver_request_total');
  t.is(counted.length, different.length);
  t.true(counted.every(({ value }) => value === 2));
  const labelsOf = (at: number): string => {
    const { verb, group, version, resource, subresource, scope, dry_run, code } = counted[at]!.labels;
    return [verb, group, version, resource, subresource, scope, dry_run, code].join(' ');
  };
  t.is(labelsOf(0), 'GET  v1 pods  resource  200');
  t.is(labelsOf(3), 'GET  v1 pods  resource All 200');
  t.is(labelsOf(4), 'GET  v1 pods  resource invalid 200');
  t.is(labelsOf(6), 'GET  v1 pods status resource  200');
  t.is(labelsOf(10), 'LIST  v1 pods  namespace  200');
  t.is(labelsOf(11), 'LIST  v1 pods  cluster  200');
  t.is(labelsOf(13), 'APPLY  v1 pods  resource  200');
});

test('how long an answer took is told in seconds, and how large it was of reads alone, and neither of what goes on', (t) => {
  const told = metricsOf(
    { latencyMs: 1500 },
    { latencyMs: 500, sentBytes: 7 },
    { verb: 'delete' },
    { verb: 'watch', longRunning: true },
  );
  const sums = (name: string) =>
    told(name).map(({ labels, value, counts = [] }) => [labels.verb, value, counts.reduce((sum, one) => sum + one, 0)]);
  t.deepEqual(sums('apiserver_request_duration_seconds'), [
    ['GET', 2, 2],
    ['DELETE', 0.5, 1],
    ['WATCH', 0, 0],
  ]);
  t.deepEqual(sums('apiserver_response_sizes'), [['GET', 12, 2]]);
});
