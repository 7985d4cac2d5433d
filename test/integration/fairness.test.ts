// API priority and fairness on a real server whose levels have one seat each: a write whose body is late takes it, and what comes
// meanwhile waits, takes turns, or is refused.
import test from 'ava';
import { dealHand, flowHash } from '../../api/flow-control/hand.ts';
import type { Answer, ApiObject } from '../server/https-client.ts';
import { MetricsText } from '../server/metrics-text.ts';
import { newServer, type Scope, type ServerProcess, startServer } from '../server/server-process.ts';
import { DUMPS, dump, LEVELS, lateWrite, level, made, oneSeat, QUEUES, SCHEMAS, schema, state } from './flow-levels.ts';
import { eventually, freshNamespace, type Namespace } from './objects.ts';

/** Each a user with a token of the same name. */
const USERS = ['elephant', 'mouse', 'reject', 'full', 'gone', 'dumped', 'limited', 'moved', 'next'];

const undo: (() => void | Promise<void>)[] = [];
const scope: Scope = { teardown: (step) => undo.push(step) };
let server!: ServerProcess;

test.before(async () => {
  server = await startServer(scope, { args: oneSeat(scope, USERS) });
});

test.after.always(async () => {
  for (const step of undo) await step();
});

const read = ({ configMaps }: Namespace, token: string): Promise<Answer> => server.client.get(configMaps, { token });

test('a new cluster has the flow schemas and levels of the original, and answers name theirs', async (t) => {
  const [schemas, levels] = await Promise.all(
    [SCHEMAS, LEVELS].map(async (path) => (await server.client.get(path)).json),
  );
  const names = ({ items = [] }: ApiObject) => items.map(({ metadata: { name = '' } }) => name);
  for (const name of ['exempt', 'catch-all', 'system-nodes', 'global-default'])
    t.true(names(schemas!).includes(name), name);
  for (const name of ['exempt', 'catch-all', 'workload-low', 'system']) t.true(names(levels!).includes(name), name);
  const { headers } = await server.client.get('/version');
  const uidOf = ({ items = [] }: ApiObject) => items.find(({ metadata: { name } }) => name === 'exempt')?.metadata.uid;
  t.is(headers['x-orch-pf-flowschema-uid'], uidOf(schemas!));
  t.is(headers['x-orch-pf-prioritylevel-uid'], uidOf(levels!));
});

test('what is written of levels and schemas is in force with the next request', async (t) => {
  const judgedBy = async (): Promise<unknown> =>
    (await server.client.get('/version', { token: 'next' })).headers['x-orch-pf-flowschema-uid'];
  const name = 'next';
  const limited = { assuredConcurrencyShares: 1, limitResponse: { type: 'Reject' } };
  await made(server, LEVELS, { metadata: { name }, spec: { type: 'Limited', limited } });
  for (let round = 0; round < 20; round++) {
    const { metadata } = await made(server, SCHEMAS, schema(name, [name]));
    t.is(await judgedBy(), metadata.uid);
    await server.client.request('DELETE', `${SCHEMAS}/${name}`);
    t.not(await judgedBy(), metadata.uid);
  }
});

test('requests wait where the seats of their level are taken, and mice take turns with an elephant', async (t) => {
  const name = 'herd';
  const [elephantQueue, mouseQueue] = ['elephant', 'mouse'].map((user) => dealHand(flowHash(name, user), QUEUES, 1)[0]);
  t.not(elephantQueue, mouseQueue);
  await level(server, name, { users: ['elephant', 'mouse'] });
  const namespace = await freshNamespace(server.client);
  const late = lateWrite(server, namespace, 'elephant');
  await state(server, name, 1, 0);
  const order: string[] = [];
  const asked = async (token: string): Promise<void> => {
    const { status } = await read(namespace, token);
    t.is(status, 200);
    order.push(token);
  };
  const elephants = Array.from({ length: 30 }, () => asked('elephant'));
  await state(server, name, 1, 30);
  const mouse = asked('mouse');
  await state(server, name, 1, 31);
  t.deepEqual(order, []);
  late.finish();
  t.is(await late.answered, 201);
  await Promise.all([...elephants, mouse]);
  t.true(order.indexOf('mouse') < 10, order.join(' '));
  await state(server, name, 0, 0);
});

