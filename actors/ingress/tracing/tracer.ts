// Traces of requests for a collector: one span a request, with one each for who asks, for waiting and for the work. They are made
// when a request has ended, gathered, and sent beside everything else; what a slow collector does not take is dropped and counted.
import type { TraceSettings } from '../../../config/trace-environment.ts';
import type { ActorContext } from '../../../runtime/actor.ts';
import type { Timer } from '../../../runtime/environment.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { otlpBody, SPAN_KIND, type Span } from './otlp.ts';
import { parseTraceParent } from './trace-parent.ts';

/** Posts one body. Rejects where the collector has not taken it. */
export type SendTraces = (body: string) => Promise<void>;

export interface TracerParts {
  readonly settings: TraceSettings;
  readonly send: SendTraces;
  /** Of this program. */
  readonly version: string;
}

const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;
const TRACE_STATE_MAX = 512;
const PATH_MAX = 2048;
const RESOURCE_MAX = 256;
const SERVER_ERROR = 500;

export class Tracer {
  readonly #context: ActorContext;
  readonly #parts: TracerParts;
  #waiting: Span[] = [];
  #timer: Timer | undefined;
  #sending: Promise<void> | undefined;
  #hasFailed = false;

  constructor(context: ActorContext, parts: TracerParts) {
    this.#context = context;
    this.#parts = parts;
  }

  /** A request has ended. */
  ended(exchange: Exchange, latencyMs: number): void {
    const { settings } = this.#parts;
    const parent = parseTraceParent(exchange.request.header('traceparent'));
    const traceId = parent?.traceId ?? this.#id(TRACE_ID_BYTES);
    const isTraced = settings.followsParent && parent !== undefined ? parent.isSampled : this.#samples(traceId);
    if (!isTraced) return;
    if (this.#waiting.length + SPANS_OF_ONE > settings.queueMax) {
      this.#dropped(1 + SPANS_OF_ONE);
      return;
    }
    const { clock } = this.#context;
    const offsetMs = clock.nowMs() - clock.monotonicMs();
    const spanId = this.#id(SPAN_ID_BYTES);
    const traceState = parent === undefined ? '' : exchange.request.header('tracestate').slice(0, TRACE_STATE_MAX);
    const { startedMs, admittedMs, begunMs, code } = exchange;
    const span = (name: string, fromMs: number, toMs: number, more: Partial<Span>): Span => ({
      traceId,
      spanId: this.#id(SPAN_ID_BYTES),
      parentSpanId: spanId,
      traceState,
      name,
      kind: SPAN_KIND.internal,
      startMs: offsetMs + fromMs,
      endMs: offsetMs + toMs,
      attributes: [],
      hasFailed: false,
      ...more,
    });
    const endMs = startedMs + latencyMs;
    this.#waiting.push(
      span(nameOf(exchange), startedMs, endMs, {
        spanId,
        parentSpanId: parent?.spanId ?? '',
        kind: SPAN_KIND.server,
        attributes: attributesOf(exchange),
        hasFailed: code >= SERVER_ERROR,
      }),
    );
    if (admittedMs !== undefined) this.#waiting.push(span('authenticate and authorize', startedMs, admittedMs, {}));
    if (admittedMs !== undefined && begunMs !== undefined) this.#waiting.push(span('wait', admittedMs, begunMs, {}));
    if (begunMs !== undefined) this.#waiting.push(span('serve', begunMs, endMs, {}));
    this.#sendSoon();
  }

  /** Sends what there is, as far as the collector takes it in its time. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    await this.#sending;
    while (this.#waiting.length > 0 && !this.#hasFailed) await this.#sendBatch();
  }

  #samples(traceId: string): boolean {
    const { sampler, ratio } = this.#parts.settings;
    if (sampler !== 'traceidratio') return sampler === 'always_on';
    // The same of a trace on every server: its last 56 bits are random.
    return Number.parseInt(traceId.slice(-14), 16) < ratio * 2 ** 56;
  }

  #id(bytes: number): string {
    return Buffer.from(this.#context.random.bytes(bytes)).toString('hex');
  }

  #sendSoon(): void {
    if (this.#sending !== undefined) return;
    const { delayMs, batchMax } = this.#parts.settings;
    if (this.#waiting.length >= batchMax) this.#send();
    else this.#timer ??= this.#context.timers.after(delayMs, () => this.#send());
  }

  #send(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#sending !== undefined || this.#waiting.length === 0) return;
    this.#sending = this.#sendBatch().finally(() => {
      this.#sending = undefined;
      if (this.#waiting.length > 0) this.#sendSoon();
    });
  }

  async #sendBatch(): Promise<void> {
    const { settings, send, version } = this.#parts;
    const spans = this.#waiting.splice(0, settings.batchMax);
    try {
      await send(otlpBody(settings.resource, version, spans));
      this.#hasFailed = false;
    } catch (error) {
      this.#dropped(spans.length);
      // Once, and not again until it has worked meanwhile.
      if (!this.#hasFailed) this.#context.log.warn({ err: error }, 'the collector of traces takes none');
      this.#hasFailed = true;
    }
  }

  #dropped(count: number): void {
    this.#context.metrics.counter('orch_trace_spans_dropped_total', 'Spans that no collector has taken.').add(count);
  }
}

/** The most spans of a request beside its own. */
const SPANS_OF_ONE = 3;

/** What kind of request it was, without the names in its path, so that collectors can group by it. */
function nameOf({ info, verb, request }: Exchange): string {
  if (!info.isResource) return request.method;
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`;
  return `${verb} ${resource.slice(0, RESOURCE_MAX)}`;
}

function attributesOf({ request, code, info, requestId, path }: Exchange): Span['attributes'] {
  return [
    ['http.request.method', request.method],
    ['url.path', path.slice(0, PATH_MAX)],
    ['http.response.status_code', code],
    ['audit-id', requestId],
    ...(info.isResource && info.namespace !== '' ? [['k8s.namespace.name', info.namespace] as const] : []),
  ];
}
