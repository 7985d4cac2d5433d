// Calls of extension servers for this server's own controllers: what is sent and read, and that they end, whatever takes the time.
import test from 'ava';
import type { Backends } from '../../../../actors/ingress/aggregation/backends.ts';
import { accepted, jsonOf, messageIn, RemoteCalls } from '../../../../actors/ingress/aggregation/remote-calls.ts';
import type { RemoteApiService } from '../../../../api/aggregation/api-service.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { type AgentTarget, AgentUnreachable } from '../../../../transport/outgoing/agent-address.ts';
import { VirtualTime } from '../../controllers/virtual-time.ts';

/** Calls of a server that takes so long to be found, and never answers. */
function callsOf(time: VirtualTime, findMs: number): RemoteCalls {
  const send = (_target: AgentTarget, _request: object, onSent: (cancel: () => void) => void): Promise<never> =>
    new Promise((_resolve, reject) => onSent(() => reject(new Error('cancelled'))));
  const of = async () => {
    if (findMs > 0) await new Promise<void>((resolve) => time.timers.after(findMs, resolve));
    return { client: { send }, target: {} };
  };
  const { clock, timers } = time;
  const parts = { backends: { of } as unknown as Backends, dialect: DIALECTS.orch, clock, timers, audit: undefined };
  return new RemoteCalls(parts, 'namespace-controller', 60_000);
}

for (const findMs of [0, 9000, 11_000]) {
  test(`a server that is found after ${findMs} ms and never answers is given up`, async (t) => {
    const time = new VirtualTime();
    let outcome = '';
    void callsOf(time, findMs)
      .call({} as RemoteApiService, { method: 'GET', path: '/apis' })
      .catch((error: Error) => {
        outcome = error.message;
      });
    await time.advance(12_000);
    t.is(outcome, 'GET /apis was not answered in time');
  });
}

type Sent = Readonly<{ method: string; path: string; headers: readonly (readonly [string, string])[] }>;

/** Calls of a server that answers each request with the next of these: a status and a text, or why not. `ms`: for all of them. */
function answering(answers: (readonly [number, string] | Error)[], ms = 60_000) {
  const time = new VirtualTime();
  const sent: Sent[] = [];
  const send = async (_target: AgentTarget, request: Sent) => {
    sent.push(request);
    const answer = answers.shift()!;
    if (answer instanceof Error) throw answer;
    return { status: answer[0], headers: [], text: async () => answer[1] };
  };
  const backends = { of: async () => ({ client: { send }, target: {} }) } as unknown as Backends;
  const parts = { backends, dialect: DIALECTS.orch, clock: time.clock, timers: time.timers, audit: undefined };
  return { calls: new RemoteCalls(parts, 'namespace-controller', ms), sent, time };
}

const SERVER = { name: 'v1.a.b', group: 'a.b', version: 'v1', isAvailable: true } as RemoteApiService;
const ACCOUNT = [
  ['x-remote-user', 'system:serviceaccount:orch-system:namespace-controller'],
  ['x-remote-group', 'system:serviceaccounts'],
  ['x-remote-group', 'system:serviceaccounts:orch-system'],
  ['x-remote-group', 'system:authenticated'],
] as const;

test('an extension server is told who asks, in which form, and of a body what it is', async (t) => {
  const { calls, sent, time } = answering([
    [200, 'a'],
    [200, 'b'],
    [200, 'c'],
    [200, 'd'],
  ]);
  t.deepEqual(await calls.call(SERVER, { method: 'GET', path: '/a' }), { status: 200, text: 'a' });
  await calls.call(SERVER, { method: 'GET', path: '/b', shape: 'names' });
  await calls.call(SERVER, { method: 'DELETE', path: '/c', body: '{}' });
  await calls.call(SERVER, { method: 'PATCH', path: '/d', body: '{}' });
  t.deepEqual(
    sent.map(({ method, path, headers }) => [method, path, ...headers.map((header) => header.join(': '))]),
    [
      ['GET', '/a', 'accept: application/json'],
      ['GET', '/b', 'accept: application/json;as=PartialObjectMetadataList;g=meta.orch.io;v=v1,application/json'],
      ['DELETE', '/c', 'accept: application/json', 'content-type: application/json'],
      ['PATCH', '/d', 'accept: application/json', 'content-type: application/merge-patch+json'],
    ].map((words) => [...words, ...ACCOUNT.map((header) => header.join(': '))]),
  );
  t.is(time.timersWaiting, 0);
});

