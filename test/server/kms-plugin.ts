// A key management plugin as an operator would run beside the server: gRPC over HTTP/2 on a Unix socket, written from the
// service's description and independent of the client under test. Wraps keys by XOR with its own.
import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { pathToFileURL } from 'node:url';

/** How the plugin behaves; a test changes it as it goes. */
export interface PluginTemper {
  version: string;
  /** A gRPC status in place of an answer. */
  failure: { readonly status: string; readonly message: string } | undefined;
  /** Takes requests and says nothing. */
  silent: boolean;
  /** In place of a whole answer frame. */
  garbage: Buffer | undefined;
  httpStatus: number;
}

export class KmsPlugin {
  readonly socketPath: string;
  readonly temper: PluginTemper = {
    version: 'v1beta1',
    failure: undefined,
    silent: false,
    garbage: undefined,
    httpStatus: 200,
  };
  /** Methods called, in order. */
  readonly calls: string[] = [];
  readonly headers: Record<string, unknown>[] = [];
  mask = 0x5a;
  readonly #sessions = new Set<ServerHttp2Session>();
  #server: Http2Server | undefined;

  constructor(socketPath: string) {
    this.socketPath = socketPath;
  }

  /** As a configuration names it. */
  get endpoint(): string {
    return `unix://${pathToFileURL(this.socketPath).pathname}`;
  }

  async start(): Promise<void> {
    const server = createServer();
    server.on('session', (session) => {
      this.#sessions.add(session);
      session.on('close', () => this.#sessions.delete(session));
    });
    server.on('stream', (stream, headers) => {
      stream.on('error', () => {});
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        // A caller that gave up has cancelled its stream: there is nobody to answer.
        if (!stream.destroyed) this.#answer(stream, String(headers[':path']), headers, Buffer.concat(chunks));
      });
    });
    server.listen(this.socketPath);
    await once(server, 'listening');
    this.#server = server;
  }

  async stop(): Promise<void> {
    for (const session of this.#sessions) session.destroy();
    const server = this.#server;
    this.#server = undefined;
    if (server !== undefined) await new Promise((resolve) => server.close(resolve));
  }

  /** Drops the connections; the socket stays. */
  disconnect(): void {
    for (const session of this.#sessions) session.destroy();
  }

  #answer(stream: ServerHttp2Stream, path: string, headers: Record<string, unknown>, body: Buffer): void {
    const { temper } = this;
    const method = path.slice(path.lastIndexOf('/') + 1);
    this.calls.push(method);
    this.headers.push(headers);
    if (temper.silent) return;
    if (temper.failure !== undefined && method !== 'Version') {
      const { status, message } = temper.failure;
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': status, 'grpc-message': message },
        { endStream: true },
      );
      return;
    }
    stream.respond({ ':status': temper.httpStatus, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => {
      if (!stream.destroyed) stream.sendTrailers({ 'grpc-status': '0' });
    });
    stream.end(temper.garbage ?? frame(this.#message(method, body.subarray(5))));
  }

  #message(method: string, request: Buffer): Buffer {
    if (method === 'Version')
      return Buffer.concat([field(1, Buffer.from(this.temper.version)), field(2, Buffer.from('test'))]);
    const input = fieldsOf(request).get(2) ?? Buffer.alloc(0);
    return field(1, Buffer.from(input.map((byte) => byte ^ this.mask)));
  }
}

function frame(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** A field of bytes; lengths of at most 127. */
function field(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
}

function fieldsOf(message: Buffer): Map<number, Buffer> {
  const fields = new Map<number, Buffer>();
  for (let at = 0; at < message.length; ) {
    const end = at + 2 + message[at + 1]!;
    fields.set(message[at]! >>> 3, message.subarray(at + 2, end));
    at = end;
  }
  return fields;
}
