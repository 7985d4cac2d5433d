// When the end of an answer goes out whose audit event is waited for.
import test from 'ava';
import type { UnreadAuditEvent } from '../../../../actors/audit/protocol.ts';
import type { Held } from '../../../../actors/auditing/audit-event-groups.ts';
import { RequestAudit, type RequestAuditParts } from '../../../../actors/auditing/request-audit.ts';
import { HeldBytes, HeldResponse } from '../../../../actors/ingress/audit/held-response.ts';
import type { HttpResponse } from '../../../../transport/http.ts';

/** A held response, and what has gone out of it. */
const HEADER = ['Audit-Id', 'a'] as const;

function held(bytes = new HeldBytes()) {
  const sent: string[] = [];
  const headersSent: unknown[] = [];
  const text = (bytes: Uint8Array | string | undefined): string => Buffer.from(bytes ?? '').toString();
  const response = {
    aborted: false,
    respond: (status: number, headers: unknown, body: Uint8Array | string) => {
      headersSent.push(headers);
      sent.push(`${status} ${text(body)}`);
    },
    start: (status: number, headers: unknown) => {
      headersSent.push(headers);
      sent.push(`start ${status}`);
    },
    write: (bytes: Uint8Array) => sent.push(text(bytes)) > 0,
    end: (last?: Uint8Array) => void sent.push(`end ${text(last)}`),
    abort: () => void sent.push('abort'),
  } as unknown as HttpResponse;
  const flush = (): void => void sent.push('flush');
  return { response: new HeldResponse(response, bytes, HEADER, flush), sent, headersSent };
}

test('a whole answer is held back as it was given, and goes out once', (t) => {
  const { response, sent } = held();
  const lent = Buffer.from('body');
  response.respond(200, [], lent);
  lent.fill('x');
  t.deepEqual(sent, []);
  response.release();
  response.release();
  t.deepEqual(sent, ['200 body']);
});

test('of an answer in pieces the end alone is held back', (t) => {
  const { response, sent } = held();
  response.start(200, []);
  response.write(Buffer.from('one'));
  response.end(Buffer.from('last'));
  t.deepEqual(sent, ['flush', 'start 200', 'one']);
  response.release();
  t.deepEqual(sent, ['flush', 'start 200', 'one', 'end last']);
});

test('every answer has the header beside its own', (t) => {
  const [whole, inPieces, late] = [held(), held(), held()];
  whole.response.respond(200, [['A', '1']], 'body');
  whole.response.release();
  inPieces.response.start(200, [['A', '1']]);
  late.response.release();
  late.response.respond(200, [['A', '1']], 'body');
  for (const { headersSent } of [whole, inPieces, late]) t.deepEqual(headersSent, [[['A', '1'], HEADER]]);
});

test('what is not an end of an answer goes through as it is, in both directions', (t) => {
  const calls: unknown[][] = [];
  const passed =
    (name: string, answer?: unknown) =>
    (...given: unknown[]): unknown => {
      calls.push([name, ...given]);
      return answer;
    };
  const names = ['start', 'startWebSocket', 'onAborted', 'onDrained'] as const;
  const below = { ...Object.fromEntries(names.map((name) => [name, passed(name)])), write: passed('write', false) };
  const connection = { ...below, aborted: true } as unknown as HttpResponse;
  const response = new HeldResponse(connection, new HeldBytes(), HEADER, () => void calls.push(['flush']));
  t.true(response.aborted);
  const [onAborted, onDrained, bytes] = [() => {}, () => {}, Buffer.from('x')];
  const framing = {} as Parameters<HttpResponse['startWebSocket']>[1];
  response.onAborted(onAborted);
  response.onDrained(onDrained);
  response.start(200, [], true);
  response.startWebSocket('channel', framing);
  t.false(response.write(bytes), 'the socket is full');
  t.deepEqual(calls, [
    ['onAborted', onAborted],
    ['onDrained', onDrained],
    ['flush'],
    ['start', 200, [HEADER], true],
    ['flush'],
    ['startWebSocket', 'channel', framing],
    ['write', bytes],
  ]);
});

test('nothing is held back of an answer that was let go before, nor of one that was cut off', (t) => {
  const free = held();
  free.response.release();
  free.response.respond(404, [], 'gone');
  free.response.end();
  t.deepEqual(free.sent, ['404 gone', 'end ']);
  const cut = held();
  cut.response.respond(200, [], 'body');
  cut.response.abort();
  cut.response.release();
  t.deepEqual(cut.sent, ['abort']);
});

