// The client of etcd against a member that answers as it is told to: what it sends, and what it makes of odd answers.
import { once } from 'node:events';
import { createServer, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { PassThrough, type Readable } from 'node:stream';
import test, { type ExecutionContext } from 'ava';
import type { Timers } from '../../runtime/environment.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { VirtualTime } from '../../runtime/simulation/virtual-time.ts';
import { EtcdClient } from '../../storage/etcd/etcd-client.ts';
import { FRAME_HEAD_BYTES } from '../../storage/etcd/etcd-messages.ts';
import { WireWriter } from '../../storage/etcd/etcd-wire.ts';

/** Timers of the environment alone keep no process alive. */
const alive = setInterval(() => {}, 60_000);
test.after.always(() => clearInterval(alive));

interface Asked {
  readonly method: string;
  readonly token: string | undefined;
}

/** `status` other than 0: why not; `isPlain`: not percent-encoded. `pieces`: the whole message, when it comes. */
type Answer =
  | { readonly message: Buffer }
  | { readonly pieces: Readable }
  | { readonly status: number; readonly text: string; readonly isPlain?: boolean };

interface Member {
  readonly client: EtcdClient;
  readonly asked: readonly Asked[];
  /** Connections that there were. */
  readonly sessions: readonly Http2Session[];
}

function framed(write: (message: WireWriter) => void = () => {}): Buffer {
  const message = new WireWriter(FRAME_HEAD_BYTES);
  write(message);
  const bytes = message.finish();
  bytes[0] = 0;
  bytes.writeUInt32BE(bytes.length - FRAME_HEAD_BYTES, 1);
  return bytes;
}

function give(stream: ServerHttp2Stream, answer: Answer): void {
  const [status, text] = 'status' in answer ? [answer.status, answer.text] : [0, ''];
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  const told = 'isPlain' in answer ? text : encodeURI(text);
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status, 'grpc-message': told }));
  if ('pieces' in answer) answer.pieces.pipe(stream);
  else stream.end('message' in answer ? answer.message : undefined);
}

/** A member and a client of it. `answer`: by what was asked, each with its number. */
async function member(
  t: ExecutionContext,
  answer: (asked: Asked, number: number) => Answer,
  { timers = realEnvironment.timers, name = 'orch' }: { readonly timers?: Timers; readonly name?: string } = {},
): Promise<Member> {
  const asked: Asked[] = [];
  const sessions: Http2Session[] = [];
  const server = createServer();
  server.on('session', (session) => sessions.push(session));
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    const { token, ':path': path } = headers;
    const one = { method: String(path).split('.').at(-1)!, token: token === undefined ? undefined : String(token) };
    stream.resume();
    stream.on('end', () => give(stream, answer(one, asked.push(one))));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const known = name === '' ? {} : { name, password: 'secret' };
  const client = new EtcdClient({ servers: [`http://127.0.0.1:${port}`], ...known }, timers);
  t.teardown(() => {
    client.close();
    for (const session of sessions) session.destroy();
    server.close();
  });
  return { client, asked, sessions };
}

const AUTHENTICATE = 'Auth/Authenticate';
const tokenOf = (token: string): Answer => ({ message: framed((message) => message.bytes(2, token)) });

for (const [status, text] of [
  [16, 'etcdserver: invalid auth token'],
  [3, 'etcdserver: revision of auth store is old'],
] as const) {
  test(`a call whose token is refused with "${text}" may be asked again, and is with another token on the same connection`, async (t) => {
    const { client, asked, sessions } = await member(t, ({ method, token }, number) => {
      if (method === AUTHENTICATE) return tokenOf(`t${number}`);
      return token === 't1' ? { status, text } : { message: framed() };
    });
    t.like(await t.throwsAsync(client.range({ key: 'a' })), { kind: 'unknown', message: text });
    t.like(await client.range({ key: 'a' }), { pairs: [] });
    t.deepEqual(
      asked.map(({ method, token }) => [method, token]),
      [
        [AUTHENTICATE, undefined],
        ['KV/Range', 't1'],
        [AUTHENTICATE, undefined],
        ['KV/Range', 't3'],
      ],
    );
    t.is(sessions.length, 1);
  });
}

