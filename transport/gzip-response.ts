// An answer that is compressed when it is long: decides by its first bytes, then compresses piece by piece in the pool of
// threads that Node keeps for such work, at the pace at which the client takes it. Holds one piece at a time.
import { createGzip, type Gzip } from 'node:zlib';
import type { HeaderList, HttpResponse } from './http.ts';
import { isBodiless } from './http-status.ts';
import { splitOutsideQuotes } from './media-type.ts';
import type { MessageFraming } from './websocket/handshake.ts';

/** Up to this an answer goes out as it is. */
export const COMPRESSED_FROM_BYTES = 128 * 1024;
/** The fastest: the wire is seldom slower than what a better one costs. */
const LEVEL = 1;
/** Bytes of a whole answer that are compressed in one go; streams come in pieces of their own. */
const PIECE_BYTES = 256 * 1024;
const OUTPUT_BYTES = 64 * 1024;
/** Answers compressed at once on one thread. The pool is small, and the store's disk syncs wait in it too. */
const AT_ONCE_MAX = 4;
const CLAUSES_MAX = 16;

/** How many answers of a thread may be compressed at once. When all are, the next goes out as it is. */
export class GzipSlots {
  #free = AT_ONCE_MAX;

  take(): boolean {
    if (this.#free === 0) return false;
    this.#free--;
    return true;
  }

  release(): void {
    this.#free++;
  }
}

/** True for an Accept-Encoding header that allows gzip (RFC 9110 12.5.3). */
export function acceptsGzip(header: string): boolean {
  if (!/gzip/i.test(header)) return false;
  return splitOutsideQuotes(header, ',', CLAUSES_MAX).some((clause) => {
    const [coding = '', ...parameters] = clause.split(';');
    const refused = parameters.some((parameter) => /^\s*q\s*=\s*0(?:\.0*)?\s*$/i.test(parameter));
    return coding.trim().toLowerCase() === 'gzip' && !refused;
  });
}

type State = 'idle' | 'undecided' | 'plain' | 'gzip' | 'done';

export class GzipResponse implements HttpResponse {
  readonly #inner: HttpResponse;
  readonly #slots: GzipSlots;
  #state: State = 'idle';
  #status = 0;
  #headers: HeaderList = [];
  /** What has been written and neither sent nor compressed; copies. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #gzip: Gzip | undefined;
  #isCompressing = false;
  #isEnding = false;
  #isInnerFull = false;
  #drained: () => void = () => {};

  constructor(inner: HttpResponse, slots: GzipSlots) {
    this.#inner = inner;
    this.#slots = slots;
  }

  get aborted(): boolean {
    return this.#inner.aborted;
  }

  onAborted(callback: () => void): void {
    this.#inner.onAborted(callback);
  }

  respond(status: number, headers: HeaderList, body: Uint8Array | string): void {
    if (this.#state !== 'idle') return;
    const bytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    if (bytes <= COMPRESSED_FROM_BYTES || isBodiless(status) || !this.#begin(status, headers)) {
      this.#state = 'done';
      this.#inner.respond(status, headers, body);
      return;
    }
    const copy = Buffer.from(body as Uint8Array);
    for (let at = 0; at < copy.length; at += PIECE_BYTES) this.#waiting.push(copy.subarray(at, at + PIECE_BYTES));
    this.end();
  }

  start(status: number, headers: HeaderList, isVerbatim = false): void {
    if (this.#state !== 'idle') return;
    if (isVerbatim) {
      this.#state = 'plain';
      this.#inner.start(status, headers, true);
      return;
    }
    this.#state = 'undecided';
    this.#status = status;
    this.#headers = headers;
  }

  startWebSocket(protocol: string, framing: MessageFraming): void {
    this.#state = 'plain';
    this.#inner.startWebSocket(protocol, framing);
  }

  write(bytes: Uint8Array, isForMany = false): boolean {
    if (this.#state === 'plain') return this.#inner.write(bytes, isForMany);
    if (this.#state !== 'undecided' && this.#state !== 'gzip') return false;
    if (bytes.length > 0) this.#waiting.push(Buffer.from(bytes));
    this.#waitingBytes += bytes.length;
    if (this.#state === 'gzip') {
      this.#compress();
      return false;
    }
    return this.#waitingBytes <= COMPRESSED_FROM_BYTES || this.#decide();
  }

  onDrained(callback: () => void): void {
    this.#drained = callback;
    if (this.#state === 'plain') this.#inner.onDrained(callback);
  }

  end(last?: Uint8Array): void {
    if (last !== undefined) this.write(last);
    switch (this.#state) {
      case 'undecided':
        this.#state = 'done';
        this.#inner.respond(this.#status, this.#headers, Buffer.concat(this.#waiting));
        return;
      case 'plain':
        this.#state = 'done';
        this.#inner.end();
        return;
      case 'gzip':
        this.#isEnding = true;
        this.#compress();
        return;
      default:
    }
  }

  abort(): void {
    this.#inner.abort();
    this.#finish();
  }

  /** The answer is long: from here on it is compressed, or, when too many others are, sent as it is. */
  #decide(): boolean {
    if (this.#begin(this.#status, this.#headers)) {
      this.#compress();
      return false;
    }
    this.#state = 'plain';
    this.#inner.start(this.#status, this.#headers);
    this.#inner.onDrained(this.#drained);
    const first = Buffer.concat(this.#waiting);
    this.#waiting = [];
    return this.#inner.write(first);
  }

  /** Begins a compressed answer; false when it cannot be one. */
  #begin(status: number, headers: HeaderList): boolean {
    if (headers.some(([name]) => name.toLowerCase() === 'content-encoding') || !this.#slots.take()) return false;
    this.#state = 'gzip';
    const gzip = createGzip({ level: LEVEL, chunkSize: OUTPUT_BYTES });
    this.#gzip = gzip;
    gzip.on('data', (output: Buffer) => {
      if (!this.#inner.write(output)) this.#isInnerFull = true;
    });
    gzip.on('end', () => {
      this.#inner.end();
      this.#finish();
    });
    gzip.on('error', () => this.abort());
    this.#inner.start(status, [...headers, ['Content-Encoding', 'gzip'], ['Vary', 'Accept-Encoding']]);
    this.#inner.onAborted(() => this.#finish());
    this.#inner.onDrained(() => {
      this.#isInnerFull = false;
      this.#compress();
    });
    return true;
  }

  /** Compresses the next piece, when the one before is done and the client has taken it. */
  #compress(): void {
    const gzip = this.#gzip;
    if (gzip === undefined || this.#isCompressing || this.#isInnerFull) return;
    const piece = this.#waiting.shift();
    if (piece !== undefined) {
      this.#isCompressing = true;
      gzip.write(piece, () => {
        this.#isCompressing = false;
        this.#compress();
      });
    } else if (this.#isEnding) {
      this.#isCompressing = true;
      gzip.end();
    } else this.#drained();
  }

  #finish(): void {
    this.#state = 'done';
    this.#waiting = [];
    if (this.#gzip === undefined) return;
    this.#gzip.destroy();
    this.#gzip = undefined;
    this.#slots.release();
  }
}
