// Streamed answers on a real uws listener to clients that read by fits and starts: what is on each wire is framed exactly
// and carries the bytes that were written. The chunks are of the lengths at which the binary's buffer, the kernel's and a
// TLS record are just full; those of 65,475 bytes fill the packets of the loopback device to the byte.
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { HttpResponse, Listener, RequestHandler } from '../../transport/http.ts';
import { prepareUws } from '../../transport/uws/binary.ts';
import { openUwsListener } from '../../transport/uws/listener.ts';
import { testOn } from '../server/listeners.ts';
import { parseChunks } from './listener-client.ts';
import { get, HEADER_BYTES_MAX, listenerOptions, MEGABYTE } from './listener-fixture.ts';

const test = testOn('uws');

prepareUws(HEADER_BYTES_MAX);

const PERIOD = 251;
/** Bytes that tell their place: any two places closer than the period differ. */
const CONTENT = Uint8Array.from({ length: 4 * MEGABYTE }, (_, i) => 0x21 + (i % PERIOD) / 3);
const LENGTHS = [1, 7, 1000, 16_340, 16_352, 16_384, 16_400, 65_475, 65_536, 131_072, 400_000, 2 * MEGABYTE];
const ANSWER_BYTES = 12 * MEGABYTE;
/** Of an answer in chunks, as far as it can be told from what stands in them. */
const END = '0\r\n\r\n';

/** How a client reads: it pauses about once in so many bytes, for up to so long, and goes away after so many. */
interface Manner {
  readonly pausedEachBytes: number;
  readonly pauseMsMax: number;
  readonly leavesAt: number;
}

const HASTY: Manner = { pausedEachBytes: MEGABYTE, pauseMsMax: 1, leavesAt: Number.POSITIVE_INFINITY };
const SLOW: Manner = { ...HASTY, pauseMsMax: 20 };

/** Numbers in [0, 1) that a seed decides. */
function numbers(seed: number): () => number {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Writes an answer as long as the socket has room, several chunks a turn, and ends it, at times behind a refused chunk. */
function stream(response: HttpResponse, bytes: number, lengthOf: () => number): void {
  let at = 0;
  const pump = (): void => {
    let hasRoom = true;
    while (hasRoom && at < bytes) {
      const length = Math.min(bytes - at, lengthOf());
      hasRoom = response.write(CONTENT.subarray(at % PERIOD, (at % PERIOD) + length));
      at += length;
    }
    if (at >= bytes) response.end();
  };
  response.onDrained(pump);
  pump();
}

const HANDLER: RequestHandler = ({ path, query }, response) => {
  const [kind = '', seed = '', bytes = ''] = path.slice(1).split('/');
  const random = numbers(Number(seed));
  response.start(200, [['Content-Type', kind === 'json' ? 'application/json' : 'application/octet-stream']]);
  const fixed = Number(query);
  const lengthOf = fixed > 0 ? () => fixed : () => LENGTHS[Math.floor(random() * LENGTHS.length)]!;
  if (random() < 0.5) stream(response, Number(bytes), lengthOf);
  else setTimeout(() => stream(response, Number(bytes), lengthOf), 1);
};

function connect({ port }: Listener, isTls: boolean): Socket {
  const options = { host: '127.0.0.1', port };
  return isTls ? connectTls({ ...options, rejectUnauthorized: false }) : connectTcp(options);
}

/** Reads one answer. Undefined when it went away before the end. */
function read(socket: Socket, request: string, random: () => number, manner: Manner): Promise<Buffer | undefined> {
  const { pausedEachBytes, pauseMsMax, leavesAt } = manner;
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    /** The last bytes that came: the end of the answer may come in two pieces. */
    let tail = '';
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`closed after ${bytes} bytes`)));
    socket.on('data', (piece: Buffer) => {
      pieces.push(piece);
      bytes += piece.length;
      tail = (tail + piece.toString('latin1', Math.max(0, piece.length - END.length))).slice(-END.length);
      const isOver = tail === END;
      if (isOver || bytes > leavesAt) {
        socket.removeAllListeners('close');
        socket.destroy();
        resolve(isOver ? Buffer.concat(pieces) : undefined);
      } else if (random() < piece.length / pausedEachBytes) {
        socket.pause();
        setTimeout(() => socket.resume(), random() * pauseMsMax);
      }
    });
    socket.write(get(request));
  });
}

function faultOf(answer: Buffer, bytes: number, isJson: boolean): string | undefined {
  const start = answer.indexOf('\r\n\r\n') + 4;
  const chunks = parseChunks(answer.subarray(start));
  if (!chunks.isWhole || start + chunks.length !== answer.length) return 'the answer does not end with its last chunk';
  // A JSON stream may begin with a blank, and have empty lines between its chunks.
  const body = isJson ? chunks.body.filter((byte) => byte !== 0x0a && byte !== 0x20) : chunks.body;
  if (body.length !== bytes) return `${body.length} bytes in place of ${bytes}`;
  for (let at = 0; at < bytes; at += PERIOD * 1000) {
    const length = Math.min(PERIOD * 1000, bytes - at);
    if (Buffer.compare(body.subarray(at, at + length), CONTENT.subarray(0, length)) !== 0) return `wrong after ${at}`;
  }
  return undefined;
}

for (const isTls of [false, true]) {
  const name = isTls ? 'with TLS' : 'plain';

  test.serial(`${name}: chunks that fill the kernel's packets to the byte are framed exactly`, async (t) => {
    const listener = await openUwsListener(await listenerOptions(isTls, HANDLER));
    const lengths = isTls ? [16_352, 16_384] : [65_475];
    for (const length of lengths) {
      for (let seed = 1; seed <= 4; seed++) {
        const bytes = 4 * ANSWER_BYTES;
        const path = `/binary/${seed}/${bytes}?${length}`;
        const answer = await read(connect(listener, isTls), path, numbers(seed), HASTY);
        t.is(faultOf(answer!, bytes, false), undefined, `${length} bytes, seed ${seed}`);
      }
    }
    await listener.close();
  });

  test.serial(`${name}: many slow clients at once get their answers, whatever the lengths of the chunks`, async (t) => {
    const listener = await openUwsListener(await listenerOptions(isTls, HANDLER));
    const faults = await Promise.all(
      Array.from({ length: 12 }, async (_, seed) => {
        const random = numbers(seed + 1);
        const isJson = seed % 2 === 0;
        const bytes = 1 + Math.floor(random() * ANSWER_BYTES);
        const manner = seed % 4 === 3 ? { ...SLOW, leavesAt: random() * bytes } : SLOW;
        const path = `/${isJson ? 'json' : 'binary'}/${seed + 1}/${bytes}`;
        const answer = await read(connect(listener, isTls), path, random, manner);
        const fault = answer && faultOf(answer, bytes, isJson);
        return fault === undefined ? [] : [`${path}: ${fault}`];
      }),
    );
    t.deepEqual(faults.flat(), []);
    await listener.close();
  });
}
