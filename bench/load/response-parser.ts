// Reads HTTP/1.1 responses of one connection as they arrive, in pieces of any size. Looks at the status, the length
// and the chunk sizes and hands the body on as slices of what was read: it never copies or parses a body.

export interface ResponseSink {
  onHead(status: number): void;
  /** A piece of the body: `buffer[start, end)`, valid during the call. */
  onBody(buffer: Buffer, start: number, end: number): void;
  onEnd(): void;
}

/** What came is not a response this client can read. */
export class ResponseError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ResponseError';
  }
}

const HEAD_BYTES_MAX = 64 * 1024;
const CHUNK_BYTES_MAX = 0x40000000;
const HEAD_END = Buffer.from('\r\n\r\n');
const LF = 0x0a;
const SEMICOLON = 0x3b;

const HEAD = 0;
const SIZED = 1;
const CHUNK_SIZE = 2;
const CHUNK_EXTENSION = 3;
const CHUNK_DATA = 4;
const CHUNK_CLOSE = 5;
const TRAILER = 6;

export class ResponseParser {
  readonly #sink: ResponseSink;
  #state = HEAD;
  /** Bytes left of the body, or of the chunk. */
  #left = 0;
  /** The beginning of a head that has not all arrived. */
  #partialHead: Buffer | undefined;
  #trailerLineBytes = 0;

  constructor(sink: ResponseSink) {
    this.#sink = sink;
  }

  /** Takes what was read. Throws ResponseError; the connection is then of no more use. */
  feed(read: Buffer): void {
    const end = read.length;
    let at = 0;
    while (at < end) at = this.#step(read, at, end);
  }

