// A streamed answer on the binary's terms: whatever is written when, whatever the kernel takes, what is on the wire is
// framed exactly, and neither side holds more than it must for a client that does not read.
import test from 'ava';
import { KeptBytes } from '../../../../transport/kept-bytes.ts';
import { Cork } from '../../../../transport/uws/cork.ts';
import type { KeptAlive } from '../../../../transport/uws/parking.ts';
import { SendingByTries } from '../../../../transport/uws/sending-by-tries.ts';
import { type UwsResponseScope, UwsStream } from '../../../../transport/uws/stream.ts';
import { parseChunks } from '../../../contract/listener-client.ts';
import { casesOf } from '../../../server/effort.ts';
import { FakeLoop, FakeSocket } from './fake-uws.ts';

const CORK_BYTES = 16 * 1024;
/** Two pieces, and a few probes. */
const HELD_BYTES_MAX = 2 * CORK_BYTES + 1024;
/** The longest of the pieces that find out whether a socket takes more. */
const PROBE_BYTES_MAX = 64;
const NEWLINE = 0x0a;
const BLANK = 0x20;
const EMPTY_LINE = Buffer.from([NEWLINE]);
const SEEDS = casesOf(20);
const WRITES = 60;

const CHUNK_BYTES_MAX = 240_000;
const LETTERS_EACH = 23;
const LETTERS = Buffer.alloc(CHUNK_BYTES_MAX + LETTERS_EACH, 'abcdefghijklmnopqrstuvw');

