// One streamed answer on a uws socket: hands its bytes to the binary in pieces, and holds what a full socket has not taken.
//
// What decides the pieces: the binary gathers a callback's writes in one buffer. When a write does not fit behind what is
// in it and the socket takes less than that, the binary keeps the buffer and drops the write, and the stream is mis-framed
// from there on (uWebSockets.js #1249). So a piece is never longer than what surely fits. What the binary itself holds
// for a client that does not read is less than two such pieces; this file holds the rest of one chunk.
import type { HttpResponse as NativeResponse } from 'uWebSockets.js';
import type { HeaderList } from '../http.ts';
import type { KeptBytes } from '../kept-bytes.ts';
import { isLengthDelimited, isPlainJson } from '../response-headers.ts';
import type { Cork } from './cork.ts';
import { writeStreamHead } from './head.ts';
import { type KeptAlive, type ParkedResponses, park, renew } from './parking.ts';
import type { SendingByTries, Tried } from './sending-by-tries.ts';
import { UnsentRest } from './unsent-rest.ts';

/** What the binary writes between a status and a body by itself: the protocol, the date, its own name, the coding. */
const HEAD_EXTRA_BYTES_MAX = 256;
/** A character of a header in UTF-8, in which the binary takes it. */
const CHARACTER_BYTES_MAX = 2;

/**
 * The first piece after a refused one. The binary does not tell what it still holds, but it takes a piece without a
 * refusal only when that is gone: a small one finds out, so that it holds less each time and not more.
 */
const PROBE_BYTES = 64;

/**
 * An answer that has ended is kept alive so many times in a row in which its client took nothing: every four seconds, which makes half a
 * minute with the binary's ten seconds. The kernel says that a client takes some of it only when a third of its buffer is free, which
 * may be a megabyte and more: a slow client needs ten seconds for that.
 */
const END_KEPT_MAX = 5;

/**
 * Of what is sent by tries, the last bytes go one by one until one of them is taken: nothing else tells that the binary has sent all that
 * was before it. After so many tries the answer is left to the binary.
 */
const LAST_BYTES = 32;

const NEWLINE = 0x0a;

// The binary sends the line end that closes a chunk together with the next chunk, and the one that closes the headers
// with the first. Headers of a JSON stream that has nothing to say yet go out with a blank, with which its first line then begins:
// readers by lines (Java's, .NET's) take an empty line for a broken event.
const BLANK = new Uint8Array([0x20]);

// Some clients wait for the end of a chunk: they get an empty line after each line of a JSON stream, which is its own chunk and
// pushes the line end out. They pass over it.
const EMPTY_LINE = new Uint8Array([0x0a]);

// A stream of events behind four bytes of their length has no room for an empty line. No event has 16 MB: the first byte of the
// first length is sent with the headers, and left out of the first event.
const LEADING_ZERO = new Uint8Array([0]);

/** What responses of one listener share. */
export interface UwsResponseScope {
  /** While true, connections are closed after their answer; one whose answer began before, after the next. */
  isStopping: boolean;
  /** Answers that are begun and that the sockets have not taken whole. */
  ongoing: number;
  /** These, and requests that are not answered. */
  outstanding: number;
  /** Responses whose client does not read: kept alive by the listener's timer. */
  readonly parked: ParkedResponses;
  /** What clients have sent that who takes it has not taken. */
  readonly waiting: { bytes: number };
  /** Bodies that come in chunks, until their requests are answered. */
  readonly bodies: KeptBytes;
  /** The binary's cork, as far as it matters here. */
  readonly cork: Cork;
  onError(error: unknown): void;
}

/** A streamed answer, its length known or not. */
export interface AnswerStream extends KeptAlive {
  onDrained: (() => void) | undefined;
  /** The binary holds some of what was written, or this does. */
  readonly isFull: boolean;
  /** To be called in each native callback of the request, after `Cork.enter`. */
  enterCallback(): void;
  /** Sends a chunk. False when the socket is full; what it has not taken is on its way. */
  write(bytes: Uint8Array): boolean;
  /** Tries to send what waits. */
  sendOn(): Tried;
  /** Ends the answer when the socket has taken all of it. */
  end(): void;
  /** The socket is gone. */
  drop(): void;
}

