// Priority and fairness as requests meet it, in virtual time: classified, queued, refused, and the published experiments with an
// elephant beside mice.
import test from 'ava';
import type { Exchange } from '../../../../actors/ingress/exchange/exchange.ts';
import { Fairness } from '../../../../actors/ingress/fairness/fairness.ts';
import { RequestCounts } from '../../../../actors/ingress/fairness/request-counts.ts';
import { SharedSeats, seatMemory } from '../../../../actors/ingress/fairness/seats.ts';
import { isFair } from '../../../../actors/server-settings.ts';
import { flowControlObjects } from '../../../../api/bootstrap/flow-control.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { parseRequestInfo } from '../../../../api/requests/request-info.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { parseArguments } from '../../../../config/parse.ts';
import type { ActorContext } from '../../../../runtime/actor.ts';
import { isOrchError } from '../../../../runtime/errors.ts';
import { MetricsRegistry } from '../../../../runtime/metrics/metrics-registry.ts';
import { VirtualTime } from '../../../../runtime/simulation/virtual-time.ts';
import { RequestAborted } from '../../../../transport/http.ts';
import { renderMetrics } from '../../../../transport/metrics-text.ts';
import { MetricsText } from '../../../server/metrics-text.ts';
import { exchangeOver } from '../exchanges.ts';

const DIALECT = DIALECTS.kubernetes;
const WAIT_MAX_MS = 15_000;
const ANYTHING = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] };

function level(name: string, shares: number, queuing?: object): JsonObject {
  const limitResponse = queuing === undefined ? { type: 'Reject' } : { type: 'Queue', queuing };
  const spec = { type: 'Limited', limited: { assuredConcurrencyShares: shares, limitResponse } };
  return { metadata: { name, uid: `uid of ${name}` }, spec };
}

function schema(name: string, to: string, more: object = {}): JsonObject {
  const subjects = [{ kind: 'Group', group: { name: '*' } }];
  const spec = {
    priorityLevelConfiguration: { name: to },
    matchingPrecedence: 10,
    distinguisherMethod: { type: 'ByUser' },
    rules: [{ subjects, resourceRules: [ANYTHING] }],
    ...more,
  };
  return { metadata: { name, uid: `uid of ${name}` }, spec };
}

const WIDE = { queues: 128, handSize: 6, queueLengthLimit: 100 };

class Server {
  readonly time = new VirtualTime();
  readonly metrics = new MetricsRegistry();
  readonly fairness: Fairness;
  /** Threads that were told of a free seat. */
  readonly woken: number[] = [];

  constructor(seatsMax = 600, seats = new SharedSeats(seatMemory(), 0, 1)) {
    const context = { clock: this.time, timers: this.time, metrics: this.metrics } as unknown as ActorContext;
    this.fairness = new Fairness({
      context,
      dialect: DIALECT,
      seats,
      seatsMax,
      waitMaxMs: WAIT_MAX_MS,
      counts: new RequestCounts(this.metrics, this.time, { readOnly: 1, mutating: 1 }),
      wake: (thread) => void this.woken.push(thread),
    });
  }

  exchange(name: string, path = '/api/v1/namespaces/a/pods', more: Partial<Exchange> = {}): Exchange {
    const made = exchangeOver({ onAborted: () => {} }, { info: parseRequestInfo('GET', path, ''), verb: 'list' });
    return Object.assign(made, { user: { name, uid: '', groups: ['system:authenticated'], extra: {} } }, more);
  }

  /** A request that takes so long once it runs; answers how long it took in all, or the code of its refusal. */
  async request(name: string, forMs: number, exchange = this.exchange(name)): Promise<number | 'refused'> {
    const beginMs = this.time.monotonicMs();
    try {
      const seat = await this.fairness.enter(exchange, beginMs);
      await this.sleep(forMs);
      seat.leave(this.time.monotonicMs());
    } catch (error) {
      if (!isOrchError(error, 'Overloaded')) throw error;
      return 'refused';
    }
    return this.time.monotonicMs() - beginMs;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.time.after(ms, resolve);
    });
  }

  limits(): Record<string, number> {
    const family = this.metrics
      .reading()
      .find(({ name }) => name === 'apiserver_flowcontrol_request_concurrency_limit');
    return Object.fromEntries((family?.series ?? []).map(({ labels, value }) => [labels.priority_level!, value]));
  }

  /** Of a level: how many run and wait. */
  state(name: string): readonly [running: number, waiting: number] | undefined {
    const found = this.fairness.dump().levels.find((one) => one.name === name);
    return found && [found.running, found.waiting];
  }
}

