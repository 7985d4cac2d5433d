// The file that says how another service is reached and by what credentials: kind Config, as kubectl's (SPEC.md "Webhook
// token authentication": clusters are the remote service, users this server). Reads texts; opening files is the caller's.
import { asList, asObject, asText } from '../../api/object-fields.ts';
import { parseYaml } from '../yaml/read.ts';

/** What a service is shown of us. Plain data: it crosses threads. */
export interface ServiceCredentials {
  readonly certPem: string;
  readonly keyPem: string;
  readonly credentials:
    | { readonly kind: 'none' }
    | { readonly kind: 'token'; readonly token: string }
    /** Read again when it may have changed. */
    | { readonly kind: 'tokenFile'; readonly path: string }
    | { readonly kind: 'basic'; readonly name: string; readonly password: string };
}

/** A service is told nothing of who calls. */
export const NOTHING_SHOWN: ServiceCredentials = { certPem: '', keyPem: '', credentials: { kind: 'none' } };

/** How a service is reached. Plain data: it crosses threads. */
export interface ServiceConnection extends ServiceCredentials {
  /** https, or http where the operator says so. Without a slash at the end. */
  readonly url: string;
  /** Authorities of the service's certificate; empty: those of the host. */
  readonly caPem: string;
  readonly insecure: boolean;
  /** The name the certificate must be for, where it is not that of the address. */
  readonly serverName: string;
}

/** Whom services are shown, by the users of a file: `*.example.org` and `*` stand for many. */
export interface CredentialsByService {
  readonly users: Readonly<Record<string, ServiceCredentials>>;
  /** The user of the current context, for services that no user is named after. */
  readonly standard: ServiceCredentials | undefined;
}

/** Why a file cannot be used; names the field, never what stands in it. */
export class ConnectionFileError extends Error {}

const DEPTH_MAX = 32;
const REFUSED_USER_FIELDS: readonly string[] = ['exec', 'auth-provider', 'as', 'as-groups', 'as-user-extra'];

/**
 * The connection of the file's current context. `readFile` answers the text of a file that the text names, whose path may be
 * relative to it. Throws ConnectionFileError.
 */
export function parseConnectionFile(text: string, readFile: (path: string) => string): ServiceConnection {
  const file = asObject(parsed(text));
  if (asText(file.kind) !== 'Config') throw new ConnectionFileError('kind must be Config');
  const contextName = asText(file['current-context']);
  if (contextName === '') throw new ConnectionFileError('current-context is missing');
  const context = asObject(named(file, 'contexts', contextName).context);
  const cluster = asObject(named(file, 'clusters', asText(context.cluster)).cluster);
  const userName = asText(context.user);
  const user = userName === '' ? {} : asObject(named(file, 'users', userName).user);
  if (asText(cluster['proxy-url']) !== '')
    throw new ConnectionFileError('clusters[].cluster.proxy-url is not supported here');
  return {
    url: urlOf(asText(cluster.server)),
    caPem: pemOf(cluster, 'certificate-authority', readFile),
    insecure: cluster['insecure-skip-tls-verify'] === true,
    serverName: asText(cluster['tls-server-name']),
    ...shownOf(user, readFile),
  };
}

/**
 * Every user of a file whose users are named after the services they are shown to; its clusters say nothing. `readFile` as
 * for `parseConnectionFile`. Throws ConnectionFileError.
 */
export function parseCredentialsFile(text: string, readFile: (path: string) => string): CredentialsByService {
  const file = asObject(parsed(text));
  if (asText(file.kind) !== 'Config') throw new ConnectionFileError('kind must be Config');
  const users: Record<string, ServiceCredentials> = Object.create(null) as Record<string, ServiceCredentials>;
  for (const entry of asList(file.users).map(asObject))
    users[asText(entry.name)] = shownOf(asObject(entry.user), readFile);
  const contextName = asText(file['current-context']);
  const userName = contextName === '' ? '' : asText(asObject(named(file, 'contexts', contextName).context).user);
  if (userName !== '') named(file, 'users', userName);
  return { users, standard: userName === '' ? undefined : users[userName] };
}

function shownOf(user: Readonly<Record<string, unknown>>, readFile: (path: string) => string): ServiceCredentials {
  for (const field of REFUSED_USER_FIELDS)
    if (user[field] !== undefined) throw new ConnectionFileError(`users[].user.${field} is not supported here`);
  const certPem = pemOf(user, 'client-certificate', readFile);
  const keyPem = pemOf(user, 'client-key', readFile);
  if ((certPem === '') !== (keyPem === ''))
    throw new ConnectionFileError('users[].user needs client-certificate and client-key together');
  return { certPem, keyPem, credentials: credentialsOf(user) };
}

function pemOf(object: Readonly<Record<string, unknown>>, field: string, readFile: (path: string) => string): string {
  const data = asText(object[`${field}-data`]);
  if (data !== '') return Buffer.from(data, 'base64').toString('utf8');
  const path = asText(object[field]);
  return path === '' ? '' : readFile(path);
}

function parsed(text: string): unknown {
  try {
    return parseYaml(text, DEPTH_MAX);
  } catch {
    throw new ConnectionFileError('the file is neither YAML nor JSON');
  }
}

function named(file: Readonly<Record<string, unknown>>, list: string, name: string): Readonly<Record<string, unknown>> {
  const found = asList(file[list])
    .map(asObject)
    .find((entry) => entry.name === name);
  if (found === undefined) throw new ConnectionFileError(`${list} has no ${JSON.stringify(name)}`);
  return found;
}

function urlOf(server: string): string {
  if (!URL.canParse(server)) throw new ConnectionFileError('clusters[].cluster.server is not an address');
  const { protocol, username } = new URL(server);
  if ((protocol !== 'https:' && protocol !== 'http:') || username !== '')
    throw new ConnectionFileError('clusters[].cluster.server must be an https address');
  return server.replace(/\/+$/, '');
}

function credentialsOf(user: Readonly<Record<string, unknown>>): ServiceConnection['credentials'] {
  const [token, path, name] = [asText(user.token), asText(user.tokenFile), asText(user.username)];
  // As clients do: the file goes before the token.
  if (path !== '') return { kind: 'tokenFile', path };
  if (token !== '') return { kind: 'token', token };
  if (name !== '') return { kind: 'basic', name, password: asText(user.password) };
  return { kind: 'none' };
}