/** Whose answer it is. */
export interface StreamOwner extends KeptAlive {
  readonly native: NativeResponse;
  readonly scope: UwsResponseScope;
  /** Absent where nothing more is read of the client. */
  readonly sending: SendingByTries | undefined;
  /** The closing chunk has been handed over: the native response is gone. */
  streamEnded(): void;
  /** Cuts the connection. */
  abort(): void;
  /** Runs a handler's callback. */
  guarded(callback: () => void): void;
}

interface StreamHead {
  readonly status: number;
  readonly headers: HeaderList;
  /** The body is plain JSON, in lines. */
  readonly isLines: boolean;
}

export class UwsStream implements AnswerStream {
  onDrained: (() => void) | undefined;
  readonly #owner: StreamOwner;
  /** Until it is sent. */
  #head: StreamHead | undefined;
  /** Each line is pushed out by an empty one. */
  readonly #pushesLines: boolean;
  /** The first byte of the first event was sent before it. */
  #owesZero = false;
  /** What has not been handed over. */
  #pending: UnsentRest[] | undefined;
  /** The handler was told to wait. */
  #isFull = false;
  /** The last piece was refused, and waits in the binary. */
  #isRefused = false;
  /** The last piece was taken, and so small that no socket takes it in part, but by a rare chance. */
  #isSent = false;
  /** Since the last try. */
  #piecesTaken = 0;
  #isEnding = false;
  /** Since the socket last took something. */
  #endKept = 0;

