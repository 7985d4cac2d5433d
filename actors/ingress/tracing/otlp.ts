// Spans as OTLP's JSON (opentelemetry-proto, trace/v1): what a collector takes at /v1/traces. Pure.

/** Of OTLP's kinds and codes, those that there are here. */
export const SPAN_KIND = { internal: 1, server: 2 } as const;
const STATUS_ERROR = 2;
const NANOS_IN_MS = 1_000_000n;
const MICROS_IN_MS = 1000;

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: the first of its trace. */
  readonly parentSpanId: string;
  /** Passed on as it came. */
  readonly traceState: string;
  readonly name: string;
  readonly kind: number;
  /** Since 1970. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: readonly (readonly [key: string, value: string | number])[];
  readonly hasFailed: boolean;
}

/** The body of one export. */
export function otlpBody(
  resource: readonly (readonly [key: string, value: string])[],
  version: string,
  spans: readonly Span[],
): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: resource.map(attribute) },
        scopeSpans: [{ scope: { name: 'orch', version }, spans: spans.map(spanObject) }],
      },
    ],
  });
}

function spanObject(span: Span): object {
  const { traceId, spanId, parentSpanId, traceState, name, kind, startMs, endMs, attributes, hasFailed } = span;
  return {
    traceId,
    spanId,
    ...(parentSpanId === '' ? {} : { parentSpanId }),
    ...(traceState === '' ? {} : { traceState }),
    name,
    kind,
    startTimeUnixNano: nanos(startMs),
    endTimeUnixNano: nanos(endMs),
    attributes: attributes.map(attribute),
    ...(hasFailed ? { status: { code: STATUS_ERROR } } : {}),
  };
}

/** 64-bit numbers are texts in this form. */
function attribute([key, value]: readonly [string, string | number]): object {
  return { key, value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) } };
}

/** To the microsecond: a double of milliseconds since 1970 is no finer. */
function nanos(ms: number): string {
  const whole = Math.floor(ms);
  const micros = Math.round((ms - whole) * MICROS_IN_MS);
  return String(BigInt(whole) * NANOS_IN_MS + BigInt(micros * MICROS_IN_MS));
}
