// Goal: requests are counted by their types, for as long as there are these types.
import test from 'ava';
import type { Exchange } from '../../../../actors/ingress/exchange/exchange.ts';
import { RequestMetrics } from '../../../../actors/ingress/pipeline/request-metrics.ts';
import type { Registry } from '../../../../api/resources/registry.ts';
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
