// A response that gets more headers than whoever answers gives it. Everything else goes through as it is.
import type { HeaderList, HttpResponse } from '../../../transport/http.ts';
import { joinedHeaders } from '../../../transport/kept-headers.ts';
import type { MessageFraming } from '../../../transport/websocket/handshake.ts';

export class ResponseWithHeaders implements HttpResponse {
  readonly #response: HttpResponse;
  readonly #headers: HeaderList;

  constructor(response: HttpResponse, headers: HeaderList) {
    this.#response = response;
    this.#headers = headers;
  }

  get aborted(): boolean {
    return this.#response.aborted;
  }

  onAborted(callback: () => void): void {
    this.#response.onAborted(callback);
  }

  respond(status: number, headers: HeaderList, body: Uint8Array | string): void {
    this.#response.respond(status, joinedHeaders(headers, this.#headers), body);
  }

  start(status: number, headers: HeaderList, isVerbatim?: boolean): void {
    this.#response.start(status, joinedHeaders(headers, this.#headers), isVerbatim);
  }

  /** The answer to a handshake has no room for them. */
  startWebSocket(protocol: string, framing: MessageFraming): void {
    this.#response.startWebSocket(protocol, framing);
  }

  write(bytes: Uint8Array, isForMany = false): boolean {
    return this.#response.write(bytes, isForMany);
  }

  onDrained(callback: () => void): void {
    this.#response.onDrained(callback);
  }

  end(last?: Uint8Array): void {
    this.#response.end(last);
  }

  abort(): void {
    this.#response.abort();
  }
}
