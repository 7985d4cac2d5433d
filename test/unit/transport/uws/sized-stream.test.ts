// An answer of known length on the binary's terms: it is over only when the binary holds nothing of it for a slow client.
import test from 'ava';
import { KeptBytes } from '../../../../transport/kept-bytes.ts';
import { Cork } from '../../../../transport/uws/cork.ts';
import type { KeptAlive } from '../../../../transport/uws/parking.ts';
import { UwsSizedStream } from '../../../../transport/uws/sized-stream.ts';
import { FakeLoop, FakeSocket } from './fake-uws.ts';

const LENGTH = 200_000;
/** More than that, and the rest is with the stream. */
const BINARY_HOLDS = 64 * 1024;
const BODY = Buffer.alloc(LENGTH, 'abcdefg');

/** An answer to a client whose socket has so much room, and what is written of it. */
function answered(room: number, written = BODY) {
  const socket = new FakeSocket(new FakeLoop(), room);
  const parked = new Set<KeptAlive>();
  const seen = { isOver: false, isCut: false };
  const owner = {
    native: socket.native,
    scope: {
      isStopping: false,
      ongoing: 0,
      outstanding: 0,
      parked,
      waiting: { bytes: 0 },
      bodies: new KeptBytes(0),
      cork: new Cork(),
      onError: () => {},
    },
    sending: undefined,
    streamEnded: () => {
      seen.isOver = true;
    },
    abort: () => {
      seen.isCut = true;
      stream.drop();
    },
    guarded: (run: () => void) => run(),
    keepAlive: () => stream.keepAlive(),
  };
  const stream = new UwsSizedStream(owner, 200, [['Content-Length', String(LENGTH)]], LENGTH);
  stream.write(written);
  stream.end();
  return { socket, parked, seen };
}

test('an answer that has ended and lacks bytes is cut off once its client has what there was', (t) => {
  for (const count of [1, 1000, LENGTH - 1])
    for (const room of [100, 50_000, LENGTH]) {
      const { socket, seen } = answered(room, BODY.subarray(0, count));
      const what = `${count} bytes, ${room} of room`;
      // Who has yet to take what the binary does not hold gets it.
      if (count - room > BINARY_HOLDS) t.false(seen.isCut, what);
      for (let drains = 0; drains < LENGTH && !seen.isCut; drains += 5000) socket.drain(5000);
      t.deepEqual(seen, { isOver: false, isCut: true }, what);
    }
});

test('a long answer is kept alive until its client has taken all but the last byte, however much room there was', (t) => {
  for (let room = LENGTH - 40_000; room < LENGTH + 1000; room += 777) {
    const { socket, parked, seen } = answered(room);
    t.is(parked.size, seen.isOver ? 0 : 1, String(room));
    if (seen.isOver) t.true(socket.held.length <= 1, `${room}: ${socket.held.length} bytes have ten seconds`);
    for (const response of parked) response.keepAlive();
    t.is(socket.renewals, parked.size);
    while (!seen.isOver) socket.drain(5000);
    socket.drain(5000);
    t.is(parked.size, 0);
    t.true(Buffer.concat(socket.wire).subarray(-LENGTH).equals(BODY), String(room));
  }
});
