// `/metrics`: the text of what all threads have counted. It is made in turns, since there are series for each resource, and so as many
// as there are custom types.
import type { Discovery } from '../../../api/discovery/discovery.ts';
import type { MetricsReading } from '../../../runtime/metrics/metrics.ts';
import { type MetricsRules, shownReadings } from '../../../runtime/metrics/metrics-rules.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { headersFor } from '../reads/answers.ts';
import { type PacedWrite, pacedWriter } from '../reads/paced-writer.ts';
import { buildMetric } from './build-metric.ts';

/** A text up to so long goes out whole, with its length. */
const WHOLE_CHARACTERS_MAX = 512 * 1024;

export interface MetricsParts {
  /** Of the dialect. */
  readonly brand: string;
  /** The documents of the present types. */
  readonly discovery: () => Discovery;
  readonly metrics: () => Promise<readonly MetricsReading[]>;
  readonly metricsRules: MetricsRules;
  /** Lets the thread do other work. */
  readonly pause: () => Promise<void>;
}

/** Answers with the metrics of this moment. */
export async function sendMetrics(exchange: Exchange, parts: MetricsParts): Promise<void> {
  const { brand, discovery, metrics, metricsRules, pause } = parts;
  const { metricsPieces, METRICS_CONTENT_TYPE } = await import('../../../transport/metrics-text.ts');
  const { processMetrics } = await import('../../../runtime/metrics/process-metrics.ts');
  const [ofThreads, ofProcess] = await Promise.all([metrics(), processMetrics()]);
  const build = buildMetric(brand, discovery().document('/version') ?? {});
  const headers = headersFor(METRICS_CONTENT_TYPE);
  let text = '';
  let write: PacedWrite | undefined;
  for await (const piece of metricsPieces(shownReadings([...ofThreads, ofProcess, build], metricsRules))) {
    text += piece;
    if (write !== undefined || text.length > WHOLE_CHARACTERS_MAX) {
      if (write === undefined) {
        exchange.start(200, headers);
        write = pacedWriter(exchange);
      }
      await write(Buffer.from(text));
      text = '';
    }
    if (exchange.response.aborted) return;
    await pause();
  }
  if (write === undefined) exchange.answer(200, headers, text);
  else exchange.response.end();
}
