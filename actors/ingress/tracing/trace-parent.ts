// The trace that a request belongs to, by its header (W3C Trace Context). Pure.

export interface TraceParent {
  /** 32 hexadecimal digits, in lower case. */
  readonly traceId: string;
  /** 16 of them: the caller's span. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/** Undefined for a header that says nothing, which begins a trace of its own. */
export function parseTraceParent(header: string): TraceParent | undefined {
  const [, version, traceId, spanId, flags, more] = FORM.exec(header) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId!) || /^0+$/.test(spanId!)) return undefined;
  return { traceId: traceId!, spanId: spanId!, isSampled: (Number.parseInt(flags!, 16) & SAMPLED) !== 0 };
}
