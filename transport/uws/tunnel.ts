// A client's WebSocket on the uws listener as the bytes that a backend reads and writes: each message that comes is written
// out as a masked frame, each frame that is read is sent as a message. The binary frames and closes by itself, and gives the
// raw bytes to nobody; to whoever joins the two connections this is a connection like any other.

import type { WebSocket } from 'uWebSockets.js';
import { Duplex } from 'node:stream';
import { BackendFrameReader, CLOSE_WITHOUT_CODE, maskedFrame } from '../websocket/backend-frames.ts';
import { BINARY, CLOSE, CLOSE_TOO_BIG, closePayload, PONG, TEXT } from '../websocket/frames.ts';

/** Bytes that wait for a backend that takes them slowly. The binary cannot hold a client back: more is given up. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024;
/** Of what the backend sends, held by the binary for a client that does not read, before the backend is held back. */
const HELD_BYTES_MAX = 64 * 1024;
/** What the binary reports for a connection that was lost. */
const CLOSE_LOST = 1006;
/** Codes that are never sent (RFC 6455 7.4.1). */
const UNSENT_CODES: ReadonlySet<number> = new Set([0, CLOSE_WITHOUT_CODE, CLOSE_LOST]);

export class UwsTunnel extends Duplex {
  #native: WebSocket<unknown> | undefined;
  readonly #reader: BackendFrameReader;
  /** The backend goes on when the client has taken what it was sent. */
  #goOn: (() => void) | undefined;

  constructor() {
    super();
    this.#reader = new BackendFrameReader({
      onMessage: (payload, isText) => this.#native?.send(payload, !isText),
      onPing: (payload) => this.push(maskedFrame(PONG, payload)),
      onClose: (code, reason) => this.#native?.end(UNSENT_CODES.has(code) ? 0 : code, reason),
    });
  }

  /** The handshake has been answered. */
  onOpen(native: WebSocket<unknown>): void {
    this.#native = native;
    if (this.destroyed) native.close();
  }

  /** A message of the client; `lent` is the binary's again when this returns. */
  onMessage(lent: ArrayBuffer, isBinary: boolean): void {
    if (this.readableEnded || this.destroyed) return;
    this.push(maskedFrame(isBinary ? BINARY : TEXT, new Uint8Array(lent)));
    if (this.readableLength > WAITING_BYTES_MAX) this.#native?.end(CLOSE_TOO_BIG, 'the backend reads too slowly');
  }

  /** The binary has sent some of what it held. */
  onDrain(): void {
    // Not in the native callback: there the binary forgets to go on with a long message that a socket takes in part.
    setImmediate(() => {
      if ((this.#native?.getBufferedAmount() ?? 0) > HELD_BYTES_MAX) return;
      const goOn = this.#goOn;
      this.#goOn = undefined;
      goOn?.();
    });
  }

  /** The client's side is over: the backend is told, with the client's reason where it gave one. */
  onClosed(code: number, lentReason: ArrayBuffer): void {
    this.#native = undefined;
    if (!this.destroyed) {
      const payload = UNSENT_CODES.has(code) ? [] : [closePayload(code), new Uint8Array(lentReason)];
      if (code !== CLOSE_LOST) this.push(maskedFrame(CLOSE, Buffer.concat(payload)));
      this.push(null);
    }
    this.#goOn?.();
    this.#goOn = undefined;
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    const native = this.#native;
    native?.cork(() => this.#reader.feed(bytes));
    // What was read may have closed it.
    if ((this.#native?.getBufferedAmount() ?? 0) > HELD_BYTES_MAX) this.#goOn = callback;
    else callback();
  }

  /** The backend has gone without a word, or said all there was to say before. */
  override _final(callback: () => void): void {
    this.#native?.close();
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#native?.close();
    callback(error);
  }
}
