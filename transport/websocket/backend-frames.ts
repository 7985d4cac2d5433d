// Frames of a WebSocket as a client writes and reads them (RFC 6455 5): for the connection to a backend whose messages are
// passed on. Owns no socket.
import { randomBytes } from 'node:crypto';
import { GatheredBytes } from '../gathered-bytes.ts';
import {
  BINARY,
  CLOSE,
  CLOSE_PROTOCOL_ERROR,
  CLOSE_TOO_BIG,
  CONTINUATION,
  CONTROL_BYTES_MAX,
  FIN,
  frameHeadBytes,
  MASK_BYTES,
  MASKED,
  PING,
  PONG,
  putFrameHead,
  RESERVED,
  TEXT,
} from './frames.ts';

/** Bytes of one message that is passed on. */
const PASSED_MESSAGE_BYTES_MAX = 4 * 1024 * 1024;

/** One whole frame, masked as a client's must be. */
export function maskedFrame(opcode: number, payload: Uint8Array): Buffer {
  const headBytes = frameHeadBytes(payload.length);
  const start = headBytes + MASK_BYTES;
  // The payload lies where whole words do.
  const memory = Buffer.allocUnsafe(start + payload.length + 2 * MASK_BYTES);
  const frame = memory
    .subarray((2 * MASK_BYTES - ((memory.byteOffset + start) % MASK_BYTES)) % MASK_BYTES)
    .subarray(0, start + payload.length);
  putFrameHead(frame, 0, opcode, payload.length);
  frame[1]! |= MASKED;
  frame.set(randomBytes(MASK_BYTES), headBytes);
  frame.set(payload, start);
  maskInPlace(frame, start);
  return frame;
}

/** All from `start` on, which is where a word begins in memory, with the mask that lies before it. */
function maskInPlace(frame: Buffer, start: number): void {
  const at = frame.byteOffset + start;
  const mask = new Uint32Array(frame.buffer, at - MASK_BYTES, 1)[0]!;
  const words = new Uint32Array(frame.buffer, at, (frame.length - start) >>> 2);
  for (let i = 0; i < words.length; i++) words[i]! ^= mask;
  for (let i = start + words.byteLength; i < frame.length; i++)
    frame[i]! ^= frame[start - MASK_BYTES + ((i - start) & 3)]!;
}

/** What a backend's bytes say, in order. Payloads are lent until the call returns. */
export interface BackendMessages {
  readonly onMessage: (payload: Buffer, isText: boolean) => void;
  /** To be answered with a pong of the same payload. */
  readonly onPing: (payload: Buffer) => void;
  /** The backend closes, or must be closed with this code; nothing is read after it. */
  readonly onClose: (code: number, reason: Buffer) => void;
}

const NO_BYTES = Buffer.alloc(0);
const HEAD_BYTES_LEAST = 2;
/** What a close without a code stands for (RFC 6455 7.1.5). */
export const CLOSE_WITHOUT_CODE = 1005;

/** Reads what a backend sends, in pieces cut anywhere. */
export class BackendFrameReader {
  readonly #messages: BackendMessages;
  /** What has come and is not taken. */
  readonly #waiting = new GatheredBytes();
  /** Until so many bytes wait, there is nothing to take. */
  #neededBytes = HEAD_BYTES_LEAST;
  /** The message whose frames are under way. Small frames would cost much more each by themselves. */
  readonly #begun = new GatheredBytes();
  /** The opcode of that message; undefined between messages. */
  #opcode: number | undefined;
  #isClosed = false;

  constructor(messages: BackendMessages) {
    this.#messages = messages;
  }

  /** `piece` is lent. */
  feed(piece: Buffer): void {
    if (this.#isClosed) return;
    let bytes = piece;
    if (this.#waiting.length > 0) {
      this.#waiting.add(piece);
      if (this.#waiting.length < this.#neededBytes) return;
      bytes = this.#waiting.all;
    }
    while (!this.#isClosed && bytes.length >= this.#neededBytes) bytes = bytes.subarray(this.#takeFrame(bytes));
    this.#waiting.keep(this.#isClosed ? NO_BYTES : bytes);
  }

  /** Takes a whole frame; returns its bytes, or 0 and sets how many are needed. */
  #takeFrame(bytes: Buffer): number {
    const first = bytes[0]!;
    const short = bytes[1]! & ~MASKED;
    const headBytes = short === 126 ? 4 : short === 127 ? 10 : HEAD_BYTES_LEAST;
    this.#neededBytes = headBytes;
    if (bytes.length < headBytes) return 0;
    if ((first & RESERVED) !== 0 || (bytes[1]! & MASKED) !== 0) return this.#refuse(CLOSE_PROTOCOL_ERROR);
    const length = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
    if (length > PASSED_MESSAGE_BYTES_MAX) return this.#refuse(CLOSE_TOO_BIG);
    this.#neededBytes = headBytes + length;
    if (bytes.length < this.#neededBytes) return 0;
    this.#neededBytes = HEAD_BYTES_LEAST;
    const payload = bytes.subarray(headBytes, headBytes + length);
    const opcode = first & 0x0f;
    const isFinal = (first & FIN) !== 0;
    if (opcode < CLOSE) this.#onData(opcode, payload, isFinal);
    else if (!isFinal || length > CONTROL_BYTES_MAX || opcode > PONG) this.#refuse(CLOSE_PROTOCOL_ERROR);
    else this.#onControl(opcode, payload);
    return headBytes + length;
  }

  #onData(opcode: number, payload: Buffer, isFinal: boolean): void {
    const isContinued = opcode === CONTINUATION;
    if (opcode > BINARY || isContinued !== (this.#opcode !== undefined)) {
      this.#refuse(CLOSE_PROTOCOL_ERROR);
      return;
    }
    if (!isContinued && isFinal) {
      this.#messages.onMessage(payload, opcode === TEXT);
      return;
    }
    this.#opcode ??= opcode;
    if (this.#begun.length + payload.length > PASSED_MESSAGE_BYTES_MAX) {
      this.#refuse(CLOSE_TOO_BIG);
      return;
    }
    this.#begun.add(payload);
    if (!isFinal) return;
    const whole = this.#begun.all;
    const isText = this.#opcode === TEXT;
    this.#begun.keep(NO_BYTES);
    this.#opcode = undefined;
    this.#messages.onMessage(whole, isText);
  }

  #onControl(opcode: number, payload: Buffer): void {
    if (opcode === PING) this.#messages.onPing(payload);
    else if (opcode === CLOSE) {
      this.#isClosed = true;
      if (payload.length < 2) this.#messages.onClose(CLOSE_WITHOUT_CODE, NO_BYTES);
      else this.#messages.onClose(payload.readUInt16BE(0), payload.subarray(2));
    }
  }

  #refuse(code: number): number {
    this.#isClosed = true;
    this.#messages.onClose(code, NO_BYTES);
    return 0;
  }
}
