// The client of etcd against a member that answers as it is told to: what it sends, and what it makes of odd answers.
import { once } from 'node:events';
import { createServer, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
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
  /** Only a member that knows of a leader is to answer. */
  readonly needsLeader: boolean;
  readonly stream: ServerHttp2Stream;
}

/** `status` other than 0: why not; `isPlain`: not percent-encoded. `pieces`: what comes before that, when it comes. */
type Answer =
  | { readonly message: Buffer }
  | { readonly pieces: Readable; readonly status?: number; readonly text?: string }
  | { readonly status: number; readonly text: string; readonly isPlain?: boolean };

interface Member {
  readonly place: string;
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
  const { status = 0, text = '' } = 'message' in answer ? {} : answer;
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  const told = 'isPlain' in answer ? text : encodeURI(text);
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status, 'grpc-message': told }));
  if ('pieces' in answer) answer.pieces.pipe(stream);
  else stream.end('message' in answer ? answer.message : undefined);
}

interface MemberSettings {
  readonly timers?: Timers;
  /** Of who asks; empty: of nobody. */
  readonly name?: string;
  /** Where else the client may go. */
  readonly others?: readonly string[];
}

/** A member and a client of it. `answer`: by what was asked, each with its number. */
async function member(
  t: ExecutionContext,
  answer: (asked: Asked, number: number) => Answer,
  { timers = realEnvironment.timers, name = 'orch', others = [] }: MemberSettings = {},
): Promise<Member> {
  const asked: Asked[] = [];
  const sessions: Http2Session[] = [];
  const server = createServer();
  server.on('session', (session) => sessions.push(session));
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    const { token, ':path': path, hasleader } = headers;
    const one: Asked = {
      method: String(path).split('.').at(-1)!,
      token: token === undefined ? undefined : String(token),
      needsLeader: hasleader === 'true',
      stream,
    };
    stream.resume();
    stream.on('end', () => give(stream, answer(one, asked.push(one))));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const known = name === '' ? {} : { name, password: 'secret' };
  const place = `http://127.0.0.1:${port}`;
  const client = new EtcdClient({ servers: [place, ...others], ...known }, timers);
  t.teardown(() => {
    client.close();
    for (const session of sessions) session.destroy();
    server.close();
  });
  return { place, client, asked, sessions };
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

test('what is answered while many large writes wait to be sent is heard, and all are made on one connection', async (t) => {
  const timers = { ...realEnvironment.timers, after: () => ({ cancel: () => {} }) };
  const { client, sessions } = await member(t, () => ({ message: framed() }), { name: '', timers });
  await client.range({ key: 'a' });
  const value = Buffer.alloc(1024 * 1024);
  const writes = Array.from({ length: 20 }, (_, number) =>
    client.transact({ compare: [], success: [{ put: { key: `large-${number}`, value } }], failure: [] }),
  );
  await t.notThrowsAsync(Promise.all([client.range({ key: 'b' }), ...writes]));
  t.is(sessions.length, 1);
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
  const answer = (_asked: Asked, number: number): Answer => (number === 1 ? { pieces: slowly } : { message: framed() });
  const { client } = await member(t, answer, { timers, name: '' });
  slowly.write(framed().subarray(0, 1));
  const refused = t.throwsAsync(client.range({ key: 'a' }));
  // What is answered on the same connection is heard behind what came before.
  await client.range({ key: 'b' });
  for (let round = 0; round < 3; round++) await timers.advance(SILENT_MS);
  t.like(await refused, { kind: 'unknown' });
});

/** What never ends, and says nothing more than it was given. */
function open(...messages: readonly Buffer[]): { readonly pieces: PassThrough } {
  const pieces = new PassThrough();
  for (const message of messages) pieces.write(message);
  return { pieces };
}

const closed = async (stream: ServerHttp2Stream): Promise<void> => {
  if (!stream.closed) await once(stream, 'close');
};

test('a member that does not answer is left for the next, and its connection is closed', async (t) => {
  const timers = new VirtualTime();
  const other = await member(t, () => ({ message: framed() }), { name: '' });
  const { place, client, asked, sessions } = await member(t, () => open(), { timers, name: '', others: [other.place] });
  const refused = t.throwsAsync(client.range({ key: 'a' }));
  while (asked.length === 0) await timers.advance(0);
  await timers.advance(SILENT_MS);
  t.like(await refused, { kind: 'unknown', message: `${place} did not answer within ${SILENT_MS} ms` });
  t.like(await client.range({ key: 'a' }), { pairs: [] });
  t.deepEqual([asked.length, other.asked.length], [1, 1]);
  t.true([...asked, ...other.asked].every(({ needsLeader }) => needsLeader));
  await timers.runUntilIdle();
  await closed(asked[0]!.stream);
  if (!sessions[0]!.destroyed) await once(sessions[0]!, 'close');
});

test('who could not be reached is named, whoever is asked next', async (t) => {
  const other = await member(t, () => ({ message: framed() }), { name: '' });
  const gone = createServer().listen(0, '127.0.0.1');
  await once(gone, 'listening');
  const place = `http://127.0.0.1:${(gone.address() as AddressInfo).port}`;
  gone.close();
  await once(gone, 'close');
  const client = new EtcdClient({ servers: [place, other.place] }, realEnvironment.timers);
  t.teardown(() => client.close());
  const errors = await Promise.all(['a', 'b'].map((key) => t.throwsAsync(client.range({ key }))));
  for (const error of errors) t.true(error?.message.startsWith(`${place} did not answer`), error?.message);
  t.like(await client.range({ key: 'a' }), { pairs: [] });
});

test('a member that says that it goes is left for the next with what is asked after that', async (t) => {
  const other = await member(t, () => ({ message: framed() }), { name: '' });
  const { client, asked, sessions } = await member(t, () => ({ message: framed() }), {
    name: '',
    others: [other.place],
  });
  await client.range({ key: 'a' });
  sessions[0]!.goaway();
  // It is heard before what is answered behind it, or with it.
  while (other.asked.length === 0) await client.range({ key: 'a' }).catch(() => {});
  t.is(sessions.length, 1);
  t.true(asked.length > 0);
});

const CANCELED = 4;
const COMPACTED_TO = 5;
const REASON = 6;
const EVENT = 11;

test('a watch of what was compacted ends once, says up to where, and speaks not against the member', async (t) => {
  const answer = open(
    framed((message) => message.integer(CANCELED, true).integer(COMPACTED_TO, 1)),
    framed((message) => message.message(EVENT, (event) => event.message(2, (pair) => pair.bytes(1, 'late')))),
    framed((message) => message.integer(CANCELED, true).bytes(REASON, 'again')),
  );
  const { client, asked, sessions } = await member(
    t,
    ({ method }) => (method === 'Watch/Watch' ? answer : { message: framed() }),
    { name: '' },
  );
  const ends: unknown[] = [];
  await new Promise<void>((resolve) => {
    client.watch('a', 'b', 1, { onEvents: () => t.fail(), onEnd: (error) => resolve(void ends.push(error)) });
  });
  await closed(asked[0]!.stream);
  t.like(await client.range({ key: 'a' }), { pairs: [] });
  t.is(sessions.length, 1);
  t.is(ends.length, 1);
  t.like(ends[0], { kind: 'compacted', compactRevision: 1 });
});

test('a watch that a member cancels says why, and one that nobody wants any more says nothing', async (t) => {
  const { client, asked, sessions } = await member(
    t,
    ({ method }, number) => {
      if (method !== 'Watch/Watch') return { message: framed() };
      return number === 1
        ? open()
        : open(framed((message) => message.integer(CANCELED, true).bytes(REASON, 'no leader')));
    },
    { name: '' },
  );
  const end = client.watch('a', 'b', 1, { onEvents: () => t.fail(), onEnd: () => t.fail() });
  while (asked.length === 0) await new Promise(setImmediate);
  end();
  await closed(asked[0]!.stream);
  t.like(await client.range({ key: 'a' }), { pairs: [] });
  t.is(sessions.length, 1);
  const error = await new Promise((resolve) => client.watch('a', 'b', 1, { onEvents: () => {}, onEnd: resolve }));
  t.like(error, { kind: 'unknown', message: 'no leader' });
});

test('a watch that is ended before there is a token for it is not asked for', async (t) => {
  const { client, asked } = await member(t, ({ method }) =>
    method === AUTHENTICATE ? tokenOf('t') : { message: framed() },
  );
  client.watch('a', 'b', 1, { onEvents: () => t.fail(), onEnd: () => t.fail() })();
  await client.range({ key: 'a' });
  t.deepEqual(
    asked.map(({ method }) => method),
    [AUTHENTICATE, 'KV/Range'],
  );
});

test('several who ask at once go by one token', async (t) => {
  const { client, asked } = await member(t, ({ method }) =>
    method === AUTHENTICATE ? tokenOf('t') : { message: framed() },
  );
  await Promise.all(['a', 'b', 'c'].map((key) => client.range({ key })));
  t.is(asked.filter(({ method }) => method === AUTHENTICATE).length, 1);
});

test('a token that is refused when there is a newer one takes nothing from that', async (t) => {
  const refused = { status: 16, text: 'etcdserver: invalid auth token' };
  const late = { ...open(), ...refused };
  const { client, asked } = await member(t, ({ method, token }, number) => {
    if (method === AUTHENTICATE) return tokenOf(`t${number}`);
    if (number === 2) return late;
    return token === 't1' ? refused : { message: framed() };
  });
  const slow = t.throwsAsync(client.range({ key: 'a' }), { message: refused.text });
  while (asked.length < 2) await new Promise(setImmediate);
  await t.throwsAsync(client.range({ key: 'a' }), { message: refused.text });
  t.like(await client.range({ key: 'a' }), { pairs: [] });
  late.pieces.end();
  await slow;
  t.like(await client.range({ key: 'a' }), { pairs: [] });
  t.is(asked.filter(({ method }) => method === AUTHENTICATE).length, 2);
});

test('a call that nobody answered may have waited for its token: the next has another', async (t) => {
  const timers = new VirtualTime();
  const { client, asked } = await member(
    t,
    ({ method }, number) => {
      if (method === AUTHENTICATE) return tokenOf(`t${number}`);
      return number === 2 ? open() : { message: framed() };
    },
    { timers },
  );
  const refused = t.throwsAsync(client.range({ key: 'a' }));
  while (asked.length < 2) await timers.advance(0);
  await timers.advance(SILENT_MS);
  t.like(await refused, { kind: 'unknown' });
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
});

/** From one sign of life that is asked for to the next, and how long it is waited for. */
const PING_EVERY_MS = 6000;
const PING_MS = 3000;

test('a watch ends when nothing is heard on its connection any more, and only then', async (t) => {
  const timers = new VirtualTime();
  const { place, asked } = await member(t, () => open(), { name: '' });
  const far: Socket[] = [];
  const between = createTcpServer((near) => {
    const socket = connect(Number(new URL(place).port), '127.0.0.1');
    far.push(socket);
    near.pipe(socket).pipe(near);
    for (const end of [near, socket]) end.on('error', () => near.destroy());
    near.on('close', () => socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(between, 'listening');
  const { port } = between.address() as AddressInfo;
  const client = new EtcdClient({ servers: [`http://127.0.0.1:${port}`] }, timers);
  t.teardown(() => {
    client.close();
    between.close();
  });
  const ends: unknown[] = [];
  const ended = new Promise<void>((resolve) => {
    client.watch('a', 'b', 1, { onEvents: () => {}, onEnd: (error) => resolve(void ends.push(error)) });
  });
  while (asked.length === 0) await new Promise(setImmediate);
  const heard = once(far[0]!, 'data');
  await timers.advance(PING_EVERY_MS);
  await heard;
  await new Promise(setImmediate);
  await timers.advance(PING_MS - 1);
  t.deepEqual(ends, []);
  far[0]!.unpipe();
  await timers.advance(PING_EVERY_MS);
  await timers.advance(PING_EVERY_MS);
  await ended;
  t.like(ends[0], { kind: 'unknown' });
});

test('a client that is closed leaves no timer behind', async (t) => {
  const timers = new VirtualTime();
  const { client } = await member(t, () => ({ message: framed() }), { timers, name: '' });
  await client.range({ key: 'a' });
  t.not(timers.nextDueMs, undefined);
  client.close();
  t.is(timers.nextDueMs, undefined);
});

test('what is larger than any member takes is not sent', async (t) => {
  const { client, asked } = await member(t, () => ({ message: framed() }), { name: '' });
  const put = { key: 'a', value: new Uint8Array(2 * 1024 * 1024) };
  const error = await t.throwsAsync(client.transact({ compare: [], success: [{ put }], failure: [] }));
  t.like(error, { kind: 'tooLarge' });
  t.is(asked.length, 0);
});

test('a snapshot whose piece cannot be kept is asked for no further', async (t) => {
  const piece = framed((message) => message.bytes(3, 'x'));
  const { client, asked } = await member(t, () => open(piece), { name: '' });
  const full = new Error('the disk is full');
  const keep = (): never => {
    throw full;
  };
  t.is(await t.throwsAsync(client.snapshot(keep)), full);
  await closed(asked[0]!.stream);
});
