// WebSockets, as every listener must serve them: the handshake, messages out, what a client may send and may not, full
// sockets and closes.
import type { RequestHandler } from '../../transport/http.ts';
import type { MessageFraming } from '../../transport/websocket/handshake.ts';
import { clientFrame, handshake, WebSocketReader } from '../server/web-socket-client.ts';
import { eventually, type RawClient } from './listener-client.ts';
import { ENDLESS_ANSWERS, get, JSON_HEADERS, pattern, type Served, Taken } from './listener-fixture.ts';

const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
const NORMAL = 1000;
const NOTHING = Buffer.alloc(0);
/** More than the kernel buffers for one loopback connection. */
const ENDLESS_EVENTS = 64;
const LARGE_EVENT_BYTES = 1024 * 1024;
/** More than any socket takes at once. */
const LONG_EVENT_BYTES = 8 * LARGE_EVENT_BYTES;

/** Takes WebSocket requests for the test, and answers others with whether they ask for one. */
class Sockets extends Taken {
  accepting(framing: MessageFraming = 'lines', protocol = ''): RequestHandler {
    const take = this.taking((response) => response.startWebSocket(protocol, framing));
    return (request, response) => {
      if (request.isWebSocket && request.path === '/watch') take(request, response);
      else response.respond(200, JSON_HEADERS, String(request.isWebSocket));
    };
  }
}

/** Opens a WebSocket over the client's connection. */
async function open(client: RawClient, ...headers: string[]): Promise<WebSocketReader & { readonly accept: string }> {
  const { headers: own, accept } = handshake();
  const reader = new WebSocketReader(client.socket);
  client.send(get('/watch', ...own, ...headers));
  await reader.until(({ head }) => head !== '');
  return Object.assign(reader, { accept });
}

const lines = (...texts: string[]): Uint8Array => Buffer.from(texts.map((text) => `${text}\n`).join(''));

function lengths(...messages: Uint8Array[]): Buffer {
  return Buffer.concat(
    messages.flatMap((message) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(message.length);
      return [length, message];
    }),
  );
}

export function webSocketTests(served: Served): void {
  handshakeTests(served);
  messageTests(served);
  drainTests(served);
  clientFrameTests(served);
  endTests(served);
}

function handshakeTests(served: Served): void {
  const sockets = new Sockets();

  served('a WebSocket request is answered 101 with the accept of its key', sockets.accepting(), async (t, client) => {
    const reader = await open(client);
    t.regex(reader.head, /^HTTP\/1\.1 101 /);
    t.regex(reader.head, /^Upgrade: websocket$/im);
    t.regex(reader.head, /^Connection: Upgrade$/im);
    t.true(reader.head.includes(`\r\nSec-WebSocket-Accept: ${reader.accept}`));
    t.notRegex(reader.head, /Sec-WebSocket-Protocol|Sec-WebSocket-Extensions/i);
    await sockets.next();
  });

  served('the protocol that was chosen is named', sockets.accepting('lines', 'two'), async (t, client) => {
    const reader = await open(client, 'Sec-WebSocket-Protocol: one, two');
    t.regex(reader.head, /^Sec-WebSocket-Protocol: two$/im);
    await sockets.next();
  });

  served('a handler may answer a WebSocket request like any other', sockets.accepting(), async (t, client) => {
    const { headers } = handshake();
    const reader = new WebSocketReader(client.socket);
    client.send(get('/other', ...headers));
    await reader.until(({ head, body }) => head !== '' && body.includes('true'));
    t.regex(reader.head, /^HTTP\/1\.1 200 /);
  });

  const malformed: readonly (readonly [what: string, change: (headers: readonly string[]) => readonly string[]])[] = [
    ['another version', (headers) => headers.map((line) => line.replace('Version: 13', 'Version: 8'))],
    ['no key', (headers) => headers.filter((line) => !line.startsWith('Sec-WebSocket-Key'))],
    ['a short key', (headers) => headers.map((line) => line.replace(/Key: .*/, 'Key: AAAA'))],
    ['no upgrade in Connection', (headers) => headers.map((line) => line.replace(', Upgrade', ''))],
    ['another protocol to upgrade to', (headers) => headers.map((line) => line.replace('WebSocket', 'h2c'))],
  ];
  for (const [what, change] of malformed) {
    served(`a handshake with ${what} is an ordinary request`, sockets.accepting(), async (t, client) => {
      client.send(get('/watch', ...change(handshake().headers)));
      const { status, body } = await client.answer();
      t.is(status, 200);
      t.is(body.toString(), 'false');
    });
  }
}

