// Frames of a WebSocket as a server writes and reads them (RFC 6455 5). What clients send in data frames is of no
// interest here and is passed over without being kept; their control frames are read. Owns no socket.

export const TEXT = 0x1;
export const BINARY = 0x2;
export const CLOSE = 0x8;
export const PING = 0x9;
export const PONG = 0xa;
export const CONTINUATION = 0x0;

export const CLOSE_NORMAL = 1000;
export const CLOSE_PROTOCOL_ERROR = 1002;
export const CLOSE_TOO_BIG = 1009;

export const FIN = 0x80;
export const RESERVED = 0x70;
export const MASKED = 0x80;
export const CONTROL_BYTES_MAX = 125;
/** Bytes of one message of a client: nothing that it could send here is long. */
export const MESSAGE_BYTES_MAX = 64 * 1024;
export const MASK_BYTES = 4;
const HEADER_BYTES_MAX = 14;

/** Bytes that a server's frame has before its payload. */
export function frameHeadBytes(payloadBytes: number): number {
  return payloadBytes <= CONTROL_BYTES_MAX ? 2 : payloadBytes < 0x10000 ? 4 : 10;
}

/** Puts the head of a whole, unmasked frame; returns where its payload goes. */
export function putFrameHead(target: Buffer, at: number, opcode: number, payloadBytes: number): number {
  target[at] = FIN | opcode;
  if (payloadBytes <= CONTROL_BYTES_MAX) {
    target[at + 1] = payloadBytes;
    return at + 2;
  }
  if (payloadBytes < 0x10000) {
    target[at + 1] = 126;
    return target.writeUInt16BE(payloadBytes, at + 2);
  }
  target[at + 1] = 127;
  target.writeUInt32BE(0, at + 2);
  return target.writeUInt32BE(payloadBytes, at + 6);
}

/** One whole frame. A control frame's payload has at most 125 bytes. */
export function frameOf(opcode: number, payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(frameHeadBytes(payload.length) + payload.length);
  frame.set(payload, putFrameHead(frame, 0, opcode, payload.length));
  return frame;
}

/** The payload of a close frame. */
export function closePayload(code: number): Buffer {
  return Buffer.of(code >>> 8, code & 0xff);
}

/** What a client's bytes ask for, in order. */
export interface ClientFrames {
  /** To be answered with a pong of the same payload. */
  readonly onPing: (payload: Buffer) => void;
  /** The client closes, or must be closed with this code; nothing is read after it. */
  readonly onClose: (code: number) => void;
}

/** Reads what a client sends, in pieces cut anywhere. */
export class FrameReader {
  readonly #frames: ClientFrames;
  /** Bytes of a head, or of a control frame, that is not complete. */
  #partial: Buffer = Buffer.alloc(0);
  /** Payload bytes of a data frame that are still to be passed over. */
  #skipping = 0;
  /** Of the message whose frames are under way; undefined between messages. */
  #messageBytes: number | undefined;
  #isFinal = false;
  #isClosed = false;

  constructor(frames: ClientFrames) {
    this.#frames = frames;
  }

  feed(piece: Buffer): void {
    let bytes = this.#partial.length === 0 ? piece : Buffer.concat([this.#partial, piece]);
    while (!this.#isClosed) {
      if (this.#skipping > 0) {
        const skipped = Math.min(this.#skipping, bytes.length);
        this.#skipping -= skipped;
        bytes = bytes.subarray(skipped);
        if (this.#skipping > 0) break;
        this.#endFrame();
      }
      const taken = this.#takeHead(bytes);
      if (taken === 0) break;
      bytes = bytes.subarray(taken);
    }
    // At most a head and a control frame's payload: the rest was taken.
    this.#partial = this.#isClosed || this.#skipping > 0 ? Buffer.alloc(0) : Buffer.from(bytes);
  }

  /** Takes a frame's head, and the whole of a control frame; returns the bytes taken, 0 when some are missing. */
  #takeHead(bytes: Buffer): number {
    if (bytes.length < 2) return 0;
    const first = bytes[0]!;
    const second = bytes[1]!;
    const opcode = first & 0x0f;
    if ((first & RESERVED) !== 0 || (second & MASKED) === 0) return this.#refuse(CLOSE_PROTOCOL_ERROR);
    const short = second & 0x7f;
    const headBytes = (short === 126 ? 4 : short === 127 ? 10 : 2) + MASK_BYTES;
    if (opcode >= CLOSE) {
      if (opcode > PONG || short > CONTROL_BYTES_MAX || (first & FIN) === 0) return this.#refuse(CLOSE_PROTOCOL_ERROR);
      return this.#takeControl(bytes, opcode, headBytes, short);
    }
    if (opcode > BINARY || (opcode === CONTINUATION) !== (this.#messageBytes !== undefined)) {
      return this.#refuse(CLOSE_PROTOCOL_ERROR);
    }
    if (bytes.length < headBytes) return bytes.length > HEADER_BYTES_MAX ? this.#refuse(CLOSE_PROTOCOL_ERROR) : 0;
    const length = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
    const messageBytes = (this.#messageBytes ?? 0) + length;
    if (messageBytes > MESSAGE_BYTES_MAX) return this.#refuse(CLOSE_TOO_BIG);
    this.#messageBytes = messageBytes;
    this.#isFinal = (first & FIN) !== 0;
    this.#skipping = length;
    if (length === 0) this.#endFrame();
    return headBytes;
  }

  #takeControl(bytes: Buffer, opcode: number, headBytes: number, length: number): number {
    if (bytes.length < headBytes + length) return 0;
    const payload = Buffer.from(bytes.subarray(headBytes, headBytes + length));
    for (let i = 0; i < length; i++) payload[i]! ^= bytes[headBytes - MASK_BYTES + (i & 3)]!;
    if (opcode === PING) this.#frames.onPing(payload);
    else if (opcode === CLOSE) this.#refuse(length === 1 ? CLOSE_PROTOCOL_ERROR : CLOSE_NORMAL);
    return headBytes + length;
  }

  #endFrame(): void {
    if (this.#isFinal) this.#messageBytes = undefined;
  }

  #refuse(code: number): number {
    this.#isClosed = true;
    this.#frames.onClose(code);
    return 0;
  }
}
