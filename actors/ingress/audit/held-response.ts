// A response whose end is held back until it is let go: where requests wait for their audit events, whoever has been answered can rely
// on it that the answer is recorded. Everything before the end goes through as it is, once what has been recorded so far is on its way.
import type { HeaderList, HttpResponse } from '../../../transport/http.ts';
import { joinedHeaders } from '../../../transport/kept-headers.ts';
import type { MessageFraming } from '../../../transport/websocket/handshake.ts';
import type { Held } from '../../auditing/audit-event-groups.ts';

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

export class HeldResponse implements HttpResponse, Held {
  readonly #response: HttpResponse;
  readonly #bytes: HeldBytes;
  readonly #header: HeaderList;
  readonly #beforeStart: () => void;
  #isFree = false;
  /** Which call is held back, and what it was given. */
  #call: 'none' | 'respond' | 'end' = 'none';
  #status = 0;
  #headers: HeaderList = [];
  #body: Uint8Array | string | undefined;
  #holdsBytes = false;

  /**
   * @param header goes out with every answer.
   * @param beforeStart is called before anything goes out of an answer whose end is held.
   */
  constructor(
    response: HttpResponse,
    bytes: HeldBytes,
    header: readonly [name: string, value: string],
    beforeStart: () => void,
  ) {
    this.#response = response;
    this.#bytes = bytes;
    this.#header = [header];
    this.#beforeStart = beforeStart;
  }

  /** What was held back goes out, and nothing more is. */
  release(): void {
    this.#isFree = true;
    const call = this.#call;
    this.#call = 'none';
    if (call === 'respond') this.#response.respond(this.#status, this.#headers, this.#body!);
    else if (call === 'end') this.#response.end(this.#body as Uint8Array | undefined);
    this.#letGo();
  }

  get aborted(): boolean {
    return this.#response.aborted;
  }

  onAborted(callback: () => void): void {
    this.#response.onAborted(callback);
  }

  respond(status: number, headers: HeaderList, body: Uint8Array | string): void {
    const all = joinedHeaders(headers, this.#header);
    if (this.#isFree) {
      this.#response.respond(status, all, body);
      return;
    }
    this.#call = 'respond';
    this.#status = status;
    this.#headers = all;
    this.#hold(body);
  }

  start(status: number, headers: HeaderList, isVerbatim?: boolean): void {
    this.#beforeStart();
    this.#response.start(status, joinedHeaders(headers, this.#header), isVerbatim);
  }

  /** The answer to a handshake has no room for the header. */
  startWebSocket(protocol: string, framing: MessageFraming): void {
    this.#beforeStart();
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
    this.#call = 'end';
    this.#hold(last);
  }

  abort(): void {
    this.#call = 'none';
    this.#letGo();
    this.#response.abort();
  }

  #hold(body: Uint8Array | string | undefined): void {
    this.#letGo();
    this.#holdsBytes = body instanceof Uint8Array;
    this.#body = body instanceof Uint8Array ? this.#bytes.hold(body) : body;
  }

  #letGo(): void {
    this.#body = undefined;
    if (!this.#holdsBytes) return;
    this.#holdsBytes = false;
    this.#bytes.giveBack();
  }
}