function messageTests(served: Served): void {
  const sockets = new Sockets();

  served('each line of a chunk is a text message', sockets.accepting(), async (t, client) => {
    const reader = await open(client);
    const response = await sockets.next();
    response.write(lines('{"a":1}', '{"b":"é"}'));
    response.write(lines('{"c":3}'));
    await reader.until(({ frames }) => frames.length === 3);
    t.deepEqual(
      reader.frames.map(({ final, opcode, masked, payload }) => [final, opcode, masked, payload.toString()]),
      ['{"a":1}\n', '{"b":"é"}\n', '{"c":3}\n'].map((text) => [true, TEXT, false, text]),
    );
  });

  served('what is behind each length is a binary message', sockets.accepting('lengths'), async (t, client) => {
    const reader = await open(client);
    const response = await sockets.next();
    const messages = [0, 1, 125, 126, 127, 65_535, 65_536, 200_000].map((length, seed) => pattern(length, seed));
    response.write(lengths(...messages));
    await reader.until(({ frames }) => frames.length === messages.length);
    for (const [i, frame] of reader.frames.entries()) {
      t.is(frame.opcode, BINARY);
      t.true(frame.payload.equals(messages[i]!));
    }
  });

  served(
    'a full socket says so, and later that it has room; nothing is lost',
    sockets.accepting(),
    async (t, client) => {
      const reader = await open(client);
      const response = await sockets.next();
      let drained = 0;
      response.onDrained(() => {
        drained++;
      });
      client.socket.pause();
      const filler = 'x'.repeat(LARGE_EVENT_BYTES);
      let sent = 0;
      while (sent < ENDLESS_EVENTS && response.write(lines(`${sent} ${filler}`))) sent++;
      t.true(sent < ENDLESS_EVENTS);
      sent++;
      t.is(drained, 0);
      client.socket.resume();
      await reader.until(({ frames }) => frames.length === sent);
      await eventually(() => drained > 0);
      t.deepEqual(
        reader.frames.map(({ payload }) => Number.parseInt(payload.toString('latin1', 0, 3), 10)),
        Array.from({ length: sent }, (_, i) => i),
      );
      t.true(response.write(lines('last')));
      await reader.until(({ frames }) => frames.length === sent + 1);
    },
  );
}

function drainTests(served: Served): void {
  const sockets = new Sockets();

  served(
    'a long message written as soon as the socket has drained arrives, and the socket drains again',
    sockets.accepting(),
    async (t, client) => {
      const reader = await open(client);
      const response = await sockets.next();
      client.socket.pause();
      let sent = 0;
      const fill = (): void => {
        while (response.write(lines(`${sent++} ${'x'.repeat(LONG_EVENT_BYTES)}`)));
      };
      let drains = 0;
      response.onDrained(() => {
        if (++drains < 3) fill();
      });
      fill();
      client.socket.resume();
      await eventually(() => drains >= 3);
      await reader.until(({ frames }) => frames.length === sent);
      t.deepEqual(
        reader.frames.map(({ payload }) => Number.parseInt(payload.toString('latin1', 0, 3), 10)),
        Array.from({ length: sent }, (_, i) => i),
      );
    },
  );
}

