// Goal: the server is asked no faster than it may be, and in the encoding that was chosen. Method: a client that records.
import test from 'ava';
import { ApiServer } from '../../../actors/scheduler/remote/api-server.ts';
import { httpPort } from '../../../actors/scheduler/remote/http-port.ts';
import { encodeWatchEvent } from '../../../api/codec/envelope.ts';
import { decodeEnveloped, encodeEnveloped } from '../../../api/codec/protobuf.ts';
import { createRegistry } from '../../../api/resources/registry.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import { VirtualTime } from '../../../runtime/simulation/virtual-time.ts';
import { type ApiAnswer, type ApiCall, ApiUnanswered } from '../../../transport/outgoing/api-client.ts';
import { dialect } from './objects.ts';

const registry = createRegistry(dialect);
const OK: ApiAnswer = { status: 200, body: Buffer.from('{}') };

function recording(
  answer: (call: ApiCall) => ApiAnswer = () => OK,
  contentType = 'application/json',
  qps = 0,
  burst = 0,
) {
  const time = new VirtualTime();
  const calls: (ApiCall & { readonly atMs: number })[] = [];
  const client = {
    async call(call: ApiCall) {
      calls.push({ ...call, atMs: time.monotonicMs() });
      return answer(call);
    },
    parts: async () => 200,
  };
  return {
    time,
    calls,
    server: new ApiServer({
      client,
      registry,
      clock: time,
      timers: time,
      contentType,
      acceptContentTypes: '',
      qps,
      burst,
    }),
  };
}

test('requests go at their pace: as many at once as the burst, then as many a second as the rate', async (t) => {
  const { server, time, calls } = recording(undefined, undefined, 10, 3);
  const all = Promise.all(Array.from({ length: 6 }, () => server.get('/x')));
  await time.advance(1_000);
  await all;
  t.deepEqual(
    calls.map(({ atMs }) => atMs),
    [0, 0, 0, 100, 200, 300],
  );
});

test('calls apart do not wait behind the others', async (t) => {
  const { server, time, calls } = recording(undefined, undefined, 10, 1);
  const apart = server.apart();
  const all = Promise.all(Array.from({ length: 100 }, () => server.get('/x')));
  await time.advance(1);
  await apart.get('/lease');
  t.is(calls.length, 2);
  await time.advance(20_000);
  await all;
});

test('objects are sent in Protobuf where that is asked for, and patches as JSON', async (t) => {
  const { server, calls } = recording(undefined, dialect.protobufMediaType);
  const port = httpPort(server);
  await port.bind([{ namespace: 'a', name: 'p', uid: 'u', node: 'n' }]);
  await port.patchPodStatus('a', 'p', { status: {} });
  const [binding, patch] = calls;
  t.is(binding!.path, '/api/v1/namespaces/a/pods/p/binding');
  t.is(binding!.contentType, 'application/vnd.orch.protobuf');
  const { object } = decodeEnveloped(binding!.body!, (_, kind) => schemaOf(dialect).kind('', 'v1', kind)!);
  t.like(object, { kind: 'Binding', metadata: { name: 'p', uid: 'u' }, target: { kind: 'Node', name: 'n' } });
  t.like(patch, { path: '/api/v1/namespaces/a/pods/p/status', contentType: 'application/merge-patch+json' });
});

test('why an object may not be changed is told in the words of the server, where it says any', async (t) => {
  const against = (status: number, body: object) =>
    httpPort(recording(() => ({ ...OK, status, body: Buffer.from(JSON.stringify(body)) })).server).patchObject(
      'pods',
      'a',
      'p',
      {},
    );
  t.is(await against(200, { message: 'x' }), undefined);
  t.is(await against(403, { message: 'the hook is against it' }), 'the hook is against it');
  t.is(await against(502, {}), 'the server answered 502');
});

test('what the server turns away is asked again when it says, at the pace of all requests, and ten times at most', async (t) => {
  const turnedAway = { status: 429, body: Buffer.from('{}'), retryAfterMs: 2_000 };
  const answers: ApiAnswer[] = [turnedAway, { ...turnedAway, status: 503 }, { ...OK, status: 201 }];
  const { server, time, calls } = recording(() => answers.shift() ?? turnedAway);
  const bound = httpPort(server).bind([{ namespace: 'a', name: 'p', uid: 'u', node: 'n' }]);
  await time.advance(4_000);
  t.deepEqual(await bound, [{ bound: true }]);
  t.deepEqual(
    calls.map(({ atMs, method }) => [atMs, method]),
    [
      [0, 'POST'],
      [2_000, 'POST'],
      [4_000, 'POST'],
    ],
  );
  const refused = server.get('/x');
  await time.advance(20_000);
  t.like(await refused, { status: 429 });
  t.is(calls.length, 3 + 11);
});

test('a refusal that says no time to come back is the answer', async (t) => {
  const { server, calls } = recording(() => ({ ...OK, status: 429 }));
  t.like(await server.get('/x'), { status: 429 });
  t.is(calls.length, 1);
});

test('who waits to ask again asks nothing of a server that is closed meanwhile', async (t) => {
  const { server, time, calls } = recording(() => ({ ...OK, status: 429, retryAfterMs: 1_000 }));
  const refused = server.get('/x');
  await time.advance(500);
  server.close();
  await Promise.all([t.throwsAsync(refused, { instanceOf: ApiUnanswered }), time.advance(1_000)]);
  t.is(calls.length, 1);
});

