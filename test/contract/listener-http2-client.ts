// Reads whole answers by HTTP/2, for listener tests.
import type { ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';

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
