// A client of answers that come in pieces: keeps what it is sent, may read slowly, and may go away.
import type { Exchange } from '../../../../actors/ingress/exchange/exchange.ts';
import type { HttpResponse } from '../../../../transport/http.ts';
import { exchangeOver } from '../exchanges.ts';

/** What a client got, and how it read. */
export class Client {
  text = '';
  pieces = 0;
  status = 0;
  contentType = '';
  ended = false;
  aborted = false;
  /** Pieces after which the socket is full until `drain`. */
  fullAfter = Number.POSITIVE_INFINITY;
  /** Pieces after which the client goes away. */
  goneAfter = Number.POSITIVE_INFINITY;
  drain: () => void = () => {};
  #onAborted: () => void = () => {};
  readonly exchange: Exchange;

  constructor() {
    const begin = (status: number, headers: readonly (readonly [string, string])[]): void => {
      this.status = status;
      this.contentType = headers.find(([name]) => name === 'Content-Type')?.[1] ?? '';
    };
    const response: Partial<HttpResponse> = {
      onAborted: (callback) => {
        this.#onAborted = callback;
      },
      onDrained: (callback) => {
        this.drain = callback;
      },
      respond: (status, headers, body) => {
        begin(status, headers);
        this.text += Buffer.from(body).toString('utf8');
        this.pieces++;
        this.ended = true;
      },
      start: begin,
      write: (bytes) => {
        this.text += Buffer.from(bytes).toString('utf8');
        this.pieces++;
        if (this.pieces < this.goneAfter) return this.pieces < this.fullAfter;
        this.aborted = true;
        this.#onAborted();
        return false;
      },
      end: () => {
        this.ended = true;
      },
    };
    const isAborted = (): boolean => this.aborted;
    Object.defineProperty(response, 'aborted', { get: isAborted });
    this.exchange = exchangeOver(response);
  }
}
