// A client's WebSocket as the connection that a backend is joined to, beside backends that do not keep to what is usual.
import type { HttpResponse as NativeResponse, WebSocket } from 'uWebSockets.js';
import test from 'ava';
import { HELD_AT_BYTES } from '../../../../transport/uws/client-hold.ts';
import { Cork } from '../../../../transport/uws/cork.ts';
import { UwsTunnel } from '../../../../transport/uws/tunnel.ts';
import { frameOf, PING, PONG } from '../../../../transport/websocket/frames.ts';
import { openFrame } from '../../../server/web-socket-agent.ts';
import type { Frame } from '../../../server/web-socket-client.ts';

const PINGS = 20_000;
const PAYLOAD_BYTES = 100;

/** A tunnel whose client takes everything. */
function opened(): UwsTunnel {
  const response = { pause: () => {}, resume: () => {} } as unknown as NativeResponse;
  const waiting = { bytes: 0 };
  const parked = new Set<never>();
  const scope = { isStopping: false, ongoing: 0, outstanding: 0, parked, waiting, cork: new Cork(), onError: () => {} };
  const tunnel = new UwsTunnel(response, scope as unknown as ConstructorParameters<typeof UwsTunnel>[1]);
  const native = {
    cork: (callback: () => void) => callback(),
    getBufferedAmount: () => 0,
    send: () => 1,
    end: () => {},
    close: () => {},
  };
  tunnel.onOpen(native as unknown as WebSocket<unknown>);
  return tunnel;
}

/** The frames that the backend would be sent now. */
function taken(tunnel: UwsTunnel): readonly Frame[] {
  const pieces: Buffer[] = [];
  for (let piece = tunnel.read() as Buffer | null; piece !== null; piece = tunnel.read() as Buffer | null)
    pieces.push(piece);
  const bytes = Buffer.concat(pieces);
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.length; ) {
    const frame = openFrame(bytes.subarray(at))!;
    frames.push(frame);
    at += frame.length;
  }
  return frames;
}

const numbered = (number: number): Buffer => {
  const payload = Buffer.alloc(PAYLOAD_BYTES);
  payload.writeUInt32BE(number);
  return payload;
};

test('a backend that pings and takes nothing gathers no answers without end, and has the one to its last ping when it takes again', (t) => {
  const tunnel = opened();
  for (let i = 0; i < PINGS; i++) tunnel.write(frameOf(PING, numbered(i)));
  t.true(tunnel.readableLength < HELD_AT_BYTES + 2 * PAYLOAD_BYTES, String(tunnel.readableLength));
  const answers = taken(tunnel);
  t.true(answers.every(({ opcode }) => opcode === PONG));
  t.is(answers[0]?.payload.readUInt32BE(), 0);
  t.is(answers.at(-1)?.payload.readUInt32BE(), PINGS - 1);
  tunnel.destroy();
});

test('each ping of a backend that takes the answers has its own', (t) => {
  const tunnel = opened();
  let answers = 0;
  for (let i = 0; i < PINGS; i++) {
    tunnel.write(frameOf(PING, numbered(i)));
    answers += taken(tunnel).length;
  }
  t.is(answers, PINGS);
  tunnel.destroy();
});
