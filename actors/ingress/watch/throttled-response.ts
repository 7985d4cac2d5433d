// A long-running answer on a connection that may be sent only so much a second: says that it is full until more may be
// sent, as a socket does. Everything else goes through as it is.
import type { Timers } from '../../../runtime/environment.ts';
import type { HeaderList, HttpResponse } from '../../../transport/http.ts';
import type { MessageFraming } from '../../../transport/websocket/handshake.ts';
import type { ConnectionThrottle } from './connection-throttle.ts';

export class ThrottledResponse implements HttpResponse {
  readonly #response: HttpResponse;
  readonly #connection: object;
  readonly #throttle: ConnectionThrottle;
  readonly #timers: Timers;
  #isFull = false;
  #isHeldBack = false;
  #drained: () => void = () => {};

  /** `connection`: as `HttpRequest.connection` says. */
  constructor(response: HttpResponse, connection: object, throttle: ConnectionThrottle, timers: Timers) {
    this.#response = response;
    this.#connection = connection;
    this.#throttle = throttle;
    this.#timers = timers;
  }

  get aborted(): boolean {
    return this.#response.aborted;
  }

  onAborted(callback: () => void): void {
    this.#response.onAborted(callback);
  }

  respond(status: number, headers: HeaderList, body: Uint8Array | string): void {
    this.#response.respond(status, headers, body);
  }

  start(status: number, headers: HeaderList, isVerbatim?: boolean): void {
    this.#response.start(status, headers, isVerbatim);
    this.#listen();
  }

  startWebSocket(protocol: string, framing: MessageFraming): void {
    this.#response.startWebSocket(protocol, framing);
    this.#listen();
  }

  write(bytes: Uint8Array, isForMany = false): boolean {
    this.#isFull = !this.#response.write(bytes, isForMany);
    const waitMs = this.#throttle.spend(this.#connection, bytes.length);
    if (waitMs > 0 && !this.#isHeldBack) {
      this.#isHeldBack = true;
      this.#timers.after(waitMs, () => {
        this.#isHeldBack = false;
        this.#resume();
      });
    }
    return !this.#isFull && !this.#isHeldBack;
  }

  onDrained(callback: () => void): void {
    this.#drained = callback;
  }

  end(last?: Uint8Array): void {
    this.#response.end(last);
  }

  abort(): void {
    this.#response.abort();
  }

  #listen(): void {
    this.#response.onDrained(() => {
      this.#isFull = false;
      this.#resume();
    });
  }

  #resume(): void {
    if (!this.#isFull && !this.#isHeldBack && !this.aborted) this.#drained();
  }
}
