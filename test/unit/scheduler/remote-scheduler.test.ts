// Goal: a scheduler of its own keeps its place whatever there is to do. Method: an API server in memory, and virtual time.
import test from 'ava';
import { pino } from 'pino';
import { defaultConfiguration } from '../../../actors/scheduler/configuration/defaults.ts';
import { ApiServer } from '../../../actors/scheduler/remote/api-server.ts';
import { RemoteScheduler } from '../../../actors/scheduler/remote/remote-scheduler.ts';
import { createRegistry } from '../../../api/resources/registry.ts';
import { MetricsRegistry } from '../../../runtime/metrics/metrics-registry.ts';
import { realEnvironment } from '../../../runtime/real-environment.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';
import { type ApiAnswer, type ApiCall, ApiUnanswered } from '../../../transport/outgoing/api-client.ts';
import { boundPod, defaultProfile, dialect, node, pod, seededRandom } from './objects.ts';

const LEASE = '/leases/';

const PODS = '/api/v1/pods';

/** Lists these objects by the ends of their paths, keeps the lease, takes every binding, and tells who watches pods where each is bound. */
class Server {
  readonly lists: ReadonlyMap<string, readonly object[]>;
  bindings = 0;
  /** The paths of the bindings. */
  readonly bound: string[] = [];
  readonly podWatches: ((part: Buffer) => void)[] = [];
  events = 0;
  lease: unknown;
  /** Nobody can say that he leads. */
  isLeaseLost = false;

  constructor(lists: Readonly<Record<string, readonly object[]>>) {
    this.lists = new Map(Object.entries(lists));
  }

  async call({ method, path, body }: ApiCall): Promise<ApiAnswer> {
    if (path.includes(LEASE) || path.endsWith('/leases')) {
      if (this.isLeaseLost) throw new ApiUnanswered('cut', false);
      if (method !== 'GET') this.lease = JSON.parse(Buffer.from(body!).toString());
      return this.answer(this.lease === undefined ? 404 : 200, this.lease ?? {});
    }
    if (path.endsWith('/binding')) this.bind(path, body);
    if (path.endsWith('/events')) this.events++;
    if (method !== 'GET') return this.answer(201, {});
    const items = this.lists.get(path.split('?')[0]!) ?? [];
    return this.answer(200, { metadata: { resourceVersion: '7' }, items });
  }

  private bind(path: string, body: Uint8Array | undefined): void {
    this.bindings++;
    this.bound.push(path);
    const { metadata, target } = JSON.parse(Buffer.from(body!).toString()) as {
      readonly metadata: { readonly name: string };
      readonly target: { readonly name: string };
    };
    const object = boundPod(metadata.name, target.name, { metadata: { resourceVersion: String(7 + this.bindings) } });
    for (const tell of this.podWatches) tell(Buffer.from(JSON.stringify({ type: 'MODIFIED', object })));
  }

  parts({ path }: ApiCall, onPart: (part: Buffer) => void, signal: AbortSignal): Promise<number> {
    if (path.startsWith(PODS)) this.podWatches.push(onPart);
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new ApiUnanswered('cut', false)));
    });
  }

  private async answer(status: number, object: unknown): Promise<ApiAnswer> {
    return { status, body: Buffer.from(JSON.stringify(object)) };
  }
}

/** A scheduler of as many pods, which come to 40 nodes, and its server. */
function busy(podsCount: number, pace: { readonly qps?: number } = {}) {
  const time = new VirtualTime();
  const pods = Array.from({ length: podsCount }, (_, at) => pod(`p${at}`, { metadata: { resourceVersion: '' } }));
  const nodes = Array.from({ length: 40 }, (_, at) => node(`n${at}`));
  const client = new Server({ [PODS]: pods, '/api/v1/nodes': nodes });
  const configuration = defaultConfiguration(dialect);
  const registry = createRegistry(dialect);
  const connection = configuration.clientConnection;
  const scheduler = new RemoteScheduler({
    environment: { clock: time, timers: time, random: seededRandom(1), disk: realEnvironment.disk },
    metrics: new MetricsRegistry(),
    log: pino({ level: 'silent' }),
    configuration,
    profiles: [defaultProfile(dialect)],
    server: new ApiServer({
      client,
      registry,
      clock: time,
      timers: time,
      ...connection,
      ...pace,
      contentType: 'application/json',
    }),
    host: 'here',
    identity: 'this one',
    crash(error) {
      throw error;
    },
  });
  return { time, client, scheduler };
}

test('a leader renews its lease in time while it binds as many pods as the server lets it', async (t) => {
  const { time, client, scheduler } = busy(3_000);
  let isOver = false;
  void scheduler.run().then(() => {
    isOver = true;
  });
  for (let second = 0; second < 60; second++) await time.advance(1_000);
  t.true(client.bindings > 500, String(client.bindings));
  t.false(isOver, 'it leads');
  t.like(client.lease, { spec: { holderIdentity: 'this one' } });
});

test('pods are bound as fast as requests may go, and of each that is bound it is told', async (t) => {
  const { time, client, scheduler } = busy(1_000);
  void scheduler.run();
  for (let second = 0; second < 25; second++) await time.advance(1_000);
  t.is(client.bindings, 1_000);
  t.is(client.events, 1_000 + 1, 'and who leads');
});

test('one that leads no more binds nothing more, however much of it waits for its turn', async (t) => {
  const { time, client, scheduler } = busy(1_000, { qps: 5 });
  let isOver = false;
  const run = scheduler.run().then(() => {
    isOver = true;
    return scheduler.stop();
  });
  await time.advance(20_000);
  client.isLeaseLost = true;
  const before = client.bindings;
  for (let tenth = 0; tenth < 200 && !isOver; tenth++) await time.advance(100);
  t.true(isOver);
  t.true(client.bindings > before, 'as long as it leads');
  const atTheEnd = client.bindings;
  await time.advance(1_000);
  await run;
  await time.advance(60_000);
  t.is(client.bindings, atTheEnd);
});

test('a pod whose binding waits long for its turn keeps its place: it is not bound a second time', async (t) => {
  const { client, time, scheduler } = busy(300, { qps: 4 });
  const run = scheduler.run();
  await time.advance(80_000);
  t.is(new Set(client.bound).size, 300);
  t.is(client.bound.length, 300);
  const stopped = scheduler.stop();
  await time.advance(60_000);
  await Promise.all([run, stopped]);
});
