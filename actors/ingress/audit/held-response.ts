// A response whose end is held back until it is let go: where requests wait for their audit events, whoever has been answered can rely
// on it that the answer is recorded. Everything before the end goes through as it is.
import type { HeaderList, HttpResponse } from '../../../transport/http.ts';
import type { MessageFraming } from '../../../transport/websocket/handshake.ts';

export class HeldResponse implements HttpResponse {
  readonly #response: HttpResponse;
  #end: (() => void) | undefined;
  #isFree = false;

  constructor(response: HttpResponse) {
    this.#response = response;
  }

  /** What was held back goes out, and nothing more is. */
  readonly release = (): void => {
    this.#isFree = true;
    const end = this.#end;
    this.#end = undefined;
    end?.();
  };

  get aborted(): boolean {
    return this.#response.aborted;
  }

  onAborted(callback: () => void): void {
    this.#response.onAborted(callback);
  }

  /** Copies: what is sent may lie in memory that is used again. */
  respond(status: number, headers: HeaderList, body: Uint8Array | string): void {
    if (this.#isFree) {
      this.#response.respond(status, headers, body);
      return;
    }
    const copy = typeof body === 'string' ? body : Buffer.from(body);
    this.#end = () => this.#response.respond(status, headers, copy);
  }

  start(status: number, headers: HeaderList, isVerbatim?: boolean): void {
    this.#response.start(status, headers, isVerbatim);
  }

  startWebSocket(protocol: string, framing: MessageFraming): void {
    this.#response.startWebSocket(protocol, framing);
  }

  write(bytes: Uint8Array): boolean {
    return this.#response.write(bytes);
  }

  onDrained(callback: () => void): void {
    this.#response.onDrained(callback);
  }

  end(last?: Uint8Array): void {
    if (this.#isFree) {
      this.#response.end(last);
      return;
    }
    const copy = last && Buffer.from(last);
    this.#end = () => this.#response.end(copy);
  }

  abort(): void {
    this.#end = undefined;
    this.#response.abort();
  }
}
