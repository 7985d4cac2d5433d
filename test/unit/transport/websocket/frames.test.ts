// Frames of a WebSocket against a client written from the RFC: what a server writes is read by it, what it writes is read
// however its bytes are cut, and what is not allowed closes.
import test from 'ava';
import {
  BINARY,
  CLOSE,
  closePayload,
  FrameReader,
  frameHeadBytes,
  frameOf,
  PING,
  TEXT,
} from '../../../../transport/websocket/frames.ts';
import { acceptOf, forEachMessage, webSocketKey } from '../../../../transport/websocket/handshake.ts';
import { clientFrame, readFrames } from '../../../server/web-socket-client.ts';

const NOTHING = Buffer.alloc(0);
const CONTINUATION = 0;

interface Read {
  readonly pings: string[];
  readonly closes: number[];
}

/** Feeds pieces to a reader. */
function read(...pieces: Buffer[]): Read {
  const seen: Read = { pings: [], closes: [] };
  const reader = new FrameReader({
    onPing: (payload) => seen.pings.push(payload.toString()),
    onClose: (code) => seen.closes.push(code),
  });
  for (const piece of pieces) reader.feed(piece);
  return seen;
}

for (const length of [0, 1, 125, 126, 127, 65_535, 65_536, 100_000]) {
  test(`a server's frame of ${length} bytes is what a client reads`, (t) => {
    const payload = Buffer.alloc(length, 0x61);
    const frame = frameOf(TEXT, payload);
    t.is(frame.length, frameHeadBytes(length) + length);
    const { frames, length: taken } = readFrames(frame);
    t.is(taken, frame.length);
    t.deepEqual(frames, [{ final: true, opcode: TEXT, masked: false, payload }]);
  });
}

test('a close says why', (t) => {
  const { frames } = readFrames(frameOf(CLOSE, closePayload(1002)));
  t.is(frames[0]!.payload.readUInt16BE(0), 1002);
});

test('what a client sends is read however it is cut', (t) => {
  const stream = Buffer.concat([
    clientFrame(TEXT, NOTHING),
    clientFrame(TEXT, Buffer.from('data')),
    clientFrame(PING, Buffer.from('one')),
    clientFrame(BINARY, Buffer.alloc(300, 7), { final: false }),
    clientFrame(PING, NOTHING),
    clientFrame(CONTINUATION, NOTHING, { final: false }),
    clientFrame(CONTINUATION, Buffer.alloc(130, 9)),
    clientFrame(0xa, Buffer.from('a pong nobody asked for')),
    clientFrame(PING, Buffer.alloc(125, 0x62)),
    clientFrame(CLOSE, Buffer.of(3, 0xe8)),
    clientFrame(PING, Buffer.from('after the close')),
  ]);
  const expected = { pings: ['one', '', 'b'.repeat(125)], closes: [1000] };
  t.deepEqual(read(stream), expected);
  for (let size = 1; size < 40; size++) {
    const pieces: Buffer[] = [];
    for (let at = 0; at < stream.length; at += size) pieces.push(stream.subarray(at, at + size));
    t.deepEqual(read(...pieces), expected, `in pieces of ${size}`);
  }
});

const REFUSED: readonly (readonly [what: string, code: number, frame: Buffer])[] = [
  ['without a mask', 1002, clientFrame(TEXT, Buffer.from('x'), { masked: false })],
  ['without a mask and a ping', 1002, clientFrame(PING, Buffer.from('x'), { masked: false })],
  ['with a reserved bit', 1002, clientFrame(TEXT, NOTHING, { reserved: 0x40 })],
  ['of an unknown kind', 1002, clientFrame(3, NOTHING)],
  ['of an unknown kind of control', 1002, clientFrame(0xb, NOTHING)],
  ['that continues nothing', 1002, clientFrame(CONTINUATION, NOTHING)],
  [
    'that begins a message inside another',
    1002,
    Buffer.concat([clientFrame(TEXT, NOTHING, { final: false }), clientFrame(TEXT, NOTHING)]),
  ],
  ['that is a ping in parts', 1002, clientFrame(PING, NOTHING, { final: false })],
  ['that is a ping of 126 bytes', 1002, clientFrame(PING, Buffer.alloc(126))],
  ['that closes with half a code', 1002, clientFrame(CLOSE, Buffer.of(3))],
  ['that closes without a code', 1000, clientFrame(CLOSE, NOTHING)],
  ['that is too long', 1009, clientFrame(BINARY, Buffer.alloc(65 * 1024))],
  ['that says it has 2^63 bytes', 1009, Buffer.from('82ff80000000000000000000000000', 'hex')],
  [
    'whose message is too long in all',
    1009,
    Buffer.concat([
      clientFrame(BINARY, Buffer.alloc(40_000), { final: false }),
      clientFrame(CONTINUATION, Buffer.alloc(40_000)),
    ]),
  ],
];
for (const [what, code, frame] of REFUSED) {
  test(`a frame ${what} closes with ${code}, and nothing is read after it`, (t) => {
    t.deepEqual(read(frame, clientFrame(PING, NOTHING)), { pings: [], closes: [code] });
  });
}

test('no bytes make a reader throw or keep more than a head and a control frame', (t) => {
  let state = 1;
  const random = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 24;
  };
  for (let i = 0; i < 5000; i++) {
    const bytes = Buffer.from(Array.from({ length: 1 + (random() % 40) }, random));
    t.notThrows(() => read(bytes, bytes, bytes));
  }
});

test('the key of the RFC has the accept of the RFC', (t) => {
  t.is(acceptOf('dGhlIHNhbXBsZSBub25jZQ=='), 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
});

test('a handshake must be whole', (t) => {
  const headers: Record<string, string> = {
    upgrade: 'WebSocket',
    connection: 'keep-alive, Upgrade',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  const keyWith = (change: Record<string, string>, method = 'GET'): string | undefined =>
    webSocketKey(method, (name) => ({ ...headers, ...change })[name] ?? '');
  t.is(keyWith({}), 'dGhlIHNhbXBsZSBub25jZQ==');
  t.is(keyWith({}, 'POST'), undefined);
  for (const name of Object.keys(headers)) t.is(keyWith({ [name]: '' }), undefined, name);
  t.is(keyWith({ connection: 'upgraded' }), undefined);
});

test('a chunk is cut into its messages', (t) => {
  const messages = (chunk: Uint8Array, framing: 'lines' | 'lengths'): string[] => {
    const found: string[] = [];
    forEachMessage(chunk, framing, (message) => found.push(Buffer.from(message).toString()));
    return found;
  };
  t.deepEqual(messages(Buffer.from('{"a":1}\n{"b":2}\n'), 'lines'), ['{"a":1}\n', '{"b":2}\n']);
  t.deepEqual(messages(Buffer.from('\0\0\0\x02ab\0\0\0\0\0\0\0\x01c', 'latin1'), 'lengths'), ['ab', '', 'c']);
  t.deepEqual(messages(new Uint8Array(), 'lines'), []);
});
