// One answer of HTTP/1.1 out of the bytes of a connection, however they are cut. Strict and bounded: what two readers could
// understand differently is no answer. Pure; the connection is its caller's.
import { type AnswerHead, BadAnswer, checkTrailer, HEAD_BYTES_MAX, readHead } from './answer-head.ts';

const CR = 0x0d;
const LF = 0x0a;
const HEAD_END = Buffer.from('\r\n\r\n');
/** Of a chunk's size with its extensions. */
const SIZE_LINE_BYTES_MAX = 256;
const SIZE_LINE = /^([0-9A-Fa-f]{1,8})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/;
/** Answers before the answer. */
const INTERIM_MAX = 8;
const SWITCHING = 101;

/** More than the caller takes. */
export class AnswerTooLarge extends BadAnswer {}

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** The connection may carry another request. */
  readonly isKept: boolean;
  /** How long it stays open unused, where the service says so. */
  readonly keptForMs: number | undefined;
  /** After which time the request may come again, where the service says so. */
  readonly retryAfterMs: number | undefined;
  /** The body is text by its type, or has none. */
  readonly isText: boolean;
  /** Where else to ask; empty where nothing is said of that. */
  readonly location: string;
}

type State = 'head' | 'length' | 'close' | 'size' | 'chunk' | 'chunkEnd' | 'trailer' | 'done';

export class AnswerParser {
  readonly #bytesMax: number;
  #state: State = 'head';
  #head: AnswerHead | undefined;
  #interim = 0;
  /** The beginning of a head or of a line that is not whole yet. */
  #begun: Buffer | undefined;
  readonly #body = new Gathered();
  /** Bytes of the body, or of the chunk, that are still to come. */
  #missing = 0;

  constructor(bodyBytesMax: number) {
    this.#bytesMax = bodyBytesMax;
  }

  /** Whether anything of an answer has come. */
  get hasBegun(): boolean {
    return this.#head !== undefined || this.#begun !== undefined || this.#interim > 0;
  }

