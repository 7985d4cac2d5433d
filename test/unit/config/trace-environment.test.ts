// What OpenTelemetry's variables come to, and what of them is refused.
import test from 'ava';
import { traceSettings } from '../../../config/trace-environment.ts';
import { UsageError } from '../../../config/usage-error.ts';

const AT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };

test('without an endpoint, or where it is switched off, nothing is traced', (t) => {
  for (const variables of [
    {},
    { OTEL_SERVICE_NAME: 'x' },
    { ...AT, OTEL_SDK_DISABLED: 'TRUE' },
    { ...AT, OTEL_TRACES_EXPORTER: 'none' },
  ])
    t.is(traceSettings(variables), undefined);
});

test('an endpoint is enough; the rest is as OpenTelemetry has it by default', (t) => {
  t.deepEqual(traceSettings(AT), {
    url: 'http://collector:4318/v1/traces',
    headers: [],
    timeoutMs: 10_000,
    resource: [['service.name', 'orch']],
    sampler: 'always_on',
    ratio: 1,
    followsParent: true,
    delayMs: 5000,
    queueMax: 2048,
    batchMax: 512,
  });
});

test('what is said of traces goes before what is said of everything', (t) => {
  const settings = traceSettings({
    ...AT,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.test/in',
    OTEL_EXPORTER_OTLP_HEADERS: 'a=1',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'authorization=Bearer%20x, b = 2',
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    OTEL_SERVICE_NAME: 'mine',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,k=v',
  });
  t.like(settings, { url: 'https://traces.test/in', sampler: 'traceidratio', ratio: 0.25, followsParent: false });
  t.deepEqual(settings!.headers, [
    ['authorization', 'Bearer x'],
    ['b', '2'],
  ]);
  t.deepEqual(settings!.resource, [
    ['service.name', 'mine'],
    ['k', 'v'],
  ]);
});

for (const [name, value] of [
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'ftp://collector'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
  ['OTEL_TRACES_EXPORTER', 'zipkin'],
  ['OTEL_TRACES_SAMPLER', 'sometimes'],
  ['OTEL_TRACES_SAMPLER_ARG', '2'],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', 'soon'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'secret'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'key=%E0%A4%A'],
  ['OTEL_BSP_MAX_QUEUE_SIZE', '0'],
] as const) {
  test(`${name}=${value} is refused with its name, and without a credential`, (t) => {
    const error = t.throws(() => traceSettings({ ...AT, [name]: value }), { instanceOf: UsageError });
    t.true(error.message.startsWith(name));
    t.false(/secret|E0/.test(error.message));
  });
}