  #step(buffer: Buffer, at: number, end: number): number {
    switch (this.#state) {
      case HEAD:
        return this.#readHead(buffer, at, end);
      case SIZED:
        return this.#readSized(buffer, at, end);
      case CHUNK_SIZE:
        return this.#readChunkSize(buffer, at, end);
      case CHUNK_DATA:
        return this.#readChunk(buffer, at, end);
      case TRAILER:
        return this.#readTrailer(buffer, at, end);
      default:
        return this.#skipLine(buffer, at, end);
    }
  }

  #readHead(buffer: Buffer, at: number, end: number): number {
    if (this.#partialHead !== undefined) return this.#readSplitHead(buffer, at, end);
    const found = buffer.indexOf(HEAD_END, at);
    if (found === -1) {
      this.#partialHead = Buffer.from(buffer.subarray(at, end));
      return end;
    }
    this.#begin(buffer, at, found + 2);
    return found + HEAD_END.length;
  }

  #readSplitHead(buffer: Buffer, at: number, end: number): number {
    const before = this.#partialHead!;
    const head = Buffer.concat([before, buffer.subarray(at, end)]);
    const found = head.indexOf(HEAD_END, Math.max(0, before.length - HEAD_END.length + 1));
    if (found === -1) {
      if (head.length > HEAD_BYTES_MAX) throw new ResponseError('the response head has no end');
      this.#partialHead = head;
      return end;
    }
    this.#partialHead = undefined;
    this.#begin(head, 0, found + 2);
    return at + found + HEAD_END.length - before.length;
  }

  /** Takes the head's lines in `buffer[start, end)`, each with its CRLF. */
  #begin(buffer: Buffer, start: number, end: number): void {
    if (end - start < 14 || buffer.toString('latin1', start, start + 5) !== 'HTTP/') {
      throw new ResponseError('the answer is not HTTP');
    }
    const status = digitsAt(buffer, start + 9, start + 12);
    let length = -1;
    let chunked = false;
    for (let at = start; at < end; at += 1) {
      if (buffer[at] !== LF) continue;
      if (nameAt(buffer, at + 1, 'content-length:')) length = numberAt(buffer, at + 16, end);
      else if (nameAt(buffer, at + 1, 'transfer-encoding:')) chunked = true;
    }
    this.#sink.onHead(status);
    if (chunked) this.#state = CHUNK_SIZE;
    else if (length > 0) this.#state = SIZED;
    else if (length === 0 || status === 204 || status === 304) this.#finish();
    else throw new ResponseError(`status ${status} came without a length`);
    this.#left = chunked ? 0 : length;
  }

  #readSized(buffer: Buffer, at: number, end: number): number {
    const stop = Math.min(end, at + this.#left);
    this.#left -= stop - at;
    this.#sink.onBody(buffer, at, stop);
    if (this.#left === 0) this.#finish();
    return stop;
  }

  #readChunkSize(buffer: Buffer, start: number, end: number): number {
    for (let at = start; at < end; at += 1) {
      const byte = buffer[at]!;
      if (byte === LF) {
        this.#state = this.#left === 0 ? TRAILER : CHUNK_DATA;
        return at + 1;
      }
      const digit = hexDigit(byte);
      if (digit === -1) {
        if (byte !== 0x0d && byte !== SEMICOLON && byte !== 0x20) throw new ResponseError('a chunk has no size');
        this.#state = byte === 0x0d ? this.#state : CHUNK_EXTENSION;
        if (this.#state === CHUNK_EXTENSION) return at + 1;
      } else {
        this.#left = this.#left * 16 + digit;
        if (this.#left > CHUNK_BYTES_MAX) throw new ResponseError('a chunk is too large');
      }
    }
    return end;
  }

  #readChunk(buffer: Buffer, at: number, end: number): number {
    const stop = Math.min(end, at + this.#left);
    this.#left -= stop - at;
    this.#sink.onBody(buffer, at, stop);
    if (this.#left === 0) this.#state = CHUNK_CLOSE;
    return stop;
  }

  /** The rest of a size line with an extension, or the line end behind a chunk. */
  #skipLine(buffer: Buffer, start: number, end: number): number {
    for (let at = start; at < end; at += 1) {
      if (buffer[at] !== LF) continue;
      if (this.#state === CHUNK_CLOSE) this.#state = CHUNK_SIZE;
      else this.#state = this.#left === 0 ? TRAILER : CHUNK_DATA;
      return at + 1;
    }
    return end;
  }

  /** Trailer lines up to the empty one. */
  #readTrailer(buffer: Buffer, start: number, end: number): number {
    for (let at = start; at < end; at += 1) {
      if (buffer[at] !== LF) {
        this.#trailerLineBytes += 1;
        continue;
      }
      const empty = this.#trailerLineBytes <= 1;
      this.#trailerLineBytes = 0;
      if (empty) {
        this.#finish();
        return at + 1;
      }
    }
    return end;
  }

  #finish(): void {
    this.#state = HEAD;
    this.#left = 0;
    this.#sink.onEnd();
  }
}

function nameAt(buffer: Buffer, at: number, name: string): boolean {
  for (let index = 0; index < name.length; index += 1) {
    // Setting the bit makes letters lower case and leaves `-` and `:` as they are.
    if ((buffer[at + index]! | 0x20) !== name.charCodeAt(index)) return false;
  }
  return true;
}

function numberAt(buffer: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && (buffer[at] === 0x20 || buffer[at] === 0x09)) at += 1;
  let stop = at;
  while (stop < end && isDigit(buffer[stop]!)) stop += 1;
  if (stop === at || stop - at > 15) throw new ResponseError('the content length is not a number');
  return digitsAt(buffer, at, stop);
}

function digitsAt(buffer: Buffer, start: number, end: number): number {
  let number = 0;
  for (let at = start; at < end; at += 1) {
    if (!isDigit(buffer[at]!)) throw new ResponseError('the answer is not HTTP');
    number = number * 10 + buffer[at]! - 0x30;
  }
  return number;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function hexDigit(byte: number): number {
  if (isDigit(byte)) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
