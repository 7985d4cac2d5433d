import test from 'ava';
import { SharedSeats, seatMemory } from '../../../../actors/ingress/fairness/seats.ts';
import type { Exchange } from '../../../../actors/ingress/pipeline/exchange.ts';
import { InFlight, type InFlightLimits } from '../../../../actors/ingress/pipeline/in-flight.ts';
import { RequestCounts } from '../../../../actors/ingress/pipeline/request-counts.ts';
import { isOrchError } from '../../../../runtime/errors.ts';
import { MetricsRegistry } from '../../../../runtime/metrics-registry.ts';
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
    this.inFlight = new InFlight(limits, seats, this.counts, this.time);
  }

  /** Starts a request; answers whether it was let in, and how to end it. */
  async begin(
    verb: string,
    more: Partial<Exchange> = {},
  ): Promise<{ entered: boolean; end: (error?: Error) => Promise<void> }> {
    const exchange = Object.assign(exchangeOver({}, { verb }), more);
    let finish: (error?: Error) => void = () => {};
    const until = new Promise<void>((resolve, reject) => {
      finish = (error) => (error === undefined ? resolve() : reject(error));
    });
    let entered = false;
    const work = this.inFlight.within(exchange, () => {
      entered = true;
      return until;
    });
    if (!entered) {
      await work.then(
        () => {
          throw new Error('a request was neither let in nor refused');
        },
        (error: unknown) => {
          if (!isOrchError(error, 'Overloaded')) throw error;
        },
      );
    }
    return {
      entered,
      end: async (error) => {
        finish(error);
        await work.catch(() => {});
      },
    };
  }
}

const MASTERS = { user: { name: 'm', uid: '', groups: ['system:masters'], extra: {} } };

test('reads and writes have a limit each', async (t) => {
  const requests = new Requests({ readsMax: 2, writesMax: 1 });
  const first = await requests.begin('get');
  const second = await requests.begin('list');
  for (const verb of ['get', 'list', 'watch', 'GET', 'HEAD', 'OPTIONS'])
    t.false((await requests.begin(verb)).entered, verb);
  const write = await requests.begin('create');
  t.true(write.entered);
  for (const verb of ['create', 'update', 'patch', 'delete', 'deletecollection', 'POST']) {
    t.false((await requests.begin(verb)).entered, verb);
  }
  t.is(requests.counts.count, 3);
  await first.end();
  const third = await requests.begin('get');
  t.true(third.entered);
  await Promise.all([second.end(), third.end(), write.end()]);
  t.is(requests.counts.count, 0);
});

test('a request that fails gives its place back', async (t) => {
  const requests = new Requests({ readsMax: 1, writesMax: 1 });
  for (const verb of ['get', 'create']) {
    const request = await requests.begin(verb);
    await request.end(new Error('broken'));
    const next = await requests.begin(verb);
    t.true(next.entered, verb);
    await next.end();
  }
  t.is(requests.counts.count, 0);
});

test('long-running requests and superusers are not held back', async (t) => {
  const requests = new Requests({ readsMax: 1, writesMax: 1 });
  const read = await requests.begin('get');
  const write = await requests.begin('create');
  const others = [
    await requests.begin('watch', { longRunning: true }),
    await requests.begin('create', { longRunning: true }),
    await requests.begin('get', MASTERS),
    await requests.begin('create', MASTERS),
  ];
  t.deepEqual(
    others.map(({ entered }) => entered),
    [true, true, true, true],
  );
  for (const request of [read, write, ...others]) await request.end();
  t.is(requests.counts.count, 0);
  t.true((await requests.begin('get')).entered);
});

test('a limit of 0 is none', async (t) => {
  const requests = new Requests({ readsMax: 0, writesMax: 0 });
  for (let count = 0; count < 500; count++) {
    t.true((await requests.begin('get')).entered);
    t.true((await requests.begin('create')).entered);
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
  await first.end();
  t.true((await other.begin('get')).entered);
});