/** Two threads with one seat between them: the first has it, the second waits for it. */
function sharingOneSeat() {
  const memory = seatMemory();
  const [own, other] = [0, 1].map((thread) => new Server(1, new SharedSeats(memory, thread, 2))) as [Server, Server];
  for (const { fairness } of [own, other])
    fairness.configure({ schemas: [schema('s', 'one')], levels: [level('one', 10_000, WIDE)] });
  const first = own.request('a', 10);
  const second = other.request('b', 1);
  return { own, other, first, second };
}

test('before anything is told, superusers are exempt and the rest have all seats and no queue', async (t) => {
  const server = new Server(2);
  const begun = ['a', 'b', 'c'].map((name) => server.request(name, 100));
  const admin = server.exchange('root');
  admin.user = { ...admin.user, groups: ['system:masters'] };
  const exempt = server.request('root', 10, admin);
  await server.time.advance(1000);
  t.deepEqual(await Promise.all(begun), [100, 100, 'refused']);
  t.is(await exempt, 10);
});

test('answers name the schema and its level, and a namespace may make the flow', async (t) => {
  const server = new Server();
  const objects = [...flowControlObjects(DIALECT, 'suggested'), ...flowControlObjects(DIALECT, 'mandatory')].map(
    (object) => ({ ...object, metadata: { ...object.metadata, uid: `${object.kind} ${object.metadata.name}` } }),
  );
  const of = (kind: string) => objects.filter((object) => object.kind === kind);
  server.fairness.configure({ schemas: of('FlowSchema'), levels: of('PriorityLevelConfiguration') });
  const exchange = server.exchange('system:kube-scheduler');
  const done = server.request('', 1, exchange);
  t.deepEqual(exchange.flowHeaders, [
    ['X-Kubernetes-PF-FlowSchema-UID', 'FlowSchema kube-scheduler'],
    ['X-Kubernetes-PF-PriorityLevel-UID', 'PriorityLevelConfiguration workload-high'],
  ]);
  await server.time.advance(10);
  await done;
  const nobody = server.exchange('nobody', '/version');
  nobody.user = { ...nobody.user, groups: [] };
  const caught = server.request('', 1, nobody);
  t.is(nobody.flowHeaders[0]![1], 'FlowSchema catch-all');
  await server.time.advance(10);
  await caught;
});

test('who has waited a quarter of a request’s time is refused', async (t) => {
  const server = new Server(1);
  server.fairness.configure({ schemas: [schema('s', 'one')], levels: [level('one', 1000, WIDE)] });
  const first = server.request('a', 60_000);
  const second = server.request('a', 1);
  const third = server.request('b', 1);
  await server.time.advance(WAIT_MAX_MS - 1);
  t.deepEqual(server.state('one'), [1, 2]);
  await server.time.advance(200);
  t.deepEqual(await Promise.all([second, third]), ['refused', 'refused']);
  t.deepEqual(server.state('one'), [1, 0]);
  await server.time.advance(60_000);
  t.is(await first, 60_000);
});

test('who waits where others have waited and gone is refused in time as they would have been', async (t) => {
  const server = new Server(1);
  server.fairness.configure({ schemas: [schema('s', 'one')], levels: [level('one', 10_000, WIDE)] });
  const first = server.request('a', 10);
  const second = server.request('b', 10);
  await server.time.advance(100);
  t.deepEqual([await first, await second], [10, 20]);
  const longest = server.request('a', 2 * WAIT_MAX_MS);
  let late: number | string | undefined;
  void server.request('b', 1).then((outcome) => {
    late = outcome;
  });
  await server.time.advance(WAIT_MAX_MS - 1);
  t.is(late, undefined);
  await server.time.advance(1 + 100);
  t.is(late, 'refused');
  await server.time.advance(WAIT_MAX_MS);
  t.is(await longest, 2 * WAIT_MAX_MS);
});

test('how long requests waited is told of those that were let through, and of those that were not', async (t) => {
  const server = new Server(1);
  server.fairness.configure({ schemas: [schema('s', 'one')], levels: [level('one', 1000, WIDE)] });
  const all = [server.request('a', 5000), server.request('b', 60_000), server.request('c', 1)];
  await server.time.advance(100_000);
  t.deepEqual(await Promise.all(all), [5000, 65_000, 'refused']);
  const text = new MetricsText(await renderMetrics([server.metrics.reading()]));
  const told = (execute: string, what: string): number =>
    text.sum(`apiserver_flowcontrol_request_wait_duration_seconds_${what}`, { flow_schema: 's', execute });
  t.deepEqual([told('true', 'count'), told('true', 'sum')], [2, 5]);
  t.is(told('false', 'count'), 1);
  t.true(told('false', 'sum') >= WAIT_MAX_MS / 1000);
  const refused = { priority_level: 'one', flow_schema: 's', reason: 'time-out' };
  t.is(text.sum('apiserver_flowcontrol_rejected_requests_total', refused), 1);
  t.is(text.sum('apiserver_flowcontrol_dispatched_requests_total', { flow_schema: 's' }), 2);
});