test('what a proxy before etcd says with a per cent sign of its own is told as it is', async (t) => {
  const text = 'upstream at 100% of its connections';
  const { client } = await member(t, () => ({ status: 14, text, isPlain: true }), { name: '' });
  t.like(await t.throwsAsync(client.range({ key: 'a' })), { kind: 'unknown', message: text });
});

test('a watch on a client that is closed ends with that', async (t) => {
  const { client } = await member(t, () => ({ message: framed() }), { name: '' });
  client.close();
  const error = await new Promise((resolve) => client.watch('a', 'b', 1, { onEvents: () => {}, onEnd: resolve }));
  t.like(error, { kind: 'unknown', message: 'the client is closed' });
});

test('a connection that is ended while it is being made ends what was asked on it, and nothing else', async (t) => {
  const { client } = await member(t, () => ({ message: framed() }), { name: '' });
  const given = t.throwsAsync(client.range({ key: 'a' }));
  // So many that it has begun, and nothing of the network has been heard yet.
  for (let turn = 0; turn < 5; turn++) await undefined;
  client.close();
  t.like(await given, { kind: 'unknown' });
  // Node says even then that it is connected: it has by the time that another is.
  const other = await member(t, () => ({ message: framed() }), { name: '' });
  t.like(await other.client.range({ key: 'a' }), { pairs: [] });
});

test('who knows a name goes without where etcd asks for none, and by it as soon as it does', async (t) => {
  let isEnabled = false;
  const { client, asked } = await member(t, ({ method, token }) => {
    if (!isEnabled && method === AUTHENTICATE) return { status: 9, text: 'etcdserver: authentication is not enabled' };
    if (method === AUTHENTICATE) return tokenOf('t');
    return isEnabled && token === undefined
      ? { status: 3, text: 'etcdserver: user name is empty' }
      : { message: framed() };
  });
  t.like(await client.range({ key: 'a' }), { pairs: [] });
  t.like(await client.range({ key: 'a' }), { pairs: [] });
  isEnabled = true;
  t.like(await t.throwsAsync(client.range({ key: 'a' })), { kind: 'unknown' });
  t.like(await client.range({ key: 'a' }), { pairs: [] });
  t.deepEqual(
    asked.map(({ method, token }) => [method, token]),
    [
      [AUTHENTICATE, undefined],
      ['KV/Range', undefined],
      ['KV/Range', undefined],
      ['KV/Range', undefined],
      [AUTHENTICATE, undefined],
      ['KV/Range', 't'],
    ],
  );
});

const SILENT_MS = 3000;
const KEYS = 5;

test('an answer that comes slowly is waited for as long as something of it comes', async (t) => {
  const timers = new VirtualTime();
  const piece = framed((message) => {
    for (let key = 0; key < KEYS; key++) message.message(2, (pair) => pair.bytes(1, `key ${key}`));
  });
  const slowly = new PassThrough();
  const answer = (_asked: Asked, number: number): Answer => (number === 1 ? { pieces: slowly } : { message: framed() });
  const { client } = await member(t, answer, { timers, name: '' });
  const slow = client.range({ key: 'a' });
  for (const byte of piece) {
    // What is answered on the same connection is heard behind what came before.
    await client.range({ key: 'b' });
    await timers.advance(SILENT_MS - 1);
    slowly.write(Buffer.of(byte));
  }
  slowly.end();
  t.is((await slow).pairs.length, KEYS);
});

test('a member that says nothing more in the middle of an answer is given up', async (t) => {
  const timers = new VirtualTime();
  const slowly = new PassThrough();
  const { client } = await member(t, () => ({ pieces: slowly }), { timers, name: '' });
  slowly.write(framed().subarray(0, 1));
  const asked = client.range({ key: 'a' });
  const refused = t.throwsAsync(asked);
  for (let round = 0; round < 3; round++) await timers.advance(SILENT_MS);
  t.like(await refused, { kind: 'unknown' });
});
