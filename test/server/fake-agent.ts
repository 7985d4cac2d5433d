// A node agent, or anything else behind a proxy, for tests: an HTTP(S) server of this process that keeps what it was asked
// and answers as the test says.
import { once } from 'node:events';
import { createServer as createPlain, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createSecure } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { makeSelfSigned } from '../../transport/tls/self-signed.ts';
import type { Scope } from './server-process.ts';

/** A request as the agent saw it. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  /** The common name of the client's certificate; empty without one. */
  readonly shownBy: string;
}

export interface FakeAgentSettings {
  readonly handler: RequestListener;
  readonly onUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  readonly host?: string;
  /** Plain HTTP. */
  readonly isPlain?: boolean;
  /** Of the certificate, beside those of this machine. */
  readonly names?: readonly string[];
  /** In place of a pair that is its own authority. */
  readonly pair?: { readonly certPem: string; readonly keyPem: string } | undefined;
}

export interface FakeAgent {
  readonly port: number;
  readonly certPem: string;
  readonly seen: readonly Seen[];
}

export async function startFakeAgent(scope: Scope, settings: FakeAgentSettings): Promise<FakeAgent> {
  const { handler, onUpgrade, host = '127.0.0.1', isPlain = false, names, pair } = settings;
  const seen: Seen[] = [];
  const { certPem, keyPem } = pair ?? (await agentPair('agent', 'serverAuth', names));
  const note = (request: IncomingMessage): void => {
    const { method = '', url = '', headers, socket } = request;
    const certificate =
      'getPeerCertificate' in socket ? (socket as { getPeerCertificate(): unknown }).getPeerCertificate() : {};
    const { subject } = certificate as { subject?: { CN?: string } };
    seen.push({ method, url, headers, shownBy: subject?.CN ?? '' });
  };
  const answer: RequestListener = (request, response) => {
    note(request);
    handler(request, response);
  };
  const server: Server = isPlain
    ? createPlain(answer)
    : createSecure({ cert: certPem, key: keyPem, requestCert: true, rejectUnauthorized: false }, answer);
  const sockets = new Set<Duplex>();
  server.on('connection', (socket: Duplex) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  if (onUpgrade !== undefined) {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      note(request);
      socket.on('error', () => {});
      onUpgrade(request, socket, head);
    });
  }
  server.listen(0, host);
  await once(server, 'listening');
  scope.teardown(async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return { port: (server.address() as AddressInfo).port, certPem, seen };
}

/** A certificate that is its own authority. */
export function agentPair(commonName: string, purpose: 'serverAuth' | 'clientAuth', names: readonly string[] = []) {
  return makeSelfSigned({
    commonName,
    names: ['localhost', '127.0.0.1', ...names],
    notBefore: new Date(Date.now() - 3_600_000),
    notAfter: new Date(Date.now() + 86_400_000),
    purpose,
  });
}
