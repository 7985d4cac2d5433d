// EventRateLimit: what is counted together, how it fills again, and the settings it takes.
import test from 'ava';
import { readEventLimits } from '../../../../actors/admission/plugins/event-rate-limit/configuration.ts';
import { eventRateLimit } from '../../../../actors/admission/plugins/event-rate-limit/event-rate-limit.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { AdmissionWorld, type Request } from '../admission-world.ts';
import { NO_FILES } from './no-files.ts';

const events = (namespace: string): string => `/api/v1/namespaces/${namespace}/events`;
const LIMIT = { type: 'Namespace', perSecond: 1, burst: 2, remembered: 2 };

interface Sent {
  readonly namespace?: string;
  readonly user?: string;
  readonly about?: string;
  readonly source?: string;
}

/** A server with these limits, and what it answers to events one after the other. */
async function worldWith(limits: readonly object[]) {
  const world = await AdmissionWorld.start({
    plugins: [eventRateLimit],
    configurations: { EventRateLimit: limits },
    namespaces: ['default', 'a', 'b', 'c'],
  });
  let sent = 0;
  const send = async ({ namespace = 'default', user = 'u', about = 'o', source = 's' }: Sent, more: Request = {}) => {
    const body = {
      metadata: { name: `e${sent++}`, namespace },
      involvedObject: { kind: 'Pod', namespace, name: about },
      source: { component: source },
    };
    const answer = await world.write('create', events(namespace), { body, user: { name: user }, ...more });
    return answer.code === 201 ? 201 : `${answer.code} ${answer.body.message}`;
  };
  const wait = (ms: number) =>
    world.during(new Promise<void>((resolve) => void world.simulation.environment.timers.after(ms, resolve)));
  return { world, send, wait };
}

const full = (type: string, key: string): string =>
  `429 Too many requests: limit reached on type ${type} for key ${key}`;

test('EventRateLimit: a namespace has its share, which fills again', async (t) => {
  const { world, send, wait } = await worldWith([LIMIT]);
  t.is(await send({}), 201);
  t.is(await send({}), 201);
  t.is(await send({}), full('Namespace', 'default'));
  t.is(await send({ namespace: 'a' }), 201);
  await wait(1500);
  t.is(await send({}), 201);
  t.is(await send({}), full('Namespace', 'default'));
  await world.stop();
});

test('EventRateLimit: the whole server has its share', async (t) => {
  const { world, send } = await worldWith([{ ...LIMIT, type: 'Server' }]);
  t.is(await send({ namespace: 'a' }), 201);
  t.is(await send({ namespace: 'b' }), 201);
  t.is(await send({ namespace: 'c' }), full('Server', ''));
  await world.stop();
});

test('EventRateLimit: a user has its share', async (t) => {
  const { world, send } = await worldWith([{ ...LIMIT, type: 'User', burst: 1 }]);
  t.is(await send({ user: 'ann' }), 201);
  t.is(await send({ user: 'ben' }), 201);
  t.is(await send({ user: 'ann' }), full('User', 'ann'));
  await world.stop();
});

test('EventRateLimit: a source has its share for each object', async (t) => {
  const { world, send } = await worldWith([{ ...LIMIT, type: 'SourceAndObject', burst: 1, remembered: 9 }]);
  t.is(await send({ about: 'x' }), 201);
  t.is(await send({ about: 'y' }), 201);
  t.is(await send({ about: 'x', source: 'other' }), 201);
  t.is(await send({ about: 'x' }), full('SourceAndObject', 'sPoddefaultx'));
  await world.stop();
});

test('EventRateLimit: all limits count, and all that are reached are told', async (t) => {
  const { world, send } = await worldWith([
    { ...LIMIT, burst: 1 },
    { ...LIMIT, type: 'User', burst: 1 },
  ]);
  t.is(await send({}), 201);
  t.is(
    await send({}),
    '429 Too many requests: [limit reached on type Namespace for key default, limit reached on type User for key u]',
  );
  await world.stop();
});

test('EventRateLimit: those not heard of for longest are forgotten first', async (t) => {
  const { world, send } = await worldWith([{ ...LIMIT, burst: 1 }]);
  t.is(await send({ namespace: 'a' }), 201);
  t.is(await send({ namespace: 'b' }), 201);
  t.is(await send({ namespace: 'c' }), 201);
  t.is(await send({ namespace: 'b' }), full('Namespace', 'b'));
  t.is(await send({ namespace: 'a' }), 201);
  await world.stop();
});

test('EventRateLimit: a dry run counts for nothing, an update counts, other objects do not', async (t) => {
  const { world, send } = await worldWith([{ ...LIMIT, burst: 2 }]);
  t.is(await send({}), 201);
  t.is(await send({}, { parameters: { dryRun: ['All'] } }), 201);
  t.is((await world.write('patch', `${events('default')}/e0`, { body: { count: 2 } })).code, 200);
  t.is((await world.write('patch', `${events('default')}/e0`, { body: { count: 3 } })).code, 429);
  const map = { metadata: { name: 'm' } };
  t.is((await world.write('create', '/api/v1/namespaces/default/configmaps', { body: map })).code, 201);
  await world.stop();
});

const read = (content: unknown) => readEventLimits({ content, dialect: DIALECTS.orch, ...NO_FILES });
const HEAD = { apiVersion: 'eventratelimit.admission.orch.io/v1alpha1', kind: 'Configuration' };
const limit = (more: object) => ({ ...HEAD, limits: [{ type: 'User', qps: 1, burst: 1, ...more }] });

test('EventRateLimit: its settings are read, with the usual size of what is remembered', (t) => {
  t.deepEqual(read(limit({ qps: 5, burst: 50 })), [{ type: 'User', perSecond: 5, burst: 50, remembered: 4096 }]);
  t.deepEqual(read(limit({ cacheSize: 7 })), [{ type: 'User', perSecond: 1, burst: 1, remembered: 7 }]);
});

const refused: readonly [content: object, message: string][] = [
  [HEAD, 'limits: is required'],
  [{ ...HEAD, limits: [] }, 'limits: must not be empty'],
  [limit({ type: 'Cluster' }), 'limits[0].type: must be one of Server, Namespace, User, SourceAndObject'],
  [limit({ qps: 0 }), 'limits[0].qps: must be a whole number from 1 to 2147483647'],
  [limit({ burst: -1 }), 'limits[0].burst: must be a whole number from 1 to 2147483647'],
  [limit({ cacheSize: -1 }), 'limits[0].cacheSize: must be a whole number from 0 to 1000000'],
  [limit({ rate: 1 }), 'limits[0].rate: is an unknown field'],
];

for (const [content, message] of refused) {
  test(`EventRateLimit: settings are refused with ${message}`, (t) => {
    t.throws(() => read(content), { message });
  });
}