test('shares change while requests run, and a level that is taken away goes with its last request', async (t) => {
  const server = new Server(10);
  const both = [level('one', 5, WIDE), level('two', 5, WIDE)];
  server.fairness.configure({ schemas: [schema('s', 'one')], levels: both });
  t.like(server.limits(), { one: 4, two: 4, 'catch-all': 4 });
  const runs = Array.from({ length: 8 }, () => server.request('a', 100));
  t.deepEqual(server.state('one'), [4, 4]);
  server.fairness.configure({ schemas: [schema('s', 'one')], levels: [level('one', 45, WIDE)] });
  t.like(server.limits(), { one: 9, 'catch-all': 1 });
  t.deepEqual(server.state('one'), [8, 0]);
  server.fairness.configure({ schemas: [], levels: [] });
  t.true(server.fairness.dump().levels.find(({ name }) => name === 'one')!.isQuiescing);
  t.is(server.limits()['catch-all'], 1);
  await server.time.advance(1000);
  t.true((await Promise.all(runs)).every((took) => took === 100));
  t.is(server.state('one'), undefined);
});

test('what becomes of requests beyond the seats changes with the level, and those that wait stay where they are', async (t) => {
  const server = new Server(1);
  const becomes = (queuing?: object): void =>
    server.fairness.configure({ schemas: [schema('s', 'one')], levels: [level('one', 1000, queuing)] });
  becomes({ queues: 1, handSize: 1, queueLengthLimit: 1 });
  const runs = [server.request('a', 100), server.request('a', 10)];
  t.is(await server.request('a', 1), 'refused');
  becomes({ queues: 1, handSize: 1, queueLengthLimit: 2 });
  runs.push(server.request('a', 1));
  t.deepEqual(server.state('one'), [1, 2]);
  becomes();
  t.is(await server.request('a', 1), 'refused');
  t.deepEqual(server.state('one'), [1, 2]);
  await server.time.advance(1000);
  t.deepEqual(await Promise.all(runs), [100, 110, 111]);
  // And one that nobody waits for is counted in and out.
  const last = server.request('a', 10);
  t.deepEqual(server.state('one'), [1, 0]);
  await server.time.advance(1000);
  t.is(await last, 10);
  t.deepEqual(server.state('one'), [0, 0]);
  server.fairness.configure({ schemas: [], levels: [] });
  t.is(server.state('one'), undefined);
});

test('a level that is taken away goes on for who only waits on this thread', async (t) => {
  const { own, other, first, second } = sharingOneSeat();
  other.fairness.configure({ schemas: [], levels: [] });
  t.deepEqual(other.state('one'), [0, 1]);
  await own.time.advance(10);
  await first;
  other.fairness.onSeatFree();
  t.deepEqual(other.state('one'), [1, 0]);
  await other.time.advance(10);
  t.is(await second, 1);
  t.is(other.state('one'), undefined);
});

test('users of one name and other groups are told apart, and requests by their namespaces where these make the flow', async (t) => {
  const server = new Server(1);
  const few = [{ subjects: [{ kind: 'Group', group: { name: 'few' } }], resourceRules: [ANYTHING] }];
  const byNamespace = { distinguisherMethod: { type: 'ByNamespace' } };
  server.fairness.configure({
    schemas: [schema('few', 'one', { rules: few, matchingPrecedence: 1 }), schema('s', 'two', byNamespace)],
    levels: [level('one', 1000, WIDE), level('two', 1000, WIDE)],
  });
  const ofFew = server.exchange('n');
  ofFew.user = { ...ofFew.user, groups: ['few'] };
  const others = ['a', 'a', 'b'].map((namespace) => server.exchange('n', `/api/v1/namespaces/${namespace}/pods`));
  const all = [ofFew, ...others].map((exchange) => server.request('n', 10, exchange));
  t.deepEqual(
    [ofFew, ...others].map(({ flowHeaders }) => flowHeaders[0]![1]),
    ['uid of few', ...others.map(() => 'uid of s')],
  );
  const { queues } = server.fairness.dump().levels.find(({ name }) => name === 'two')!;
  const flows = queues.flatMap(({ requests }) => requests.map(({ distinguisher }) => distinguisher));
  t.deepEqual(flows.sort(), ['a', 'b']);
  await server.time.advance(1000);
  await Promise.all(all);
});

