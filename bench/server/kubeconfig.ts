// Reads where a server is and how to be let in from a connection file (the current context of a kubeconfig). Refuses
// other machines unless it is told that they are meant.
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname, resolve } from 'node:path';
import { decodeYaml } from '../../transport/body.ts';
import type { Endpoint, EndpointTls } from '../load-protocol.ts';

/** What a connection file says that cannot be used. */
export class ConnectionFileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConnectionFileError';
  }
}

type Section = Readonly<Record<string, unknown>>;

/** Reads the file at `path`. Throws ConnectionFileError, or the file system's error. */
export function readConnectionFile(path: string, allowRemote = false): Endpoint {
  const readNamed = (file: string): string => readFileSync(resolve(dirname(path), file), 'utf8');
  return parseConnectionFile(readFileSync(path, 'utf8'), readNamed, allowRemote);
}

/** `readFile` reads the files that the text names. Throws ConnectionFileError. */
export function parseConnectionFile(text: string, readFile: (path: string) => string, allowRemote = false): Endpoint {
  const config = section(decodeYaml(Buffer.from(text)), 'the file');
  const context = named(config.contexts, config['current-context'], 'context');
  const cluster = named(config.clusters, context.cluster, 'cluster');
  const user = named(config.users, context.user, 'user');
  const pem = (from: Section, name: string): string | undefined => {
    const data = textOf(from[`${name}-data`]);
    if (data !== undefined) return Buffer.from(data, 'base64').toString();
    const file = textOf(from[name]);
    return file === undefined ? undefined : readFile(file);
  };
  const tokenFile = textOf(user.tokenFile);
  const token = textOf(user.token) ?? (tokenFile === undefined ? undefined : readFile(tokenFile).trim());
  const tls: EndpointTls = {
    ...present('ca', cluster['insecure-skip-tls-verify'] === true ? undefined : pem(cluster, 'certificate-authority')),
    ...present('cert', pem(user, 'client-certificate')),
    ...present('key', pem(user, 'client-key')),
    ...present('servername', textOf(cluster['tls-server-name'])),
  };
  return endpointOf(textOf(cluster.server) ?? '', token, tls, allowRemote);
}

/**
 * An endpoint from its address. Throws ConnectionFileError for anything but http or https, and for another machine that
 * is not allowed.
 */
export function endpointOf(url: string, token: string | undefined, tls: EndpointTls, allowRemote = false): Endpoint {
  if (!URL.canParse(url)) throw new ConnectionFileError(`"${url}" is not the address of a server`);
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:')
    throw new ConnectionFileError(`"${url}" is neither http nor https`);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (!allowRemote && !isLoopback(host)) {
    throw new ConnectionFileError(`${host} is not this machine: load it with --allow-remote, if it is yours`);
  }
  return {
    host,
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
    ...(protocol === 'https:' ? { tls } : {}),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function section(value: unknown, what: string): Section {
  if (typeof value !== 'object' || value === null) throw new ConnectionFileError(`${what} is not a connection file`);
  return value as Section;
}

function named(list: unknown, name: unknown, what: string): Section {
  const entries = Array.isArray(list) ? (list as readonly Section[]) : [];
  const entry = entries.find((candidate) => candidate.name === name);
  if (entry === undefined) throw new ConnectionFileError(`there is no ${what} "${String(name)}"`);
  return section(entry[what], `${what} "${String(name)}"`);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function present<Name extends string>(name: Name, value: string | undefined): { readonly [key in Name]?: string } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [key in Name]?: string };
}
