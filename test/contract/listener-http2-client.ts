// Reads whole answers by HTTP/2, and sends what Node's client never does, for listener tests.
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { connect as connectTls, type TLSSocket } from 'node:tls';

export interface Http2Answer {
  readonly headers: IncomingHttpHeaders & { readonly ':status'?: number | undefined };
  readonly body: Buffer;
}

/** Waits for the end of a stream; rejects when it was reset. */
export function answerOf(stream: ClientHttp2Stream): Promise<Http2Answer> {
  return new Promise((resolve, reject) => {
    let headers: Http2Answer['headers'] = {};
    const parts: Buffer[] = [];
    stream.on('response', (received) => {
      headers = received;
    });
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.on('end', () => resolve({ headers, body: Buffer.concat(parts) }));
    stream.on('error', reject);
    stream.on('close', () => reject(new Error(`closed with code ${stream.rstCode}`)));
  });
}

/** Asks where the server may take no more. Rejects if so: Node's client throws, or lets the stream wait and cancels it (from 24 on). */
export async function requestIfAny(session: ClientHttp2Session): Promise<Http2Answer> {
  return answerOf(session.request({ ':path': '/' }));
}

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const FRAME = { data: 0, headers: 1, reset: 3, settings: 4 } as const;
const END_HEADERS = 4;
/** `:method POST`, `:scheme https`, `:path /`, each by its number, and an `:authority` spelt out (RFC 7541 appendix A). */
const POST_HEADERS = Buffer.from('\x83\x87\x84\x41\x09localhost', 'latin1');

/** Posts a body without an end, and resets the stream. Node's own client ends a stream before it resets it. */
export function postBrokenOff(port: number, ca: string, body: Uint8Array, code: number): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ port, host: 'localhost', ca, ALPNProtocols: ['h2'] }, () => {
      socket.write(PREFACE);
      socket.write(frame(FRAME.settings, 0, 0, Buffer.alloc(0)));
      socket.write(frame(FRAME.headers, END_HEADERS, 1, POST_HEADERS));
      socket.write(frame(FRAME.data, 0, 1, body));
      const reason = Buffer.alloc(4);
      reason.writeUInt32BE(code);
      socket.write(frame(FRAME.reset, 0, 1, reason), () => resolve(socket));
    });
    socket.on('error', reject);
    socket.resume();
  });
}

/** RFC 9113 4.1. */
function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}
