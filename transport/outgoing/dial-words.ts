// Why a backend could not be reached, in the words of Go's network library: clients look for them (`dial tcp`, `connection refused`,
// `x509: …`) to tell a backend that is not there from one that answers. Pure.
import { isIP } from 'node:net';
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

/** A connection that did not stand in time. */
export class DialTimeout extends Error {
  constructor() {
    super('i/o timeout');
    this.name = 'DialTimeout';
  }
}

/** @param error as Node's client has it. */
export function dialWords(host: string, port: number, error: NodeJS.ErrnoException): string {
  const { code, message } = error;
  const place = hostPort(host, port);
  if (error instanceof DialTimeout) return `dial tcp ${place}: i/o timeout`;
  return known(error, host, port) ?? `${place} cannot be reached: ${code || message}`;
}

/** What the system, or TLS, says of where it could not connect to. */
export interface CallError extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly hostname?: string;
  readonly port?: number;
  /** Of the tries at each address of a name. */
  readonly errors?: readonly CallError[];
  /** Whom the certificate that was shown should have been for, and whom it is for. */
  readonly host?: string;
  readonly cert?: { readonly subjectaltname?: string };
}

/** The same of an error that says itself where; undefined of what has no words. */
export function callWords(error: CallError): string | undefined {
  const last = error.errors?.at(-1) ?? error;
  return known(last, last.address ?? last.hostname ?? '', last.port ?? 0);
}

function known(error: CallError, host: string, port: number): string | undefined {
  const { code = '', message } = error;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return strangerWords(error.host ?? '', error.cert?.subjectaltname);
  const connecting = CONNECTING[code];
  if (connecting !== undefined) return `dial tcp ${hostPort(host, port)}: ${connecting}`;
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${host}: no such host`;
  if (code === 'ECONNRESET') return message.startsWith('read ') ? 'read: connection reset by peer' : 'EOF';
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || (code === 'EPROTO' && PLAIN_ANSWER.test(message)))
    return 'http: server gave HTTP response to HTTPS client';
  return CERTIFICATES[code];
}

/** @param names as Node lists those of a certificate: `DNS:a.example, IP Address:10.0.0.1`. */
function strangerWords(host: string, names = ''): string {
  const isAddress = isIP(host) !== 0;
  const prefix = isAddress ? 'IP Address:' : 'DNS:';
  const listed = names.split(', ').filter((name) => name.startsWith(prefix));
  const valid = listed.map((name) => name.slice(prefix.length)).join(', ');
  if (valid !== '') return `x509: certificate is valid for ${valid}, not ${host}`;
  return isAddress
    ? `x509: cannot validate certificate for ${host} because it doesn't contain any IP SANs`
    : `x509: certificate is not valid for any names, but wanted to match ${host}`;
}
