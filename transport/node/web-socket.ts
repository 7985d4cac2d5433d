// A WebSocket on a socket of the node listener, once its HTTP request has been answered 101: events out, and of what comes
// in only pings and the close. Owns the socket from then on.
import type { Duplex } from 'node:stream';
import {
  CLOSE,
  CLOSE_NORMAL,
  closePayload,
  FrameReader,
  frameHeadBytes,
  frameOf,
  PONG,
  putFrameHead,
} from '../websocket/frames.ts';
import { acceptOf, forEachMessage, type MessageFraming, opcodeOf } from '../websocket/handshake.ts';

/** How long a client may take to answer a close. */
const CLOSING_MS = 5_000;

export interface NodeWebSocketEvents {
  /** The client is gone, or asked to be. */
  readonly onGone: () => void;
  readonly onDrained: () => void;
}

export class NodeWebSocket {
  readonly #socket: Duplex;
  readonly #framing: MessageFraming;
  #isClosing = false;

  /** Answers the handshake. `head`: what the client sent behind its request. `protocol`: empty for none. */
  constructor(
    socket: Duplex,
    head: Buffer,
    key: string,
    protocol: string,
    framing: MessageFraming,
    events: NodeWebSocketEvents,
  ) {
    this.#socket = socket;
    this.#framing = framing;
    const reader = new FrameReader({
      onPing: (payload) => {
        if (!this.#isClosing && !socket.writableNeedDrain) socket.write(frameOf(PONG, payload));
      },
      onClose: (code) => {
        this.close(code);
        events.onGone();
      },
    });
    socket.on('data', (bytes: Buffer) => reader.feed(bytes));
    socket.on('drain', () => events.onDrained());
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    socket.on('close', () => events.onGone());
    const lines = [
      'HTTP/1.1 101 Switching Protocols',
      'Upgrade: websocket',
      'Connection: Upgrade',
      `Sec-WebSocket-Accept: ${acceptOf(key)}`,
      ...(protocol === '' ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    if (head.length > 0) reader.feed(head);
    socket.resume();
  }

  /** Sends the messages of a chunk. False: the socket is full until `onDrained`. */
  write(chunk: Uint8Array): boolean {
    if (this.#isClosing) return false;
    const opcode = opcodeOf(this.#framing);
    let bytes = 0;
    forEachMessage(chunk, this.#framing, ({ length }) => {
      bytes += frameHeadBytes(length) + length;
    });
    const frames = Buffer.allocUnsafeSlow(bytes);
    let at = 0;
    forEachMessage(chunk, this.#framing, (message) => {
      at = putFrameHead(frames, at, opcode, message.length);
      frames.set(message, at);
      at += message.length;
    });
    return this.#socket.write(frames);
  }

  /** Closes in order: the client is told, and answers or is cut off. */
  close(code = CLOSE_NORMAL): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#socket.end(frameOf(CLOSE, closePayload(code)));
    const cut = setTimeout(() => this.#socket.destroy(), CLOSING_MS).unref();
    this.#socket.once('close', () => clearTimeout(cut));
  }
}
