// One connection of a load of lists in pages: a list is one operation, however many pages it takes. Each page asks for the
// next with the token of the one before.

import type { Endpoint, RequestJob } from '../load-protocol.ts';
import { PreparedRequest } from '../request-template.ts';
import type { Connection } from './connection.ts';
import { type Lane, type LaneLoad, tooShort } from './load-lane.ts';

/** The token stands in the list's metadata, in front of its items. */
const METADATA_BYTES_MAX = 2048;
const TOKEN = /"continue":"([^"]*)"/;

export class PagedLane implements Lane {
  readonly #load: LaneLoad;
  readonly #job: RequestJob;
  readonly #endpoint: Endpoint;
  #connection: Connection | undefined;
  #sentMs = 0;
  #status = 0;
  #listBytes = 0;
  /** The beginning of the page. */
  #front = '';

  constructor(load: LaneLoad, job: RequestJob) {
    this.#load = load;
    this.#job = job;
    this.#endpoint = job.endpoint;
  }

  attach(connection: Connection): void {
    this.#connection = connection;
  }

  close(): void {
    this.#connection?.close();
  }

  next(nowMs: number): void {
    if (this.#load.takeSequence() === -1) return;
    this.#sentMs = nowMs;
    this.#listBytes = 0;
    this.#ask('');
  }

  onHead(status: number): void {
    this.#status = status;
    this.#front = '';
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    this.#listBytes += end - start;
    if (this.#front.length < METADATA_BYTES_MAX) {
      this.#front += buffer.toString('latin1', start, Math.min(end, start + METADATA_BYTES_MAX));
    }
  }

  onEnd(): void {
    const token = this.#status < 300 ? TOKEN.exec(this.#front)?.[1] : undefined;
    if (token !== undefined && token !== '') {
      this.#ask(token);
      return;
    }
    const nowMs = performance.now();
    const error =
      this.#status >= 300
        ? `${this.#status} ${this.#front.slice(0, 500)}`
        : tooShort(this.#listBytes, this.#job.answerBytesMin);
    this.#load.answered(this.#sentMs, nowMs, this.#listBytes, error);
    this.next(nowMs);
  }

  onLost(error: Error): void {
    this.#load.lost(error);
  }

  #ask(token: string): void {
    const { request, pageLimit } = this.#job;
    const path = `${request.path}?limit=${pageLimit}&continue=${encodeURIComponent(token)}`;
    this.#connection!.send(PreparedRequest.compile({ ...request, path }, this.#endpoint).bytes);
  }
}
