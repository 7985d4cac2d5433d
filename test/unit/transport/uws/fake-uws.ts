// The uWebSockets binary as far as a streamed answer can tell: one cork buffer a thread, one buffer a socket, a kernel that
// takes what it has room for, and the loss of what does not fit behind a cork buffer that the kernel does not take whole.
import type { HttpResponse as NativeResponse } from 'uWebSockets.js';

const CORK_BYTES = 16 * 1024;
const NOTHING = Buffer.alloc(0);

/** What the sockets of one thread share. */
export class FakeLoop {
  corked: FakeSocket | undefined;
  buffered: Buffer[] = [];
  bufferedBytes = 0;
  /** Writes that were lost. */
  lost = 0;
}

export class FakeSocket {
  /** What the kernel has taken. */
  readonly wire: Buffer[] = [];
  /** What the binary holds for the kernel, and the most that it ever held. */
  held: Buffer = NOTHING;
  heldMax = 0;
  isEnded = false;
  renewals = 0;
  readonly native: NativeResponse;
  readonly #loop: FakeLoop;
  #room: number;
  #isChunked = false;
  /** Of the body, where its length is known. */
  #offset = 0;
  #writable: (() => boolean) | undefined;

  constructor(loop: FakeLoop, room: number) {
    this.#loop = loop;
    this.#room = room;
    const methods = {
      cork: (callback: () => void) => this.#cork(callback),
      writeStatus: (status: string) => this.#put(`HTTP/1.1 ${status}\r\n`),
      writeHeader: (name: string, value: string) => this.#put(`${name}: ${value}\r\n`),
      write: (bytes: Uint8Array) => this.#writeChunk(bytes),
      getWriteOffset: () => this.#offset,
      tryEnd: (bytes: Uint8Array, length: number) => this.#tryEnd(bytes, length),
      end: () => {
        this.#beginChunks();
        this.#put('\r\n0\r\n\r\n');
        this.isEnded = true;
        this.#writable = undefined;
      },
      onWritable: (callback: () => boolean) => {
        this.#writable = callback;
      },
      pause: () => {},
      resume: () => {
        this.renewals++;
      },
    };
    this.native = methods as unknown as NativeResponse;
  }

  /** Runs what the binary calls with this socket corked, and the microtasks behind it. */
  async callback(run: () => void): Promise<void> {
    this.#loop.corked = this;
    run();
    for (let i = 0; i < 5; i++) await Promise.resolve();
    if (this.#loop.corked === this) this.#uncork();
  }

  /** The client reads, while the binary does not look at the socket. */
  drainUnseen(bytes: number): void {
    this.#room += bytes;
  }

  /** The client reads: the kernel has so much more room, and says so when somebody waits for it. */
  drain(bytes: number): void {
    this.#room += bytes;
    if (this.held.length === 0) return;
    if (this.#writable === undefined) this.#send(NOTHING);
    else this.#writable();
  }

  #cork(callback: () => void): void {
    const { corked } = this.#loop;
    if (corked !== undefined) {
      callback();
      return;
    }
    this.#loop.corked = this;
    callback();
    if (this.#loop.corked === this) this.#uncork();
  }

  /** Takes all that fits into the cork, and nothing behind what it holds. */
  #tryEnd(bytes: Uint8Array, length: number): [isTaken: boolean, isWhole: boolean] {
    if (this.held.length > 0 && !this.#send(NOTHING)) return [false, false];
    const isTaken = this.#put(bytes);
    this.#offset += bytes.length;
    if (this.#offset === length) this.isEnded = true;
    return [isTaken, this.isEnded];
  }

  #beginChunks(): void {
    if (this.#isChunked) return;
    this.#isChunked = true;
    this.#put('Transfer-Encoding: chunked\r\n');
  }

  #writeChunk(bytes: Uint8Array): boolean {
    this.#beginChunks();
    this.#put('\r\n');
    this.#put(bytes.length.toString(16));
    this.#put('\r\n');
    return this.#put(bytes);
  }

  /** False when some of it stays in the socket's buffer. */
  #put(written: Uint8Array | string): boolean {
    const bytes = Buffer.from(written as Uint8Array);
    const loop = this.#loop;
    if (this.held.length > 0 && !this.#send(NOTHING)) {
      this.#hold(bytes);
      return false;
    }
    if (loop.corked !== this) return this.#send(bytes);
    if (loop.bufferedBytes + bytes.length <= CORK_BYTES) {
      loop.buffered.push(bytes);
      loop.bufferedBytes += bytes.length;
      return true;
    }
    if (this.#uncork()) return this.#send(bytes);
    loop.lost++;
    return false;
  }

  #uncork(): boolean {
    const loop = this.#loop;
    loop.corked = undefined;
    const bytes = Buffer.concat(loop.buffered);
    loop.buffered = [];
    loop.bufferedBytes = 0;
    return this.#send(bytes);
  }

  #send(bytes: Buffer): boolean {
    const all = this.held.length === 0 ? bytes : Buffer.concat([this.held, bytes]);
    const taken = Math.min(this.#room, all.length);
    this.#room -= taken;
    if (taken > 0) this.wire.push(all.subarray(0, taken));
    this.held = NOTHING;
    this.#hold(all.subarray(taken));
    return this.held.length === 0;
  }

  #hold(bytes: Buffer): void {
    this.held = this.held.length === 0 ? bytes : Buffer.concat([this.held, bytes]);
    this.heldMax = Math.max(this.heldMax, this.held.length);
  }
}