test('events are written to the group that they have of their own', async (t) => {
  const { server, calls } = recording();
  const port = httpPort(server);
  await port.createEvent('a', { note: 'x' });
  await port.patchEvent('a', 'e', { series: { count: 1 } });
  const collection = '/apis/events.orch.io/v1/namespaces/a/events';
  t.deepEqual(
    calls.map(({ path, body }) => [path, JSON.parse(`${body}`)]),
    [
      [collection, { kind: 'Event', apiVersion: 'events.orch.io/v1', note: 'x' }],
      [`${collection}/e`, { series: { count: 1 } }],
    ],
  );
});

test('events are written to core/v1, in its words, where the server does not serve their own group', async (t) => {
  const { server, calls } = recording(({ path }) => (path.startsWith('/apis/') ? { ...OK, status: 404 } : OK));
  const port = httpPort(server);
  const event = { metadata: { name: 'e' }, note: 'x', regarding: { name: 'p' }, reportingController: 's', action: 'a' };
  t.is(await port.createEvent('a', event), 200);
  t.is(await port.createEvent('a', event), 200);
  t.is(await port.patchEvent('a', 'e', { series: { count: 1 } }), 200);
  const collection = '/api/v1/namespaces/a/events';
  t.deepEqual(
    calls.map(({ path }) => path),
    ['/apis/events.orch.io/v1/namespaces/a/events', collection, collection, `${collection}/e`],
  );
  const said = { message: 'x', involvedObject: { name: 'p' }, reportingComponent: 's', action: 'a' };
  t.deepEqual(JSON.parse(`${calls[1]!.body}`), { kind: 'Event', apiVersion: 'v1', metadata: { name: 'e' }, ...said });
});

test('a namespace that is gone is not taken for a group that is not served', async (t) => {
  let status = 404;
  const { server, calls } = recording(() => ({ ...OK, status }));
  const port = httpPort(server);
  t.is(await port.createEvent('gone', { note: 'x' }), 404);
  status = 201;
  t.is(await port.createEvent('a', { note: 'x' }), 201);
  t.is(calls.at(-1)!.path, '/apis/events.orch.io/v1/namespaces/a/events');
});

test('answers and the events of watches are read in either encoding, by what they are', async (t) => {
  const podType = schemaOf(dialect).kind('', 'v1', 'Pod')!;
  const listType = schemaOf(dialect).kind('', 'v1', 'PodList')!;
  const pod = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p', namespace: 'a', resourceVersion: '7' } };
  const list = { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '9' }, items: [pod] };
  const bodies = [Buffer.from(JSON.stringify(list)), encodeEnveloped(list, listType)];
  const parts = [
    Buffer.from(JSON.stringify({ type: 'ADDED', object: pod })),
    Buffer.alloc(0),
    encodeWatchEvent('MODIFIED', encodeEnveloped(pod, podType)),
  ];
  const time = new VirtualTime();
  const accepts: (string | undefined)[] = [];
  const client = {
    async call({ accept }: ApiCall) {
      accepts.push(accept);
      return { status: 200, body: bodies.shift()! };
    },
    async parts(_: ApiCall, onPart: (part: Buffer) => void) {
      for (const part of parts) onPart(part);
      return 200;
    },
  };
  const contentType = dialect.protobufMediaType;
  const all = { client, registry, clock: time, timers: time, contentType, acceptContentTypes: '', qps: 0, burst: 0 };
  const server = new ApiServer(all);
  for (let at = 0; at < 2; at++) {
    const { object } = await server.list('/api/v1/pods');
    t.like(object, { metadata: { resourceVersion: '9' } });
    t.like((object.items as object[])[0], { metadata: pod.metadata });
  }
  t.deepEqual(accepts, [`${contentType}, application/json`, `${contentType}, application/json`]);
  const events: object[] = [];
  t.is(await server.watch('/api/v1/pods', (event) => void events.push(event), new AbortController().signal), 200);
  t.is(events.length, 2);
  t.like(events[0], { type: 'ADDED', object: { metadata: pod.metadata } });
  t.like(events[1], { type: 'MODIFIED', object: { metadata: pod.metadata } });
});

for (const [answer, end] of [
  [{ status: 201 }, { bound: true }],
  [
    { status: 404, message: 'no pod' },
    { bound: false, reason: 'gone', message: 'no pod' },
  ],
  [
    { status: 409, message: 'is bound' },
    { bound: false, reason: 'taken', message: 'is bound' },
  ],
  [{ status: 500 }, { bound: false, reason: 'failed', message: 'the server answered 500' }],
  [new ApiUnanswered('too late', true), { bound: false, reason: 'unanswered' }],
  [new ApiUnanswered('not reached', false), { bound: false, reason: 'failed', message: 'not reached' }],
] as const) {
  test(`a binding ends as the server says: ${JSON.stringify(end)}`, async (t) => {
    const { server } = recording(() => {
      if (answer instanceof Error) throw answer;
      return { status: answer.status, body: Buffer.from(JSON.stringify(answer)) };
    });
    t.deepEqual(await httpPort(server).bind([{ namespace: 'a', name: 'p', uid: 'u', node: 'n' }]), [end]);
  });
}

test('an answer to a binding that cannot be read leaves open what became of that one, and says nothing of the others', async (t) => {
  const { server } = recording(({ path }) => ({
    status: 201,
    body: path.includes('/odd/') ? Buffer.from('k8s\0not a message') : Buffer.from('{}'),
  }));
  const bindings = ['odd', 'even'].map((name) => ({ namespace: 'a', name, uid: 'u', node: 'n' }));
  t.deepEqual(await httpPort(server).bind(bindings), [{ bound: false, reason: 'unanswered' }, { bound: true }]);
});
