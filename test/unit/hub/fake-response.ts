// A response that records what is written to it, and whose socket is full when a test says so.
import type { HeaderList, HttpResponse } from '../../../transport/http.ts';

export class FakeResponse implements HttpResponse {
  status = 0;
  headers: HeaderList = [];
  readonly chunks: Buffer[] = [];
  aborted = false;
  ended = false;
  /** Asked at each write whether the socket is full after it. */
  isFull: () => boolean = () => false;
  /** Writes that were made while the socket was full, which a real socket would have buffered without bound. */
  writesWhileFull = 0;
  #full = false;
  #onAborted: () => void = () => {};
  #onDrained: () => void = () => {};

  get text(): string {
    return Buffer.concat(this.chunks).toString('utf8');
  }

  onAborted(callback: () => void): void {
    const earlier = this.#onAborted;
    this.#onAborted = () => {
      earlier();
      callback();
    };
    if (this.aborted) callback();
  }

  respond(status: number, headers: HeaderList, body: Uint8Array | string): void {
    this.start(status, headers);
    this.chunks.push(Buffer.from(body));
    this.ended = true;
  }

  start(status: number, headers: HeaderList): void {
    if (this.status !== 0) throw new Error('an answer was begun twice');
    this.status = status;
    this.headers = headers;
  }

  startWebSocket(): void {
    this.start(101, []);
  }

  write(bytes: Uint8Array): boolean {
    if (this.aborted) return false;
    if (this.status === 0) throw new Error('a chunk was written before the answer was begun');
    if (this.ended) throw new Error('a chunk was written after the end');
    if (this.#full) this.writesWhileFull++;
    this.chunks.push(Buffer.from(bytes));
    this.#full = this.isFull();
    return !this.#full;
  }

  onDrained(callback: () => void): void {
    this.#onDrained = callback;
  }

  end(last?: Uint8Array): void {
    if (this.ended) throw new Error('an answer was ended twice');
    if (last !== undefined && !this.aborted) this.chunks.push(Buffer.from(last));
    this.ended = true;
  }

  abort(): void {
    this.disconnect();
  }

  get full(): boolean {
    return this.#full;
  }

  /** The socket has room again. */
  drain(): void {
    if (!this.#full) return;
    this.#full = false;
    this.#onDrained();
  }

  /** The client goes away. */
  disconnect(): void {
    if (this.aborted || this.ended) return;
    this.aborted = true;
    this.#onAborted();
  }
}
