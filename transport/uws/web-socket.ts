// A WebSocket on a socket of the uws listener, which frames, pings and closes by itself: events out, nothing in.
import type { WebSocket } from 'uWebSockets.js';
import { CLOSE_NORMAL } from '../websocket/frames.ts';
import { forEachMessage, type MessageFraming } from '../websocket/handshake.ts';

export class UwsWebSocket {
  onDrained: (() => void) | undefined;
  readonly #native: WebSocket<unknown>;
  readonly #framing: MessageFraming;

  constructor(native: WebSocket<unknown>, framing: MessageFraming) {
    this.#native = native;
    this.#framing = framing;
  }

  /** True when the socket takes more. */
  get hasRoom(): boolean {
    return this.#native.getBufferedAmount() === 0;
  }

  /** Sends the messages of a chunk. False: the socket is full, what it has not taken is on its way. */
  write(chunk: Uint8Array): boolean {
    const isBinary = this.#framing === 'lengths';
    this.#native.cork(() => {
      forEachMessage(chunk, this.#framing, (message) => {
        this.#native.send(message, isBinary);
      });
    });
    return this.hasRoom;
  }

  /** Closes in order. */
  end(): void {
    this.#native.end(CLOSE_NORMAL, '');
  }

  /** Closes because of what the client sent. */
  refuse(code: number): void {
    this.#native.end(code, '');
  }

  /** Cuts the connection. */
  cut(): void {
    this.#native.close();
  }
}
