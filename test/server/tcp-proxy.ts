// A way of TCP from a port of its own to another, which a test can cut or stall: what a broken network does to connections.
import { createServer, type Server, type Socket, connect as startConnection } from 'node:net';

/** `cut`: connections are reset and none is taken. `stalled`: they stay, and nothing gets through. */
export type WayState = 'open' | 'cut' | 'stalled';

interface Target {
  readonly host: string;
  readonly port: number;
}

export class TcpProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #state: WayState = 'open';

  private constructor(target: Target) {
    this.#server = createServer((near) => this.#join(near, target));
  }

  static async start(target: Target): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as { readonly port: number }).port;
  }

  /** What was held back while stalled follows when it is open again. */
  set(state: WayState): void {
    this.#state = state;
    for (const socket of this.#sockets) {
      if (state === 'cut') reset(socket);
      else if (state === 'stalled') socket.pause();
      else socket.resume();
    }
  }

  close(): void {
    this.set('cut');
    this.#server.close();
  }

  #join(near: Socket, { host, port }: Target): void {
    if (this.#state === 'cut') {
      reset(near);
      return;
    }
    const far = startConnection(port, host);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      from.setNoDelay(true);
      from.on('data', (bytes) => void to.write(bytes));
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      if (this.#state === 'stalled') from.pause();
    }
  }
}

/** A socket that is shutting down already cannot be reset: Node would keep its handle, and the process, for ever. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
