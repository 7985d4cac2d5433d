// Who is passed on and who is told to come back, where backends answer nobody.
import test from 'ava';
import { CLUSTER_MEMBERS, EXTENSION_SERVERS, StreamPlaces } from '../../../../actors/ingress/connect/stream-places.ts';
import { StatusError } from '../../../../api/status/status.ts';
import { MetricsRegistry } from '../../../../runtime/metrics/metrics-registry.ts';
import { renderMetrics } from '../../../../transport/metrics-text.ts';
import { MetricsText } from '../../../server/metrics-text.ts';
import { exchangeOver } from '../exchanges.ts';

/** Requests that stay open until they are ended. */
class Requests {
  readonly ends: (() => void)[] = [];
  readonly #places: StreamPlaces;

  constructor(places: StreamPlaces) {
    this.#places = places;
  }

  /** What it is refused with; undefined: it was passed on. */
  async ask(backend: string, exchange = exchangeOver()): Promise<StatusError | undefined> {
    let refusal: StatusError | undefined;
    const serve = (): Promise<void> => new Promise((resolve) => void this.ends.push(resolve));
    const served = this.#places.during(exchange, () => this.#places.at(exchange, backend, serve));
    served.catch((error: StatusError) => {
      refusal = error;
    });
    await settled();
    return refusal;
  }

  /** How many are passed on before the first that is not. */
  async fill(backend: string): Promise<number> {
    for (let count = 0; ; count++) if ((await this.ask(backend)) !== undefined) return count;
  }
}

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('backends that hang leave places for every other, however many they are', async (t) => {
  const requests = new Requests(new StreamPlaces(CLUSTER_MEMBERS, new MetricsRegistry()));
  const first = await requests.fill('10.0.0.1:1');
  t.is(first, 1000);
  const second = await requests.fill('10.0.0.2:1');
  t.true(second >= 400 && second <= 500);
  t.true((await requests.fill('10.0.0.3:1')) >= 200);
  t.is(await requests.ask('10.0.0.4:1'), undefined);
  t.not(await requests.ask('10.0.0.1:1'), undefined);
});

test('who finds no place at a backend is told which, and when to come back, and is counted', async (t) => {
  const metrics = new MetricsRegistry();
  const requests = new Requests(new StreamPlaces(EXTENSION_SERVERS, metrics));
  const exchange = exchangeOver();
  await requests.fill('v1.example.com');
  const refusal = await requests.ask('v1.example.com', exchange);
  t.like(refusal?.status, {
    code: 429,
    reason: 'TooManyRequests',
    message: 'too many requests to v1.example.com are open',
    details: { retryAfterSeconds: 1 },
  });
  t.is(exchange.terminatedBy, 'apiserver');
  const text = new MetricsText(await renderMetrics([metrics.reading()]));
  t.is(text.sum('orch_ingress_streams_refused_total', { backend: 'extensionServer' }), 2);
  requests.ends.pop()!();
  await settled();
  t.is(await requests.ask('v1.example.com'), undefined);
});

test('places are few for all backends together as well, and none is kept by a request that fails', async (t) => {
  const places = new StreamPlaces(CLUSTER_MEMBERS, new MetricsRegistry());
  const failing = async (): Promise<never> => {
    throw new Error('gone');
  };
  const exchange = exchangeOver();
  for (let i = 0; i < 2001; i++)
    await t.throwsAsync(
      places.during(exchange, () => places.at(exchange, 'a', failing)),
      { message: 'gone' },
    );
  for (let i = 0; i < 2000; i++) void places.during(exchange, () => new Promise(() => {}));
  const refusal = await t.throwsAsync(
    places.during(exchange, async () => {}),
    { instanceOf: StatusError },
  );
  t.is(refusal.status.message, 'too many requests to node agents, pods and services are open');
});