function clientFrameTests(served: Served): void {
  const sockets = new Sockets();

  served('a ping is answered, and data from the client is passed over', sockets.accepting(), async (t, client) => {
    const reader = await open(client);
    const response = await sockets.next();
    client.send(clientFrame(TEXT, Buffer.from('hello')));
    client.send(clientFrame(BINARY, pattern(1000), { final: false }));
    client.send(clientFrame(PING, Buffer.from('between')));
    client.send(clientFrame(0, pattern(40_000)));
    for (const byte of clientFrame(PING, Buffer.from('slowly'))) client.send(Buffer.of(byte));
    await reader.until(({ frames }) => frames.length === 2);
    t.deepEqual(
      reader.frames.map(({ opcode, payload }) => [opcode, payload.toString()]),
      [
        [PONG, 'between'],
        [PONG, 'slowly'],
      ],
    );
    response.write(lines('still here'));
    await reader.until(({ frames }) => frames.length === 3);
  });

  const forbidden: readonly (readonly [what: string, frame: () => Buffer])[] = [
    ['with a reserved bit', () => clientFrame(TEXT, Buffer.from('x'), { reserved: 0x40 })],
    ['of an unknown kind', () => clientFrame(3, Buffer.from('x'))],
    ['that continues nothing', () => clientFrame(0, Buffer.from('x'))],
    ['that is a ping in parts', () => clientFrame(PING, Buffer.from('x'), { final: false })],
    ['that is a ping of 126 bytes', () => clientFrame(PING, pattern(126))],
    ['of 64 KiB and a byte', () => clientFrame(BINARY, pattern(64 * 1024 + 1))],
    [
      'that begins a message inside another',
      () => Buffer.concat([clientFrame(TEXT, NOTHING, { final: false }), clientFrame(TEXT, NOTHING)]),
    ],
  ];
  for (const [what, frame] of forbidden) {
    served(`a client that sends a frame ${what} is let go`, sockets.accepting(), async (t, client) => {
      const reader = await open(client);
      const response = await sockets.next();
      let gone = 0;
      response.onAborted(() => gone++);
      client.send(frame());
      await eventually(() => gone > 0 && reader.isClosed);
      t.is(gone, 1);
      t.true(response.aborted);
      t.false(response.write(lines('late')));
    });
  }
}

function endTests(served: Served): void {
  const sockets = new Sockets();

  served('the end closes in order, behind the last message', sockets.accepting(), async (t, client, listener) => {
    const reader = await open(client);
    const response = await sockets.next();
    let gone = 0;
    response.onAborted(() => gone++);
    response.end(lines('last'));
    await reader.until(({ frames }) => frames.length === 2);
    const [last, close] = reader.frames;
    t.is(last!.payload.toString(), 'last\n');
    t.is(close!.opcode, CLOSE);
    t.is(close!.payload.readUInt16BE(0), NORMAL);
    client.send(clientFrame(CLOSE, close!.payload));
    await eventually(() => reader.isClosed && listener.openConnections === 0);
    t.is(gone, 0);
  });

  served('a client that closes is answered, and is gone', sockets.accepting(), async (t, client, listener) => {
    const reader = await open(client);
    const response = await sockets.next();
    let gone = 0;
    response.onAborted(() => gone++);
    client.send(clientFrame(CLOSE, Buffer.of(0x03, 0xe8)));
    await reader.until(({ frames }) => frames.some(({ opcode }) => opcode === CLOSE));
    await eventually(() => gone === 1);
    client.close();
    await eventually(() => listener.openConnections === 0);
    t.true(response.aborted);
  });

  served('a client that vanishes is noticed', sockets.accepting(), async (t, client, listener) => {
    await open(client);
    const response = await sockets.next();
    let gone = 0;
    response.onAborted(() => gone++);
    client.close();
    await eventually(() => gone === 1 && listener.openConnections === 0);
    t.true(response.aborted);
    response.end();
  });

  served('an abort cuts the connection without a close', sockets.accepting(), async (t, client) => {
    const reader = await open(client);
    const response = await sockets.next();
    response.abort();
    await eventually(() => reader.isClosed);
    t.true(response.aborted);
    t.deepEqual(reader.frames, []);
  });

  served(
    'closing the listener ends WebSockets',
    sockets.accepting(),
    async (t, client, listener) => {
      const reader = await open(client);
      const response = await sockets.next();
      await listener.close();
      await eventually(() => reader.isClosed && response.aborted);
      t.is(listener.openConnections, 0);
    },
    ENDLESS_ANSWERS,
  );
}
