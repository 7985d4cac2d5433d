// One streamed answer on a uws socket whose length is known: hands its bytes to the binary, which takes what the socket takes and says how
// much that was, and holds the rest. The answer is over with its last byte.
import type { HeaderList } from '../http.ts';
import { writeStreamHead } from './head.ts';
import { park, renew } from './parking.ts';
import type { Tried } from './sending-by-tries.ts';
import type { AnswerStream, StreamOwner } from './stream.ts';
import { UnsentRest } from './unsent-rest.ts';

/** What fits into the buffer that the binary gathers in: more would be encrypted at once, and again with each try. */
const PIECE_BYTES = 16 * 1024 - 512;
/**
 * The last byte of a longer answer goes alone: it is taken when the binary holds nothing any more. Until then the answer is kept alive; one
 * that is over has ten seconds for what the binary holds, in which a slow client may take nothing that the kernel tells of.
 */
const LONG_BYTES = 64 * 1024;
const NOTHING = new Uint8Array(0);

export class UwsSizedStream implements AnswerStream {
  onDrained: (() => void) | undefined;
  readonly #owner: StreamOwner;
  readonly #length: number;
  /** Until it is sent. */
  #head: { readonly status: number; readonly headers: HeaderList } | undefined;
  /** What the binary has not taken. */
  #pending: UnsentRest[] = [];
  #isFull = false;
  #isEnding = false;
  #isOver = false;

  /** @param length of the body. */
  constructor(owner: StreamOwner, status: number, headers: HeaderList, length: number) {
    this.#owner = owner;
    this.#length = length;
    this.#head = { status, headers };
    this.enterCallback();
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  /** What is corked is sent by the binary: it takes nothing that does not fit. But nothing of what is tried is sent while it reads. */
  enterCallback(): void {
    const { native, scope, sending } = this.#owner;
    if (sending !== undefined && scope.cork.holds(native)) setImmediate(() => scope.cork.leave(native));
  }

  write(bytes: Uint8Array): boolean {
    if (this.#isOver) return false;
    if (bytes.length === 0) return !this.#isFull;
    const { native, scope, sending } = this.#owner;
    if (this.#pending.length > 0 || (sending !== undefined && (this.#isFull || scope.cork.holds(native)))) {
      this.#pending.push(new UnsentRest(bytes));
      this.#setFull(true);
      return false;
    }
    const taken = this.#hand(bytes);
    if (this.#isOver) return false;
    if (taken < bytes.length) this.#pending = [new UnsentRest(bytes.subarray(taken))];
    this.#setFull(taken < bytes.length || !this.#isSent());
    return !this.#isFull;
  }

  sendOn(): Tried {
    const { native, scope } = this.#owner;
    if (scope.cork.holds(native)) return 'nothing';
    const before = native.getWriteOffset();
    this.#onWritable();
    if (!this.#isFull) return 'all';
    return native.getWriteOffset() > before ? 'some' : 'nothing';
  }

  /** What is on its way ends the answer; one that lacks bytes is cut, since nothing else says so. */
  end(): void {
    if (this.#isOver) return;
    this.#isEnding = true;
    const { native, scope } = this.#owner;
    if (this.#length === 0) {
      native.cork(() => {
        this.#sendHead(scope.isStopping);
        native.end(undefined, scope.isStopping);
      });
      this.#finish();
    } else if (this.#pending.length === 0) this.#owner.abort();
  }

  drop(): void {
    for (const rest of this.#pending) rest.drop();
    this.#pending = [];
    this.#isOver = true;
    this.onDrained = undefined;
    this.#setFull(false);
  }

  /** For as long as the socket has not taken all. */
  keepAlive(): void {
    if (!this.#isFull || this.#isOver || this.#owner.sending?.isUnderWay === true) return;
    renew(this.#owner.native);
  }

  #finish(): void {
    this.drop();
    this.#owner.streamEnded();
  }

  /** Hands bytes over until the socket is full or the answer whole. Returns how many it took. */
  #hand(bytes: Uint8Array): number {
    const { native, scope } = this.#owner;
    let taken = 0;
    while (taken < bytes.length) {
      const left = this.#length - native.getWriteOffset();
      // A listener that stops closes what is answered.
      const isLastAlone = this.#length > LONG_BYTES || scope.isStopping;
      const most = isLastAlone && left > 1 ? left - 1 : left;
      const piece = bytes.subarray(taken, taken + Math.min(PIECE_BYTES, most));
      const took = this.#handPiece(piece);
      taken += took;
      if (took < piece.length || this.#isOver) return taken;
    }
    return taken;
  }

  #handPiece(piece: Uint8Array): number {
    const { native } = this.#owner;
    const before = native.getWriteOffset();
    let isTaken = true;
    let isWhole = false;
    native.cork(() => {
      this.#sendHead(false);
      [isTaken, isWhole] = native.tryEnd(piece, this.#length);
    });
    if (isWhole) {
      this.#finish();
      return piece.length;
    }
    if (!isTaken) native.onWritable(this.#onWritable.bind(this));
    return native.getWriteOffset() - before;
  }

  /** What is sent by tries has been sent: a try with nothing tells. */
  #isSent(): boolean {
    const { native, sending } = this.#owner;
    if (sending === undefined) return true;
    let isTaken = true;
    native.cork(() => {
      [isTaken] = native.tryEnd(NOTHING, this.#length);
    });
    return isTaken;
  }

  /** Writes status and headers where they have not been; to be called inside a cork. `saysClosed`: the binary does. */
  #sendHead(saysClosed: boolean): void {
    const head = this.#head;
    if (head === undefined) return;
    this.#head = undefined;
    writeStreamHead(this.#owner, head, saysClosed);
  }

  #onWritable(): boolean {
    if (this.#isOver) return true;
    // The binary leaves its own buffer to the next write; with nothing to write, an empty cork sends it.
    if (this.#pending.length === 0) this.#owner.native.cork(() => {});
    while (this.#pending.length > 0) {
      const rest = this.#pending[0]!;
      const { bytes } = rest;
      const taken = this.#hand(bytes);
      if (this.#isOver) return true;
      if (taken < bytes.length) {
        rest.bytes = bytes.subarray(taken);
        return true;
      }
      this.#pending.shift();
      rest.drop();
    }
    if (!this.#isSent()) return true;
    if (this.#isEnding) {
      this.#owner.abort();
      return true;
    }
    const wasFull = this.#isFull;
    this.#setFull(false);
    if (wasFull && this.onDrained !== undefined) this.#owner.guarded(this.onDrained);
    return true;
  }

  #setFull(isFull: boolean): void {
    if (this.#isFull === isFull) return;
    this.#isFull = isFull;
    park(this.#owner, isFull);
  }
}
