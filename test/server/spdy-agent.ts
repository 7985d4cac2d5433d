// The server's end of SPDY/3.1 as a node agent speaks it, for tests: streams that a client opens are accepted, and what it
// says on them is handed on. What the streams are for goes by their order, so that their headers need not be read.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { constants, createDeflate, type Deflate } from 'node:zlib';

const CONTROL = 0x80;
const SYN_STREAM = 1;
const SYN_REPLY = 2;
const PING = 6;
const FIN = 1;
const HEAD_BYTES = 8;
/** A block of no headers. */
const NO_HEADERS = Buffer.alloc(4);

export interface SpdyStream {
  readonly id: number;
  send(bytes: Uint8Array | string): void;
  /** Nothing more comes from here. */
  end(): void;
  onData: (bytes: Buffer) => void;
  onEnd: () => void;
}

/** One connection. */
export class SpdyPeer {
  readonly streams: SpdyStream[] = [];
  readonly #write: (bytes: Buffer) => void;
  readonly #onStream: (stream: SpdyStream, peer: SpdyPeer) => void;
  /** One for all headers of the connection. */
  readonly #headers: Deflate = createDeflate();
  #received = Buffer.alloc(0);
  /** Frames are answered one after the other: compressing takes turns. */
  #turn: Promise<void> = Promise.resolve();

  constructor(write: (bytes: Buffer) => void, onStream: (stream: SpdyStream, peer: SpdyPeer) => void) {
    this.#write = write;
    this.#onStream = onStream;
  }

  feed(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    while (this.#received.length >= HEAD_BYTES) {
      const length = HEAD_BYTES + this.#received.readUIntBE(5, 3);
      if (this.#received.length < length) return;
      const frame = Buffer.from(this.#received.subarray(0, length));
      this.#received = this.#received.subarray(length);
      this.#turn = this.#turn.then(() => this.#take(frame));
    }
  }

  async #take(frame: Buffer): Promise<void> {
    const isLast = (frame[4]! & FIN) !== 0;
    if ((frame[0]! & CONTROL) === 0) {
      const stream = this.streams.find(({ id }) => id === frame.readUInt32BE(0));
      if (frame.length > HEAD_BYTES) stream?.onData(frame.subarray(HEAD_BYTES));
      if (isLast) stream?.onEnd();
      return;
    }
    const type = frame.readUInt16BE(2);
    if (type === PING) this.#write(frame);
    if (type !== SYN_STREAM) return;
    const id = frame.readUInt32BE(HEAD_BYTES) & 0x7fff_ffff;
    const head = Buffer.alloc(4);
    head.writeUInt32BE(id);
    this.#write(controlFrame(SYN_REPLY, Buffer.concat([head, await this.#compressed(NO_HEADERS)])));
    const stream: SpdyStream = {
      id,
      send: (bytes) => this.#write(dataFrame(id, Buffer.from(bytes), 0)),
      end: () => this.#write(dataFrame(id, Buffer.alloc(0), FIN)),
      onData: () => {},
      onEnd: () => {},
    };
    this.streams.push(stream);
    this.#onStream(stream, this);
    if (isLast) stream.onEnd();
  }

  #compressed(bytes: Buffer): Promise<Buffer> {
    return new Promise((resolve) => {
      this.#headers.write(bytes);
      this.#headers.flush(constants.Z_SYNC_FLUSH, () => {
        // Node 26 gives one piece at a time.
        const pieces: Buffer[] = [];
        for (let piece = this.#headers.read(); piece !== null; piece = this.#headers.read())
          pieces.push(piece as Buffer);
        resolve(Buffer.concat(pieces));
      });
    });
  }
}

function controlFrame(type: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt16BE(0x8003, 0);
  head.writeUInt16BE(type, 2);
  head.writeUIntBE(payload.length, 5, 3);
  return Buffer.concat([head, payload]);
}

function dataFrame(id: number, payload: Buffer, flags: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(id, 0);
  head[4] = flags;
  head.writeUIntBE(payload.length, 5, 3);
  return Buffer.concat([head, payload]);
}

/** Takes a connection that asks for SPDY/3.1. `protocol`: what is spoken on its streams. */
export function acceptSpdy(
  _request: IncomingMessage,
  socket: Duplex,
  protocol: string,
  onStream: (stream: SpdyStream, peer: SpdyPeer) => void,
): void {
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Connection: Upgrade',
    'Upgrade: SPDY/3.1',
    `X-Stream-Protocol-Version: ${protocol}`,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const peer = new SpdyPeer((bytes) => void socket.write(bytes), onStream);
  socket.on('data', (bytes: Buffer) => peer.feed(bytes));
  socket.on('error', () => {});
  socket.on('end', () => socket.end());
}