  /**
   * The answer, once it is whole; of a connection with bytes after it nothing more is believed. Throws BadAnswer, after which the
   * parser is of no use. Keeps no view of the bytes.
   */
  take(bytes: Buffer): Answer | undefined {
    let at = 0;
    while (at < bytes.length && this.#state !== 'done') at = this.#step(bytes, at);
    if (this.#state === 'done') return this.#answer(at === bytes.length);
    this.#body.hold();
    return undefined;
  }

  /** The other side will send no more: the answer, where that is its end. */
  end(): Answer | undefined {
    if (this.#state !== 'close') return undefined;
    this.#state = 'done';
    return this.#answer(false);
  }

  /** Goes on from `at`, and says how far it came. */
  #step(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(bytes, at);
      case 'length':
      case 'chunk':
        return this.#readBody(bytes, at, Math.min(bytes.length, at + this.#missing));
      case 'close':
        return this.#readBody(bytes, at, bytes.length);
      case 'size':
        return this.#readLine(bytes, at, SIZE_LINE_BYTES_MAX, (line) => this.#beginChunk(line));
      case 'chunkEnd':
        return this.#readLine(bytes, at, 0, () => {
          this.#state = 'size';
        });
      case 'trailer':
        return this.#readTrailer(bytes, at);
      case 'done':
        return at;
    }
  }

  #readHead(bytes: Buffer, at: number): number {
    const end = this.#begun === undefined ? bytes.indexOf(HEAD_END, at) : -1;
    if (end >= 0) {
      this.#takeHead(bytes.toString('latin1', at, end));
      return end + HEAD_END.length;
    }
    return this.#readAcross(bytes, at, HEAD_END, (text) => this.#takeHead(text));
  }

  #takeHead(text: string): void {
    if (text.length > HEAD_BYTES_MAX) throw new BadAnswer('the head is too long');
    const head = readHead(text);
    if (head.status === SWITCHING) throw new BadAnswer('another protocol');
    if (head.status < 200) {
      if (++this.#interim > INTERIM_MAX) throw new BadAnswer('too many answers before the answer');
      return;
    }
    this.#head = head;
    const { framing } = head;
    if (framing.kind === 'length') {
      if (framing.bytes > this.#bytesMax) throw new AnswerTooLarge('more than it may');
      this.#missing = framing.bytes;
      this.#state = framing.bytes === 0 ? 'done' : 'length';
    } else this.#state = framing.kind === 'chunked' ? 'size' : 'close';
  }

  #readBody(bytes: Buffer, at: number, end: number): number {
    if (this.#body.length + end - at > this.#bytesMax) throw new AnswerTooLarge('more than it may');
    this.#body.add(bytes.subarray(at, end));
    if (this.#state === 'close') return end;
    this.#missing -= end - at;
    if (this.#missing === 0) this.#state = this.#state === 'chunk' ? 'chunkEnd' : 'done';
    return end;
  }

  #beginChunk(line: string): void {
    const size = SIZE_LINE.exec(line)?.[1];
    if (size === undefined) throw new BadAnswer('no size of a chunk');
    this.#missing = Number.parseInt(size, 16);
    if (this.#body.length + this.#missing > this.#bytesMax) throw new AnswerTooLarge('more than it may');
    this.#state = this.#missing === 0 ? 'trailer' : 'chunk';
  }

  /** Lines up to an empty one, which is most often the first. */
  #readTrailer(bytes: Buffer, at: number): number {
    const begun = this.#begun;
    const first = begun === undefined ? bytes[at] : begun[0];
    if (first === CR) return this.#readLine(bytes, at, 0, () => this.#finish());
    return this.#readAcross(bytes, at, HEAD_END, (text) => {
      checkTrailer(text);
      this.#finish();
    });
  }

  #finish(): void {
    this.#state = 'done';
  }

  /** A line of at most so many bytes, without its end. */
  #readLine(bytes: Buffer, at: number, bytesMax: number, use: (line: string) => void): number {
    const before = this.#begun;
    const end = bytes.indexOf(LF, at);
    const until = end < 0 ? bytes.length : end + 1;
    const line = before === undefined ? bytes.subarray(at, until) : Buffer.concat([before, bytes.subarray(at, until)]);
    if (line.length > bytesMax + 2) throw new BadAnswer('a line is too long');
    if (end < 0) {
      this.#begun = Buffer.from(line);
      return until;
    }
    if (line.length < 2 || line[line.length - 2] !== CR) throw new BadAnswer('a line without its end');
    this.#begun = undefined;
    use(line.toString('latin1', 0, line.length - 2));
    return until;
  }

  /** What stands before `mark`, which may come in any number of pieces. */
  #readAcross(bytes: Buffer, at: number, mark: Buffer, use: (text: string) => void): number {
    const before = this.#begun;
    const beforeBytes = before?.length ?? 0;
    const fresh = bytes.subarray(at, at + HEAD_BYTES_MAX + mark.length - beforeBytes);
    const whole = before === undefined ? fresh : Buffer.concat([before, fresh]);
    const end = whole.indexOf(mark, Math.max(0, beforeBytes - mark.length + 1));
    if (end < 0) {
      if (whole.length >= HEAD_BYTES_MAX + mark.length) throw new BadAnswer('the head is too long');
      this.#begun = before === undefined ? Buffer.from(whole) : whole;
      return bytes.length;
    }
    this.#begun = undefined;
    use(whole.toString('latin1', 0, end));
    return at + end + mark.length - beforeBytes;
  }

  #answer(isAll: boolean): Answer {
    const { status, isKept, keptForMs, retryAfterMs, isText, location } = this.#head!;
    return { status, text: this.#body.text(), isKept: isKept && isAll, keptForMs, retryAfterMs, isText, location };
  }
}

const NO_BYTES = Buffer.alloc(0);

/** Pieces put together: of one that is all nothing is copied, and of many small ones no more is kept than their bytes. */
class Gathered {
  #bytes: Buffer = NO_BYTES;
  /** The bytes are the first piece itself, which is another's. */
  #isLent = false;
  length = 0;

  add(piece: Buffer): void {
    const { length } = this;
    this.length = length + piece.length;
    if (length === 0) {
      this.#bytes = piece;
      this.#isLent = true;
      return;
    }
    if (this.#isLent || this.length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(this.length * 2);
      this.#bytes.copy(larger, 0, 0, length);
      this.#bytes = larger;
      this.#isLent = false;
    }
    piece.copy(this.#bytes, length);
  }

  /** What there is lies in memory of its own from here on. */
  hold(): void {
    if (!this.#isLent) return;
    this.#bytes = Buffer.from(this.#bytes);
    this.#isLent = false;
  }

  text(): string {
    return this.#bytes.toString('utf8', 0, this.length);
  }
}
