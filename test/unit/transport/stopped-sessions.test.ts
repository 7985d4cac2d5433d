// Sessions of HTTP/2 on which nothing can go out any more, made by what their clients send: the frames are written here by hand.
import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, connect, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { StoppedSessions } from '../../../transport/node/stopped-sessions.ts';

const LOOK_INTERVAL_MS = 50;

const HEAD_BYTES = 9;
const HEADERS = 1;
const SETTINGS = 4;
const PING = 6;
const PING_BYTES = 8;
const WINDOW_UPDATE = 8;
const END_OF_STREAM_AND_HEADERS = 5;
const ACKNOWLEDGED = 1;
/** GET, https and / by their numbers in HPACK's table, and an authority. */
const GET = Buffer.from([0x82, 0x87, 0x84, 0x41, 1, 0x61]);
/** The largest window of streams (SETTINGS_INITIAL_WINDOW_SIZE). */
const WIDE_STREAMS = Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff]);

function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A server whose sessions are looked at. */
async function served(t: ExecutionContext): Promise<Http2Server> {
  const stopped = new StoppedSessions(LOOK_INTERVAL_MS);
  const server = createServer();
  server.on('session', (session) => {
    session.on('error', () => {});
    stopped.add(session);
  });
  server.on('sessionError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close());
  return server;
}

interface Watched {
  readonly client: Socket;
  readonly stream: ServerHttp2Stream;
}

/** A client's session with one answer that goes on, as a watch does. */
async function watched(t: ExecutionContext, server: Http2Server): Promise<Watched> {
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  t.teardown(() => void client.destroy());
  client.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(SETTINGS, 0, 0)]));
  client.write(frame(HEADERS, END_OF_STREAM_AND_HEADERS, 1, GET));
  const [stream] = (await once(server, 'stream')) as [ServerHttp2Stream];
  stream.on('error', () => {});
  stream.respond({ ':status': 200 });
  stream.write('{}\n');
  await once(client, 'data');
  return { client, stream };
}

/** Resolves when a client that answers what it is asked has been asked twice: the server has looked four times by then. */
function askedTwice({ client }: Watched): Promise<void> {
  let asked = 0;
  return new Promise((resolve) => {
    client.on('data', (bytes: Buffer) => {
      if (bytes.readUInt8(3) !== PING || bytes.readUInt8(4) === ACKNOWLEDGED) return;
      client.write(frame(PING, ACKNOWLEDGED, 0, bytes.subarray(HEAD_BYTES, HEAD_BYTES + PING_BYTES)));
      if (++asked === 2) resolve();
    });
  });
}

test('the connection of a client of HTTP/2 whose frame could not be read ends, with the watches on it', async (t) => {
  const { client, stream } = await watched(t, await served(t));
  client.resume();
  // Newer Nodes tell the stream of an error first.
  const areOver = [client, stream].map((one) => new Promise((resolve) => one.once('close', resolve)));
  client.write(frame(PING, 0, 0, Buffer.alloc(PING_BYTES - 1)));
  await Promise.all(areOver);
  t.true(stream.destroyed);
});

test('a client of HTTP/2 that is quiet stays, and so does one that stands still with much to read', async (t) => {
  const server = await served(t);
  const still = await watched(t, server);
  still.client.pause();
  still.client.write(
    Buffer.concat([frame(SETTINGS, 0, 0, WIDE_STREAMS), frame(WINDOW_UPDATE, 0, 0, Buffer.from([0x7f, 0, 0, 0]))]),
  );
  await once(still.stream.session!, 'remoteSettings');
  still.stream.write(Buffer.alloc(32 * 1024 * 1024));
  const quiet = await watched(t, server);
  await askedTwice(quiet);
  t.false(quiet.stream.destroyed);
  t.false(still.stream.destroyed);
});
