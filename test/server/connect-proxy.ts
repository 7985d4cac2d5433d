// A proxy that opens tunnels (CONNECT), over TCP, TLS or a socket of this machine, and remembers where to.
import { createServer as createPlain, type IncomingMessage } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Scope } from './server-process.ts';

export interface ConnectProxy {
  /** 0 for one at a socket path. */
  readonly port: number;
  /** The targets that tunnels were asked for. */
  readonly asked: readonly string[];
}

interface ProxySettings {
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly socketPath?: string;
  /** Where a tunnel leads that is asked for; absent: where it says. */
  readonly lead?: (target: string) => { readonly host: string; readonly port: number };
  /** Answered in place of a tunnel. */
  readonly refusal?: string;
}

/** A proxy until the scope ends. */
export async function connectProxy(scope: Scope, settings: ProxySettings = {}): Promise<ConnectProxy> {
  const { tls, socketPath, lead, refusal } = settings;
  const server = tls === undefined ? createPlain() : createSecure(tls);
  const asked: string[] = [];
  const sockets = new Set<Duplex>();
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    const target = request.url ?? '';
    asked.push(target);
    sockets.add(client);
    client.on('error', () => {});
    if (refusal !== undefined) {
      client.end(refusal);
      return;
    }
    const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(target) ?? [];
    const backend: Socket = connect(lead?.(target) ?? { host, port: Number(port) }, () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      backend.write(head);
      client.pipe(backend).pipe(client);
    });
    sockets.add(backend);
    backend.on('error', () => client.destroy());
    client.on('close', () => backend.destroy());
  });
  await new Promise<void>((resolve) => {
    if (socketPath === undefined) server.listen(0, '127.0.0.1', resolve);
    else server.listen(socketPath, resolve);
  });
  scope.teardown(
    () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  );
  return { port: socketPath === undefined ? (server.address() as AddressInfo).port : 0, asked };
}
