// The end of a WebSocket that a node agent is, for tests: answers the handshake and hands over frames as they are.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Frame } from './web-socket-client.ts';

/** An agent's connection: what it sends goes out in unmasked frames. */
export interface AgentSocket {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** Of the client, their payloads open. */
  readonly frames: Frame[];
  send(opcode: number, payload: Uint8Array | string, isFinal?: boolean): boolean;
}

/** Answers a WebSocket's handshake with the first protocol that is offered. */
export function acceptWebSocket(
  request: IncomingMessage,
  socket: Duplex,
  onFrame?: (frame: Frame, agent: AgentSocket) => void,
): AgentSocket {
  const key = request.headers['sec-websocket-key'] ?? '';
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  const [protocol] = (request.headers['sec-websocket-protocol'] ?? '').split(',');
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Connection: Upgrade',
    'Upgrade: websocket',
    `Sec-WebSocket-Accept: ${accept}`,
    ...(protocol === undefined || protocol === '' ? [] : [`Sec-WebSocket-Protocol: ${protocol.trim()}`]),
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const agent: AgentSocket = {
    request,
    socket,
    frames: [],
    send: (opcode, payload, isFinal = true) => socket.write(serverFrame(opcode, Buffer.from(payload), isFinal)),
  };
  let received = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    for (;;) {
      const frame = openFrame(received);
      if (frame === undefined) return;
      received = received.subarray(frame.length);
      agent.frames.push(frame);
      onFrame?.(frame, agent);
    }
  });
  socket.on('error', () => {});
  socket.on('end', () => socket.end());
  return agent;
}

function serverFrame(opcode: number, payload: Buffer, isFinal: boolean): Buffer {
  const short = payload.length < 126 ? payload.length : payload.length < 65_536 ? 126 : 127;
  const length = Buffer.alloc(short === 126 ? 2 : short === 127 ? 8 : 0);
  if (short === 126) length.writeUInt16BE(payload.length);
  if (short === 127) length.writeBigUInt64BE(BigInt(payload.length));
  return Buffer.concat([Buffer.from([(isFinal ? 0x80 : 0) | opcode, short]), length, payload]);
}

/** The first frame of what a client sent, with its mask taken off; undefined when it is not whole. */
export function openFrame(received: Buffer): (Frame & { readonly length: number }) | undefined {
  if (received.length < 2) return undefined;
  const short = received[1]! & 0x7f;
  const masked = (received[1]! & 0x80) !== 0;
  const head = (short === 126 ? 4 : short === 127 ? 10 : 2) + (masked ? 4 : 0);
  if (received.length < head) return undefined;
  const bytes = short === 126 ? received.readUInt16BE(2) : short === 127 ? Number(received.readBigUInt64BE(2)) : short;
  if (received.length < head + bytes) return undefined;
  const mask = received.subarray(head - 4, head);
  const payload = Buffer.from(received.subarray(head, head + bytes)).map((byte, i) =>
    masked ? byte ^ mask[i % 4]! : byte,
  );
  return {
    final: (received[0]! & 0x80) !== 0,
    opcode: received[0]! & 0x0f,
    masked,
    payload: Buffer.from(payload),
    length: head + bytes,
  };
}
