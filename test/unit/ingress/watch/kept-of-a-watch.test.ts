// What an open watch keeps of its request: nothing, since there may be tens of thousands; how it is counted all the same, and for how
// long it is opened.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import type { HubProtocol } from '../../../../actors/hub/protocol.ts';
import type { Exchange } from '../../../../actors/ingress/exchange/exchange.ts';
import { Pipeline, type PipelineParts } from '../../../../actors/ingress/pipeline/pipeline.ts';
import { RequestMetrics } from '../../../../actors/ingress/pipeline/request-metrics.ts';
import type { AnswerForm } from '../../../../actors/ingress/reads/answer-forms.ts';
import { Watches } from '../../../../actors/ingress/watch/watches.ts';
import { RemoteGroups } from '../../../../api/aggregation/remote-groups.ts';
import type { ResourceRequestInfo } from '../../../../api/requests/request-info.ts';
import type { Registry } from '../../../../api/resources/registry.ts';
import { schemaOf } from '../../../../api/schema/schema.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import type { ActorContext, Ref } from '../../../../runtime/actor.ts';
import { createLogger } from '../../../../runtime/logging/log.ts';
import { MetricsRegistry } from '../../../../runtime/metrics/metrics-registry.ts';
import { SeededRandom } from '../../../../runtime/simulation/seeded-random.ts';
import { VirtualTime } from '../../../../runtime/simulation/virtual-time.ts';
import type { HttpRequest } from '../../../../transport/http.ts';
import { FakeResponse } from '../../hub/fake-response.ts';
import { NO_CONVERSION, SAME_FORMS } from '../no-conversion.ts';

const TURNS_MAX = 50;

/** `minRequestTimeoutMs`: as the operator has it. */
function world(minRequestTimeoutMs = 1000) {
  const time = new VirtualTime();
  const metrics = new MetricsRegistry();
  const context = {
    clock: time,
    timers: time,
    metrics,
    random: new SeededRandom(1),
    log: createLogger('test', { level: 'silent', format: 'json' }),
    nextRequestNumber: () => 1,
  } as unknown as ActorContext;
  const asked: { readonly timeoutMs: number }[] = [];
  const ask = (message: { readonly timeoutMs: number }) => {
    asked.push(message);
    return Promise.resolve({ revision: 1 });
  };
  const hub = { ask, tell: () => 'queued' } as unknown as Ref<HubProtocol>;
  const type = { storageKey: 'core/configmaps', selectableFields: [], subresources: new Set() };
  const watches = new Watches({
    context,
    hub,
    conversion: NO_CONVERSION,
    forms: SAME_FORMS,
    requestTimeoutMs: 1000,
    minRequestTimeoutMs,
    metaGroup: 'meta',
    schema: () => schemaOf(DIALECTS.orch),
    bearerPrefix: 'bearer.',
  });
  const form = { type, representation: { contentType: 'application/json' } } as unknown as AnswerForm;
  const pipeline = new Pipeline({
    context,
    auth: { askSoon: () => ({ user: { name: 'somebody', uid: '', groups: [], extra: {} } }) },
    limits: { isFair: false, enter: () => ({ leave: () => {} }) },
    metrics: new RequestMetrics(metrics, { byPath: () => type } as unknown as Registry),
    requestTimeoutMs: 1000,
    remotes: new RemoteGroups(DIALECTS.orch),
    dispatch: (exchange: Exchange) => watches.serve(exchange, exchange.info as ResourceRequestInfo, form),
  } as unknown as PipelineParts);
  const count = (name: string): number =>
    metrics
      .reading()
      .find((family) => family.name === name)
      ?.series.reduce((sum, { value }) => sum + value, 0) ?? 0;
  return { pipeline, count, asked };
}

/** In a scope of its own: what holds the request is not held by the test. */
async function opened(pipeline: Pipeline, response: FakeResponse, more = ''): Promise<WeakRef<HttpRequest>> {
  const request = {
    method: 'GET',
    path: '/api/v1/namespaces/default/configmaps',
    query: `watch=1${more}`,
    isWebSocket: false,
    header: () => '',
    hasHeaderWithPrefix: () => false,
  } as unknown as HttpRequest;
  await pipeline.serve(request, response);
  return new WeakRef(request);
}

test.serial('an open watch keeps nothing of its request', async (t) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const { pipeline } = world();
  const response = new FakeResponse();
  const request = await opened(pipeline, response);
  for (let turn = 0; turn < TURNS_MAX && request.deref() !== undefined; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  t.is(request.deref(), undefined);
  t.is(response.status, 200);
});

test('watches are counted while they are open, and as requests when they are over', async (t) => {
  const { pipeline, count } = world();
  const [first, second] = [new FakeResponse(), new FakeResponse()];
  await opened(pipeline, first);
  await opened(pipeline, second);
  t.is(count('apiserver_longrunning_gauge'), 2);
  t.is(count('apiserver_request_total'), 0);
  first.disconnect();
  t.is(count('apiserver_longrunning_gauge'), 1);
  t.is(count('apiserver_request_total'), 1);
  second.disconnect();
  t.is(count('apiserver_longrunning_gauge'), 0);
  t.is(count('apiserver_request_total'), 2);
});

test('a watch lasts as long as its client asks, else between once and twice the least, so that not all end together', async (t) => {
  const LEAST_MS = 1_800_000;
  const { pipeline, asked } = world(LEAST_MS);
  for (let count = 0; count < 50; count++) await opened(pipeline, new FakeResponse());
  const chosen = asked.splice(0).map(({ timeoutMs }) => timeoutMs);
  t.true(chosen.every((ms) => ms >= LEAST_MS && ms <= 2 * LEAST_MS && ms % 1000 === 0));
  t.true(Math.max(...chosen) - Math.min(...chosen) > LEAST_MS / 2);
  for (const more of ['&timeoutSeconds=7', '&timeoutSeconds=-1']) await opened(pipeline, new FakeResponse(), more);
  t.deepEqual(
    asked.map(({ timeoutMs }) => timeoutMs),
    [7000, -1000],
  );
  const endless = world(0);
  await opened(endless.pipeline, new FakeResponse());
  t.is(endless.asked[0]?.timeoutMs, Number.POSITIVE_INFINITY);
});
