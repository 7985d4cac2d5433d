// A host beside a port or in a URL (RFC 3986, section 3.2.2), and what it says to who listens. Pure.
import { parseIp, specialUse } from './ip.ts';

/** The host as it stands there: an IPv6 address in brackets, since its colons would be taken for the port's. */
export function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** `host:port`, with brackets around an IPv6 address. */
export function hostPort(host: string, port: number): string {
  return `${bracketed(host)}:${port}`;
}

/** True where listening on it is listening on every address of the machine: blank or an unspecified address. */
export function isEveryAddress(host: string): boolean {
  const ip = parseIp(host);
  return ip === undefined ? host === '' : specialUse(ip) === 'unspecified';
}