test('what finds its queue full, or no queue at all, is refused as in the original', async (t) => {
  await level(server, 'full', { users: ['full'], queueLengthLimit: 1 });
  await level(server, 'reject', { users: ['reject'], rejects: true });
  const namespace = await freshNamespace(server.client);
  for (const [name, reason, waiting] of [
    ['full', 'queue-full', 1],
    ['reject', 'concurrency-limit', 0],
  ] as const) {
    const late = lateWrite(server, namespace, name);
    await state(server, name, 1, 0);
    const waits = Array.from({ length: waiting }, () => read(namespace, name));
    await state(server, name, 1, waiting);
    const refused = await read(namespace, name);
    t.is(refused.status, 429);
    t.is(refused.headers['retry-after'], '1');
    t.is(refused.headers['content-type'], 'text/plain; charset=utf-8');
    t.is(refused.text, 'Too many requests, please try again later.\n');
    t.truthy(refused.headers['x-orch-pf-flowschema-uid']);
    t.is((await server.client.get(namespace.configMaps)).status, 200, 'superusers are exempt');
    late.finish();
    t.is(await late.answered, 201);
    for (const { status } of await Promise.all(waits)) t.is(status, 200);
    const metrics = new MetricsText((await server.client.get('/metrics')).text);
    const labels = { priority_level: name, flow_schema: name };
    t.is(metrics.sum('apiserver_flowcontrol_rejected_requests_total', { ...labels, reason }), 1);
    t.true(metrics.sum('apiserver_flowcontrol_dispatched_requests_total', labels) >= 1 + waiting);
    t.is(metrics.sum('apiserver_flowcontrol_request_concurrency_limit', { priority_level: name }), 1);
    t.true(metrics.sum('apiserver_dropped_requests_total', { request_kind: 'readOnly' }) >= 1);
    const terminated = { verb: 'LIST', resource: 'configmaps', code: '429', component: 'apiserver' };
    t.true(metrics.sum('apiserver_request_terminations_total', terminated) >= 1);
  }
});

test('who goes away, or has no more time for its request, gives its place in the queue up', async (t) => {
  await level(server, 'gone', { users: ['gone'] });
  const namespace = await freshNamespace(server.client);
  const late = lateWrite(server, namespace, 'gone');
  await state(server, 'gone', 1, 0);
  const waiting = lateWrite(server, namespace, 'gone');
  await state(server, 'gone', 1, 1);
  waiting.abort();
  await state(server, 'gone', 1, 0);
  t.is((await server.client.get(`${namespace.configMaps}?timeout=50ms`, { token: 'gone' })).status, 504);
  await state(server, 'gone', 1, 0);
  const metrics = new MetricsText((await server.client.get('/metrics')).text);
  t.is(metrics.sum('apiserver_request_terminations_total', { verb: 'LIST', resource: 'configmaps', code: '504' }), 1);
  t.is(metrics.sum('apiserver_request_post_timeout_total'), 0, 'it was never begun');
  late.abort();
  await state(server, 'gone', 0, 0);
  t.is((await read(namespace, 'gone')).status, 200);
});

test('watches and the like take no seat', async (t) => {
  await level(server, 'limited', { users: ['limited'] });
  const namespace = await freshNamespace(server.client);
  const late = lateWrite(server, namespace, 'limited');
  await state(server, 'limited', 1, 0);
  const path = `${namespace.configMaps}?watch=true&timeoutSeconds=1`;
  t.is((await server.client.get(path, { token: 'limited' })).status, 200);
  late.finish();
  t.is(await late.answered, 201);
});