test('answers that are held at the same time keep their bytes, however many and however long', (t) => {
  const bytes = new HeldBytes();
  const bodies = [...Array.from({ length: 50 }, (_, at) => `${at} `.repeat(9000)), 'long'.repeat(500_000)];
  for (const round of ['first', 'second']) {
    const all = bodies.map((body) => {
      const one = held(bytes);
      const lent = Buffer.from(round + body);
      one.response.respond(200, [], lent);
      lent.fill('x');
      return one;
    });
    all[7]!.response.abort();
    for (const { response } of all) response.release();
    const sent = bodies.map((body, at) => (at === 7 ? ['abort'] : [`200 ${round}${body}`]));
    t.true(all.every((one, at) => one.sent.join() === sent[at]!.join()));
  }
});

test('an answer that is held keeps its bytes while others go and come', (t) => {
  const bytes = new HeldBytes();
  const [text, cut, kept, late] = [held(bytes), held(bytes), held(bytes), held(bytes)];
  text.response.respond(200, [], 'text');
  cut.response.respond(200, [], Buffer.from('cut off'));
  kept.response.respond(200, [], Buffer.from('kept'));
  text.response.release();
  cut.response.abort();
  cut.response.release();
  late.response.respond(200, [], Buffer.from('a long one that comes late'));
  kept.response.release();
  late.response.release();
  t.deepEqual([kept.sent, late.sent], [['200 kept'], ['200 a long one that comes late']]);
});

test('where nobody holds any bytes they lie where the first did', (t) => {
  const bytes = new HeldBytes();
  const first = bytes.hold(Buffer.from('first'));
  const second = bytes.hold(Buffer.from('second'));
  t.is(second.buffer, first.buffer);
  bytes.giveBack();
  bytes.giveBack();
  const again = bytes.hold(Buffer.from('again'));
  t.deepEqual([again.buffer === first.buffer, again.byteOffset], [true, first.byteOffset]);
});

/** A request that is recorded, with what its event does when it has been taken. */
function recorded(more: Partial<RequestAuditParts>) {
  const settle: (Held | undefined)[] = [];
  let released = 0;
  const parts = {
    omitStages: [],
    request: { level: 'Metadata', auditID: 'a', verb: 'get', receivedMs: 0 },
    isRefused: false,
    isLongRunning: false,
    requestBody: undefined,
    responseBody: undefined,
    held: {
      release: () => {
        released++;
      },
    },
    taker: {
      nowMs: () => 5,
      send: (_event: UnreadAuditEvent, held?: Held) => void settle.push(held),
      keep: () => undefined,
    },
    ...more,
  } as unknown as RequestAuditParts;
  const audit = new RequestAudit(parts);
  return { audit, settle, released: () => released };
}

test('the end of an answer waits until its event has come to something', (t) => {
  const { audit, settle, released } = recorded({});
  audit.started(200);
  audit.ended();
  t.is(released(), 0);
  for (const held of settle) held?.release();
  t.is(released(), 1);
});

test('the end of an answer that has no event waits for nothing', (t) => {
  const { audit, released } = recorded({ omitStages: ['ResponseComplete'] });
  audit.started(200);
  audit.ended();
  t.is(released(), 1);
});

test('the end of an answer whose request has no time left waits for nothing, and is recorded', (t) => {
  for (const leftMs of [0, -1]) {
    const { audit, settle, released } = recorded({});
    audit.started(504);
    audit.ended(leftMs);
    t.is(released(), 1);
    t.deepEqual(settle, [undefined]);
  }
});

test('an answer that came before the body goes out before the body', async (t) => {
  let arrive: (body: undefined) => void = () => {};
  const requestBody = new Promise<undefined>((resolve) => {
    arrive = resolve;
  });
  const early = recorded({ requestBody });
  early.audit.started(403);
  early.audit.ended();
  t.is(early.released(), 1);
  arrive(undefined);
  await requestBody;
  const late = recorded({ requestBody });
  await requestBody;
  late.audit.started(201);
  late.audit.ended();
  t.is(late.released(), 0);
  await requestBody;
  for (const held of late.settle) held?.release();
  t.is(late.released(), 1);
});
