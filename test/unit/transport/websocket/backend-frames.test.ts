// Frames of a WebSocket as a client writes and reads them, against ones written from the RFC.
import test from 'ava';
import fc from 'fast-check';
import { BackendFrameReader, CLOSE_WITHOUT_CODE, maskedFrame } from '../../../../transport/websocket/backend-frames.ts';
import { BINARY, CLOSE, closePayload, frameOf, PING, PONG, TEXT } from '../../../../transport/websocket/frames.ts';
import { openFrame } from '../../../server/web-socket-agent.ts';
import { clientFrame } from '../../../server/web-socket-client.ts';

const NOTHING = Buffer.alloc(0);
const CONTINUATION = 0;
const unmasked = { masked: false } as const;

/** What a reader says, one line a call. */
const read = (...pieces: readonly Buffer[]): string[] => readEach(pieces);

function readEach(pieces: Iterable<Buffer>): string[] {
  const seen: string[] = [];
  const reader = new BackendFrameReader({
    onMessage: (payload, isText) => seen.push(`${isText ? 'text' : 'binary'} ${payload.toString('latin1')}`),
    onPing: (payload) => seen.push(`ping ${payload.toString('latin1')}`),
    onClose: (code, reason) => seen.push(`close ${code} ${reason.toString('latin1')}`),
  });
  for (const piece of pieces) reader.feed(piece);
  return seen;
}

for (const length of [0, 1, 125, 126, 65_535, 65_536]) {
  test(`a masked frame of ${length} bytes is what a server reads`, (t) => {
    const payload = Buffer.alloc(length, 'abc');
    const bytes = maskedFrame(BINARY, payload);
    t.deepEqual(openFrame(bytes), { final: true, opcode: BINARY, masked: true, payload, length: bytes.length });
    t.false(length > 3 && bytes.includes('abca'), 'the payload is hidden');
  });
}

const CONVERSATION = Buffer.concat([
  frameOf(TEXT, Buffer.from('hello')),
  frameOf(PING, Buffer.from('there?')),
  clientFrame(BINARY, Buffer.from('in '), { ...unmasked, final: false }),
  frameOf(PONG, NOTHING),
  clientFrame(CONTINUATION, Buffer.from('two '), { ...unmasked, final: false }),
  clientFrame(CONTINUATION, Buffer.from('three'), unmasked),
  frameOf(BINARY, NOTHING),
  frameOf(BINARY, Buffer.alloc(70_000, 'x')),
  frameOf(CLOSE, Buffer.concat([closePayload(1001), Buffer.from('bye')])),
  frameOf(TEXT, Buffer.from('too late')),
]);
const SAID = [
  'text hello',
  'ping there?',
  'binary in two three',
  'binary ',
  `binary ${'x'.repeat(70_000)}`,
  'close 1001 bye',
];

test('messages are read whole, however their bytes are cut', (t) => {
  t.deepEqual(read(CONVERSATION), SAID);
  const cuts = fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(cuts, (sizes) => {
      const pieces: Buffer[] = [];
      for (let at = 0, i = 0; at < CONVERSATION.length; i++) {
        const size = sizes[i % sizes.length]!;
        pieces.push(CONVERSATION.subarray(at, at + size));
        at += size;
      }
      t.deepEqual(read(...pieces), SAID);
    }),
    { numRuns: 50 },
  );
});

const FRAMES = 200_000;

test('a message in very many frames, half of them empty, arrives whole', (t) => {
  let seen = 0;
  const reader = new BackendFrameReader({
    onMessage: (payload) => {
      seen = payload.length;
    },
    onPing: () => t.fail(),
    onClose: () => t.fail(),
  });
  const part = clientFrame(CONTINUATION, Buffer.from('x'), { ...unmasked, final: false });
  const empty = clientFrame(CONTINUATION, NOTHING, { ...unmasked, final: false });
  const piece = Buffer.concat(Array.from({ length: FRAMES / 1000 }, (_, i) => (i % 2 === 0 ? part : empty)));
  reader.feed(clientFrame(BINARY, NOTHING, { ...unmasked, final: false }));
  for (let fed = 0; fed < 1000; fed++) reader.feed(piece);
  reader.feed(clientFrame(CONTINUATION, Buffer.from('x'), unmasked));
  t.is(seen, FRAMES / 2 + 1);
});

test('a close without a code, or with half a one, has none', (t) => {
  t.deepEqual(read(frameOf(CLOSE, NOTHING)), [`close ${CLOSE_WITHOUT_CODE} `]);
  t.deepEqual(read(frameOf(CLOSE, Buffer.of(3))), [`close ${CLOSE_WITHOUT_CODE} `]);
});

/** Two of them are more than one message may have. */
const LONG = Buffer.alloc(2 * 1024 * 1024 + 1);
const BROKEN: readonly (readonly [what: string, bytes: Buffer, code: number])[] = [
  ['a masked frame', clientFrame(TEXT, Buffer.from('a')), 1002],
  ['a reserved bit', clientFrame(TEXT, Buffer.from('a'), { ...unmasked, reserved: 0x40 }), 1002],
  ['an unknown opcode', clientFrame(3, NOTHING, unmasked), 1002],
  ['an unknown control frame', clientFrame(11, NOTHING, unmasked), 1002],
  ['a control frame in parts', clientFrame(PING, NOTHING, { ...unmasked, final: false }), 1002],
  ['a long control frame', clientFrame(PING, Buffer.alloc(126), unmasked), 1002],
  ['the middle of no message', clientFrame(CONTINUATION, NOTHING, unmasked), 1002],
  [
    'a message inside a message',
    Buffer.concat([clientFrame(TEXT, NOTHING, { ...unmasked, final: false }), frameOf(TEXT, NOTHING)]),
    1002,
  ],
  ['a frame that is too long', Buffer.from([0x82, 127, 0, 0, 0, 1, 0, 0, 0, 0]), 1009],
  [
    'a message that is too long',
    Buffer.concat(
      [LONG, LONG].map((part, i) => clientFrame(i === 0 ? BINARY : CONTINUATION, part, { ...unmasked, final: false })),
    ),
    1009,
  ],
];
for (const [what, bytes, code] of BROKEN) {
  test(`${what} ends the reading with ${code}`, (t) => {
    t.deepEqual(read(bytes, frameOf(TEXT, Buffer.from('more'))), [`close ${code} `]);
  });
}

test('a frame that comes byte by byte is kept as its bytes: nothing of what brought them is held', (t) => {
  // Brings them all: whoever held it would have the last byte alone.
  const lent = Buffer.alloc(1);
  function* bytewise() {
    for (const byte of CONVERSATION) {
      lent[0] = byte;
      yield lent;
    }
  }
  t.deepEqual(readEach(bytewise()), SAID);
});