/** Numbers in [0, 1) that a seed decides. */
function numbers(seed: number): () => number {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const immediate = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

class World {
  readonly loop = new FakeLoop();
  readonly parked = new Set<KeptAlive>();
  readonly scope: UwsResponseScope = {
    isStopping: false,
    ongoing: 0,
    outstanding: 0,
    parked: this.parked,
    waiting: { bytes: 0 },
    bodies: new KeptBytes(0),
    cork: new Cork(),
    onError: () => {},
  };

  sending: SendingByTries | undefined;
  readonly #isEager: boolean;

  constructor(isEager = false) {
    this.#isEager = isEager;
  }

  /** A request arrives on a socket with so much room; the answer begins in its callback. */
  async answer(room: number, contentType: string, inCallback: (stream: UwsStream) => void): Promise<Answered> {
    const socket = new FakeSocket(this.loop, room);
    let stream: UwsStream | undefined;
    await socket.callback(() => {
      this.scope.cork.enter(socket.native);
      const owner = {
        native: socket.native,
        scope: this.scope,
        streamEnded: () => {},
        abort: () => {},
        guarded: (run: () => void) => run(),
        keepAlive: () => stream?.keepAlive(),
        sending: this.sending,
      };
      stream = new UwsStream(owner, 200, [['Content-Type', contentType]], false, this.#isEager);
      inCallback(stream);
    });
    return { socket, stream: stream! };
  }
}

interface Answered {
  readonly socket: FakeSocket;
  readonly stream: UwsStream;
}

/** The body on the wire. Throws where it is mis-framed. */
function bodyOf(socket: FakeSocket): Buffer {
  const wire = Buffer.concat(socket.wire);
  const start = wire.indexOf('\r\n\r\n') + 4;
  const chunks = parseChunks(wire.subarray(start));
  if (!chunks.isWhole) throw new Error('the closing chunk is missing');
  if (chunks.length !== wire.length - start) throw new Error('bytes after the closing chunk');
  return chunks.body;
}

/** What is to be on the wire: who waits for the end of a chunk gets an empty line after each that ends a line. */
function wireOf(chunks: readonly Buffer[], pushesLines: boolean): Buffer {
  if (!pushesLines) return Buffer.concat(chunks);
  return Buffer.concat(chunks.flatMap((chunk) => (chunk.at(-1) === NEWLINE ? [chunk, EMPTY_LINE] : [chunk])));
}

/** Headers that are sent before there is a line are pushed out by a blank, whoever asks. */
function isBlankBefore(body: Buffer, wire: Buffer): boolean {
  return body[0] === BLANK && body.subarray(1).equals(wire);
}

/** Lines of letters that differ from place to place, of any length around the borders that matter. */
function chunkAt(at: number, random: () => number): Buffer {
  const border = [1, 64, 1000, CORK_BYTES - 40, CORK_BYTES, 65_475, 200_000][Math.floor(random() * 7)]!;
  const length = Math.max(1, Math.floor(border * (random() < 0.5 ? 1 : random() * 1.2)));
  const chunk = Buffer.from(LETTERS.subarray(at % LETTERS_EACH, (at % LETTERS_EACH) + length));
  if (random() < 0.7) chunk[length - 1] = NEWLINE;
  return chunk;
}

for (const contentType of ['application/json', 'application/octet-stream', 'application/octet-stream;stream=watch']) {
  test(`${contentType}: what is written arrives, whatever the socket takes`, async (t) => {
    const isJson = contentType === 'application/json';
    for (let seed = 1; seed <= SEEDS; seed++) {
      const random = numbers(seed);
      const isEager = seed % 2 === 0;
      const world = new World(isEager);
      const written: Buffer[] = [];
      let bytes = 0;
      let isFull = false;
      const write = (stream: UwsStream): void => {
        const chunk = chunkAt(bytes, random);
        if (bytes === 0 && contentType.endsWith('watch')) chunk[0] = 0;
        written.push(Buffer.from(chunk));
        bytes += chunk.length;
        isFull = !stream.write(chunk);
        chunk.fill(0x7a);
      };
      const { socket, stream } = await world.answer(Math.floor(random() * 40_000), contentType, (begun) => {
        while (!isFull && random() < 0.6) write(begun);
      });
      stream.onDrained = () => {
        isFull = false;
      };
      for (let i = 0; i < WRITES; i++) {
        if (random() < 0.4) await immediate();
        if (!isFull && random() < 0.2) {
          // The client sends something, and its answer goes on at once.
          await socket.callback(() => {
            world.scope.cork.enter(socket.native);
            stream.enterCallback();
            while (!isFull && random() < 0.7) write(stream);
          });
        } else if (!isFull) write(stream);
        socket.drain(Math.floor(random() ** 4 * 30_000));
      }
      stream.end();
      t.false(stream.write(Buffer.from('late')));
      while (!socket.isEnded || socket.held.length > 0) {
        await immediate();
        socket.drain(Math.floor(random() * 50_000));
      }
      t.is(world.loop.lost, 0, `seed ${seed}`);
      const [body, wire] = [bodyOf(socket), wireOf(written, isJson && !isEager)];
      t.true(body.equals(wire) || (isJson && isBlankBefore(body, wire)), `seed ${seed}`);
      t.true(socket.heldMax < HELD_BYTES_MAX, `seed ${seed}: ${socket.heldMax}`);
      t.is(world.parked.size, 0);
    }
  });
}

test('while a client is read, the binary holds nothing of what it is sent', async (t) => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = numbers(seed);
    const world = new World();
    const unread = { pause: () => {}, close: () => t.fail(), getRemoteAddress: () => new ArrayBuffer(4) };
    const begun: UwsStream[] = [];
    world.sending = new SendingByTries(
      unread,
      1,
      () => begun[0]!.sendOn(),
      () => {},
    );
    const { socket, stream } = await world.answer(20_000, 'application/octet-stream', () => {});
    begun.push(stream);
    await immediate();
    const written: Buffer[] = [];
    let bytes = 0;
    for (let i = 0; i < 12; i++) {
      const chunk = chunkAt(bytes, random);
      written.push(chunk);
      bytes += chunk.length;
      const isTaken = stream.write(chunk);
      t.is(world.sending.isUnderWay, !isTaken);
      while (world.sending.isUnderWay) {
        socket.drainUnseen(Math.floor(random() * 60_000));
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      // A few bytes may be what just did not fit.
      t.true(socket.held.length <= 2 * PROBE_BYTES_MAX, `seed ${seed}: ${socket.held.length}`);
    }
    socket.drain(1_000_000);
    stream.end();
    t.true(bodyOf(socket).equals(Buffer.concat(written)), `seed ${seed}`);
    t.is(world.loop.lost, 0);
  }
});

test('a client that reads a little now and then never has more waiting than one chunk', async (t) => {
  const world = new World();
  const { socket, stream } = await world.answer(30_000, 'application/octet-stream', () => {});
  await immediate();
  const chunk = Buffer.alloc(60_000, 0x61);
  let written = 0;
  const pump = (): void => {
    do written += chunk.length;
    while (stream.write(chunk));
  };
  stream.onDrained = pump;
  pump();
  let taken = 30_000;
  let waitingMax = 0;
  for (let i = 0; i < 5000; i++) {
    socket.drain(3000);
    taken += 3000;
    waitingMax = Math.max(waitingMax, written - taken);
  }
  t.true(written > 14_000_000, 'it goes on');
  t.true(waitingMax < chunk.length + HELD_BYTES_MAX, String(waitingMax));
  t.true(socket.heldMax < HELD_BYTES_MAX, String(socket.heldMax));
});

test('a chunk that waits is not copied anew for each piece that leaves', async (t) => {
  const world = new World();
  const { socket, stream } = await world.answer(0, 'application/octet-stream', () => {});
  await immediate();
  t.false(stream.write(Buffer.alloc(8_000_000)));
  const before = process.memoryUsage().arrayBuffers;
  for (let i = 0; i < 50; i++) socket.drain(20_000);
  t.true(process.memoryUsage().arrayBuffers - before < 16_000_000);
});

test('only a stream whose bytes were refused is kept alive', async (t) => {
  const world = new World();
  const { socket, stream } = await world.answer(100_000, 'application/octet-stream', (begun) => {
    t.false(begun.write(Buffer.alloc(50_000)), 'more than the callback can take');
  });
  for (const response of world.parked) response.keepAlive();
  t.is(socket.renewals, 0);
  await immediate();
  t.is(world.parked.size, 0);
  while (stream.write(Buffer.alloc(10_000)));
  t.is(world.parked.size, 1);
  for (const response of world.parked) response.keepAlive();
  t.is(socket.renewals, 1);
  stream.drop();
  t.is(world.parked.size, 0);
});

test('a stream that has ended is kept alive while its client takes some of it now and then, and no longer', async (t) => {
  const world = new World();
  const { socket, stream } = await world.answer(0, 'application/octet-stream', () => {});
  await immediate();
  t.false(stream.write(Buffer.alloc(200_000)));
  const keptAlive = (): number => {
    const before = socket.renewals;
    for (let tick = 0; tick < 20; tick++) for (const response of world.parked) response.keepAlive();
    return socket.renewals - before;
  };
  t.is(keptAlive(), 20, 'until it ends, for as long as that takes');
  stream.end();
  t.is(keptAlive(), 5);
  t.is(keptAlive(), 0);
  socket.drain(20_000);
  t.is(keptAlive(), 5);
  socket.drain(300_000);
  t.true(socket.isEnded);
  t.is(keptAlive(), 0);
});
