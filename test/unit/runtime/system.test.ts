import test from 'ava';
import type { Actor, ActorContext, ActorDefinition, MessageOf, Protocol, Reply } from '../../../runtime/actor.ts';
import { isOrchError } from '../../../runtime/errors.ts';
import type { Plan } from '../../../runtime/placement/plan.ts';
import { realEnvironment } from '../../../runtime/real-environment.ts';
import { type InProcess, startInProcess } from '../../../runtime/threads/in-process.ts';

interface AnyProtocol extends Protocol {
  readonly asks: Readonly<Record<string, { readonly message: object; readonly reply: unknown }>>;
  readonly tells: Readonly<Record<string, object>>;
}

type Behaviour = Partial<Actor<AnyProtocol>>;

function actorCalled(
  name: string,
  behave: (context: ActorContext) => Behaviour,
  stopOrder = 1,
): ActorDefinition<unknown> {
  return {
    actor: name,
    mailboxMax: 8,
    stopOrder,
    create: (context) => ({
      onMessage: (_message: MessageOf<AnyProtocol>, reply: Reply) => reply.send('ok'),
      ...behave(context),
    }),
  };
}

const start = (actors: readonly ActorDefinition<unknown>[], plan?: Plan): Promise<InProcess> =>
  startInProcess({
    actors,
    options: {},
    environment: realEnvironment,
    freezeMessages: true,
    ...(plan && { plan }),
  });

/** Longer than the busiest machine takes: none of these asks is to come to it. */
const DEADLINE = { deadlineMs: 240_000 } as const;
const PING = { type: 'ping' } as const;

const placed = (actor: string, index: number, of: number) => ({
  actor,
  name: of === 1 ? actor : `${actor}/${index}`,
  index,
  settings: {},
});

test('messages wait until the start of their actor has resolved', async (t) => {
  const seen: string[] = [];
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const store = actorCalled('store', () => ({
    async start() {
      await opened;
      seen.push('open');
    },
    onMessage(_message, reply) {
      seen.push('message');
      reply.send(null);
    },
  }));
  const client = actorCalled('client', (context) => ({
    async start() {
      const answered = context.refNamed<AnyProtocol>('store').ask(PING, DEADLINE);
      await new Promise(setImmediate);
      seen.push('asked');
      open();
      await answered;
    },
  }));
  const running = await start([store, client]);
  t.deepEqual(seen, ['asked', 'open', 'message']);
  await running.stop();
});

test('actors stop in ascending order, and their mailboxes close behind them', async (t) => {
  const seen: string[] = [];
  const stopping = (name: string, order: number) =>
    actorCalled(
      name,
      (context) => ({
        async stop() {
          seen.push(name);
          if (name === 'edge') t.is(await context.refNamed<AnyProtocol>('store').ask(PING, DEADLINE), 'ok');
        },
      }),
      order,
    );
  const running = await start([stopping('store', 9), stopping('edge', 1), stopping('hub', 5)]);
  await running.stop();
  t.deepEqual(seen, ['edge', 'hub', 'store']);
  const error = await t.throwsAsync(running.ref<AnyProtocol>('store').ask(PING, DEADLINE));
  t.true(isOrchError(error, 'ActorDown'));
});

test('timers of an actor that has stopped no longer fire', async (t) => {
  let fired = 0;
  let context: ActorContext | undefined;
  const running = await start([
    actorCalled('store', (given) => {
      context = given;
      return {};
    }),
  ]);
  await new Promise<void>((resolve) => context!.timers.soon(resolve));
  context!.timers.soon(() => fired++);
  await running.stop();
  await new Promise(setImmediate);
  t.is(fired, 0);
});

test('a start that fails fails the whole, after stopping the others', async (t) => {
  const seen: string[] = [];
  const good = actorCalled('good', () => ({ stop: async () => void seen.push('stopped') }));
  const bad = actorCalled('bad', () => ({ start: () => Promise.reject(new Error('no port')) }));
  await t.throwsAsync(start([good, bad]), { message: 'no port' });
  t.deepEqual(seen, ['stopped']);
});

test('a broken invariant closes every actor of its thread and no other', async (t) => {
  const seen: string[] = [];
  const emergency = (name: string): Behaviour => ({ onCrash: () => void seen.push(name) });
  const broken = actorCalled('broken', (context) => ({
    ...emergency('broken'),
    onMessage: () => context.crash(new Error('impossible')),
  }));
  const plan: Plan = {
    name: 'test',
    threads: [
      { name: 'a', group: 'a', actors: [placed('broken', 0, 1), placed('near', 0, 1)] },
      { name: 'b', group: 'b', actors: [placed('far', 0, 1)] },
    ],
    warnings: [],
  };
  const actors = [broken, actorCalled('near', () => emergency('near')), actorCalled('far', () => emergency('far'))];
  const running = await start(actors, plan);
  const asks = ['broken', 'near'].map((name) => running.ref<AnyProtocol>(name).ask(PING, DEADLINE));
  t.is(await running.ref<AnyProtocol>('far').ask(PING, DEADLINE), 'ok');
  for (const ask of asks) t.true(isOrchError(await t.throwsAsync(ask), 'ActorDown'));
  while (running.crashes.size === 0) await new Promise((resolve) => setImmediate(resolve));
  t.deepEqual(seen, ['broken', 'near']);
  t.deepEqual(
    [...running.crashes].map(([thread, error]) => [thread, error.message]),
    [['a', 'impossible']],
  );
  await running.stop();
});

