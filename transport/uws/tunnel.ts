// A client's WebSocket on the uws listener as the bytes that a backend reads and writes: each message that comes is written
// out as a masked frame, each frame that is read is sent as a message. The binary frames and closes by itself, and gives the
// raw bytes to nobody; to whoever joins the two connections this is a connection like any other.

import type { HttpResponse as NativeResponse, WebSocket } from 'uWebSockets.js';
import { Duplex } from 'node:stream';
import { BackendFrameReader, CLOSE_WITHOUT_CODE, maskedFrame } from '../websocket/backend-frames.ts';
import { BINARY, CLOSE, CLOSE_TOO_BIG, closePayload, PONG, TEXT } from '../websocket/frames.ts';
import { ClientHold, HELD_AT_BYTES } from './client-hold.ts';
import { SendingByTries, type Tried } from './sending-by-tries.ts';
import type { UwsResponseScope } from './stream.ts';

/** The longest time between two tries to send what the binary holds. */
const TRIES_LAST_MS = 50;
/** Of what the backend sends, held by the binary for a client that does not read, before the backend is held back. */
const HELD_BYTES_MAX = 64 * 1024;
/** What the binary reports for a connection that was lost. */
const CLOSE_LOST = 1006;
/** Codes that are never sent (RFC 6455 7.4.1). */
const UNSENT_CODES: ReadonlySet<number> = new Set([0, CLOSE_WITHOUT_CODE, CLOSE_LOST]);

export class UwsTunnel extends Duplex {
  #native: WebSocket<unknown> | undefined;
  readonly #calls: Pick<NativeResponse, 'pause' | 'resume'>;
  readonly #scope: UwsResponseScope;
  readonly #reader: BackendFrameReader;
  #hold: ClientHold | undefined;
  /** The backend goes on when the client has taken what it was sent. */
  #goOn: (() => void) | undefined;
  /** The answer to the last ping of a backend that pings and takes nothing: the others would only gather. */
  #owedPong: Buffer | undefined;
  /** Made when the binary holds something for the client for the first time. */
  #sending: SendingByTries | undefined;

  /** @param response what the WebSocket will be made of: see #pause. */
  constructor(response: NativeResponse, scope: UwsResponseScope) {
    // Until so much waits it is asked for more, and then when that has been taken.
    super({ readableHighWaterMark: HELD_AT_BYTES });
    const { pause, resume } = response;
    this.#calls = { pause, resume };
    this.#scope = scope;
    this.#reader = new BackendFrameReader({
      onMessage: (payload, isText) => this.#native?.send(payload, !isText),
      onPing: (payload) => this.#pong(maskedFrame(PONG, payload)),
      onClose: (code, reason) => this.#endClient(UNSENT_CODES.has(code) ? 0 : code, reason),
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
    const native = this.#native;
    if (this.readableLength <= HELD_AT_BYTES || native === undefined) return;
    this.#hold ??= this.#holdOf(native);
    if (!this.#hold.waiting(this.readableLength)) this.#endClient(CLOSE_TOO_BIG, 'the backend reads too slowly');
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
    this.#owedPong = undefined;
    this.#sending?.stop();
    this.#hold?.drop();
    if (!this.destroyed) {
      const payload = UNSENT_CODES.has(code) ? [] : [closePayload(code), new Uint8Array(lentReason)];
      if (code !== CLOSE_LOST) this.push(maskedFrame(CLOSE, Buffer.concat(payload)));
      this.push(null);
    }
    this.#goOn?.();
    this.#goOn = undefined;
  }

  override _read(): void {
    this.#hold?.goOn();
    const owed = this.#owedPong;
    this.#owedPong = undefined;
    if (owed !== undefined) this.push(owed);
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    const native = this.#native;
    native?.cork(() => this.#reader.feed(bytes));
    // What was read may have closed it.
    if ((this.#native?.getBufferedAmount() ?? 0) > 0) {
      this.#sending ??= this.#sendingOf(this.#native!);
      this.#sending.begin();
    }
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

  /** Of several pings the last alone needs to be answered (RFC 6455 5.5.3). */
  #pong(frame: Buffer): void {
    if (this.readableLength < HELD_AT_BYTES) this.push(frame);
    else this.#owedPong = frame;
  }

  #sendingOf(native: WebSocket<unknown>): SendingByTries {
    const attempt = (): Tried => {
      const bytes = native.getBufferedAmount();
      // Behind it, the binary tries.
      native.cork(() => {});
      const left = native.getBufferedAmount();
      this.onDrain();
      return left === 0 ? 'all' : left < bytes ? 'some' : 'nothing';
    };
    const socket = {
      pause: () => this.#pause(native),
      close: () => native.close(),
      getRemoteAddress: () => native.getRemoteAddress(),
    };
    return new SendingByTries(socket, TRIES_LAST_MS, attempt, () => {
      if (this.#hold === undefined) this.#readOn(native);
      else this.#hold.sent();
    });
  }

  /** One that is held would never be seen to close. */
  #endClient(code: number, reason: string | Uint8Array): void {
    const wasSending = this.#sending?.stop() === true;
    this.#hold?.letGo();
    if (wasSending && this.#native !== undefined) this.#readOn(this.#native);
    this.#native?.end(code, reason);
  }

  /** Pausing first is needed: see `renew` in parking.ts. */
  #readOn(native: WebSocket<unknown>): void {
    this.#pause(native);
    this.#resume(native);
  }

  /**
   * The binary has this call and the next for responses alone. They do the same to any of its sockets, and throw where it is closed; which
   * makes a WebSocket of it is asked by nobody.
   */
  #pause(native: WebSocket<unknown>): void {
    this.#calls.pause.call(native as unknown as NativeResponse);
  }

  #resume(native: WebSocket<unknown>): void {
    if (this.#sending?.isUnderWay !== true) this.#calls.resume.call(native as unknown as NativeResponse);
  }

  #holdOf(native: WebSocket<unknown>): ClientHold {
    return new ClientHold(
      { pause: () => this.#pause(native), resume: () => this.#resume(native) },
      this.#scope,
      () => native.getBufferedAmount() > 0,
    );
  }
}
