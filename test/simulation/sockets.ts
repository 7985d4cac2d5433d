// Sockets without a network: what the ingresses listen on, and connections whose client reads as fast as the seed says.
// A connection refuses what no real one could carry out, such as writing after the end.
import { OrchError } from '../../runtime/errors.ts';
import type { HeaderList, HttpRequest, HttpResponse, RequestHandler } from '../../transport/http.ts';
import type { OpenListener } from '../../transport/open-listener.ts';

/** The bearer token of a request that names no other. */
export const TOKEN = 'simulated';

export interface RequestParts {
  readonly method: string;
  readonly path: string;
  readonly query?: string;
  readonly contentType?: string;
  readonly accept?: string;
  readonly body?: string;
  /** In place of the one that every client has. */
  readonly token?: string;
}

/** The client's end of one request. */
export class Connection implements HttpResponse {
  status = 0;
  /** What has been received, one entry a write. */
  readonly chunks: string[] = [];
  /** The client has closed it. */
  aborted = false;
  /** Answered to the end. */
  ended = false;
  /** The server is gone, or has cut it off. */
  cut = false;
  /** Asked at each write whether the socket is full after it. */
  isFull: () => boolean = () => false;
  /** Writes into a full socket, which a real one would have to buffer. */
  writesWhileFull = 0;
  /** Called at the end, or when the server is gone. */
  onOver: () => void = () => {};
  onChunk: (chunk: string) => void = () => {};
  #full = false;
  #onAborted: () => void = () => {};
  #onDrained: () => void = () => {};

  get isOver(): boolean {
    return this.ended || this.cut || this.aborted;
  }

  get text(): string {
    return this.chunks.join('');
  }

  onAborted(callback: () => void): void {
    this.#onAborted = callback;
    if (this.aborted) callback();
  }

  respond(status: number, headers: HeaderList, body: Uint8Array | string): void {
    this.start(status, headers);
    this.#receive(body);
    this.end();
  }

  startWebSocket(): void {
    this.start(101, []);
  }

  start(status: number, _headers: HeaderList): void {
    if (this.isOver) return;
    if (this.status !== 0) throw new Error('an answer was begun twice');
    this.status = status;
  }

  write(bytes: Uint8Array): boolean {
    if (this.isOver) return false;
    if (this.status === 0) throw new Error('a chunk was written before the answer was begun');
    if (this.#full) this.writesWhileFull++;
    this.#receive(bytes);
    this.#full = this.isFull();
    return !this.#full;
  }

  onDrained(callback: () => void): void {
    this.#onDrained = callback;
  }

  end(last?: Uint8Array): void {
    if (this.isOver) return;
    if (last !== undefined) this.#receive(last);
    this.ended = true;
    this.onOver();
  }

  abort(): void {
    this.cutOff();
  }

  /** The socket takes bytes again. */
  drain(): void {
    if (!this.#full || this.isOver) return;
    this.#full = false;
    this.#onDrained();
  }

  /** The client goes away. */
  disconnect(): void {
    if (this.isOver) return;
    this.aborted = true;
    this.#onAborted();
  }

  /** The server is gone. */
  cutOff(): void {
    if (this.isOver) return;
    this.cut = true;
    this.onOver();
  }

  #receive(bytes: Uint8Array | string): void {
    if (this.isOver) return;
    const chunk = typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8');
    this.chunks.push(chunk);
    this.onChunk(chunk);
  }
}

interface Listening {
  readonly handler: RequestHandler;
  readonly connections: Set<Connection>;
  accepting: boolean;
}

export class SimulatedSockets {
  readonly #listening = new Map<string, Listening>();

  /** What the ingress of that name opens its listener with. */
  openListener(ingress: string): OpenListener {
    return (_kind, options) => {
      const connections = new Set<Connection>();
      const listening: Listening = { handler: options.handler, connections, accepting: true };
      this.#listening.set(ingress, listening);
      const listener = {
        kind: 'node' as const,
        port: options.port,
        get openConnections(): number {
          return connections.size;
        },
        replaceTls: () => Promise.resolve(),
        sendAway: () => {},
        stopAccepting: () => {
          listening.accepting = false;
        },
        close: () => {
          listening.accepting = false;
          for (const connection of connections) connection.cutOff();
          return Promise.resolve();
        },
      };
      return Promise.resolve({ listener });
    };
  }

  /** The process or thread is gone without a word. */
  cutAll(ingress: string): void {
    const listening = this.#listening.get(ingress);
    if (listening === undefined) return;
    listening.accepting = false;
    for (const connection of listening.connections) connection.cutOff();
    this.#listening.delete(ingress);
  }

  isAccepting(ingress: string): boolean {
    return this.#listening.get(ingress)?.accepting ?? false;
  }

  /** Sends a request. Throws OrchError ActorDown when nobody listens. `connection` carries the answer. */
  send(ingress: string, parts: RequestParts, connection: Connection): void {
    const listening = this.#listening.get(ingress);
    if (listening?.accepting !== true) throw new OrchError('ActorDown', 'connection refused');
    const { connections } = listening;
    connections.add(connection);
    const { onOver } = connection;
    connection.onOver = () => {
      connections.delete(connection);
      onOver();
    };
    listening.handler(requestOf(parts), connection);
  }
}

function requestOf({
  method,
  path,
  query = '',
  contentType = 'application/json',
  accept = 'application/json',
  body = '',
  token = TOKEN,
}: RequestParts): HttpRequest {
  const headers: Readonly<Record<string, string>> = {
    accept,
    authorization: `Bearer ${token}`,
    'content-type': contentType,
    'user-agent': 'simulation',
  };
  return {
    method,
    path,
    query,
    header: (name) => headers[name] ?? '',
    hasHeaderWithPrefix: () => false,
    headersWithPrefix: () => [],
    isWebSocket: false,
    connection: {},
    remoteAddress: '10.1.2.3',
    peerCertificate: undefined,
    body: () => Promise.resolve(Buffer.from(body)),
    bringsBody: body !== '',
    bodyFlow: () => {
      throw new Error('nothing is proxied here');
    },
    upgrade: undefined,
  };
}
