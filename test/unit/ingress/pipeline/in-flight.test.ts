import test from 'ava';
import type { Exchange } from '../../../../actors/ingress/exchange/exchange.ts';
import { InFlight, type InFlightLimits } from '../../../../actors/ingress/fairness/in-flight.ts';
import { RequestCounts } from '../../../../actors/ingress/fairness/request-counts.ts';
import { SharedSeats, seatMemory } from '../../../../actors/ingress/fairness/seats.ts';
import { isOrchError } from '../../../../runtime/errors.ts';
import { MetricsRegistry } from '../../../../runtime/metrics/metrics-registry.ts';
import { VirtualTime } from '../../../../runtime/simulation/virtual-time.ts';
import { exchangeOver } from '../exchanges.ts';

class Requests {
  readonly inFlight: InFlight;
  readonly time = new VirtualTime();
  readonly metrics = new MetricsRegistry();
  readonly counts: RequestCounts;

  constructor(limits: InFlightLimits, seats = new SharedSeats(seatMemory(), 0, 1)) {
    const { readsMax: readOnly, writesMax: mutating } = limits;
    this.counts = new RequestCounts(this.metrics, this.time, { readOnly, mutating });
    this.inFlight = new InFlight(limits, seats, this.counts);
  }

  /** Starts a request; answers whether it was let in, and how to end it. */
  begin(verb: string, more: Partial<Exchange> = {}): { entered: boolean; end: () => void } {
    const exchange = Object.assign(exchangeOver({}, { verb }), more);
    try {
      const seat = this.inFlight.enter(exchange, this.time.monotonicMs());
      return { entered: true, end: () => seat.leave(this.time.monotonicMs()) };
    } catch (error) {
      if (!isOrchError(error, 'Overloaded')) throw error;
      return { entered: false, end: () => {} };
    }
  }
}

const MASTERS = { user: { name: 'm', uid: '', groups: ['system:masters'], extra: {} } };

test('reads and writes have a limit each', async (t) => {
  const requests = new Requests({ readsMax: 2, writesMax: 1 });
  const first = requests.begin('get');
  const second = requests.begin('list');
  for (const verb of ['get', 'list', 'watch', 'GET', 'HEAD', 'OPTIONS']) t.false(requests.begin(verb).entered, verb);
  const write = requests.begin('create');
  t.true(write.entered);
  for (const verb of ['create', 'update', 'patch', 'delete', 'deletecollection', 'POST']) {
    t.false(requests.begin(verb).entered, verb);
  }
  t.is(requests.counts.count, 3);
  first.end();
  const third = requests.begin('get');
  t.true(third.entered);
  second.end();
  third.end();
  write.end();
  t.is(requests.counts.count, 0);
});

test('long-running requests and superusers are not held back', async (t) => {
  const requests = new Requests({ readsMax: 1, writesMax: 1 });
  const read = requests.begin('get');
  const write = requests.begin('create');
  const others = [
    requests.begin('watch', { longRunning: true }),
    requests.begin('create', { longRunning: true }),
    requests.begin('get', MASTERS),
    requests.begin('create', MASTERS),
  ];
  t.deepEqual(
    others.map(({ entered }) => entered),
    [true, true, true, true],
  );
  for (const request of [read, write, ...others]) request.end();
  t.is(requests.counts.count, 0);
  t.true(requests.begin('get').entered);
});

test('a limit of 0 is none', async (t) => {
  const requests = new Requests({ readsMax: 0, writesMax: 0 });
  for (let count = 0; count < 500; count++) {
    t.true(requests.begin('get').entered);
    t.true(requests.begin('create').entered);
  }
  t.is(requests.counts.count, 1000);
});

test('the limits are for all threads together', async (t) => {
  const memory = seatMemory();
  const limits = { readsMax: 3, writesMax: 1 };
  const [one, other] = [0, 1].map((thread) => new Requests(limits, new SharedSeats(memory, thread, 2))) as [
    Requests,
    Requests,
  ];
  const first = await one.begin('get');
  t.true((await one.begin('get')).entered);
  t.true((await other.begin('get')).entered);
  t.false((await one.begin('get')).entered);
  t.false((await other.begin('get')).entered);
  t.true((await other.begin('create')).entered);
  t.false((await one.begin('create')).entered);
  first.end();
  t.true((await other.begin('get')).entered);
});

test('superusers beyond a limit leave no more room behind than there was', (t) => {
  const requests = new Requests({ readsMax: 1, writesMax: 1 });
  const read = requests.begin('get');
  for (let count = 0; count < 3; count++) requests.begin('get', MASTERS).end();
  t.false(requests.begin('get').entered);
  read.end();
  t.true(requests.begin('get').entered);
  t.false(requests.begin('get').entered);
});