test('an ask that was being worked on when its thread broke fails at once', async (t) => {
  const plan: Plan = {
    name: 'test',
    threads: [
      { name: 'a', group: 'a', actors: [placed('asker', 0, 1)] },
      { name: 'b', group: 'b', actors: [placed('broken', 0, 1)] },
    ],
    warnings: [],
  };
  let held = 0;
  const broken = actorCalled('broken', (context) => ({
    onMessage() {
      if (++held === 2) context.crash(new Error('impossible'));
    },
  }));
  const running = await start([actorCalled('asker', () => ({})), broken], plan);
  const ref = running.ref<AnyProtocol>('broken');
  const asks = [ref.ask(PING, DEADLINE), ref.ask(PING, DEADLINE), ref.ask(PING, DEADLINE)];
  for (const ask of asks) t.true(isOrchError(await t.throwsAsync(ask), 'ActorDown'));
  await running.stop();
});

test('a ref to an actor is to the instance on this thread, else one chosen by index', async (t) => {
  const reach = new Map<string, string>();
  const client = actorCalled('client', (context) => ({
    async start() {
      reach.set(context.name, context.ref('hub').name);
      t.deepEqual(
        context.refs('hub').map(({ name }) => name),
        ['hub/0', 'hub/1'],
      );
      t.is(context.refNamed('hub/1').name, 'hub/1');
    },
  }));
  const plan: Plan = {
    name: 'test',
    threads: [
      { name: 'a', group: 'a', actors: [placed('hub', 0, 2), placed('client', 0, 3)] },
      { name: 'b', group: 'b', actors: [placed('client', 1, 3), placed('hub', 1, 2)] },
      { name: 'c', group: 'c', actors: [placed('client', 2, 3)] },
    ],
    warnings: [],
  };
  const running = await start([actorCalled('hub', () => ({})), client], plan);
  t.deepEqual(Object.fromEntries(reach), { 'client/0': 'hub/0', 'client/1': 'hub/1', 'client/2': 'hub/0' });
  await running.stop();
});

test('a thread-local value is made once a thread and shared by its actors', async (t) => {
  const values = new Map<string, object>();
  const client = actorCalled('client', (context) => {
    values.set(
      context.name,
      context.threadLocal('slabs', () => ({})),
    );
    return {};
  });
  const other = actorCalled('other', (context) => {
    values.set(
      context.name,
      context.threadLocal('slabs', () => ({})),
    );
    return {};
  });
  const plan: Plan = {
    name: 'test',
    threads: [
      { name: 'a', group: 'a', actors: [placed('client', 0, 2), placed('other', 0, 1)] },
      { name: 'b', group: 'b', actors: [placed('client', 1, 2)] },
    ],
    warnings: [],
  };
  const running = await start([client, other], plan);
  t.is(values.get('client/0'), values.get('other'));
  t.not(values.get('client/0'), values.get('client/1'));
  await running.stop();
});

test('the metrics of all threads are at hand on each', async (t) => {
  let readings = 0;
  const client = actorCalled('client', (context) => ({
    async start() {
      readings = (await context.metricsOfAllThreads()).length;
    },
  }));
  const plan: Plan = {
    name: 'test',
    threads: [
      { name: 'a', group: 'a', actors: [placed('client', 0, 1)] },
      { name: 'b', group: 'b', actors: [placed('hub', 0, 1)] },
    ],
    warnings: [],
  };
  const running = await start([client, actorCalled('hub', () => ({}))], plan);
  t.is(readings, 2);
  await running.stop();
});

test('actors that keep each other busy do not starve the event loop', async (t) => {
  let stopped = false;
  const pingPong = (name: string, other: string) =>
    actorCalled(name, (context) => ({
      onMessage(_message, reply) {
        reply.send(null);
        if (!stopped) context.refNamed<AnyProtocol>(other).tell({ type: 'pong' });
      },
    }));
  const running = await start([pingPong('a', 'b'), pingPong('b', 'a')]);
  running.ref<AnyProtocol>('a').tell({ type: 'pong' });
  for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
  stopped = true;
  t.true(running.stats().some(({ handled }) => handled > 1000));
  await running.stop();
});
