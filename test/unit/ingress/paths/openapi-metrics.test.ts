// Goal: who caused the document of OpenAPI v2 to be made anew can be read. Method: documents told of one after the other.
import test from 'ava';
import { OpenApiMetrics } from '../../../../actors/ingress/paths/openapi-metrics.ts';
import { readDefinition } from '../../../../api/custom/definitions/definition.ts';
import { MetricsRegistry } from '../../../../runtime/metrics/metrics-registry.ts';

const definition = (name: string, generation: number) =>
  readDefinition({ metadata: { name, uid: name, generation } }, 1);

test('a document made anew is counted for each definition and APIService that was added, changed or went since the last', (t) => {
  const registry = new MetricsRegistry();
  const metrics = new OpenApiMetrics(registry);
  metrics.made([definition('widgets', 1)], new Map(), 500);
  metrics.made([definition('widgets', 2), definition('gadgets', 1)], new Map([['v1.far', '1']]), 250);
  metrics.made([definition('widgets', 2)], new Map([['v1.far', '2']]), 125);
  metrics.made([definition('widgets', 2)], new Map(), 100);
  const read = registry
    .reading()
    .flatMap(({ name, series }) => series.map(({ labels, value }) => [name, labels, value]));
  const crds = (crd: string, reason: string) => ['apiextensions_openapi_v2_regeneration_count', { crd, reason }, 1];
  const services = (apiservice: string, reason: string) => [
    'aggregator_openapi_v2_regeneration_count',
    { apiservice, reason },
    1,
  ];
  const took = (reason: string, seconds: number) => [
    'aggregator_openapi_v2_regeneration_duration',
    { reason },
    seconds,
  ];
  const expected = [
    crds('widgets', 'add'),
    crds('widgets', 'update'),
    crds('gadgets', 'add'),
    crds('gadgets', 'remove'),
    services('*', 'startup'),
    services('v1.far', 'add'),
    services('v1.far', 'update'),
    services('v1.far', 'delete'),
    took('startup', 0.5),
    took('add', 0.25),
    took('update', 0.125),
    took('delete', 0.1),
  ];
  const sorted = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).sort();
  t.deepEqual(sorted(read), sorted(expected));
});