test('dumps tell levels, queues and the requests that wait', async (t) => {
  await level(server, 'dumped', { users: ['dumped'] });
  const namespace = await freshNamespace(server.client);
  const late = lateWrite(server, namespace, 'dumped');
  await state(server, 'dumped', 1, 0);
  const waits = read(namespace, 'dumped');
  await state(server, 'dumped', 1, 1);
  const [queue] = dealHand(flowHash('dumped', 'dumped'), QUEUES, 1);
  t.deepEqual(await dump(server, 'dump_priority_levels', 'dumped'), [['dumped', '1', 'false', 'false', '1', '1']]);
  t.deepEqual(await dump(server, 'dump_priority_levels', 'exempt'), [['exempt', ...Array(5).fill('<none>')]]);
  const queues = await dump(server, 'dump_queues', 'dumped');
  t.is(queues.length, QUEUES);
  t.deepEqual(queues[queue!]!.slice(0, 4), ['dumped', String(queue), '1', '1']);
  t.regex(queues[queue!]![4]!, /^\d+\.\d{4}$/);
  const [request] = await dump(server, 'dump_requests', 'dumped');
  t.deepEqual(request!.slice(0, 5), ['dumped', 'dumped', String(queue), '0', 'dumped']);
  t.regex(request![5]!, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
  const [detailed] = await dump(server, 'dump_requests?includeRequestDetails=1', 'dumped');
  t.deepEqual(detailed!.slice(6), ['dumped', 'list', namespace.configMaps, namespace.name, '', 'v1', 'configmaps', '']);
  const heads = (await server.client.get(`${DUMPS}/dump_priority_levels`)).text.split('\n')[0]!;
  t.regex(heads, /^PriorityLevelName, ActiveQueues, IsIdle, +IsQuiescing, +WaitingRequests, +ExecutingRequests$/);
  late.finish();
  await Promise.all([late.answered, waits]);
});

const danglingOf = async (name: string): Promise<Readonly<Record<string, unknown>> | undefined> => {
  const { status } = (await server.client.get(`${SCHEMAS}/${name}`)).json;
  return (status as { conditions?: readonly Readonly<Record<string, unknown>>[] } | undefined)?.conditions?.[0];
};

test('a schema says whether its level is there, and requests do not go by one whose level is not', async (t) => {
  const name = 'moved';
  await made(server, SCHEMAS, schema(name, ['moved'], 'not-yet'));
  const dangling = await eventually(
    () => danglingOf(name),
    (condition) => condition?.status === 'True',
  );
  t.like(dangling, {
    type: 'Dangling',
    reason: 'NotFound',
    message:
      'This FlowSchema references the PriorityLevelConfiguration object named "not-yet" but there is no such object',
  });
  t.truthy(dangling!.lastTransitionTime);
  const limited = { assuredConcurrencyShares: 1, limitResponse: { type: 'Reject' } };
  const there = await made(server, LEVELS, { metadata: { name: 'not-yet' }, spec: { type: 'Limited', limited } });
  t.like(
    await eventually(
      () => danglingOf(name),
      (condition) => condition?.status === 'False',
    ),
    {
      reason: 'Found',
      message: 'This FlowSchema references the PriorityLevelConfiguration object named "not-yet" and it exists',
    },
  );
  const levelOf = async () =>
    (await server.client.get('/version', { token: 'moved' })).headers['x-orch-pf-prioritylevel-uid'];
  await eventually(levelOf, (uid) => uid === there.metadata.uid);
  t.is((await server.client.request('DELETE', `${LEVELS}/not-yet`)).status, 200);
  await eventually(levelOf, (uid) => uid !== there.metadata.uid);
  await eventually(
    () => danglingOf(name),
    (condition) => condition?.status === 'True',
  );
  t.pass();
});

test('mandatory objects are made again, and suggested ones are not', async (t) => {
  const paths = [`${LEVELS}/catch-all`, `${SCHEMAS}/exempt`];
  for (const path of paths) {
    const { metadata } = (await server.client.get(path)).json;
    t.is((await server.client.request('DELETE', path)).status, 200);
    await eventually(
      async () => (await server.client.get(path)).json.metadata?.uid,
      (uid) => uid !== undefined && uid !== metadata.uid,
    );
  }
  const changed = await server.client.request('PATCH', `${LEVELS}/catch-all`, {
    body: { spec: { limited: { assuredConcurrencyShares: 99 } } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  t.is(changed.status, 422);
});

test('suggested objects that were deleted stay so over a restart', async (t) => {
  const other = await newServer(t);
  await other.start();
  t.is((await other.client.request('DELETE', `${SCHEMAS}/probes`)).status, 200);
  await other.stop();
  await other.start();
  await eventually(
    () => other.client.get('/readyz'),
    ({ status }) => status === 200,
  );
  t.is((await other.client.get(`${SCHEMAS}/probes`)).status, 404);
  t.is((await other.client.get(`${SCHEMAS}/system-nodes`)).status, 200);
});

test('without priority and fairness nothing waits, and there is nothing to dump', async (t) => {
  const plain = await startServer(t, { args: ['--enable-priority-and-fairness=false'] });
  t.is((await plain.client.get(`${DUMPS}/dump_queues`)).status, 404);
  const { headers } = await plain.client.get('/version');
  t.is(headers['x-orch-pf-flowschema-uid'], undefined);
  t.is((await plain.client.get(`${SCHEMAS}/catch-all`)).status, 200);
});
