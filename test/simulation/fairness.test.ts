// Priority and fairness on a simulated server with several ingresses: in every order of messages, and while threads end, the
// requests worked on at a level are never more than its seats, on all threads together, and every request is answered.
import test, { type ExecutionContext } from 'ava';
import { tokenDigest } from '../../actors/auth/authenticators/token-file.ts';
import type { ServerSettings } from '../../actors/server-settings.ts';
import type { ActorDefinition } from '../../runtime/actor.ts';
import type { Labels, Metrics } from '../../runtime/metrics/metrics.ts';
import { SeededRandom } from '../../runtime/simulation/seeded-random.ts';
import { actorsFor } from '../server/every-actor.ts';
import { type Answer, Client } from './client.ts';
import { type FaultPlan, NO_FAULTS } from './faults.ts';
import { SERVER, type Server, World } from './world.ts';

const SEEDS = 6;
const LEVEL = 'global-default';
/** A share of 20 of 205, rounded up. */
const SEATS = { options: { maxRequestsInflight: 30, maxMutatingRequestsInflight: 0 }, limit: 3 };
const USERS = ['ann', 'bob', 'cleo', 'dan'];
const LANES = 24;
const REQUESTS_OF_LANE = 6;
const EXECUTING = 'apiserver_flowcontrol_current_executing_requests';
const DISPATCHED = 'apiserver_flowcontrol_dispatched_requests_total';
const FLOWS = '/apis/flowcontrol.apiserver.orch.io/v1beta1';

/** What the ingresses of a world work on, looked at whenever a request is let through. */
class Watched {
  most = 0;
  readonly #byIngress = new Map<string, Metrics>();

  readonly server: Server = {
    ...SERVER,
    actors: (outside) => actorsFor(outside).map((definition) => this.#watched(definition)),
  };

  #watched(definition: ActorDefinition<ServerSettings>): ActorDefinition<ServerSettings> {
    const create: typeof definition.create = (context, settings) => {
      const made = settingsWithUsers(settings);
      if (definition.actor !== 'ingress') return definition.create(context, made);
      const { metrics } = context;
      this.#byIngress.set(context.name, metrics);
      const counter = (name: string, help: string, labels?: Labels) => {
        const series = metrics.counter(name, help, labels);
        if (name !== DISPATCHED) return series;
        return {
          add: (amount: number) => {
            series.add(amount);
            this.#look();
          },
          set: (value: number) => series.set(value),
        };
      };
      const watching: Metrics = {
        counter,
        gauge: (...what) => metrics.gauge(...what),
        histogram: (...what) => metrics.histogram(...what),
        summary: (...what) => metrics.summary(...what),
        beforeReading: (collect) => metrics.beforeReading(collect),
        reading: () => metrics.reading(),
        forget: (isGone) => metrics.forget(isGone),
      };
      return definition.create({ ...context, metrics: watching }, made);
    };
    return { ...definition, create };
  }

  #look(): void {
    let running = 0;
    for (const metrics of this.#byIngress.values()) {
      const family = metrics.reading().find(({ name }) => name === EXECUTING);
      for (const { labels, value } of family?.series ?? []) if (labels.priority_level === LEVEL) running += value;
    }
    this.most = Math.max(this.most, running);
  }
}

function settingsWithUsers(settings: ServerSettings): ServerSettings {
  const tokens = USERS.map((name) => ({
    digest: tokenDigest(name),
    user: { name, uid: '', groups: ['system:authenticated'], extra: {} },
  }));
  const options = { ...settings.options, ...SEATS.options, authorizationMode: ['AlwaysAllow'] as const };
  return { ...settings, options, tokens: [...settings.tokens, ...tokens] };
}

/** One client that asks and asks again, sometimes by another ingress. */
async function lane(world: World, number: number, seed: number): Promise<Answer[]> {
  const client = new Client(world, number, new SeededRandom(seed * 1000 + number));
  const answers: Answer[] = [];
  for (let asked = 0; asked < REQUESTS_OF_LANE; asked++) {
    const token = USERS[number % USERS.length]!;
    const path = '/api/v1/namespaces/default/configmaps';
    const body = JSON.stringify({ metadata: { name: `of-${number}-${asked}` } });
    const reads = client.random.below(4) === 0;
    answers.push(await client.request(reads ? { method: 'GET', path, token } : { method: 'POST', path, token, body }));
  }
  return answers;
}

async function bootstrapped(world: World): Promise<void> {
  const client = new Client(world, 0, new SeededRandom(1));
  for (;;) {
    const { status } = await client.request({ method: 'GET', path: `${FLOWS}/flowschemas/catch-all` });
    if (status === 200) break;
    await world.sleep(100);
  }
  // Until every ingress has been told.
  await world.sleep(2000);
}

async function run(t: ExecutionContext, seed: number, faults: FaultPlan, crashes: number): Promise<Answer[]> {
  const watched = new Watched();
  const world = new World({ seed, faults, server: watched.server, hasControllers: true });
  await world.start();
  await world.during(bootstrapped(world));
  const lanes = Array.from({ length: LANES }, (_, number) => lane(world, number, seed));
  const crash = async (): Promise<void> => {
    for (let count = 0; count < crashes; count++) {
      await world.sleep(30);
      world.crash(world.threadOf(world.ingresses[count % world.ingresses.length]!));
    }
  };
  const [answers] = await world.during(Promise.all([Promise.all(lanes), crash()]));
  t.true(watched.most <= SEATS.limit, `${watched.most} at once, seed ${seed}`);
  t.is(watched.most, SEATS.limit, `seed ${seed} fills no level`);
  t.deepEqual(world.crashes, []);
  world.threads.kill();
  return answers.flat();
}

test('seats are never more than the limit on all threads, and nobody starves', async (t) => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const answers = await run(t, seed, { ...NO_FAULTS, delayMsMax: [0, 2, 20][seed % 3]! }, 0);
    const codes = new Set(answers.map(({ status }) => status));
    t.deepEqual([...codes].sort(), [200, 201], `seed ${seed}`);
  }
});

test('nor when words between threads are late or lost, and threads end with requests in their hands', async (t) => {
  for (let seed = 101; seed <= 100 + SEEDS; seed++) {
    const faults = { ...NO_FAULTS, delayMsMax: 20, lagShare: 0.01, fullShare: 0.01 };
    const answers = await run(t, seed, faults, 3);
    // A request whose thread ended has no answer, or hears that it may try again.
    for (const { status } of answers) t.true([0, 200, 201, 409, 429, 503, 504].includes(status), String(status));
  }
});
