// A response whose end is held back until it is let go: where requests wait for their audit events, whoever has been answered can rely
// on it that the answer is recorded. Everything before the end goes through as it is.
import type { HeaderList, HttpResponse } from '../../../transport/http.ts';
import type { MessageFraming } from '../../../transport/websocket/handshake.ts';

const SPACE_BYTES = 1024 * 1024;

/**
 * Where the bytes of held answers lie, since what is sent may lie in memory that is used again: one after the other, and from the
 * beginning again whenever nobody holds any, which is after each group of events. Memory of its own for each would cost more than
 * the event does.
 */
export class HeldBytes {
  #space: Buffer | undefined;
  #used = 0;
  #holders = 0;

  /** A copy, to be given back once (`giveBack`). */
  hold(bytes: Uint8Array): Uint8Array {
    this.#holders++;
    const from = this.#used;
    if (from + bytes.length > SPACE_BYTES) return Buffer.from(bytes);
    this.#space ??= Buffer.allocUnsafeSlow(SPACE_BYTES);
    this.#space.set(bytes, from);
    this.#used += bytes.length;
    return this.#space.subarray(from, this.#used);
  }

  giveBack(): void {
    this.#holders--;
    if (this.#holders === 0) this.#used = 0;
  }
}

export class HeldResponse implements HttpResponse {
  readonly #response: HttpResponse;
  readonly #bytes: HeldBytes;
  /** What is held back, where it is bytes. */
  #held: Uint8Array | undefined;
  #end: (() => void) | undefined;
  #isFree = false;

  constructor(response: HttpResponse, bytes: HeldBytes) {
    this.#response = response;
    this.#bytes = bytes;
  }

  /** What was held back goes out, and nothing more is. */
  readonly release = (): void => {
    this.#isFree = true;
    const end = this.#end;
    this.#end = undefined;
    end?.();
    this.#letGo();
  };

  get aborted(): boolean {
    return this.#response.aborted;
  }

  onAborted(callback: () => void): void {
    this.#response.onAborted(callback);
  }

  respond(status: number, headers: HeaderList, body: Uint8Array | string): void {
    if (this.#isFree) {
      this.#response.respond(status, headers, body);
      return;
    }
    const copy = typeof body === 'string' ? body : this.#hold(body);
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
    const copy = last && this.#hold(last);
    this.#end = () => this.#response.end(copy);
  }

  abort(): void {
    this.#end = undefined;
    this.#letGo();
    this.#response.abort();
  }

  #hold(bytes: Uint8Array): Uint8Array {
    this.#letGo();
    this.#held = this.#bytes.hold(bytes);
    return this.#held;
  }

  #letGo(): void {
    if (this.#held === undefined) return;
    this.#held = undefined;
    this.#bytes.giveBack();
  }
}
