// `/metrics` where there is very much to tell.
import test from 'ava';
import { type MetricsParts, sendMetrics } from '../../../../actors/ingress/paths/metrics-answer.ts';
import { MetricsRegistry } from '../../../../runtime/metrics/metrics-registry.ts';
import { MetricsText } from '../../../server/metrics-text.ts';
import { Client } from '../reads/client.ts';

/** Histograms of so many resources, as the requests of so many custom types make. */
function seriesOf(resources: number): MetricsRegistry {
  const metrics = new MetricsRegistry();
  const upTo = Array.from({ length: 40 }, (_, bucket) => bucket);
  for (let i = 0; i < resources; i++)
    metrics.histogram('seconds', 'Seconds.', upTo, { resource: `type${i}` }).observe(i);
  return metrics;
}

function partsOf(metrics: MetricsRegistry, pause: () => Promise<void>): MetricsParts {
  return {
    brand: 'orch',
    discovery: () => ({ document: () => undefined, paths: [] }),
    metrics: () => Promise.resolve([metrics.reading()]),
    metricsRules: { disabled: [], allowed: [], release: '1.21', showHiddenFor: '' },
    pause,
  };
}

test('metrics of a thousand types are sent as they are made, in turns between which others are served', async (t) => {
  const client = new Client();
  const sentAtPauses: number[] = [];
  await sendMetrics(
    client.exchange,
    partsOf(seriesOf(1000), async () => void sentAtPauses.push(client.text.length)),
  );
  t.deepEqual([client.status, client.ended], [200, true]);
  t.true(client.pieces >= 3, `${client.pieces} pieces`);
  const text = new MetricsText(client.text);
  t.is(text.matching('seconds_count').length, 1000);
  t.is(text.matching('orch_build_info').length, 1);
  t.true(sentAtPauses.length >= 40, `${sentAtPauses.length} pauses`);
});

test('metrics of a server with few types are one answer, with its length', async (t) => {
  const client = new Client();
  await sendMetrics(
    client.exchange,
    partsOf(seriesOf(10), () => Promise.resolve()),
  );
  t.is(client.pieces, 1);
  t.is(new MetricsText(client.text).matching('seconds_count').length, 10);
});

test('metrics are made no further once their client has gone away', async (t) => {
  const client = new Client();
  client.goneAfter = 1;
  let pauses = 0;
  await sendMetrics(
    client.exchange,
    partsOf(seriesOf(1000), async () => void pauses++),
  );
  t.false(client.ended);
  t.true(pauses < 30, `${pauses} pauses`);
});
