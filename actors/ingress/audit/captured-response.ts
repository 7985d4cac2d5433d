// A response whose body is kept for the audit event, as far as it is not too large. Everything goes through as it is.
import type { HeaderList, HttpResponse } from '../../../transport/http.ts';
import type { MessageFraming } from '../../../transport/websocket/handshake.ts';
import { ANSWER_BYTES_MAX, type AuditedBody } from '../../audit/protocol.ts';

/** Gathers one body. */
export class BodyCapture {
  #contentType = '';
  #chunks: Uint8Array[] = [];
  #bytes = 0;

  /** Undefined where there is none, or it was too large. */
  get body(): AuditedBody | undefined {
    if (this.#bytes === 0 || this.#bytes > ANSWER_BYTES_MAX) return undefined;
    return { contentType: this.#contentType, bytes: Buffer.concat(this.#chunks) };
  }

  begin(headers: HeaderList): void {
    this.#contentType = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  }

  /** Copies: what is sent may lie in memory that is used again. */
  add(part: Uint8Array | string): void {
    this.#bytes += part.length;
    if (this.#bytes > ANSWER_BYTES_MAX) this.#chunks = [];
    else this.#chunks.push(typeof part === 'string' ? Buffer.from(part) : Uint8Array.from(part));
  }
}

export class CapturedResponse implements HttpResponse {
  readonly #response: HttpResponse;
  readonly #capture: BodyCapture;

  constructor(response: HttpResponse, capture: BodyCapture) {
    this.#response = response;
    this.#capture = capture;
  }

  get aborted(): boolean {
    return this.#response.aborted;
  }

  onAborted(callback: () => void): void {
    this.#response.onAborted(callback);
  }

  respond(status: number, headers: HeaderList, body: Uint8Array | string): void {
    this.#capture.begin(headers);
    this.#capture.add(body);
    this.#response.respond(status, headers, body);
  }

  start(status: number, headers: HeaderList, isVerbatim?: boolean): void {
    this.#capture.begin(headers);
    this.#response.start(status, headers, isVerbatim);
  }

  startWebSocket(protocol: string, framing: MessageFraming): void {
    this.#response.startWebSocket(protocol, framing);
  }

  write(bytes: Uint8Array, isForMany = false): boolean {
    this.#capture.add(bytes);
    return this.#response.write(bytes, isForMany);
  }

  onDrained(callback: () => void): void {
    this.#response.onDrained(callback);
  }

  end(last?: Uint8Array): void {
    if (last !== undefined) this.#capture.add(last);
    this.#response.end(last);
  }

  abort(): void {
    this.#response.abort();
  }
}
