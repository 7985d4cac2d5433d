// What the environment says of traces, by OpenTelemetry's variables: where spans go, under which name, and which requests have
// some. Pure; a variable that cannot be used is a UsageError with its name.
import { decodePercent } from '../values/percent.ts';
import { UsageError } from './usage-error.ts';

export type Sampler = 'always_on' | 'always_off' | 'traceidratio';

/** How requests are traced. Plain data, since it crosses threads. */
export interface TraceSettings {
  /** The whole address that spans are posted to. */
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly timeoutMs: number;
  /** What all spans say of their source, `service.name` among it. */
  readonly resource: readonly (readonly [key: string, value: string])[];
  /** Of requests that come without a trace, or of all where parents do not matter. */
  readonly sampler: Sampler;
  /** Of `traceidratio`: 0 to 1. */
  readonly ratio: number;
  /** A request that is part of a trace is traced exactly when the trace is. */
  readonly followsParent: boolean;
  readonly delayMs: number;
  readonly queueMax: number;
  readonly batchMax: number;
}

type Variables = Readonly<Record<string, string | undefined>>;

const PARENT_BASED = 'parentbased_';
const SAMPLERS: readonly string[] = ['always_on', 'always_off', 'traceidratio'];
const TRACES_PATH = '/v1/traces';

/** Undefined where nothing is traced: without an endpoint, which is the default. Throws UsageError. */
export function traceSettings(variables: Variables): TraceSettings | undefined {
  const value = (name: string): string => (variables[name] ?? '').trim();
  const traces = (name: string): string =>
    value(`OTEL_EXPORTER_OTLP_TRACES_${name}`) || value(`OTEL_EXPORTER_OTLP_${name}`);
  if (traces('ENDPOINT') === '' || value('OTEL_SDK_DISABLED').toLowerCase() === 'true') return undefined;
  const exporter = value('OTEL_TRACES_EXPORTER') || 'otlp';
  if (exporter === 'none') return undefined;
  if (exporter !== 'otlp') throw new UsageError(`OTEL_TRACES_EXPORTER must be otlp or none, not ${quoted(exporter)}`);
  const protocol = traces('PROTOCOL') || 'http/json';
  if (protocol !== 'http/json')
    throw new UsageError(`OTEL_EXPORTER_OTLP_PROTOCOL must be http/json here, not ${quoted(protocol)}`);
  const asked = value('OTEL_TRACES_SAMPLER') || 'parentbased_always_on';
  const followsParent = asked.startsWith(PARENT_BASED);
  const sampler = followsParent ? asked.slice(PARENT_BASED.length) : asked;
  if (!SAMPLERS.includes(sampler)) {
    const all = [...SAMPLERS, ...SAMPLERS.map((name) => `${PARENT_BASED}${name}`)].join(', ');
    throw new UsageError(`OTEL_TRACES_SAMPLER must be one of ${all}, not ${quoted(asked)}`);
  }
  return {
    url: endpointOf(value('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'), value('OTEL_EXPORTER_OTLP_ENDPOINT')),
    headers: pairsOf('OTEL_EXPORTER_OTLP_HEADERS', traces('HEADERS')),
    timeoutMs: numberOf('OTEL_EXPORTER_OTLP_TIMEOUT', traces('TIMEOUT') || '10000', 1, 600_000),
    resource: resourceOf(value('OTEL_RESOURCE_ATTRIBUTES'), value('OTEL_SERVICE_NAME')),
    sampler: sampler as Sampler,
    ratio: numberOf('OTEL_TRACES_SAMPLER_ARG', value('OTEL_TRACES_SAMPLER_ARG') || '1', 0, 1),
    followsParent,
    delayMs: numberOf('OTEL_BSP_SCHEDULE_DELAY', value('OTEL_BSP_SCHEDULE_DELAY') || '5000', 1, 600_000),
    queueMax: numberOf('OTEL_BSP_MAX_QUEUE_SIZE', value('OTEL_BSP_MAX_QUEUE_SIZE') || '2048', 1, 1_000_000),
    batchMax: numberOf('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', value('OTEL_BSP_MAX_EXPORT_BATCH_SIZE') || '512', 1, 100_000),
  };
}

/** The address for traces is taken as it is; that for everything is the beginning of one. */
function endpointOf(ofTraces: string, ofAll: string): string {
  const text = ofTraces !== '' ? ofTraces : `${ofAll.replace(/\/+$/, '')}${TRACES_PATH}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError('OTEL_EXPORTER_OTLP_ENDPOINT must be an address that begins with http:// or https://');
  return url.href;
}

/** `key=value,key=value`, percent-encoded. Values may be credentials: they are in no message. */
function pairsOf(name: string, text: string): readonly (readonly [key: string, value: string])[] {
  return text.split(',').flatMap((pair) => {
    if (pair.trim() === '') return [];
    const [, key, encoded] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/s.exec(pair) ?? [];
    if (key === undefined) throw new UsageError(`${name} must be of the form key=value,...`);
    const value = decodePercent(encoded!);
    if (value === undefined) throw new UsageError(`${name}: the value of ${quoted(key)} is not percent-encoded`);
    return [[key, value] as const];
  });
}

/** The name of the service goes before one among the attributes. */
function resourceOf(attributes: string, serviceName: string): TraceSettings['resource'] {
  const pairs = new Map(pairsOf('OTEL_RESOURCE_ATTRIBUTES', attributes));
  pairs.set('service.name', serviceName || pairs.get('service.name') || 'orch');
  return [...pairs];
}

function numberOf(name: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (!(number >= least && number <= most))
    throw new UsageError(`${name} must be a number within ${least} and ${most}, not ${quoted(text)}`);
  return number;
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
