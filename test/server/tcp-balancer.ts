// A balancer of TCP connections, as one stands before several servers: each connection goes to the next backend that says it is
// ready. One that says it is not, or is not there, gets no new connections and keeps those it has; one that says nothing loses them.
import { request } from 'node:https';
import { createServer, type Server, type Socket, connect as startConnection } from 'node:net';

const LOOK_EVERY_MS = 100;
const HOST = '127.0.0.1';

/** `gone`: connections are refused. `silent`: they are taken, and nothing comes. */
type Health = 'ready' | 'leaving' | 'gone' | 'silent';

interface Backend {
  readonly port: number;
  readonly sockets: Set<Socket>;
  health: Health;
}

export interface BalancerSettings {
  /** Whom to believe when asked for `/readyz`. */
  readonly caPem: string;
  readonly ports: readonly number[];
  /** How long a backend may take to say how it is: more than a busy machine's slowness, less than clients wait. */
  readonly silentAfterMs: number;
}

export class TcpBalancer {
  readonly #backends: readonly Backend[];
  readonly #caPem: string;
  readonly #silentAfterMs: number;
  readonly #server: Server;
  #turn = 0;
  #isClosed = false;

  private constructor({ caPem, ports, silentAfterMs }: BalancerSettings) {
    this.#caPem = caPem;
    this.#silentAfterMs = silentAfterMs;
    this.#backends = ports.map((port) => ({ port, sockets: new Set(), health: 'silent' }));
    this.#server = createServer((near) => this.#join(near));
  }

  /** Resolves when every backend has been asked once. */
  static async start(settings: BalancerSettings): Promise<TcpBalancer> {
    const balancer = new TcpBalancer(settings);
    await new Promise<void>((resolve) => balancer.#server.listen(0, HOST, resolve));
    await Promise.all(balancer.#backends.map((backend) => balancer.#look(backend)));
    for (const backend of balancer.#backends) void balancer.#follow(backend);
    return balancer;
  }

  get port(): number {
    return (this.#server.address() as { readonly port: number }).port;
  }

  get url(): string {
    return `https://${HOST}:${this.port}`;
  }

  /** What a backend said last. */
  healthOf(port: number): Health {
    return this.#backends.find((backend) => backend.port === port)?.health ?? 'silent';
  }

  /** Closes all connections through one backend; the next ones may lead to it again. */
  cut(port: number): void {
    for (const backend of this.#backends) if (backend.port === port) cut(backend);
  }

  close(): void {
    this.#isClosed = true;
    this.#server.close();
    for (const backend of this.#backends) cut(backend);
  }

  async #follow(backend: Backend): Promise<void> {
    while (!this.#isClosed) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      await this.#look(backend);
    }
  }

  async #look(backend: Backend): Promise<void> {
    backend.health = await this.#readiness(backend.port);
    if (backend.health === 'silent') cut(backend);
  }

  #readiness(port: number): Promise<Health> {
    return new Promise((resolve) => {
      const settings = {
        host: HOST,
        port,
        path: '/readyz',
        ca: this.#caPem,
        agent: false,
        timeout: this.#silentAfterMs,
      };
      const asked = request(settings, (answer) => {
        answer.resume();
        resolve(answer.statusCode === 200 ? 'ready' : 'leaving');
      });
      asked.on('timeout', () => {
        resolve('silent');
        asked.destroy();
      });
      asked.on('error', () => resolve('gone'));
      asked.on('close', () => resolve('gone'));
      asked.end();
    });
  }

  /** To the next that is ready; to any other where none is. */
  #join(near: Socket): void {
    const turn = this.#turn++;
    const turned = this.#backends.map((_, index, all) => all[(turn + index) % all.length]!);
    const ready = turned.filter(({ health }) => health === 'ready');
    near.setNoDelay(true);
    near.on('error', () => {});
    this.#tryEach(near, ready.length > 0 ? ready : turned);
  }

  #tryEach(near: Socket, [backend, ...others]: readonly Backend[]): void {
    if (backend === undefined) {
      near.destroy();
      return;
    }
    const far = startConnection(backend.port, HOST);
    const refused = (): void => this.#tryEach(near, others);
    far.once('error', refused);
    far.once('connect', () => {
      far.off('error', refused);
      joined(near, far, backend);
    });
  }
}

function joined(near: Socket, far: Socket, { sockets }: Backend): void {
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    sockets.add(from);
    from.setNoDelay(true);
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroySoon();
    });
    from.pipe(to);
  }
}

/** Without a reset: Node never ends a process that has reset a socket which was shutting down. */
function cut({ sockets }: Backend): void {
  for (const socket of sockets) socket.destroy();
}