test('who goes away while it waits leaves its place to others', async (t) => {
  const server = new Server(1);
  server.fairness.configure({ schemas: [schema('s', 'one')], levels: [level('one', 1000, WIDE)] });
  const first = server.request('a', 100);
  let goAway = (): void => {};
  const response = { onAborted: (callback: () => void) => (goAway = callback) };
  const gone = server.request('b', 1, server.exchange('b', undefined, { response } as unknown as Partial<Exchange>));
  t.deepEqual(server.state('one'), [1, 1]);
  goAway();
  t.deepEqual(server.state('one'), [1, 0]);
  await t.throwsAsync(gone, { instanceOf: RequestAborted });
  await server.time.advance(1000);
  await first;
});

test('levels that come and go, each under a name of its own, leave the seats of all threads to the next', async (t) => {
  const server = new Server(10, new SharedSeats(seatMemory(), 0, 2));
  const configure = (name: string): void =>
    server.fairness.configure({ schemas: [schema('s', name)], levels: [level(name, 10_000, WIDE)] });
  for (let edition = 0; edition < 1000; edition++) configure(`level-${edition}`);
  const runs = Array.from({ length: 12 }, () => server.request('a', 100));
  t.deepEqual(server.state('level-999'), [10, 2]);
  await server.time.advance(1000);
  await Promise.all(runs);
});

test('a thread whose last request ends tells another that waits for the seat', async (t) => {
  const { own, other, first, second } = sharingOneSeat();
  t.deepEqual(other.state('one'), [0, 1]);
  t.deepEqual(own.woken, []);
  await own.time.advance(10);
  await first;
  t.deepEqual(own.woken, [1]);
  other.fairness.onSeatFree();
  t.deepEqual(other.state('one'), [1, 0]);
  await other.time.advance(10);
  await second;
});

test('a client that asks under ten thousand names is no more than what is kept', async (t) => {
  const server = new Server(1);
  server.fairness.configure({ schemas: [schema('s', 'one')], levels: [level('one', 1000, WIDE)] });
  const begun = Array.from({ length: 10_000 }, (_, index) => server.request(`user-${index}`, 0));
  t.deepEqual(server.state('one'), [1, 9999]);
  await server.time.advance(1000);
  const took = await Promise.all(begun);
  t.true(took.every((one) => one !== 'refused'));
  t.deepEqual(server.state('one'), [0, 0]);
});

/** The slowest but one in a hundred of what mice meet, each asking now and then, with so many elephants' requests at a time. */
async function micesP99(elephants: number): Promise<number> {
  const server = new Server(10);
  server.fairness.configure({ schemas: [schema('s', 'one')], levels: [level('one', 10_000, WIDE)] });
  const took: number[] = [];
  let isOver = false;
  const elephant = async (_: unknown, index: number): Promise<void> => {
    while (!isOver) await server.request('elephant', 7 + (index % 7));
  };
  const mouse = async (name: string): Promise<void> => {
    for (let asked = 0; asked < 100; asked++) {
      await server.sleep(47);
      took.push((await server.request(name, 10)) as number);
    }
  };
  const herd = Array.from({ length: elephants }, elephant);
  const mice = Promise.all(['ann', 'bob', 'cleo'].map(mouse)).then(() => {
    isOver = true;
  });
  await server.time.advance(60_000);
  await Promise.all([mice, ...herd]);
  return took.sort((a, b) => a - b)[Math.floor(took.length * 0.99)]!;
}

test('mice beside an elephant take at most twice as long as without', async (t) => {
  const [alone, beside] = [await micesP99(0), await micesP99(200)];
  t.is(alone, 10);
  t.true(beside <= 2 * alone, `${beside} ms beside, ${alone} ms alone`);
});

test('both the option and the feature gate switch it off', (t) => {
  const fair = (...argv: string[]): boolean => {
    const parsed = parseArguments('up', argv);
    if (parsed.action !== 'run') throw new Error('these are arguments to run with');
    return isFair({ dialect: 'orch', options: parsed.options });
  };
  t.true(fair());
  t.false(fair('--enable-priority-and-fairness=false'));
  t.false(fair('--feature-gates=APIPriorityAndFairness=false'));
  const nothing = ['--max-requests-inflight=0', '--max-mutating-requests-inflight=0'];
  t.throws(() => fair(...nothing), { message: /must not both be 0/ });
  t.false(fair(...nothing, '--enable-priority-and-fairness=false'));
});
