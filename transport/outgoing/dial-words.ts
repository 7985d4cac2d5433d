// Why a backend could not be reached, in the words of Go's network library: clients look for them (`dial tcp`, `connection refused`,
// `x509: …`) to tell a backend that is not there from one that answers. Pure.
import { hostPort } from '../../values/host-text.ts';

/** What goes wrong while connecting. */
const CONNECTING: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'connect: connection timed out',
  EADDRNOTAVAIL: 'connect: cannot assign requested address',
};
/** What is wrong with the certificate that was shown. */
const CERTIFICATES: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'x509: certificate signed by unknown authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'x509: certificate signed by unknown authority',
  UNABLE_TO_GET_ISSUER_CERT: 'x509: certificate signed by unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'x509: certificate signed by unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'x509: certificate signed by unknown authority',
  CERT_HAS_EXPIRED: 'x509: certificate has expired or is not yet valid',
  CERT_NOT_YET_VALID: 'x509: certificate has expired or is not yet valid',
};
/** OpenSSL's, where the other side answers in plain text. */
const PLAIN_ANSWER = /wrong version number|packet length too long/i;
const HANG_UP = 'socket hang up';

/** A connection that did not stand in time. */
export class DialTimeout extends Error {
  constructor() {
    super('i/o timeout');
    this.name = 'DialTimeout';
  }
}

/** @param error as Node's client has it. */
export function dialWords(host: string, port: number, error: NodeJS.ErrnoException): string {
  const { code = '', message } = error;
  const place = hostPort(host, port);
  if (error instanceof DialTimeout) return `dial tcp ${place}: i/o timeout`;
  const connecting = CONNECTING[code];
  if (connecting !== undefined) return `dial tcp ${place}: ${connecting}`;
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${host}: no such host`;
  if (code === 'ECONNRESET') return message === HANG_UP ? 'EOF' : 'read: connection reset by peer';
  if (code === 'EPROTO' && PLAIN_ANSWER.test(message)) return 'http: server gave HTTP response to HTTPS client';
  return CERTIFICATES[code] ?? `${place} cannot be reached: ${code || message}`;
}
