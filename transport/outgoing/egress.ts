// The way out of the server's connections: straight to where they lead, or through a proxy that is asked for a tunnel with CONNECT
// (RFC 9110 9.3.6), over TCP, TLS or a socket of this machine.
import type { ClientRequestArgs, Agent as PlainAgent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { bracketed } from '../../values/host-text.ts';
import { believing } from '../tls/certificates.ts';
import { USUAL_SUITES } from '../tls/usual-suites.ts';

/** A proxy to ask for tunnels. Plain data: it crosses threads. */
export interface EgressWay {
  readonly host: string;
  readonly port: number;
  /** A socket of this machine in place of host and port; blank for none. */
  readonly socketPath: string;
  /** As PEM; empty: the authorities of the host, and nothing shown. Absent: no TLS. */
  readonly tls?: { readonly caPem: string; readonly certPem: string; readonly keyPem: string };
}

/** The ways out, by where connections lead; absent: straight. */
export interface EgressWays {
  readonly cluster?: EgressWay;
  readonly controlplane?: EgressWay;
}

/** Told of each tunnel that was asked for: after how many ms it stood, or which stage it failed at. */
export type OnDial = (way: EgressWay, outcome: number | 'connect' | 'proxy') => void;

const TUNNEL_MS = 30_000;
const HEAD_BYTES_MAX = 16 * 1024;
const HEAD_END = '\r\n\r\n';

type Connected = (error: Error | null, socket?: Socket) => void;
type Target = Pick<ClientRequestArgs, 'port' | 'host' | 'hostname'>;

/** The agent, whose connections go through the proxy of the way; undefined `way`: straight. */
export function throughWay<A extends PlainAgent>(agent: A, way: EgressWay | undefined, onDial?: OnDial): A {
  if (way === undefined) return agent;
  const open = agent instanceof TlsAgent ? openSecure : openPlain;
  const opening = agent as unknown as { createConnection: (options: Target, connected: Connected) => undefined };
  opening.createConnection = (options, connected) => {
    open(way, options, connected, onDial);
    return undefined;
  };
  return agent;
}

/** A tunnel that reads again as soon as somebody listens. */
function openPlain(way: EgressWay, target: Target, connected: Connected, onDial: OnDial | undefined): void {
  openTunnel(
    way,
    target,
    (error, socket) => {
      connected(error, socket);
      setImmediate(() => socket?.resume());
    },
    onDial,
  );
}

/** A TLS session inside a tunnel; not yet secured when it is handed over. */
function openSecure(way: EgressWay, target: Target, connected: Connected, onDial: OnDial | undefined): void {
  openTunnel(
    way,
    target,
    (error, socket) => {
      if (error !== null || socket === undefined) {
        connected(error ?? new Error('no tunnel'));
        return;
      }
      const { host = '', hostname, ...options } = target as ConnectionOptions & { readonly hostname?: string };
      const name = hostname ?? host;
      const servername = options.servername || (isIP(name) === 0 ? name : '');
      connected(null, connectTls({ ...options, ...(servername === '' ? {} : { servername }), host: name, socket }));
    },
    onDial,
  );
}

/**
 * Answers once: a connection that leads to the target and does not read yet, or why there is none. What is returned gives up a tunnel
 * that does not stand yet, which is an answer as well.
 */
export function openTunnel(way: EgressWay, target: Target, connected: Connected, onDial?: OnDial): () => void {
  const name = target.hostname ?? target.host ?? '';
  const authority = `${bracketed(name)}:${target.port}`;
  const begunMs = performance.now();
  const socket = connectionTo(way);
  let isConnected = false;
  let isSettled = false;
  const settle = (error: Error | null): void => {
    if (isSettled) return;
    isSettled = true;
    clearTimeout(limit);
    socket.off('data', onData);
    socket.off('error', settle);
    socket.off('close', onClose);
    onDial?.(way, error === null ? performance.now() - begunMs : isConnected ? 'proxy' : 'connect');
    if (error === null) connected(null, socket);
    else {
      socket.on('error', () => {});
      socket.destroy();
      connected(new Error(`the egress proxy: ${error.message}`));
    }
  };
  const onClose = (): void => settle(new Error('closed the connection'));
  const limit = setTimeout(() => settle(new Error(`no tunnel within ${TUNNEL_MS} ms`)), TUNNEL_MS);
  let head = Buffer.alloc(0);
  const onData = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(HEAD_END);
    if (end < 0) {
      if (head.length > HEAD_BYTES_MAX) settle(new Error('answered more than a head'));
      return;
    }
    socket.pause();
    const [line = ''] = head.toString('latin1', 0, end).split('\r\n', 1);
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(line)?.[1] ?? '';
    if (!status.startsWith('2')) {
      settle(new Error(status === '' ? 'did not answer in HTTP' : `answered ${status}`));
      return;
    }
    const rest = head.subarray(end + HEAD_END.length);
    settle(null);
    if (rest.length > 0) socket.unshift(rest);
  };
  socket.once(way.tls === undefined || way.socketPath !== '' ? 'connect' : 'secureConnect', () => {
    isConnected = true;
  });
  socket.on('data', onData);
  socket.on('error', settle);
  socket.on('close', onClose);
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}${HEAD_END}`);
  return () => settle(new Error('given up'));
}

function connectionTo({ host, port, socketPath, tls }: EgressWay): Socket {
  if (socketPath !== '') return connectPlain({ path: socketPath });
  if (tls === undefined) return connectPlain({ host, port });
  const { caPem, certPem, keyPem } = tls;
  return connectTls({
    host,
    port,
    ciphers: USUAL_SUITES,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(caPem === '' ? {} : believing(caPem)),
    ...(certPem === '' ? {} : { cert: certPem, key: keyPem }),
  });
}
