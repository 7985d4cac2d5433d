// A watch as tests read it: one event after another, and how the stream ended. Every line must be a whole JSON value.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ApiObject } from './https-client.ts';

/** Longer than anything a test waits for. */
const PATIENCE_MS = 120_000;

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: ApiObject;
}

/**
 * `clean`: the last chunk came, between two events; `torn`: the connection broke, or ended inside an event; `closed`: by
 * this side.
 */
export type WatchEnd = 'clean' | 'torn' | 'closed';

export class WatchStream implements AsyncIterable<WatchEvent> {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly ended: Promise<WatchEnd>;
  readonly #message: IncomingMessage;
  readonly #events: WatchEvent[] = [];
  #text = '';
  #end: WatchEnd | undefined;
  /** A line that is no event: most are the text of an answer that refuses the watch. */
  #other: string | undefined;
  #wake = (): void => {};

  constructor(message: IncomingMessage) {
    this.#message = message;
    this.status = message.statusCode ?? 0;
    this.headers = message.headers;
    message.setEncoding('utf8');
    message.on('data', (text: string) => this.#take(text));
    message.on('error', () => {}); // `close` follows.
    this.ended = new Promise((resolve) => {
      message.on('close', () => {
        const isWhole = message.complete && this.#other === undefined && this.#text.trim() === '';
        this.#end ??= isWhole ? 'clean' : 'torn';
        this.#wake();
        resolve(this.#end);
      });
    });
  }

  /** The next event; undefined at the end of the stream. Rejects when neither comes, and when something else did. */
  async next(): Promise<WatchEvent | undefined> {
    if (this.#events.length === 0 && this.#end === undefined) await this.#something();
    const event = this.#events.shift();
    if (event === undefined && this.#other !== undefined) {
      throw new Error(`instead of an event came, with code ${this.status}: ${this.#other}`);
    }
    return event;
  }

  /** The next events up to the first that `isLast` holds for, that one included. Rejects when the stream ends before. */
  async until(isLast: (event: WatchEvent) => boolean): Promise<WatchEvent[]> {
    const seen: WatchEvent[] = [];
    for (;;) {
      const event = await this.next();
      if (event === undefined) throw new Error(`the watch ended (${await this.ended}) after ${describe(seen)}`);
      seen.push(event);
      if (isLast(event)) return seen;
    }
  }

  async take(count: number): Promise<WatchEvent[]> {
    let left = count;
    return this.until(() => --left === 0);
  }

  async *[Symbol.asyncIterator](): AsyncIterator<WatchEvent> {
    for (let event = await this.next(); event !== undefined; event = await this.next()) yield event;
  }

  /** Stops reading from the connection: what the server sends stays there. */
  pause(): void {
    this.#message.pause();
  }

  resume(): void {
    this.#message.resume();
  }

  close(): void {
    this.#end ??= 'closed';
    this.#message.destroy();
    this.#wake();
  }

  #take(text: string): void {
    // What was read before a stream was closed still arrives.
    if (this.#end !== undefined || this.#other !== undefined) return;
    const lines = (this.#text + text).split('\n');
    this.#text = lines.pop() ?? '';
    for (const line of lines) {
      if (line.trim() !== '' && !this.#takeEvent(line)) break;
    }
    this.#wake();
  }

  #takeEvent(line: string): boolean {
    try {
      this.#events.push(JSON.parse(line) as WatchEvent);
      return true;
    } catch {
      this.#other = line;
      this.#message.destroy();
      return false;
    }
  }

  #something(): Promise<void> {
    return new Promise((resolve, reject) => {
      const patience = setTimeout(() => reject(new Error(`nothing came within ${PATIENCE_MS} ms`)), PATIENCE_MS);
      this.#wake = () => {
        if (this.#events.length === 0 && this.#end === undefined) return;
        clearTimeout(patience);
        resolve();
      };
    });
  }
}

function describe(events: readonly WatchEvent[]): string {
  return events.map(({ type, object }) => `${type} ${object.metadata?.name ?? ''}`).join(', ') || 'nothing';
}
