// The client's end of a WebSocket, for tests, written from RFC 6455 and from nothing of ours: frames as they are, and
// frames that no proper client would send.
import { createHash, randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';

export interface Frame {
  readonly final: boolean;
  readonly opcode: number;
  readonly masked: boolean;
  readonly payload: Buffer;
}

/** The head of an opening handshake without its last line, and the accept header it must be answered with. */
export function handshake(): { readonly headers: readonly string[]; readonly accept: string } {
  const key = randomBytes(16).toString('base64');
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  const headers = [
    'Connection: keep-alive, Upgrade',
    'Upgrade: WebSocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${key}`,
  ];
  return { headers, accept };
}

/** A client's frame; `change` makes it one that is not allowed. */
export function clientFrame(
  opcode: number,
  payload: Uint8Array,
  change: { readonly final?: boolean; readonly masked?: boolean; readonly reserved?: number } = {},
): Buffer {
  const { final = true, masked = true, reserved = 0 } = change;
  const short = payload.length < 126 ? payload.length : payload.length < 65_536 ? 126 : 127;
  const head = [(final ? 0x80 : 0) | reserved | opcode, (masked ? 0x80 : 0) | short];
  const length = Buffer.alloc(short === 126 ? 2 : short === 127 ? 8 : 0);
  if (short === 126) length.writeUInt16BE(payload.length);
  if (short === 127) length.writeBigUInt64BE(BigInt(payload.length));
  if (!masked) return Buffer.concat([Buffer.from(head), length, payload]);
  const mask = randomBytes(4);
  const hidden = Buffer.from(payload).map((byte, i) => byte ^ mask[i % 4]!);
  return Buffer.concat([Buffer.from(head), length, mask, hidden]);
}

/** The whole frames at the beginning of what was received, and how many bytes they take. */
export function readFrames(received: Buffer): { readonly frames: readonly Frame[]; readonly length: number } {
  const frames: Frame[] = [];
  let at = 0;
  while (received.length - at >= 2) {
    const first = received[at]!;
    const short = received[at + 1]! & 0x7f;
    const masked = (received[at + 1]! & 0x80) !== 0;
    let start = at + 2;
    let length = short;
    if (short === 126) {
      if (received.length < start + 2) break;
      length = received.readUInt16BE(start);
      start += 2;
    } else if (short === 127) {
      if (received.length < start + 8) break;
      length = Number(received.readBigUInt64BE(start));
      start += 8;
    }
    if (received.length < start + length) break;
    const payload = received.subarray(start, start + length);
    frames.push({ final: (first & 0x80) !== 0, opcode: first & 0x0f, masked, payload });
    at = start + length;
  }
  return { frames, length: at };
}

/** Splits what a socket brings into the answer's head and the frames behind it. */
export class WebSocketReader {
  head = '';
  readonly frames: Frame[] = [];
  isClosed = false;
  #received = Buffer.alloc(0);
  #wake = (): void => {};

  constructor(socket: Duplex) {
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.on('error', () => {});
    socket.on('close', () => {
      this.isClosed = true;
      this.#wake();
    });
  }

  /** Waits until there are so many frames, or the connection is closed. */
  async until(condition: (reader: WebSocketReader) => boolean): Promise<void> {
    while (!condition(this)) {
      if (this.isClosed) throw new Error(`closed after ${this.head} and ${this.frames.length} frames`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #take(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    if (this.head === '') {
      const end = this.#received.indexOf('\r\n\r\n');
      if (end < 0) return;
      this.head = this.#received.toString('latin1', 0, end);
      this.#received = this.#received.subarray(end + 4);
    }
    if (this.head.startsWith('HTTP/1.1 101')) {
      const { frames, length } = readFrames(this.#received);
      this.frames.push(...frames);
      this.#received = this.#received.subarray(length);
    }
    this.#wake();
  }

  /** What followed the head of an answer that is no 101. */
  get body(): string {
    return this.#received.toString('utf8');
  }
}
