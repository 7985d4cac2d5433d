// Which of several certificates a client gets, by the name it asks for (SPEC.md "Transport security options",
// `--tls-sni-cert-key`). Knows names and patterns, and nothing of TLS.
import { X509Certificate } from 'node:crypto';
import { formatIp, parseIp } from '../../values/ip.ts';

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const COMMON_NAMES = /^CN=.*$/gm;
const DNS_NAME_MAX = 253;

/** Names, patterns and addresses, each with what was given for it. */
export interface ServerNames<T> {
  /** What a client gets that asks for `name`; undefined where it is nobody's. */
  find(name: string): T | undefined;
  /** What clients of one of our addresses get, who cannot ask for a name. */
  readonly byAddress: ReadonlyMap<string, T>;
}

/** What is wrong with a pattern: it is a host name, one whose first labels are `*`, or an IP address. */
export function patternProblem(pattern: string): string | undefined {
  if (parseIp(pattern) !== undefined) return undefined;
  const labels = pattern.toLowerCase().split('.');
  const firstPlain = labels.findIndex((label) => label !== '*');
  const plain = firstPlain === -1 ? [] : labels.slice(firstPlain);
  if (pattern.length <= DNS_NAME_MAX && plain.every((label) => LABEL.test(label))) return undefined;
  return `${JSON.stringify(pattern)} is neither a host name, nor one that begins with *., nor an IP address`;
}

/**
 * The names that a certificate is for: its common name where that could be a host's, and its DNS names. Its addresses are
 * left out, since no client asks for one by name.
 */
function namesOf(certPem: string): readonly string[] {
  const { subject, subjectAltName = '' } = new X509Certificate(certPem);
  // Of several the last, as in Go's reader.
  const commonName = subject?.match(COMMON_NAMES)?.at(-1)?.slice('CN='.length) ?? '';
  const isHost = commonName !== '' && parseIp(commonName) === undefined && patternProblem(commonName) === undefined;
  const names = subjectAltName.split(', ').flatMap((name) => (name.startsWith('DNS:') ? [name.slice(4)] : []));
  return [...(isHost ? [commonName] : []), ...names];
}

/**
 * What clients have to ask for that connect to an address which a certificate is not for: the first name that it is for, and for a
 * pattern a name of it. Undefined where it is for the address, or for no name.
 */
export function nameToAskFor(certPem: string, address: string): string | undefined {
  const certificate = new X509Certificate(certPem);
  if (certificate.checkIP(address) !== undefined) return undefined;
  const names = namesOf(certPem).map((name) => name.replace(/^\*\./, 'any.'));
  // Clients go by the common name no more.
  return names.find((name) => certificate.checkHost(name, { subject: 'never' }) !== undefined);
}

/**
 * Entries in the operator's order. A name that several are for goes to the first; patterns given in words go before those
 * read from certificates. A client's name finds itself before it finds a pattern, and a longer pattern before a shorter one.
 */
export function serverNames<T>(
  entries: readonly { readonly value: T; readonly patterns: readonly string[]; readonly certPem: string }[],
): ServerNames<T> {
  const byName = new Map<string, T>();
  const byAddress = new Map<string, T>();
  const add = (pattern: string, value: T): void => {
    const ip = parseIp(pattern);
    const [map, key] = ip === undefined ? [byName, pattern.toLowerCase()] : [byAddress, formatIp(ip)];
    if (!map.has(key)) map.set(key, value);
  };
  for (const { value, patterns } of entries) for (const pattern of patterns) add(pattern, value);
  for (const { value, patterns, certPem } of entries)
    if (patterns.length === 0) for (const name of namesOf(certPem)) add(name, value);
  return { find: (name) => findName(byName, name) ?? ofAddress(byAddress, name), byAddress };
}

/** Some clients ask for an address as if it were a name. */
function ofAddress<T>(byAddress: ReadonlyMap<string, T>, name: string): T | undefined {
  const ip = parseIp(name);
  return ip && byAddress.get(formatIp(ip));
}

function findName<T>(byName: ReadonlyMap<string, T>, name: string): T | undefined {
  const labels = name.toLowerCase().replace(/\.$/, '').split('.');
  for (let wild = 0; wild <= labels.length; wild++) {
    if (wild > 0) labels[wild - 1] = '*';
    const found = byName.get(labels.join('.'));
    if (found !== undefined) return found;
  }
  return undefined;
}