test('a call is sent again where its connection turns out to be closed, three times in all, and for no other reason', async (t) => {
  const stale = (): Error => new AgentUnreachable('closed', true);
  const call = { method: 'GET', path: '/a' } as const;
  const third = answering([stale(), stale(), [200, 'a']]);
  t.like(await third.calls.call(SERVER, call), { text: 'a' });
  const fourth = answering([stale(), stale(), stale(), [200, 'a']]);
  await t.throwsAsync(fourth.calls.call(SERVER, call), { message: 'closed' });
  const refused = answering([new AgentUnreachable('refused'), [200, 'a']]);
  await t.throwsAsync(refused.calls.call(SERVER, call), { message: 'refused' });
  const broken = answering([new Error('broken'), [200, 'a']]);
  await t.throwsAsync(broken.calls.call(SERVER, call), { message: 'broken' });
  t.deepEqual(
    [third, fourth, refused, broken].map(({ sent }) => sent.length),
    [3, 3, 1, 1],
  );
});

test('calls end together when the time for all of them is over', async (t) => {
  const { calls, sent, time } = answering([[200, 'a']], 1000);
  await calls.call(SERVER, { method: 'GET', path: '/a' });
  await time.advance(1000);
  await t.throwsAsync(calls.call(SERVER, { method: 'GET', path: '/b' }), { message: 'there was no time left' });
  t.is(sent.length, 1);
});

test('the types of a server are the rows of its discovery document, without what is below them', async (t) => {
  const resources = [{ name: 'as' }, { name: 'as/status' }, { name: 'b.c' }, {}, { name: 'ds', kind: 'D' }];
  const { calls, sent } = answering([
    [200, JSON.stringify({ kind: 'APIResourceList', resources })],
    [200, JSON.stringify({ resources: Array.from({ length: 501 }, (_, index) => ({ name: `a${index}` })) })],
    [200, '{"kind":"Status"}'],
    [200, 'no JSON'],
    [404, '{"message":"no such group"}'],
  ]);
  t.deepEqual(await calls.types(SERVER), [{ name: 'as' }, { name: 'ds', kind: 'D' }]);
  t.is(sent[0]?.path, '/apis/a.b/v1');
  t.is((await calls.types(SERVER)).length, 500);
  for (const message of [
    'the server answered no list of its types',
    'the server answered what is no JSON',
    'no such group',
  ])
    await t.throwsAsync(calls.types(SERVER), { message });
  await t.throwsAsync(calls.types({ ...SERVER, isAvailable: false }), { message: /^the server is currently unable/ });
  t.is(sent.length, 5);
});

test('an answer that is an error throws what it says, shortly', (t) => {
  const thrown = (status: number, text: string): string => t.throws(() => accepted({ status, text }))!.message;
  t.deepEqual(accepted({ status: 299, text: 'a' }), { status: 299, text: 'a' });
  t.is(thrown(199, ''), 'the server answered 199');
  t.is(thrown(300, 'no JSON'), 'the server answered 300');
  t.is(thrown(403, '{"message":"no"}'), 'no');
  t.is(thrown(500, JSON.stringify({ message: 'a'.repeat(201) })), 'a'.repeat(200));
  t.is(thrown(503, '{"message":"no"}'), 'the server is currently unable to handle the request');
  t.is(messageIn('{"message":7}'), '');
  t.deepEqual(jsonOf({ status: 200, text: '{"a":1}' }), { a: 1 });
});