  constructor(owner: StreamOwner, status: number, headers: HeaderList, isVerbatim: boolean, isEager: boolean) {
    this.#owner = owner;
    const isLines = !isVerbatim && isPlainJson(headers);
    this.#head = { status, headers, isLines };
    this.#pushesLines = isLines && !isEager;
    this.enterCallback();
    // In a microtask: a handler that writes its first chunk in this turn sends it together with the headers.
    if (isLines || isLengthDelimited(headers)) queueMicrotask(() => this.#flushHead());
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  enterCallback(): void {
    const { native, scope } = this.#owner;
    if (!scope.cork.holds(native)) return;
    // Once the callback has returned, the buffer is free again, and what did not fit is sent.
    setImmediate(() => {
      scope.cork.leave(native);
      if (this.#pending !== undefined && this.#owner.sending?.isUnderWay !== true) this.#onWritable();
    });
  }

  write(bytes: Uint8Array): boolean {
    if (this.#isEnding) return false;
    if (bytes.length === 0) return !this.#isFull;
    if (this.#pending !== undefined || (this.#isFull && this.#owner.sending !== undefined)) {
      this.#pending ??= [];
      this.#pending.push(new UnsentRest(bytes));
      return false;
    }
    const owed = this.#owesZero && bytes[0] === 0 ? bytes.subarray(1) : bytes;
    this.#owesZero = false;
    const taken = this.#writePieces(owed);
    if (taken < owed.length) this.#pending = [new UnsentRest(owed.subarray(taken))];
    this.#setFull(this.#isRefused || taken < owed.length);
    return !this.#isFull;
  }

  sendOn(): Tried {
    this.#piecesTaken = 0;
    this.#onWritable();
    if (!this.#isFull) return 'all';
    return this.#piecesTaken > 0 ? 'some' : 'nothing';
  }

  /** Ends the answer when the socket has taken all of it. A client that takes nothing for half a minute is cut off. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    if (this.#pending === undefined && !this.#isFull && this.#room() >= 0) this.#end();
    else this.#pending ??= [];
  }

  drop(): void {
    for (const rest of this.#pending ?? []) rest.drop();
    this.#pending = undefined;
    this.#isEnding = true;
    this.#isRefused = false;
    this.onDrained = undefined;
    this.#setFull(false);
  }

  /** For as long as something was refused. */
  keepAlive(): void {
    if (!this.#isRefused || this.#owner.sending?.isUnderWay === true) return;
    if (this.#isEnding && ++this.#endKept > END_KEPT_MAX) return;
    renew(this.#owner.native);
  }

  #end(): void {
    const { native, scope } = this.#owner;
    native.cork(() => {
      const isClosed = scope.isStopping && this.#head !== undefined;
      this.#sendHead(isClosed);
      // Behind a body the binary would write the header that says so into the body. The client, or the listener, closes.
      native.end(undefined, isClosed);
    });
    this.drop();
    this.#owner.streamEnded();
  }

  /** Writes status and headers where they have not been; to be called inside a cork. `saysClosed`: the binary does. */
  #sendHead(saysClosed = false): void {
    const head = this.#head;
    if (head === undefined) return;
    this.#head = undefined;
    writeStreamHead(this.#owner, head, saysClosed);
  }

  #flushHead(): void {
    if (this.#head === undefined || this.#isEnding) return;
    const { isLines } = this.#head;
    this.#owesZero = !isLines;
    this.#isRefused = !this.#writePiece(isLines ? BLANK : LEADING_ZERO, false);
  }

  /** Hands bytes over until the socket, or the buffer of the callback at hand, is full. Returns how many it took. */
  #writePieces(bytes: Uint8Array): number {
    let taken = 0;
    while (taken < bytes.length) {
      const room = this.#room();
      if (room <= 0) return taken;
      const end = taken + this.#pieceBytes(bytes.length - taken, room);
      const piece = taken === 0 && end === bytes.length ? bytes : bytes.subarray(taken, end);
      taken = end;
      this.#isRefused = !this.#writePiece(piece, end === bytes.length && bytes[end - 1] === NEWLINE);
      if (this.#isRefused) return taken;
      this.#piecesTaken++;
      this.#isSent = piece.length <= PROBE_BYTES;
    }
    return taken;
  }

  /** How many of the bytes that are left go next. */
  #pieceBytes(left: number, room: number): number {
    const most = Math.min(left, this.#isRefused ? Math.min(room, PROBE_BYTES) : room);
    if (this.#owner.sending === undefined) return most;
    if (left > LAST_BYTES) return Math.min(most, left - LAST_BYTES);
    return this.#isSent ? most : 1;
  }

  #writePiece(piece: Uint8Array, endsLine: boolean): boolean {
    let isTaken = true;
    const { native, scope } = this.#owner;
    scope.cork.fill(native, piece.length + this.#headBytesMax());
    native.cork(() => {
      this.#sendHead();
      isTaken = native.write(piece);
      if (endsLine && this.#pushesLines) isTaken = native.write(EMPTY_LINE);
    });
    // Not before: most streams never fill their socket.
    if (!isTaken) native.onWritable(this.#onWritable.bind(this));
    return isTaken;
  }

  /** Bytes that surely fit into the buffer, behind the head where that is still to be sent. */
  #room(): number {
    const {
      native,
      scope: { cork },
    } = this.#owner;
    // Nothing is sent of what is tried while the binary reads: see SendingByTries.
    if (this.#owner.sending !== undefined && cork.holds(native)) return 0;
    const room = cork.room(native) - this.#headBytesMax();
    // A head that fills the whole buffer goes alone, and finds an empty socket.
    return this.#head === undefined || cork.holds(native) ? room : Math.max(PROBE_BYTES, room);
  }

  /** No less than what is still to be written of the head. */
  #headBytesMax(): number {
    if (this.#head === undefined) return 0;
    let bytes = HEAD_EXTRA_BYTES_MAX;
    for (const [name, value] of this.#head.headers) bytes += (name.length + value.length + 4) * CHARACTER_BYTES_MAX;
    return bytes;
  }

  #setFull(isFull: boolean): void {
    if (this.#isFull === isFull) return;
    this.#isFull = isFull;
    park(this.#owner, isFull);
  }

  #onWritable(): boolean {
    if (this.#isEnding && this.#pending === undefined) return true;
    this.#endKept = 0;
    // The binary leaves its own buffer to the next write; with nothing to write, an empty cork sends it.
    if (this.#pending === undefined) this.#owner.native.cork(() => {});
    else if (!this.#writePending(this.#pending)) return true;
    const wasFull = this.#isFull;
    this.#setFull(false);
    if (this.#isEnding) this.#end();
    else if (wasFull && this.onDrained !== undefined) this.#owner.guarded(this.onDrained);
    return true;
  }

  /** True when nothing is left, and the socket takes more. */
  #writePending(pending: UnsentRest[]): boolean {
    while (pending.length > 0) {
      const rest = pending[0]!;
      const { bytes } = rest;
      const taken = this.#writePieces(bytes);
      if (taken < bytes.length) {
        rest.bytes = bytes.subarray(taken);
        return false;
      }
      pending.shift();
      rest.drop();
      if (!this.#isRefused) continue;
      // Nothing is left to write, but the end waits for the socket too.
      if (pending.length === 0 && !this.#isEnding) this.#pending = undefined;
      return false;
    }
    this.#pending = undefined;
    return true;
  }
}
