// The connections that services are called over: which carry another request, which are dropped, and how many there are.
import { type AddressInfo, createServer, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { NOTHING_SHOWN } from '../../transport/outgoing/connection-file.ts';
import { AnswerTooLarge } from '../../transport/outgoing/http1/answer-parser.ts';
import { ConnectionPool, TooLate } from '../../transport/outgoing/http1/connection-pool.ts';
import { ConnectionOpener, type Place } from '../../transport/outgoing/http1/open-connection.ts';

const PATIENT_MS = 240_000;
const REQUEST = {
  method: 'POST',
  url: 'http://x/',
  request: Buffer.from('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}'),
  answerBytesMax: 1000,
};
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

interface Service {
  readonly pool: ConnectionPool;
  readonly place: Place;
  /** Every connection there has been, in order. */
  readonly sockets: Socket[];
  ask(deadlineMs?: number): Promise<string>;
}

/** A service that answers each request as it is told, and a pool of connections to it. */
async function service(
  t: ExecutionContext,
  onRequest: (socket: Socket, connection: number, bytes: Buffer) => void,
): Promise<Service> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const connection = sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes) => onRequest(socket, connection, bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const opener = new ConnectionOpener(
    { url: `http://127.0.0.1:${port}`, insecure: false },
    { ...NOTHING_SHOWN, caPem: '' },
  );
  const pool = new ConnectionPool(opener);
  t.teardown(() => {
    pool.close();
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const place = { host: '127.0.0.1', port, serverName: '' };
  const ask = async (deadlineMs = PATIENT_MS): Promise<string> =>
    (await pool.exchange(place, REQUEST, deadlineMs, { use: (answer) => answer, failure: (error) => error })).text;
  return { pool, place, sockets, ask };
}

/** What a service sends, and whether the connection is used again. */
const ANSWERS: readonly (readonly [what: string, answer: string, isKept: boolean])[] = [
  ['an answer of known length', OK, true],
  ['chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n', true],
  ['an answer before the answer', `HTTP/1.1 103 Early Hints\r\n\r\n${OK}`, true],
  ['an answer that says close', OK.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'), false],
  ['more than the answer', `${OK}x`, false],
  ['an answer that is kept too shortly', OK.replace('\r\n\r\n', '\r\nKeep-Alive: timeout=1\r\n\r\n'), false],
];

for (const [what, answer, isKept] of ANSWERS) {
  test(`a connection that carried ${what} is ${isKept ? '' : 'not '}used again`, async (t) => {
    const { ask, sockets } = await service(t, (socket) => socket.write(answer));
    for (let i = 0; i < 3; i++) t.is(await ask(), 'ok');
    t.is(sockets.length, isKept ? 1 : 3);
  });
}

test('a connection on which something comes unasked is not used again', async (t) => {
  const { ask, sockets } = await service(t, (socket) => socket.write(OK));
  t.is(await ask(), 'ok');
  const [first] = sockets;
  const closed = new Promise((resolve) => first!.once('close', resolve));
  first!.write(OK);
  await closed;
  t.is(await ask(), 'ok');
  t.is(sockets.length, 2);
});

/** What a service that is asked at `/` says, and what it is asked then. */
const REDIRECTIONS: readonly (readonly [head: string, method: string, asked: string | undefined])[] = [
  ['307 \r\nLocation: /elsewhere/?a=b#c', 'POST', '/elsewhere/?a=b'],
  ['308 \r\nLocation: http://x/elsewhere', 'POST', '/elsewhere'],
  ['307 \r\nLocation: elsewhere', 'POST', '/elsewhere'],
  ['301 \r\nLocation: /elsewhere', 'GET', '/elsewhere'],
  ['301 \r\nLocation: /elsewhere', 'POST', undefined],
  ['304 \r\nLocation: /elsewhere', 'GET', undefined],
  ['200 \r\nLocation: /elsewhere', 'GET', undefined],
  ['307 \r\nLocation: http://x:81/elsewhere', 'POST', undefined],
  ['307 \r\nLocation: //y/elsewhere', 'POST', undefined],
  ['307 \r\nLocation: https://x/elsewhere', 'POST', undefined],
  ['307 \r\nLocation: http://[', 'POST', undefined],
  ['307 Moved', 'POST', undefined],
];

for (const [head, method, asked] of REDIRECTIONS) {
  const [said] = JSON.stringify(head).match(/[^"]+/)!;
  test(`a ${method} that is answered ${said} is ${asked === undefined ? 'not sent again' : `sent to ${asked}`}`, async (t) => {
    const seen: string[] = [];
    const { pool, place } = await service(t, (socket, _, bytes) => {
      seen.push(bytes.toString());
      socket.write(seen.length === 1 ? `HTTP/1.1 ${head}\r\nContent-Length: 0\r\n\r\n` : OK);
    });
    const request = (target: string): string =>
      `${method} ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}`;
    const outcome = { use: ({ status }: { status: number }) => status, failure: (error: Error) => error };
    const status = await pool.exchange(
      place,
      { ...REQUEST, method, request: Buffer.from(request('/')) },
      PATIENT_MS,
      outcome,
    );
    t.is(status, asked === undefined ? Number(head.slice(0, 3)) : 200);
    t.deepEqual(seen, [request('/'), ...(asked === undefined ? [] : [request(asked)])]);
  });
}

test('a service that redirects in circles is left at the tenth answer', async (t) => {
  let asked = 0;
  const { ask, sockets } = await service(t, (socket) => {
    asked++;
    socket.write(OK.replace('200 OK', '308 \r\nLocation: /'));
  });
  t.is(await ask(), 'ok');
  t.deepEqual([asked, sockets.length], [10, 1]);
});

test('where a redirection leads is told from where the one before it led', async (t) => {
  const asked: string[] = [];
  const { ask } = await service(t, (socket, _, bytes) => {
    asked.push(bytes.toString().split(' ', 2)[1]!);
    const next = ['/a/b', 'c', '../d'][asked.length - 1];
    socket.write(next === undefined ? OK : OK.replace('200 OK', `308 \r\nLocation: ${next}`));
  });
  t.is(await ask(), 'ok');
  t.deepEqual(asked, ['/', '/a/b', '/a/c', '/d']);
});

test('a call is told of no more than it takes, and its connection ends', async (t) => {
  const { pool, place, sockets, ask } = await service(t, (socket) => socket.write(OK));
  const outcome = { use: () => {}, failure: (error: Error) => error };
  const tooMuch = pool.exchange(place, { ...REQUEST, answerBytesMax: 1 }, PATIENT_MS, outcome);
  await t.throwsAsync(tooMuch, { instanceOf: AnswerTooLarge });
  t.is(await ask(), 'ok');
  t.is(sockets.length, 2);
});

test('an answer that is no HTTP fails its call alone', async (t) => {
  const { ask, sockets } = await service(t, (socket, connection) => socket.write(connection === 1 ? 'no\r\n\r\n' : OK));
  await t.throwsAsync(ask(), { message: 'no status line of HTTP/1' });
  t.is(await ask(), 'ok');
  t.is(sockets.length, 2);
});

test('a call that is too late ends its connection, and the next has another', async (t) => {
  const { ask, sockets } = await service(t, (socket, connection) => void (connection > 1 && socket.write(OK)));
  await t.throwsAsync(ask(50), { instanceOf: TooLate });
  t.is(await ask(), 'ok');
  t.is(sockets.length, 2);
});

test('the deadline of a call that was answered is nothing to who has its connection next', async (t) => {
  const DEADLINE_MS = 50;
  let asked = 0;
  const { ask, sockets } = await service(t, (socket) => {
    // The timer of the first call, had it one, would be before this one.
    if (++asked > 1) setTimeout(() => socket.write(OK), 2 * DEADLINE_MS);
    else socket.write(OK);
  });
  const first = await ask(DEADLINE_MS).catch(() => 'late');
  t.is(await ask(), 'ok');
  if (first === 'ok') t.is(sockets.length, 1);
});

test('a connection carries one request at a time, and there are no more than its place may have', async (t) => {
  const asked = new Map<number, number>();
  let most = 0;
  const held: (() => void)[] = [];
  const CALLS = 300;
  const CONNECTIONS = 256;
  const { ask, sockets } = await service(t, (socket, connection) => {
    asked.set(connection, (asked.get(connection) ?? 0) + 1);
    most = Math.max(most, ...asked.values());
    held.push(() => {
      asked.set(connection, asked.get(connection)! - 1);
      socket.write(OK);
    });
    // Nobody is answered until as many wait as can.
    if (held.length >= Math.min(CONNECTIONS, CALLS - answered)) {
      answered += held.length;
      for (const answer of held.splice(0)) answer();
    }
  });
  let answered = 0;
  const texts = await Promise.all(Array.from({ length: CALLS }, () => ask()));
  t.true(texts.every((text) => text === 'ok'));
  t.is(sockets.length, CONNECTIONS);
  t.is(most, 1);
});

test('a pool that is retired finishes what is under way and keeps no connection', async (t) => {
  let release = (): void => {};
  let isAsked = (): void => {};
  const begun = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  const { ask, pool, sockets } = await service(t, (socket) => {
    release = () => void socket.write(OK);
    isAsked();
  });
  const asked = ask();
  await begun;
  pool.retire();
  const closed = new Promise((resolve) => sockets[0]!.once('close', resolve));
  release();
  t.is(await asked, 'ok');
  await closed;
});

test('a pool that is closed fails what is under way', async (t) => {
  let isAsked = (): void => {};
  const begun = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  const { ask, pool } = await service(t, () => isAsked());
  const asked = ask();
  await begun;
  pool.close();
  await t.throwsAsync(asked, { code: 'ECONNRESET' });
});
