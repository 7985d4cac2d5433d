// What both listeners do alike about WebSockets (RFC 6455): whether a request asks for one, what the handshake answers,
// and how a chunk of a stream is cut into messages. Frames are frames.ts.
import { createHash } from 'node:crypto';
import { BINARY, TEXT } from './frames.ts';

/** How the chunks of a stream are cut into messages: texts by lines, or binary by the four bytes of length before each. */
export type MessageFraming = 'lines' | 'lengths';

const VERSION = '13';
const KEY_TEXT_LENGTH = 24;
/** Every server appends it to the client's key (RFC 6455 1.3). */
const HANDSHAKE_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const LENGTH_BYTES = 4;
const NEWLINE = 0x0a;
const CONNECTION_UPGRADE = /(?:^|,)\s*upgrade\s*(?:,|$)/i;

/** The key of a well-formed opening handshake; undefined when the request is none, and then it is an ordinary one. */
export function webSocketKey(method: string, header: (name: string) => string): string | undefined {
  if (method !== 'GET') return undefined;
  const key = header('sec-websocket-key');
  if (key.length !== KEY_TEXT_LENGTH || header('sec-websocket-version') !== VERSION) return undefined;
  if (header('upgrade').toLowerCase() !== 'websocket' || !CONNECTION_UPGRADE.test(header('connection')))
    return undefined;
  return key;
}

/** The Sec-WebSocket-Accept header for a key. */
export function acceptOf(key: string): string {
  return createHash('sha1')
    .update(key + HANDSHAKE_GUID)
    .digest('base64');
}

/** The opcode of the frames in which messages of this framing are sent. */
export function opcodeOf(framing: MessageFraming): number {
  return framing === 'lines' ? TEXT : BINARY;
}

/** Visits the messages of a chunk, which holds whole ones: a line with its end, or what is behind a length. */
export function forEachMessage(chunk: Uint8Array, framing: MessageFraming, visit: (message: Uint8Array) => void): void {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  let at = 0;
  while (at < bytes.length) {
    const start = framing === 'lines' ? at : at + LENGTH_BYTES;
    const end = framing === 'lines' ? lineEnd(bytes, at) : start + bytes.readUInt32BE(at);
    visit(bytes.subarray(start, end));
    at = end;
  }
}

function lineEnd(bytes: Buffer, from: number): number {
  const newline = bytes.indexOf(NEWLINE, from);
  return newline < 0 ? bytes.length : newline + 1;
}
